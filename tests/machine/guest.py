# SPDX-License-Identifier: BSD-3-Clause
"""Runs in the emulated machine, started by nics.py: tries haul-echo on a NIC of each kind; all are
on the link of peer0, and one at a time is used; and haul-fwd on one more virtio NIC, with peer1 at
the other end of its link. TAP on stdout.
Usage: guest.py HAUL-ECHO HAUL-FWD KIND..."""
import os
import random
import subprocess
import sys
import time
import traceback

from inside import NO_INTERRUPTS, Host, Nic, answers_once, idle, is_out

import full
import fwd
import netns
from echo import IP4, MINE4, Echo, Failed, replies
from wait import ask

ECHO, FWD = sys.argv[1:3]
REQUESTS = 40 if netns.fewer() else 200
FLAPS = int(os.environ.get("HAUL_FLAPS", 5))  # of a link


def meet(echo):
    """The neighbour of peer0 is haul-echo: no ARP may wake a poller that is to be woken by a
    request."""
    netns.ip(f"neigh replace {IP4} lladdr {echo.mac().hex(':')} dev peer0")


def unplug_cable(tap, what, host, nic, echo):
    """The link goes down and comes back: all is as before."""
    for i in range(FLAPS):
        host.do("set_link", name=nic.id, up=False)
        time.sleep(0.2 if i == 0 else 0.01)  # nothing is to happen
        host.do("set_link", name=nic.id, up=True)
        answers_once(0.01)  # an answer comes from some of these
    # The link is negotiated anew, which takes e1000e half a second: until then frames are lost.
    netns.wait_for(answers_once, f"{what}: an answer after the link came back")
    answered = ask(REQUESTS // 4)
    tap.ok(answered == REQUESTS // 4 and not echo.ended(),
           f"{what}: link down and up, {FLAPS} times: answers as before", echo.stderr())


def echoes(tap, host, kind, nic, poller):
    what, carriers = f"{kind}, haul-echo, {poller}", 2 if kind in NO_INTERRUPTS else 1
    with Echo(ECHO, "--port", nic.port, "--carriers", carriers, "--poller", poller) as e:
        meet(e)
        answered = ask(REQUESTS)
        tap.ok(answered == REQUESTS, f"{what}: {REQUESTS} requests, one at a time, answered",
               f"{answered} answered\n{e.stderr()}")
        if poller == "block":
            idle(tap, what, e)
        if poller == "block" or kind in NO_INTERRUPTS:
            unplug_cable(tap, what, host, nic, e)
        code, figures = e.stop()
        sleeps = sum(c["sleeps"] for c in figures["carriers"]) if figures else None
        print(f"# {what}: {sleeps} sleeps; {e.stderr().splitlines()[:3]}")
        tap.ok(code == 0 and figures and replies(figures, "udp") >= answered,
               f"{what}: clean end, all buffers back", f"{code}\n{e.stderr()}")
        tap.ok((sleeps == 0) == (poller == "spin"), f"{what}: it does what it is called", figures)
        # What has no RSS has one queue, and its packets are spread.
        tap.ok(figures and all(c["rx_packets"] for c in figures["carriers"]),
               f"{what}: each carrier has its share", figures)


def pulled_out(tap, host, kind, nic, left):
    """A NIC is unplugged while another one of the same program answers, which goes on."""
    what = f"{kind} is unplugged"
    with Echo(ECHO, "--port", left.port, "--port", nic.port, "--ip", "10.9.8.2/24",
              "--ip6", "fd09:908::2/64", "--carriers", 1) as e:
        meet(e)
        answered, asked = ask(REQUESTS // 4), REQUESTS // 4
        host.do("device_del", id=nic.id)
        while not e.ended() and not (e.said("the other ports go on") and is_out(host, nic)):
            answered += ask(5)
            asked += 5
        code, figures = (1, None) if e.ended() else (None, None)
        if code is None:
            answered += ask(REQUESTS // 4)
            asked += REQUESTS // 4
            code, figures = e.stop()
        lines = [line for line in e.stderr().splitlines() if f"port '{nic.port}'" in line]
        print(f"# {what}: {answered} of {asked} requests answered; {lines}")
        tap.ok(answered == asked and figures is not None,
               f"{what}: the other NIC answers each request", e.stderr())
        tap.ok(code == 1 and figures and len(lines) == 2 and
               "the device was unplugged; the other ports go on" in lines[0],
               f"{what}: a line, figures, all buffers back", f"{code}\n{e.stderr()}")


def main():
    tap, host = netns.Tap(), Host()
    # An emulated CPU is slow, and the host may be busy.
    netns.wait_for.__defaults__ = Echo.wait.__defaults__ = (600,)
    netns.ip(f"addr add {MINE4}/24 dev peer0")
    kinds = sys.argv[3:]
    fwd.FWD = FWD
    for number, kind in enumerate(kinds):
        for poller in "spin", "block":
            if poller == "block" and kind in NO_INTERRUPTS:
                tap.skip(f"{kind}, haul-echo, block", "its PMD receives no interrupts")
                continue
            try:
                echoes(tap, host, kind, Nic(number), poller)
            except (Failed, OSError, RuntimeError, subprocess.SubprocessError):
                tap.ok(False, f"{kind}, {poller}: no exception", traceback.format_exc())
    fulls = [full.ends, full.link_flaps, full.unplugged]
    for test in [random.choice(fulls)] if netns.fewer() else fulls:
        try:
            test(tap, host, "virtio, haul-fwd", Nic(len(kinds)), "peer1")
        except full.TooSlow as e:
            tap.skip(f"virtio, haul-fwd, {test.__name__}", e)
        except (Failed, OSError, RuntimeError, subprocess.SubprocessError):
            tap.ok(False, f"{test.__name__}: no exception", traceback.format_exc())
    for number, kind in enumerate(kinds[:-1]):  # the last one is left
        try:
            pulled_out(tap, host, kind, Nic(number), Nic(len(kinds) - 1))
        except (Failed, OSError, RuntimeError, subprocess.SubprocessError):
            tap.ok(False, f"{kind} is unplugged: no exception", traceback.format_exc())
    tap.done()


if __name__ == "__main__":
    main()
