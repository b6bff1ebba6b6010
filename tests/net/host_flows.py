# SPDX-License-Identifier: BSD-3-Clause
"""Flows and large datagrams of a host, with a kernel's sockets at the other end: over TAP and over
AF_XDP on a veth pair, with one and several queues, carriers that spin or block, and thieves.

Usage: host_flows.py FLOW_PROBE [steals]
"""
import re
import socket
import subprocess
import sys
import threading

import netns
from asked import Asked

IP4, IP6 = "10.9.9.2", "fd09::2"  # the host's
MINE4, MINE6 = "10.9.9.1", "fd09::1"  # the kernel's
QUESTIONS = 20  # of an asker: flow_probe.c
ASKERS = 20 if netns.fewer() else 100
SO_RCVBUFFORCE = 33
SIZES = 1, 1452, 1453, 1472, 1473, 1480, 2960, 9000, 40000, 65000


class Probe(Asked):
    def __init__(self, binary, *args, bursts=False):
        super().__init__(binary, "--ip", f"{IP4}/24", "--ip6", f"{IP6}/64", *args, bursts=bursts)


class Echo:
    """A socket that sends back what it gets, and remembers the length of the last datagram."""

    def __init__(self, address):
        self.sock = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET,
                                  socket.SOCK_DGRAM)
        self.sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 16 << 20)
        self.sock.bind((address, 0))
        self.address, self.port = self.sock.getsockname()[:2]
        self.length = 0
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while True:
            data, sender = self.sock.recvfrom(1 << 16)
            self.length = len(data)
            self.sock.sendto(data, sender)


def sizes(t, name, probe, echo):
    asked = {n: probe.says(f"echo {echo.address} {echo.port} {n}") for n in SIZES}
    t.ok(all(said == str(n) for n, said in asked.items()),
         f"{name}: questions and replies of all sizes", asked)
    for n in SIZES:
        said = probe.says(f"send {echo.address} {echo.port} {n}")
        netns.wait_for(lambda: echo.length == n, f"a datagram of {n} bytes; {said}")
    t.ok(True, f"{name}: datagrams of all sizes arrive")


def many(t, name, probe, echo, carriers):
    said = probe.says(f"many {echo.address} {echo.port} {ASKERS}")
    found = re.match(r"(\d+) right, (\d+) handed over, 0 full, 0 open", said)
    t.ok(found and int(found[1]) == ASKERS * QUESTIONS * carriers,
         f"{name}: each asker gets its replies", said)


def errors(t, name, probe):
    closed = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    closed.bind((MINE4, 0))
    port = closed.getsockname()[1]
    closed.close()
    t.ok(probe.says(f"echo {MINE4} {port} 10") == "ECONNREFUSED", f"{name}: a closed port")


def small_fragments(t, name, dev):
    """An echo request in fragments of 600 bytes: the reply is in one packet."""
    netns.ip(f"route replace {IP4}/32 dev {dev} mtu lock 600")
    done = subprocess.run(["ping", "-c", "1", "-W", "20", "-n", "-M", "dont", "-s", "1000", IP4],
                          stdout=subprocess.PIPE, text=True)
    t.ok(done.returncode == 0, f"{name}: a ping in fragments", done.stdout)
    netns.ip(f"route del {IP4}/32 dev {dev}")


def try_out(t, binary, name, port, dev, carriers=2, bursts=False, args=()):
    with Probe(binary, "--port", port, "--carriers", str(carriers), *args, bursts=bursts) as probe:
        netns.ip(f"link set {dev} up")
        netns.ip6(dev)
        netns.ip(f"addr replace {MINE4}/24 dev {dev}")
        netns.ip(f"addr replace {MINE6}/64 dev {dev} nodad")
        netns.wait_up(dev)
        for address in MINE4, MINE6:
            echo = Echo(address)
            sizes(t, f"{name}, {address}", probe, echo)
            many(t, f"{name}, {address}", probe, echo, carriers)
        errors(t, name, probe)
        small_fragments(t, name, dev)
        code, said = probe.stop()
        t.ok(code == 0, f"{name}: the books are right at the end", said)


def main(binary, *steals):
    netns.enter()
    t = netns.Tap()
    if netns.can_open(t, "tap"):
        try_out(t, binary, "TAP", "tap:h0", "h0")
        try_out(t, binary, "TAP, blocks", "tap:h1", "h1", bursts=True,
                args=["--poller", "block"])
        if steals:
            try_out(t, binary, "TAP, stolen", "tap:h2", "h2", args=["--steal", "cluster"])
    if netns.can_open(t, "afxdp"):
        for i, (carriers, queues, poller) in enumerate(
                ((1, 1, "spin"), (2, 2, "spin"), (2, 2, "block"), (1, 1, "adaptive"))):
            v0, v1 = f"v{i}", f"w{i}"
            netns.veth(v0, v1, queues=queues)
            try_out(t, binary, f"AF_XDP, {carriers} carriers, {queues} queues, {poller}",
                    f"afxdp:{v0}", v1, carriers, bursts=i % 2, args=["--poller", poller])
            netns.ip(f"link del {v0}")
    t.done()


main(*sys.argv[1:])
