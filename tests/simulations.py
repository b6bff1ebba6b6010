# SPDX-License-Identifier: BSD-3-Clause
"""tests/run --sim SECONDS: each program of simulations has its share of the time, with seeds that
nobody has tried. They are drawn from the date and the time, so a night's search goes on where none
has been; a failure is told with the line that makes its run again.

A program has all CPUs, one after the other. One that has failed leaves its time to those that
follow.
"""
import os
import re
import shlex
import time

STAGE = "simulations"
MOST = 10 ** 15  # seeds: time is what ends a program
GRACE = 600  # seconds beyond its share, for its last runs and the fewest faults of a failure


def of(tests):
    """Those of meson's tests that are programs of simulations, and that find nothing by plan."""
    return [t for t in tests if t["name"].startswith("sim_") and "--seeds" in t["cmd"]]


def first_seed(now):
    """20261129080510 00000: from one second to the next there are 100,000 of them."""
    return int(time.strftime("%Y%m%d%H%M%S", time.localtime(now))) * 100000


def replay(test, line):
    """With what the test's environment decides."""
    return " ".join([*(f"{k}={shlex.quote(v)}" for k, v in sorted(test["env"].items())), line])


def told(test, status, lines):
    """What a failed program says: the failure, and how its run is made again."""
    again = [replay(test, line[len("Again: "):]) for line in lines if line.startswith("Again: ")]
    failure = next((line for line in lines if re.match(r"\S+: seed \d+: ", line)),
                   f"exit status {status}: {lines[-1] if lines else 'it says nothing'}")
    return failure, again[-1] if again else shlex.join(test["cmd"])


def run(tests, seconds, progress, tally, read_lines):
    """Counts each program as one test."""
    began = time.monotonic()
    seed = first_seed(time.time())
    progress.say(f"seeds from {seed}")
    for i, test in enumerate(tests):
        name, lines = test["name"], []
        share = max((began + seconds - time.monotonic()) / (len(tests) - i), 1)
        where = f"{i + 1} of {len(tests)}: {name}"

        def each(line):
            lines.append(line)
            if re.match(r"\d+ (of \d+ )?runs", line):
                progress.update(STAGE, min((time.monotonic() - began) / seconds, 1),
                                f"{where}: {line}")

        progress.update(STAGE, min((time.monotonic() - began) / seconds, 1), where)
        command = [*test["cmd"], "--from", str(seed), "--seeds", str(MOST), "--for",
                   str(round(share))]
        # The environment's number of seeds would be stronger.
        status = read_lines(["sh", "-c", 'exec "$@" 2>&1', "sh", *command], each, share + GRACE,
                            env={k: v for k, v in {**os.environ, **test["env"]}.items()
                                 if k != "HAUL_SIM_SEEDS"})
        if status == 0:
            tally.passed += 1
            progress.say(f"{name}: {lines[-1] if lines else ''}")
            continue
        failure, again = told(test, status, lines)
        tally.fail(f"{name}: {failure}", again)
        progress.say(f"{name}: {failure}\n{again}")
    progress.update(STAGE, 1, "simulated")
