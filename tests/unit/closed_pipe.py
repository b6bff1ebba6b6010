# SPDX-License-Identifier: BSD-3-Clause
"""The project's scripts are quiet if the reader of their output has gone; and only then: a broken
pipe of another kind is an error.
Usage: closed_pipe.py SOURCE_DIR HAUL_COMPARE"""
import os
import subprocess
import sys

from tap import Tap

SCRIPTS = ("perf/capture", "perf/fwd", "perf/instructions", "perf/latency", "perf/private",
           "perf/run", "perf/sim/capacity", "perf/sim/study", "tests/runner.py", "tests/with-dpdk")
# What fails after the head of a long output, at its end, and inside.
LONG = "import ending; ending.run(lambda: [print('x' * 100) for _ in range(10000)] and None)"
SHORT = "import ending; ending.run(lambda: print('x'))"
OTHER = """
import ending, os
def main():
    r, w = os.pipe()
    os.close(r)
    print('x')
    os.write(w, b'x')
ending.run(main)
"""


def without_reader(command):
    """Exit status and stderr."""
    # Without a buffer, argparse itself hides that --help is not read.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    r, w = os.pipe()
    os.close(r)
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=w, stderr=subprocess.PIPE,
                              text=True, timeout=60, env=env)
    finally:
        os.close(w)
    return done.returncode, done.stderr


def main():
    tree, compare = sys.argv[1:]
    tap = Tap()
    for script in SCRIPTS:
        code, said = without_reader([sys.executable, os.path.join(tree, script), "--help"])
        tap.ok(code == 1 and not said, f"{script} --help", f"{code} {said}")
    code, said = without_reader([compare, "--help"])
    tap.ok(code == 1 and not said, "haul-compare --help", f"{code} {said}")
    for what, program in ("a long output", LONG), ("an output shorter than a buffer", SHORT):
        code, said = without_reader([sys.executable, "-c", program])
        tap.ok(code == 1 and not said, what, f"{code} {said}")
    done = subprocess.run([sys.executable, "-c", OTHER], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    tap.ok(done.returncode == 1 and "BrokenPipeError" in done.stderr and done.stdout == "x\n",
           "another pipe without a reader is told", done)
    tap.done()


main()
