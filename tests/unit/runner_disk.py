# SPDX-License-Identifier: BSD-3-Clause
"""tests/run says that the disk is too small before it builds, and that a CPU's timers stood
still."""
import os
import tempfile
import time

import load
import runner
from tap import Tap


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as d:
        os.chdir(d)
        conf = runner.Configuration("x", "", "gcc", disk=100)
        free = {}
        runner.free_mb = free.get
        free.update({".": 1000, tempfile.gettempdir(): 1000})
        tap.ok(runner.too_small([conf]) is None, "enough room: no line")
        free["."] = 90
        line = runner.too_small([conf])
        tap.ok(line and d in line and " 90 MB are free" in line and "\n" not in line,
               "no room for a build: a line", line)
        os.mkdir("build-x")
        with open("build-x/object", "wb") as f:
            f.write(b"x" * 50000000)
        free["."] = 50 + runner.TESTS_MB + 1
        tap.ok(runner.too_small([conf]) is None,
               "what is built already is not needed again", runner.too_small([conf]))
        free.update({".": 1000, tempfile.gettempdir(): runner.TESTS_MB - 1})
        line = runner.too_small([conf])
        tap.ok(line and tempfile.gettempdir() in line, "no room for tests' files: a line", line)
    sleepers = load.Sleepers(os.sched_getaffinity(0))
    while any(sleepers.NOTE.unpack(note[:])[1] == 0 for note in sleepers.notes.values()):
        time.sleep(0.01)  # between looks
    tap.ok(str(sleepers) == "" or "timers of CPU" in str(sleepers), "each CPU sleeps", sleepers)
    now = time.monotonic()
    for values in (now - 100, 0.2, now - 200), (now, 100, now):
        fake = bytearray(load.Sleepers.NOTE.size)
        sleepers.write(fake, *values)
        sleepers.notes = {7: fake}
        tap.ok("timers of CPU 7 stood still for 100 s until " in str(sleepers),
               "a line about a sleep that is over, or goes on", sleepers)
    tap.done()


main()
