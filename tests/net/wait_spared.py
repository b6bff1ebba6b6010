# SPDX-License-Identifier: BSD-3-Clause
"""Who sends to a port pays for a waiter only while its poller waits: a socket is in the poller's
epoll set for waits, and not while the poller spins or has been busy for long.
Usage: wait_spared.py HAUL_FWD"""
import contextlib
import os
import re

import netns
from fwd import Running

FRAME = bytes.fromhex("02000000000102000000000288b5") + bytes(46)


def watched(pid):
    """The sockets in epoll sets of a process."""
    n = 0
    for fd in os.listdir(f"/proc/{pid}/fdinfo"):
        with contextlib.suppress(FileNotFoundError):  # closed by now
            with open(f"/proc/{pid}/fdinfo/{fd}", encoding="ascii") as f:
                watched_fds = re.findall(r"^tfd:\s+(\d+)", f.read(), re.M)
            n += sum(os.readlink(f"/proc/{pid}/fd/{w}").startswith("socket:") for w in watched_fds)
    return n


def poller(tap, kind, how, idle, busy):
    """The numbers of sockets in sets that are expected while nothing comes, and while much does."""
    with contextlib.closing(netns.Raw("v1")) as wire, \
            Running("--port", f"{kind}:v0", "--mode", "rxonly", "--carriers", 1,
                    "--poller", how) as fwd:
        netns.wait_for(fwd.runs, "haul-fwd to run")
        pid = fwd.process.pid

        def settles(n, sends):
            def is_so():
                for _ in range(200 if sends else 0):
                    wire.send(FRAME)
                return watched(pid) == n
            try:
                netns.wait_for(is_so, "the epoll set")
            except TimeoutError:
                return False
            return True

        tap.ok(settles(idle, False), f"{kind}, {how}, idle: {idle} in the set", watched(pid))

        def receives():
            wire.send(FRAME)  # the first ones may be lost
            return re.search(r"^  port 0 .* rx +(?!0\.00 )\S", fwd.said(), re.M)
        netns.wait_for(receives, "a report of received frames")
        tap.ok(settles(busy, True), f"{kind}, {how}, busy: {busy} in the set", watched(pid))
        tap.ok(settles(idle, False), f"{kind}, {how}, idle again", watched(pid))
        result = fwd.end()
        tap.ok(result.rc == 0 and result.total("rx_packets") > 0, f"{kind}, {how}: it receives",
               result)


def main():
    netns.enter()
    tap = netns.Tap()
    netns.veth("v0", "v1")
    for kind in "afpacket", "afxdp":
        if not netns.can_open(tap, kind):
            continue
        poller(tap, kind, "spin", 0, 0)
        poller(tap, kind, "adaptive:10000", 1, 0)
        if kind == "afpacket":
            poller(tap, kind, "block", 1, 1)
    tap.done()


main()
