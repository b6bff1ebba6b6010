# SPDX-License-Identifier: BSD-3-Clause
"""A capture of real traffic (data/capture.pcap, made by data/capture) through csum, 5tswap and
l3fwd: what comes out equals, byte by byte, what scapy computes."""
import os
import sys
import tempfile

import netns

import fwd

try:
    from scapy.layers.inet import IP, TCP, UDP
    from scapy.layers.inet6 import IPv6, IPv6ExtHdrFragment
    from scapy.layers.l2 import Dot1AD, Dot1Q, Ether
except ImportError:
    print("1..0 # SKIP python3-scapy is not installed")
    sys.exit()

HERE = os.path.dirname(os.path.abspath(__file__))
CAPTURE = fwd.read_pcap(os.path.join(HERE, "data", "capture.pcap"))
PEER = "02:de:ad:be:ef:01"
TAG, OUTER_TAG = bytes.fromhex("81000007"), bytes.fromhex("88a80003")


def tagged(frames, tags):
    return [f[:12] + tags + f[12:] for f in frames]


def headers(packet):
    """Ethernet, tags, IP, extension headers and the upper header, without packets in errors of
    ICMP."""
    found = []
    while packet and not found or type(found[-1]) not in (TCP, UDP) and \
            type(packet) in (Ether, Dot1Q, Dot1AD, IP, IPv6, TCP, UDP) or \
            type(packet).__name__.startswith("IPv6ExtHdr"):
        found.append(packet)
        packet = packet.payload
    return found


def is_fragment(header):
    return isinstance(header, IP) and (header.frag or header.flags.MF) or \
        isinstance(header, IPv6ExtHdrFragment) and (header.offset or header.m)


def swapped(frame):
    packet = Ether(frame)
    for h in headers(packet):
        if isinstance(h, (Ether, IP, IPv6)):
            h.src, h.dst = h.dst, h.src
        elif isinstance(h, (TCP, UDP)):
            h.sport, h.dport = h.dport, h.sport
    return bytes(packet)


def recomputed(frame, own):
    packet = Ether(frame)
    packet.src, packet.dst = own, PEER
    whole = True
    for h in headers(packet):
        whole = whole and not is_fragment(h)
        if isinstance(h, IP) or whole and (isinstance(h, TCP) or isinstance(h, UDP) and h.chksum):
            del h.chksum
    return bytes(packet)


def bad(frames):
    """The numbers of frames with a wrong checksum of IP, and of an upper layer."""
    ip = upper = 0
    for f in frames:
        packet = Ether(f)
        packet.src, packet.dst = "02:00:00:00:00:01", PEER
        new = Ether(recomputed(f, packet.src))
        for old, right in zip(headers(packet), headers(new)):
            if isinstance(old, IP):
                ip += old.chksum != right.chksum
            elif isinstance(old, (TCP, UDP)):
                upper += old.chksum != right.chksum
    return ip, upper


class Routed:
    """The output of each port, and the packets dropped, by reason."""

    def __init__(self, frames, own):
        self.out = [[], [], []]
        self.dropped = dict.fromkeys(("no_route", "ttl_expired", "malformed", "unsupported"), 0)
        for frame in frames:
            packet = Ether(frame)
            reason = self.route(packet, own)
            if reason:
                self.dropped[reason] += 1

    def route(self, packet, own):
        ip = packet.payload
        if not isinstance(ip, (IP, IPv6)):
            return "unsupported"
        if (ip.ttl if isinstance(ip, IP) else ip.hlim) <= 1:
            return "ttl_expired"
        if ip.dst.startswith("fe80:") or ip.src.startswith("fe80:"):
            return "no_route"
        if ip.dst == "10.1.1.1":
            port, mac = 1, "02:00:00:00:00:aa"
        elif ip.dst.startswith("10.1.0."):
            port, mac = 2, PEER  # --eth-peer
        elif ip.dst.startswith("fd01::1:"):
            port, mac = 1, "02:00:00:00:00:bb"
        elif ip.dst.startswith("fd01:"):
            port, mac = 0, "02:00:00:00:00:00"  # testpmd's default
        else:
            return "no_route"
        packet.dst, packet.src = mac, own[port]
        if isinstance(ip, IP):
            ip.ttl -= 1
            del ip.chksum
        else:
            ip.hlim -= 1
        self.out[port].append(bytes(packet))
        return None


ROUTES = """
# what         to  next hop
10.1.0.0/16    0   02:00:00:00:00:cc  # less specific than the next two
10.1.1.1/32    1   02:00:00:00:00:aa

10.1.0.0/24    2
fd01::/16      0
fd01::1:0/112  1   02:00:00:00:00:bb
"""


def by_family(frames):
    return sorted(frames, key=lambda f: f[12:14])


def differing(out, expected):
    for i, (a, b) in enumerate(zip(out, expected)):
        if a != b:
            return f"frame {i}:\n{a.hex()} came\n{b.hex()} is right"
    return f"{len(out)} frames came, {len(expected)} are right"


netns.enter()
tap = netns.Tap()
where = tempfile.TemporaryDirectory()
path = lambda name: os.path.join(where.name, name)


def replay(frames, handler, *args):
    fwd.write_pcap(path("in"), frames)
    r = fwd.figures("--port", f"pcap:rx={path('in')},tx={path('out')}", "--handler", handler,
                    "--carriers", 1, "--packets", len(frames), *args)
    return r, fwd.read_pcap(path("out"))


WRONG_IP = [f[:24] + bytes([f[24] ^ 0x55]) + f[25:] if f[12:14] == b"\x08\x00" else f
            for f in CAPTURE]
KINDS = {
    "as captured": CAPTURE,
    "with a VLAN tag": tagged(CAPTURE, TAG),
    "with two": tagged(CAPTURE, OUTER_TAG + TAG),
    "with wrong IP checksums": WRONG_IP,
}

for handler in "burst", "coroutine":
    for kind, frames in KINDS.items():
        r, out = replay(frames, handler, "--mode", "5tswap")
        expected = [swapped(f) for f in frames]
        tap.ok(r.rc == 0 and out == expected, f"5tswap, {handler}: {kind}",
               f"{r}{differing(out, expected)}")

        r, out = replay(frames, handler, "--mode", "csum", "--eth-peer", f"0,{PEER}")
        own = out[0][6:12].hex(":") if out else ""
        expected = [recomputed(f, own) for f in frames]
        counted = r.json["counters"]["bad_ip_csum"], r.json["counters"]["bad_l4_csum"]
        tap.ok(r.rc == 0 and out == expected, f"csum, {handler}: {kind}",
               f"{r}{differing(out, expected)}")
        tap.ok(counted == bad(frames) and counted[1] > 30,
               f"csum, {handler}: {kind}: {counted[0]} and {counted[1]} were wrong",
               f"{counted}, but {bad(frames)}")

    r, out = replay(CAPTURE, handler, "--mode", "csum", "--csum-keep-macs")
    expected = [old[:12] + new[12:] for old, new in
                zip(CAPTURE, (recomputed(f, PEER) for f in CAPTURE))]
    tap.ok(r.rc == 0 and out == expected, f"csum, {handler}: --csum-keep-macs",
           f"{r}{differing(out, expected)}")

    with open(path("routes"), "w", encoding="ascii") as f:
        f.write(ROUTES)
    odd = [f[:22] + b"\x01" + f[23:] for f in CAPTURE[:9] if f[12:14] == b"\x08\x00"]
    for f in odd:  # with the right checksum
        del (p := Ether(f))[IP].chksum
        odd[odd.index(f)] = bytes(p)
    frames = CAPTURE + odd + tagged(CAPTURE[:3], TAG)
    r, out = replay(frames, handler, "--mode", "l3fwd", "--routes", path("routes"),
                    "--port", f"pcap:tx={path('out1')}", "--port", f"pcap:tx={path('out2')}",
                    "--eth-peer", f"2,{PEER}")
    outs = [out, fwd.read_pcap(path("out1")), fwd.read_pcap(path("out2"))]
    own = [o[0][6:12].hex(":") if o else PEER for o in outs]
    right = Routed(frames, own)
    for port in range(3):
        # A burst handler sends what is IPv4 before what is IPv6.
        out = by_family(outs[port])
        tap.ok(r.rc == 0 and out == by_family(right.out[port]) != [],
               f"l3fwd, {handler}: what leaves by port {port}",
               f"{r}{differing(out, by_family(right.out[port]))}")
    counted = {why: r.port(0)["dropped"].get(why, 0) for why in right.dropped}
    tap.ok(counted == right.dropped and counted["ttl_expired"] >= len(odd) > 0 and
           counted["unsupported"] > 0,
           f"l3fwd, {handler}: drops by reason", f"{counted}, but {right.dropped}")
tap.done()
