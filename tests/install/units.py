#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The units of apps/systemd: systemd reads them without a complaint, and what they let programs do
is little."""
import os
import subprocess
import sys
import tempfile

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from tap import Tap  # noqa: E402

UNITS, DNS, HTTP = (os.path.abspath(path) for path in sys.argv[1:4])
EXPOSURE = 25  # tenths: systemd's measure, 100 for a service without limits


def analyze(*args):
    done = subprocess.run(["systemd-analyze", *args], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


def put(name, folder):
    """Copies a unit, with the programs that were built."""
    with open(os.path.join(UNITS, name), encoding="utf-8") as f, \
            open(os.path.join(folder, name), "w", encoding="utf-8") as to:
        to.write(f.read().replace("/usr/bin/haul-dns", DNS).replace("/usr/bin/haul-http", HTTP))


def main():
    tap = Tap()
    try:
        analyze("--version")
    except FileNotFoundError:
        print("1..0 # SKIP systemd-analyze: not installed")
        return
    with tempfile.TemporaryDirectory() as d:
        for name in "haul-dns.service", "haul-http.service", "haul-http.socket":
            put(name, d)
        for name in "haul-dns.service", "haul-http.service", "haul-http.socket", "hand-over.conf":
            unit = os.path.join(d, name)
            if name == "hand-over.conf":
                unit = os.path.join(d, "haul-dns.service")
                os.mkdir(f"{unit}.d")
                put(name, f"{unit}.d")
            rc, said = analyze("verify", "--man=no", unit)
            tap.ok(rc == 0 and not said, f"systemd reads {name}", (rc, said))
            if unit.endswith(".service"):
                rc, said = analyze("security", "--offline=yes", f"--threshold={EXPOSURE}", unit)
                tap.ok(rc == 0, f"{name}: it may do little", said)
    tap.done()


main()
