# SPDX-License-Identifier: BSD-3-Clause
"""Shared by the tests of waiting pollers: requests sent one at a time at random gaps."""
import os
import random
import select
import socket
import time

import netns
from echo import IP4, MINE4, peer

POLLERS = ("spin", "block", "adaptive", "sleep")
REQUESTS = int(os.environ.get("HAUL_REQUESTS", 80 if netns.fewer() else 200))
GAP = 0.003  # seconds, at most
LOST = 60.0  # no answer within these seconds: a lost wakeup, and no pause of a busy machine


class Link:
    """The kernel's side of a port of that kind: with Link("afxdp") as l: Echo(... l.port ...)"""

    def __init__(self, kind, queues=2):
        self.kind, self.queues = kind, queues
        self.port = "tap:t0" if kind == "tap" else f"{kind}:v0"
        self.iface = "t0" if kind == "tap" else "v1"
        self.deleted = "t0" if kind == "tap" else "v0"

    def __enter__(self):
        if self.kind != "tap":
            netns.veth("v0", "v1", queues=self.queues)
        return self

    def up(self, echo):
        """Call after the program's start. No traffic but the test's may wake it: no ARP."""
        peer(self.iface)
        netns.ip(f"neigh replace {IP4} lladdr {echo.mac().hex(':')} dev {self.iface}")

    def __exit__(self, *_):
        if self.kind != "tap" and netns.exists("v0"):
            netns.ip("link del v0")


class Given:
    """The same for a port whose other end is an interface with addresses, which nobody makes."""

    def __init__(self, kind, port, iface):
        self.kind, self.port, self.iface = kind, port, iface

    def __enter__(self):
        return self

    def up(self, echo):
        netns.ip(f"neigh replace {IP4} lladdr {echo.mac().hex(':')} dev {self.iface}")

    def __exit__(self, *_):
        pass


def tell_counters():
    """What the kernel's interfaces, IP and UDP have counted: where a packet was lost."""
    for name in "dev", "snmp":
        with open(f"/proc/net/{name}") as f:
            for line in f:
                if name == "dev" or line.startswith(("Ip:", "Udp:")):
                    print("#", line.rstrip())


def ask(requests, gap=GAP, seed=None):
    """Sends UDP requests one at a time, from ports that map to different queues. Returns the number
    of answered requests: all, or those before the first one without an answer."""
    rng = random.Random(seed)
    socks = []
    for n in range(16):
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        s.bind((MINE4, 40000 + n))
        s.setblocking(False)
        socks.append(s)
    try:
        for n in range(requests):
            s = socks[n % len(socks)]
            body = n.to_bytes(8, "big")
            s.sendto(body, (IP4, 7))
            end = time.monotonic() + LOST
            while True:
                left = end - time.monotonic()
                if left <= 0 or not select.select([s], [], [], left)[0]:
                    tell_counters()
                    return n
                if s.recv(64) == body:
                    break
            time.sleep(rng.random() * gap)  # the gap under test
        return requests
    finally:
        for s in socks:
            s.close()


def cpu_seconds(pid):
    """User and system time of a process."""
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
