# SPDX-License-Identifier: BSD-3-Clause
"""Results of a test script for meson (protocol: 'tap')."""
import sys


class Tap:
    def __init__(self):
        self.n = 0
        self.bad = 0

    def ok(self, cond, name, why=""):
        """One result; why is shown when it is bad."""
        self.n += 1
        self.bad += not cond
        print(f"{'ok' if cond else 'not ok'} {self.n} - {name}", flush=True)
        if not cond:
            for line in str(why).splitlines():
                print(f"# {line}", flush=True)
        return bool(cond)

    def skip(self, name, why):
        self.n += 1
        print(f"ok {self.n} - {name} # SKIP {why}", flush=True)

    def done(self):
        """The plan comes last; the exit status says the rest."""
        print(f"1..{self.n}", flush=True)
        sys.exit(1 if self.bad else 0)
