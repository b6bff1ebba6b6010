#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Nodes that announce an address by BIRD (apps/anycast): what a node tells on the way of its
packets while it drains, and what is lost, which node serves whom, when nodes come and go."""
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

import netns

ANYCAST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../apps/anycast")
sys.path.append(ANYCAST)
import lab  # noqa: E402

HAUL_DNS = os.path.abspath(sys.argv[1])


def ask(node, name):
    """Code and text of the answer of one node."""
    said = lab.run("dig", f"@{node.haul4}", "+norec", "+tries=1", "+time=2", name, "TXT", "CH",
                   ns="client")
    code, text = re.search(r"status: (\w+)", said), re.search(r'TXT\s+"(.*)"', said)
    return code[1], text[1] if text else None


def test_drains(tap):
    """A node that is told to stop says so to who asks, and serves on."""
    lab.WITHDRAW = "4s"  # a busy machine starts dig in more than the usual half second
    with lab.Lab(HAUL_DNS, 2) as net:
        for node in net.nodes:
            node.start().wait_announced()
        node = net.nodes[0]
        before = ask(node, "health.server"), ask(node, "id.server")
        node.dns.process.terminate()
        lab.wait_for(lambda: not node.is_announced(), "the route to go")
        during = ask(node, "health.server"), ask(node, "id.server")
        rc = node.dns.process.wait()
        at_last = net.next_hops()
        six = net.next_hops(lab.SERVICE6)
    tap.ok(before == (("NOERROR", "serving"), ("NOERROR", "node1")), "a node serves", before)
    tap.ok(during == (("SERVFAIL", "draining"), ("NOERROR", "node1")),
           "it drains without a route to it, and answers meanwhile", during)
    tap.ok(rc == 0 and at_last == {"10.1.0.22"} and six == {"fd01::22"}, "and stops",
           (rc, at_last, six))


def events(*args):
    said = subprocess.run([f"{ANYCAST}/nodes", "--binary", HAUL_DNS, "--json", "--rate", "500",
                           *args], capture_output=True, text=True, check=False)
    if said.returncode:
        return {"events": [], "flows": {}, "said": said.stderr}
    return json.loads(said.stdout)


def test_events(tap):
    names = ["kill", *([] if netns.fewer() else ["hang", "port", "cut", "bird"]), "update"]
    got = events(*names)
    rows = {row["event"]: row for row in got["events"]}
    tap.ok(list(rows) == names and all(
        (row["route_ms"] is not None) != (name == "update") for name, row in rows.items()),
        "the router hears of each event", got)
    tap.ok(rows.get("update", {}).get("lost") == 0 and rows["update"]["queries"] > 1000,
           "a rolling update loses nothing", got)


def test_flows(tap):
    if "nexthop" not in subprocess.run(["ip", "help"], capture_output=True, text=True,
                                       check=False).stderr:
        tap.skip("resilient next hops", "ip knows none")
        return
    got = events("--nodes", "3", "--hash", "resilient", "flows")
    f = got["flows"]
    tap.ok(f and f["flows"] == 400 and f["of_others"] < 400 and
           f["of_others_moved_when_it_went"] == f["of_others_moved_when_it_came"] == 0,
           "resilient next hops: flows stay with their nodes", got)


def started_with(mark):
    """Processes that have mark in their environment."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            with open(f"/proc/{pid}/environ", "rb") as f:
                if mark.encode() in f.read().split(b"\0"):
                    found.append(int(pid))
    return found


def test_killed(tap):
    """What ends all at once, such as a closed terminal, leaves no process and no file."""
    mark = f"HAUL_TEST_ANYCAST={os.getpid()}"
    for sig in signal.SIGTERM, signal.SIGKILL:
        with tempfile.TemporaryDirectory() as folder:
            env = {**os.environ, **dict([mark.split("=")]), "TMPDIR": folder}
            with subprocess.Popen([f"{ANYCAST}/nodes", "--binary", HAUL_DNS, "--hash", "resilient",
                                   "kill"], env=env, stderr=subprocess.PIPE, text=True) as nodes:
                said = nodes.stderr.readline()  # of the event: all is there
                nodes.send_signal(sig)
            with contextlib.suppress(TimeoutError):
                netns.wait_for(lambda: not started_with(mark), "the end of all processes")
            left, files = started_with(mark), os.listdir(folder)
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        tap.ok(said.startswith("#") and not left and not files,
               f"{sig.name} ends the nodes and leaves nothing", (said, left, files))


def main():
    tap = netns.Tap()
    missing = [c for c in ("bird", "birdc", "dig", "dnsperf", "ethtool") if not shutil.which(c)]
    if missing:
        netns.skip_all(f"{', '.join(missing)}: not installed")
    netns.enter()
    lab.prepare()
    test_drains(tap)
    test_events(tap)
    test_flows(tap)
    test_killed(tap)
    tap.done()


main()
