# SPDX-License-Identifier: BSD-3-Clause
"""tests/run tries programs of suites net and unit once more, alone, if a few failed; it tells what
failed first, and gives other suites and what crashed one try."""
import argparse
import math
import os
import tempfile
import time

import runner
from progress import Progress
from tap import Tap

# Passes from the second run on.
SECOND = """test -e ran-$1 && echo 'ok 1 - late' || printf 'not ok 1 - late\\n# no answer\\n'
test -e ran-$1; rc=$?; touch ran-$1; echo 1..1; exit $rc
"""
CRASHES = "test -e ran-$1 && exec printf 'ok 1 - late\\n1..1\\n'; touch ran-$1; "
HANGS = "test -e ran-$1 && exec sleep 60; touch ran-$1; "
NEVER = "echo 'not ok 1 - never'; echo 1..1; exit 1\n"


class EndsSecond(runner.Limit):
    """Of a program `hangs`: over a second after the first try has run."""

    def left(self):
        if self.at == math.inf and os.path.exists("build-x/ran-hangs"):
            self.at = time.monotonic() + 1
        return super().left()


def run(*tests, limit=runner.Limit(None)):
    """The tally of a run of these tests, each a name, its suite and its script."""
    with tempfile.TemporaryDirectory() as d:
        os.chdir(d)
        with open("meson.build", "w", encoding="utf-8") as f:
            f.write("project('x')\n")
            for name, suite, script in tests:
                with open(name, "w", encoding="utf-8") as text:
                    text.write(script)
                f.write(f"test('{name}', find_program('sh'), suite: '{suite}', protocol: 'tap',\n"
                        f"  args: [files('{name}'), '{name}'])\n")
        with open("meson_options.txt", "w", encoding="utf-8") as f:
            f.write("option('tests', type: 'feature')\n")
        conf = runner.Configuration("x", "", "gcc", suites=["net", "stress", "unit"])
        progress, tally = Progress(conf.stages()), runner.Tally()
        progress.say = lambda text: None
        runner.run(conf, argparse.Namespace(suite=[], part=False, soak=0), progress, tally,
                   limit)
        os.chdir("/")
        return tally


def main():
    tap = Tap()
    tally = run(("slow", "net", SECOND), ("good", "unit", "echo 'ok 1 - fine'; echo 1..1"))
    tap.ok((tally.passed, tally.failed) == (2, []), "a second try counts", tally.failed)
    tap.ok(tally.again == ["x: slow: late\n    # no answer"], "what failed first is told",
           tally.again)
    tally = run(("never", "unit", NEVER), ("slow", "stress", SECOND))
    tap.ok(tally.passed == 0 and not tally.again and
           sorted(tally.failed) == ["x: never: never", "x: slow: late\n    # no answer"],
           "what fails twice has failed, and other suites have one try", vars(tally))
    tally = run(("signal", "unit", CRASHES + "kill -SEGV $$"),
                ("race", "net", CRASHES + "echo 'WARNING: ThreadSanitizer: data race'; exit 66"))
    tap.ok(len(tally.failed) == 2 and not tally.again, "what crashes has one try", vars(tally))
    tally = run(*((f"slow{i}", "net", SECOND) for i in range(runner.AGAIN + 1)))
    tap.ok(len(tally.failed) == runner.AGAIN + 1 and not tally.again,
           "many failures: no second try", vars(tally))
    ten = [(f"good{i}", "unit", "echo 'ok 1 - fine'; echo 1..1") for i in range(10)]
    tally = run(*ten, *((f"long{i}", "unit", "sleep 60; exit 1") for i in range(6)),
                limit=runner.Limit(0.1))
    left = 16 - tally.passed
    tap.ok(left >= 6 and not tally.failed and
           tally.skipped == [f"x: {left} of 16 programs: no time is left after 0.1 minutes"],
           "what a limit of time ends is skipped", vars(tally))
    tally = run(("hangs", "net", HANGS + NEVER), limit=EndsSecond(None))
    tap.ok(tally.failed == ["x: hangs: never"],
           "a second try that the limit ends leaves the first", vars(tally))
    tally = run(*ten, limit=runner.Limit(1e-6))
    tap.ok((tally.passed, tally.failed, len(tally.skipped)) == (0, [], 1),
           "nothing begins after it", vars(tally))
    tap.done()


main()
