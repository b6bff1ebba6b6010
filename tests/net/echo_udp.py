# SPDX-License-Identifier: BSD-3-Clause
"""haul-echo: UDP of every size comes back unchanged, over many flows; VLAN tags pass; and with
--delay a sleeping handler delays no other handler."""
import os
import select
import socket
import struct
import sys
import time

import netns
from echo import IP4, IP6, MINE4, MINE6, Echo, dropped, echo_request, peer, replies

FLOWS = 32
WINDOW = 64  # datagrams under way: below the capacity of each queue on their path
SLEEPERS = 200
TAG = 0x6005  # priority 3, VLAN 5

SOL_PACKET, PACKET_AUXDATA = 263, 8  # linux/socket.h, linux/if_packet.h


class Exchange:
    """Sends datagrams over many sockets; each must come back unchanged on its socket."""

    def __init__(self, family, address, mine, flows=FLOWS):
        self.sockets = []
        for _ in range(flows):
            s = socket.socket(family, socket.SOCK_DGRAM)
            s.bind((mine, 0))
            s.connect((address, 7))
            self.sockets.append(s)
        self.waiting = {s: [] for s in self.sockets}
        self.under_way = 0
        self.came = 0
        self.wrong = []

    def send(self, n, payload):
        s = self.sockets[n % len(self.sockets)]
        self.waiting[s].append(payload)
        self.under_way += 1
        s.send(payload)

    def take(self, seconds):
        """Receives some datagrams; False: none within that time."""
        ready = select.select(self.sockets, [], [], seconds)[0]
        for s in ready:
            payload = s.recv(65536)
            if payload in self.waiting[s]:
                self.waiting[s].remove(payload)
                self.under_way -= 1
                self.came += 1
            else:
                self.wrong.append(payload[:16])
        return bool(ready)

    def drain(self, below=1, seconds=60):
        while self.under_way >= below:
            if not self.take(seconds):
                return

    def close(self):
        for s in self.sockets:
            s.close()


def sizes(tap, name, family, address, mine, largest):
    x = Exchange(family, address, mine)
    for size in range(largest + 1):
        x.send(size, os.urandom(size))
        x.drain(WINDOW)
    x.drain()
    x.close()
    tap.ok(x.came == largest + 1 and not x.wrong, f"{name}: payloads of 0 to {largest} bytes",
           f"{x.came} came back, {len(x.wrong)} wrong")


def flows(tap, name):
    """Many flows: each carrier gets its share where the kernel spreads by flow."""
    x = Exchange(socket.AF_INET, IP4, MINE4, 256)
    for n in range(2048):
        x.send(n, n.to_bytes(8, "big"))
        x.drain(WINDOW)
    x.drain()
    x.close()
    tap.ok(x.came == 2048 and not x.wrong, f"{name}: 256 flows", f"{x.came}, {len(x.wrong)} wrong")


def vlan(tap, name, e, iface):
    """A hand-made ping with a tag: the kernel need not know VLANs. Tags are passed beside their
    frames."""
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(netns.ETH_P_ALL)) as s:
        s.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
        s.bind((iface, netns.ETH_P_ALL))
        request = echo_request(e.mac(), netns.mac(iface))
        s.send(request[:12] + struct.pack(">HH", 0x8100, TAG) + request[12:])
        came = None
        while came is None and select.select([s], [], [], 60)[0]:
            frame, extra, _, addr = s.recvmsg(65536, 256)
            if addr[2] != netns.PACKET_OUTGOING and frame[34:35] == b"\0":
                came = frame, struct.unpack("IIIHHHH", extra[0][2])[5]
    tap.ok(came and came[1] == TAG and came[0][38:] == request[38:], f"{name}: a VLAN tag is kept",
           came)


def over_tap(tap, binary, carriers):
    name = f"tap, {carriers} carriers"
    with Echo(binary, "--port", "tap:t0", "--carriers", carriers) as e:
        peer("t0")
        sizes(tap, f"{name}, IPv4", socket.AF_INET, IP4, MINE4, 1472)
        sizes(tap, f"{name}, IPv6", socket.AF_INET6, IP6, MINE6, 1452)
        flows(tap, name)
        vlan(tap, name, e, "t0")
        code, figures = e.stop()
        tap.ok(code == 0, f"{name}: clean end", e.stderr())
        tap.ok(figures and replies(figures, "udp") == 1473 + 1453 + 2048,
               f"{name}: replies counted", figures)
        busy = [c["rx_packets"] > 0 for c in figures["carriers"]] if figures else []
        tap.ok(busy == [True] * carriers, f"{name}: every carrier had its share", figures)


def over_veth(tap, binary, kind):
    netns.veth("v0", "v1", queues=2)
    with Echo(binary, "--port", f"{kind}:v0", "--carriers", 2) as e:
        peer("v1")
        sizes(tap, f"{kind}, IPv4", socket.AF_INET, IP4, MINE4, 1472)
        sizes(tap, f"{kind}, IPv6", socket.AF_INET6, IP6, MINE6, 1452)
        vlan(tap, kind, e, "v1")
        code, _ = e.stop()
        tap.ok(code == 0, f"{kind}: clean end", e.stderr())
    netns.ip("link del v0")


def sleepers_overlap(tap, binary):
    """In sequence they would take as many seconds as there are of them."""
    with Echo(binary, "--port", "tap:t0", "--delay", "1s") as e:
        peer("t0")
        x = Exchange(socket.AF_INET, IP4, MINE4)
        began = time.monotonic()
        for n in range(SLEEPERS):
            x.send(n, n.to_bytes(8, "big"))
        x.drain()
        took = time.monotonic() - began
        x.close()
        tap.ok(x.came == SLEEPERS and took < SLEEPERS, f"{SLEEPERS} sleeping handlers at once",
               f"{x.came} came back, in {took} s")
        code, figures = e.stop()
        tap.ok(code == 0 and figures and replies(figures, "udp") == SLEEPERS,
               "sleepers: clean end", e.stderr())


def sleepers_are_cancelled(tap, binary):
    """The program ends after a given number of packets, whose handlers sleep for an hour: all were
    in flight at the same time, and the ledger has all of them."""
    with Echo(binary, "--port", "tap:t0", "--delay", "3600s", "--packets", SLEEPERS) as e:
        peer("t0")
        netns.ip(f"neigh replace {IP4} lladdr {e.mac().hex(':')} dev t0")
        x = Exchange(socket.AF_INET, IP4, MINE4)
        for n in range(SLEEPERS):
            x.send(n, b"wait for me")
        code, figures = e.wait()
        x.close()
        tap.ok(code == 0, "cancelled sleepers: clean end", e.stderr())
        # Some may have been the kernel's own packets to its multicast groups.
        tap.ok(figures and replies(figures, "udp") == 0 and dropped(figures) >= SLEEPERS
               and dropped(figures, "stopping") > SLEEPERS * 9 // 10
               and dropped(figures) == figures["ports"][0]["rx_packets"],
               "cancelled sleepers: all accounted for", figures)


def main(binary):
    tap = netns.Tap()
    if netns.can_open(tap, "tap"):
        over_tap(tap, binary, 1)
        over_tap(tap, binary, 2)
        sleepers_overlap(tap, binary)
        sleepers_are_cancelled(tap, binary)
    for kind in "afxdp", "afpacket":
        if netns.can_open(tap, kind):
            over_veth(tap, binary, kind)
    tap.done()


if __name__ == "__main__":
    netns.enter()
    main(sys.argv[1])
