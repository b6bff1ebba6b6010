#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Whole sessions of dpdk-testpmd and of haul-fwd --testpmd, with the same command line and the same
lines: both print the same, line by line, from the first command to the last line of the end.

testpmd_session.py PATH-OF-HAUL-FWD
"""
import os
import re
import subprocess
import tempfile

import fwd
import netns
from prompt import Client
from testpmd import Testpmd, has_dpdk_of, need

EAL = ["-l", "0,1", "--no-huge", "-m", "128", "--no-pci", "--no-shconf", "--no-telemetry"]
OPTIONS = ["-i", "--nb-cores=1", "--total-num-mbufs=2048", "--no-flush-rx"]

LINES = """show port summary all
help
show config rxtx
show config fwd
show config cores
show port info 0
show port info 5
show port stats 5
show device info all
show port 0 rss-hash
show port 0 rss-hash key
show rxq info 0 0
show txq info 0 1
show rxq info 0 5
set promisc all off
set allmulti all off
set promisc 0 on
set link-down port 0
start
start
stop
stop
clear port xstats all
clear port stats all
set verbose 1
set verbose 3
set verbose 0
port stop 0
port start 0
port stop all
port config mtu 7 1500
csum show 0
port start all
set burst 600
set nbcore 9
set corelist 7
set portlist 0
start
show config fwd
"""

RSS = "port config all rss ip\n"  # of one queue, testpmd's log refuses it

need()
netns.enter()
tap = netns.Tap()


def session(program, vdevs, options, text):
    """What it prints from the first prompt on; its exit code."""
    r = subprocess.run(["stdbuf", "-oL", *program, *EAL, f"--file-prefix=session{os.getpid()}",
                        *(f"--vdev={vdev}" for vdev in vdevs), "--", *OPTIONS, *options],
                       input=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                       timeout=120)
    return r.stdout.partition("testpmd> ")[2], r.returncode


def plain(said):
    """Lines without what differs from run to run, and without the queue on which one carrier sends
    what it has from several."""
    lines = []
    for line in said.splitlines():
        line = re.sub(r"(?i)\b[0-9a-f]{2}(:[0-9a-f]{2}){5}\b", "MAC", line.replace("testpmd> ", ""))
        line = re.sub(r"(packets|dropped|total): \d+ *", r"\1: N", line)
        line = re.sub(r"(TX (P=\d+/Q|Port= *\d+/Queue)=) *\d+", r"\1Q", line)
        if line.strip() and not line.startswith(
                ("Primary: Sending", "Configuring Port", "Warning! port-topology")):
            lines.append(line.rstrip())
    return lines


def unlike(ours, theirs):
    """The first lines that are not the same; a reason of haul's may follow a line of testpmd's."""
    ours = [line for line in ours if not line.startswith("port '")]
    for a, b in zip(ours, theirs):
        if a != b and not a.startswith(f"{b}: "):
            return f"haul-fwd: {a}\ntestpmd: {b}"
    return "" if len(ours) == len(theirs) else f"{len(ours)} lines, testpmd {len(theirs)}"


# With one DPDK, as PMDs of others have other words.
for queues in ((1, 2) if has_dpdk_of(fwd.FWD) else ()):
    (ours, rc), (theirs, rc_of_theirs) = [
        session(program, ["net_null0", "net_null1"], [f"--rxq={queues}", f"--txq={queues}"],
                LINES.replace("csum show", RSS + "csum show" if queues > 1 else "csum show") +
                "quit\n") for program in ([fwd.FWD, "--testpmd"], ["dpdk-testpmd"])]
    wrong = unlike(plain(ours), plain(theirs))
    tap.ok(not wrong and rc == rc_of_theirs == 0, f"a session, {queues} queues: the same lines",
           f"{wrong}\n{ours}\n---\n{theirs}")
    tap.ok(ours.count("The valid ports array is [ 0 1 ]") >= 2 and
           ours.endswith("Port 1 is closed\nDone\n\nBye...\n") and "total of" not in ours,
           f"a session, {queues} queues: valid ports, and the end", ours[-3000:])

said, _ = session([fwd.FWD, "--testpmd"], ["net_null0"], [],
                  "help all\n" + "".join(f"help {name}\n" for name in (
                      "control", "display", "config", "ports", "filters", "traffic_management",
                      "devices", "drivers")))
forms = re.findall(r"^(\S.*)\n    \S", said, re.M)
tap.ok(len(forms) > 100 and all(forms.count(form) == 2 for form in forms) and
       all(f"\n{title}\n" in said for title in (
           "Control forwarding:", "Display:", "Configuration:", "Port Operations:", "filters:",
           "Traffic Management:", "Device Operations:", "Driver specific:")),
       "help: each command is in one section, and in help all", said)
for form, title in (("stop", "Control forwarding:"), ("show port info|", "Display:"),
                    ("set fwd MODE", "Configuration:"),
                    ("port start|stop PORT", "Port Operations:"),
                    ("flow create", "filters:")):
    found = said.partition(f"\n{title}\n")[2].partition("\n\n\n")[0]
    tap.ok(f"\n{form}" in found, f"help: {form} in {title}", found)

said, rc = session([fwd.FWD, "--testpmd"], ["net_null0"], ["--flow-isolate-all"], "quit\n")
tap.ok(rc == 1, "--flow-isolate-all: a PMD without", said)


def shown(lines):
    """Lines of packets, without the pool's name and times, which one program tells only."""
    # testpmd's may come amid a line of its prompt.
    found = re.findall(r"(?:port \d+/queue \d+: |  src=|  ol_flags: ).*", "\n".join(lines))
    return [re.sub(r"pool=\w+|- timestamp \d+ +", "", line.rstrip()) for line in found]


FRAMES = [fwd.packet(17, 1, True), fwd.packet(6, 2, True), fwd.frame(3, 80)]
for level in 1, 2, 3:
    with tempfile.TemporaryDirectory() as d:
        fwd.write_pcap(f"{d}/in", FRAMES)
        with fwd.Running("--port", f"pcap:rx={d}/in,tx={d}/ours", "--carriers", 1, "--mode",
                         "macswap", "-i", "--control", f"{d}/c", options=["--json"],
                         stdin=subprocess.PIPE) as haul:
            client = Client(f"{d}/c", haul)
            client.ask(f"set verbose {level}")
            client.ask("start")
            netns.wait_for(lambda: client.json()["ports"][0]["tx_packets"] == len(FRAMES),
                           "all frames")
            client.ask("stop")
            client.sock.close()
            ours = [line.replace("haul-fwd> ", "") for line in haul.end().out.splitlines()]
        with Testpmd(f"net_pcap0,rx_pcap={d}/in,tx_pcap={d}/theirs") as peer:
            peer.say(f"set verbose {level}", "show fwd stats all")
            peer.start("macswap")
            peer.wait_for(lambda n: n.tx == len(FRAMES), "all frames")
            peer.stop()
            theirs = [line.replace("testpmd> ", "") for line in peer.lines]
    ours, theirs = shown(ours), shown(theirs)
    each = len(FRAMES) * 2 + 1
    tap.ok(sorted(ours) == sorted(theirs) and len(ours) == (2 if level == 3 else 1) * each,
           f"set verbose {level}: the lines of packets", "\n".join([*ours, "---", *theirs]))
tap.done()
