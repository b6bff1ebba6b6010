# SPDX-License-Identifier: BSD-3-Clause
"""haul-echo in a flood of UDP that its handlers cannot serve, with --overload and without: the host
answers ARP and pings all the same, goodput does not collapse, and each packet has a reason.

Handlers wait (--delay), and few may at once, so the capacity does not depend on the machine.
Usage: overload.py HAUL_ECHO
"""
import socket
import struct
import subprocess
import sys
import threading
import time

import netns

import echo

PINGS = 20
OTHER, PINGER = "10.9.9.7", "10.9.9.8"  # not the flood's address
OTHERS = 100  # datagrams of another source
DELAY, MBUFS = "200ms", 2048  # half of the buffers: some 5,000 packets a second


class Flood(threading.Thread):
    """Up to 50,000 datagrams a second from one address until it is told to stop: ten times what
    haul-echo can serve, and less than what the kernel and it can drop."""

    def __init__(self, address):
        super().__init__()
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((address, 0))
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 12)  # replies: few
        self.sent, self.ends = 0, False

    def run(self):
        while not self.ends:
            for _ in range(100):
                try:
                    self.socket.sendto(b"x", (echo.IP4, 7))
                    self.sent += 1
                except OSError:  # the interface's queue is full
                    pass
            time.sleep(0.002)  # the rate

    def __enter__(self):
        self.began = time.monotonic()
        self.start()
        return self

    def __exit__(self, *_):
        self.ends = True
        self.join()
        self.seconds = time.monotonic() - self.began
        self.socket.close()


def pings(count):
    """How many of them are answered within 5 s."""
    out = subprocess.run(["ping", "-q", "-c", str(count), "-i", "0.02", "-W", "5", "-I", PINGER,
                          echo.IP4],
                         capture_output=True, text=True).stdout
    return int(out.split(" received")[0].split()[-1])


def asks(address):
    """How many datagrams of an address are answered, each asked once, within 5 s at the end."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind((address, 0))
        s.settimeout(5)  # the others were shed
        seen = set()
        for i in range(OTHERS):
            s.sendto(struct.pack("!I", i), (echo.IP4, 7))
            time.sleep(0.01)  # slower than its share
        try:
            while len(seen) < OTHERS:
                seen.add(s.recv(16))
        except TimeoutError:
            pass
        return len(seen)


def came_through(name):
    """The part of what was sent to an interface that its queue had room for."""
    def count(what):
        with open(f"/sys/class/net/{name}/statistics/{what}", encoding="ascii") as f:
            return int(f.read())

    return count("tx_packets") / (count("tx_packets") + count("tx_dropped"))


def run(binary, *args):
    with echo.Echo(binary, "--port", "tap:t0", "--carriers", 1, "--delay", DELAY, "--mbufs",
                   MBUFS, *args) as e:
        echo.peer("t0")
        for address in OTHER, PINGER:
            netns.ip(f"addr add {address}/24 dev t0")
        # The kernel drops too, if haul-echo has no CPU for as long as this takes to fill.
        netns.ip("link set t0 txqueuelen 20000")
        with Flood(echo.MINE4) as flood:
            time.sleep(0.5)  # until the queue is late
            netns.ip(f"neigh del {echo.IP4} dev t0")  # ARP too has to come through
            netns.wait_for(lambda: "lladdr" in subprocess.run(
                ["ip", "neigh", "show", echo.IP4], capture_output=True, text=True).stdout,
                "the answer to ARP")
            answered, asked = pings(PINGS), asks(OTHER)
            came = came_through("t0")
        rc, j = e.stop()
        return answered, asked, came, flood, rc, j, e.stderr()


netns.enter()
tap = netns.Tap()
found = {}
for on in (False, True):
    name = "with --overload" if on else "without"
    answered, asked, came, flood, rc, j, err = found[on] = run(sys.argv[1], *["--overload"] * on)
    port = j["ports"][0]
    dropped, counters = port["dropped"], j["counters"]
    shed = dropped["late"] + dropped["over_share"]
    print(f"# {name}: sent {flood.sent} in {flood.seconds:.1f} s, received "
          f"{port['rx_packets']}, replies {port['tx_packets']}, shed {dropped['late']} late, "
          f"{dropped['over_share']} over their share; {answered} of {PINGS} pings, {asked} of "
          f"{OTHERS} others")
    tap.ok(rc == 0 and port["rx_packets"] == port["tx_packets"] + sum(
        dropped[k] for k in dropped if k not in ("rx_missed", "rx_nombuf", "rx_errors",
                                                 "tx_errors")),
           f"{name}: each packet is sent or has a reason", (rc, port, err))
    tap.ok((shed > 0) == on, f"{name}: what is shed", dropped)
    tap.ok(("overload" in port) == on and (not on or port["overload"]["episodes"] > 0),
           f"{name}: what --json tells", port)
tap.ok(found[True][0] * 10 >= PINGS * 9, "pings are answered with --overload", found[True][0])
tap.ok(found[True][1] >= found[True][2] * OTHERS * 9 // 10 and found[True][1] > found[False][1],
       "another source is served beside the flood", (found[True][1], found[False][1]))
replies = {on: found[on][5]["ports"][0]["tx_packets"] / found[on][3].seconds for on in found}
tap.ok(replies[True] * 2 >= replies[False], "goodput does not collapse", replies)
tap.done()
