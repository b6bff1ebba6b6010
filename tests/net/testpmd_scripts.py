#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What public scripts do with dpdk-testpmd, and look for: by haul-fwd --testpmd, and by testpmd,
where it is installed.

testpmd_scripts.py PATH-OF-HAUL-FWD
"""
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

import netns

import fwd

NULLS = ["--vdev=net_null0", "--vdev=net_null1"]
MEMORY = ["--no-huge", "-m", "64", "--no-pci", "--no-telemetry"]
FORWARDED = r"\++ Accumulated forward statistics for all ports\++\s+RX-packets: [1-9]"

CPUS = sorted(os.sched_getaffinity(0))[:2]
if len(CPUS) < 2:
    netns.skip_all("two CPUs are needed")
netns.enter()
tap = netns.Tap()
netns.veth("v0", "v1")


def start(program, eal, options, **popen):
    popen.setdefault("stdin", subprocess.PIPE)
    popen.setdefault("stderr", subprocess.STDOUT)
    return subprocess.Popen(
        [*program, "-l", ",".join(map(str, CPUS)), *MEMORY,
         f"--file-prefix=haul-scripts-{os.getpid()}", *eal, "--", "--total-num-mbufs=2048",
         *options], stdout=subprocess.PIPE, text=True, errors="replace",
        **popen)


def end(process, text=None):
    """(exit code, output), once text was read from its stdin, which then ends."""
    out, _ = process.communicate(text, timeout=120)
    return process.returncode, out


def test_letters(program, name):
    """DPDK's test of its null PMD: letters in one word, and -a for no device at all."""
    process = start(program, ["-a", "0:0.0", *NULLS], ["-ia"])
    time.sleep(1)  # as the script: packets flow
    rc, out = end(process, "stop\nquit\n")
    tap.ok(rc == 0 and "io packet forwarding - ports=2 -" in out and re.search(FORWARDED, out),
           f"{name}: -ia starts at once, and says so", (rc, out))


def test_abbreviations(program, name):
    """Scripts for Azure's MANA: --stats for --stats-period, and SIGINT."""
    process = start(program, NULLS[:1], ["--forward=txonly", "--auto-start", "--stats", "1"])
    time.sleep(3.5)  # two reports
    process.send_signal(signal.SIGINT)
    rc, out = end(process)
    said = out.count("Port statistics ===="), len(re.findall(r"NIC statistics for port 0", out))
    tap.ok(rc == 0 and said[0] == said[1] >= 1 and re.search("Tx-pps: +[1-9]", out) and
           "txonly packet forwarding - ports=1" in out,
           f"{name}: --stats 1 prints statistics", (rc, said, out))


def test_enter(program, name):
    """CI jobs of OpenShift: yes | testpmd. And the end of stdin."""
    for text, what in (("y\ny\n", "a line"), ("", "the end of stdin")):
        process = start(program, NULLS[:1], ["--auto-start", "--forward-mode=mac"])
        rc, out = end(process, text)
        tap.ok(rc == 0 and "forwards packets on 1 streams" in out and "Press enter to exit" in out,
               f"{name}: without -i, {what} ends it", (rc, out))


def test_ports_twice(program, name):
    """CSIT: the number of ports, and the mask; the last one holds."""
    process = start(program, NULLS, ["-i", "-a", "--nb-ports=2", "--portmask=0x1"])
    rc, out = end(process, "quit\n")
    tap.ok(rc == 0 and "io packet forwarding - ports=1 -" in out,
           f"{name}: --nb-ports and --portmask", (rc, out))


def frames_come(out):
    return re.search(r"Forward statistics for port 0 .*\n  RX-packets: ([0-9]+)", out)


def session(process, *commands):
    for command in commands:
        process.stdin.write(command + "\n")
        process.stdin.flush()
        time.sleep(0.1)  # as a script without an answer to wait for


def test_attach(program, name):
    """OpenShift's image for S2I: the device goes, and comes again."""
    process = start(program, ["--vdev=net_af_packet0,iface=v0"],
                    ["-i", "--portmask=0x1", "--nb-cores=1", "--forward-mode=mac",
                     "--port-topology=loop", "--no-mlockall"])
    session(process, "port stop 0", "port detach 0", "port attach net_af_packet0,iface=v0",
            "port start 0", "start", "show port stats 0")
    time.sleep(1)  # testpmd drops what comes first
    peer = netns.Raw("v1")
    for _ in range(100):
        peer.send(bytes.fromhex("020000000001020000000002" + "0800") + bytes(46))
        time.sleep(0.001)  # no faster than both are
    time.sleep(0.5)  # all are forwarded
    rc, out = end(process, "stop\nquit\n")
    peer.close()
    found = frames_come(out)
    tap.ok(rc == 0 and found and int(found[1]) == 100, f"{name}: detached and attached again",
           (rc, out))


def test_no_device(program, name):
    """A virtual switch whose ports come from its file of commands."""
    with tempfile.NamedTemporaryFile("w") as script:
        script.write("port attach net_null0\nport attach net_null1\nport start all\n"
                     "set nbcore 1\nset nbport 2\nshow port summary all\nstart\n")
        script.flush()
        process = start(program, [], ["-i", f"--cmdline-file={script.name}"])
        time.sleep(2)  # packets flow
        rc, out = end(process, "stop\nquit\n")
    tap.ok(rc == 0 and "io packet forwarding - ports=2" in out and re.search(FORWARDED, out),
           f"{name}: without a device, ports come later", (rc, out))


PROGRAMS = [([fwd.FWD, "--testpmd"], "haul-fwd")]
if shutil.which("dpdk-testpmd"):
    PROGRAMS.append((["dpdk-testpmd"], "dpdk-testpmd"))
for one in PROGRAMS:
    for case in (test_letters, test_abbreviations, test_enter, test_ports_twice, test_attach,
                 test_no_device):
        case(*one)
tap.done()
