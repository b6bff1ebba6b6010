#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""With -i, dpdk-testpmd goes on to its prompt if a port cannot be configured as its options say,
and so does haul-fwd --testpmd: the same command line and commands to both, the same lines. Without
-i both end.

testpmd_refused.py PATH-OF-HAUL-FWD
"""
import re
import shutil
import subprocess
import tempfile

import netns

import fwd
from testpmd import need

FAILED = ["Fail to configure port 0", "Start ports failed"]
AGAIN = ["Configuring Port 0", "Fail to configure port 0"]
NOT_ALL = ["Not all ports were started"]
RUNS = ["packet forwarding - ports="]
CHECKSUMS = [(f"port config 0 rx_offload {what}_cksum off", []) for what in ("ipv4", "udp", "tcp")]

# (port, options, what both say at the start, [(command, what both say to it)]): words that both
# must have, in this order; the words of FAILED and RUNS that are not listed must be missing.
CASES = [
    ("null", ["--enable-rx-cksum"], FAILED,
     [("start", NOT_ALL), ("port start 0", AGAIN), *CHECKSUMS[:2], ("port start all", AGAIN),
      CHECKSUMS[2], ("port start all", ["Configuring Port 0", "Done"]), ("start", RUNS),
      ("stop", ["Done."])]),
    ("null", ["--enable-scatter", "--auto-start"], FAILED + NOT_ALL,
     [("show port info 0", ["Infos for port 0"]), ("start", NOT_ALL)]),
    ("null", ["--enable-rx-cksum", "--disable-device-start"], [],
     [("start", NOT_ALL), ("port start 0", AGAIN), *CHECKSUMS, ("port start 0", ["Done"]),
      ("start", RUNS)]),
    ("afpacket", ["--enable-hw-vlan-filter"], FAILED,
     [("start", NOT_ALL), ("port config 0 rx_offload vlan_filter off", []),
      ("port start 0", ["Configuring Port 0", "Done"]), ("start", RUNS)]),
    ("afpacket", ["--max-pkt-len=9000"], FAILED,
     [("start", NOT_ALL), ("port start 0", AGAIN)]),
    ("null", ["--max-pkt-len=9000"], [], [("start", RUNS)]),
]
PORTS = {"null": "net_null0", "afpacket": "net_af_packet0,iface=v0"}
CAN_MISS = [*FAILED, *NOT_ALL, *RUNS]


def said(program, port, options, commands):
    """What it says before the first prompt, and to each command."""
    with tempfile.TemporaryDirectory() as d:
        r = subprocess.run(
            ["stdbuf", "-o0", *program, "-l", "0,1", "--no-huge", "-m", "256", "--no-pci",
             "--vdev", PORTS[port],
             f"--file-prefix={d.replace('/', '_')}", "--",
             "-i", "--total-num-mbufs=2048", *options],
            input="".join(f"{c}\n" for c in commands) + "quit\n", text=True, timeout=120,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return r.returncode, r.stdout.split("testpmd> ")


def fits(text, words):
    return re.search(".*".join(map(re.escape, words)), text, re.S) and not any(
        word in text for word in CAN_MISS if word not in words)


def main():
    tap = netns.Tap()
    netns.veth("v0", "v1")
    programs = {"haul-fwd": [fwd.FWD, "--testpmd"], "testpmd": [shutil.which("dpdk-testpmd")]}
    for port, options, start, steps in CASES:
        for name, program in programs.items():
            rc, answers = said(program, port, options, [c for c, _ in steps])
            wanted = [("the start", start), *steps]
            wrong = [f"{c}: wanted {words}: {text}" for (c, words), text in zip(wanted, answers)
                     if not fits(text, words)]
            tap.ok(rc == 0 and len(answers) == len(steps) + 2 and not wrong,
                   f"{name}: {port} {' '.join(options)}", "\n".join([f"exit {rc}", *wrong]))
    for name, program in programs.items():
        r = subprocess.run(
            [*program, "-l", "0,1", "--no-huge", "-m", "256", "--no-pci", "--vdev", "net_null0",
             "--", "--total-num-mbufs=2048", "--enable-rx-cksum"],
            input="\n", text=True, timeout=120, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT)
        tap.ok(r.returncode != 0, f"{name}: without -i it ends", r)
    tap.done()


if __name__ == "__main__":
    need()
    netns.enter()
    main()
