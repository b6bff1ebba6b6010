#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The unit of apps/systemd: systemd reads it without a complaint, and what it lets the program do
is little."""
import os
import subprocess
import sys
import tempfile

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from tap import Tap  # noqa: E402

UNIT, PROGRAM = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
EXPOSURE = 25  # tenths: systemd's measure, 100 for a service without limits


def analyze(*args):
    done = subprocess.run(["systemd-analyze", *args], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


def main():
    tap = Tap()
    try:
        analyze("--version")
    except FileNotFoundError:
        print("1..0 # SKIP systemd-analyze: not installed")
        return
    with tempfile.TemporaryDirectory() as d:
        unit = os.path.join(d, os.path.basename(UNIT))
        with open(UNIT, encoding="utf-8") as f, open(unit, "w", encoding="utf-8") as to:
            to.write(f.read().replace("/usr/bin/haul-dns", PROGRAM))
        rc, said = analyze("verify", "--man=no", unit)
        tap.ok(rc == 0 and not said, "systemd reads it", (rc, said))
        rc, said = analyze("security", "--offline=yes", f"--threshold={EXPOSURE}", unit)
        tap.ok(rc == 0, "it may do little", said)
    tap.done()


main()
