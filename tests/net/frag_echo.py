# SPDX-License-Identifier: BSD-3-Clause
"""Fragments of the kernel become whole, and the kernel makes packets whole of ours: datagrams and
pings of all sizes over TAP, also in a wrong order; a flood of first fragments does no harm."""
import os
import random
import socket
import struct
import sys

import netns
from echo import IP4, IP6, MINE4, MINE6, Echo, Ping, dropped, peer

t = netns.Tap()
program = os.path.abspath(sys.argv[1])
netns.enter()
netns.need("tap")
AT_ONCE = 50
SIZES = (0, 1472, 1473, 1452, 1453, 2960, 2961, 8000, 9001, 20000, 40000, 65000)


def comes_back(family, address, mine, size):
    with socket.socket(family, socket.SOCK_DGRAM) as s:
        s.settimeout(60)
        s.bind((mine, 0))
        s.connect((address, 7))
        sent = os.urandom(size)
        s.send(sent)
        try:
            return s.recv(65536) == sent
        except TimeoutError:
            return False


def udp(family, address, mine, name):
    bad = [size for size in SIZES if not comes_back(family, address, mine, size)]
    t.ok(not bad, f"{name}: datagrams of {len(SIZES)} sizes come back", bad)


def pings(address, name):
    for size in 3000, 60000:
        p = Ping(address, 20, size, "-i", "0.01", "-W", "60")
        t.ok(p.lossless(), f"{name}: pings of {size} bytes", p.line)


def ones(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    total = (total & 0xffff) + (total >> 16)
    return 0xffff - ((total & 0xffff) + (total >> 16))


def fragment(mac, ident, at, more, data):
    """An IPv4 fragment of a datagram from MINE4."""
    def header(checksum):
        return struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(data), ident, more << 13 | at // 8,
                           64, 17, checksum, socket.inet_aton(MINE4), socket.inet_aton(IP4))
    return mac + netns.mac("t0") + b"\x08\x00" + header(ones(header(0))) + data


def in_any_order(raw, mac):
    """Small fragments, which the kernel would not make, backwards and shuffled."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.settimeout(60)
        s.bind((MINE4, 0))
        ok = True
        for ident in range(20):
            data = os.urandom(40 * 8)
            udp_header = struct.pack("!HHHH", s.getsockname()[1], 7, 8 + len(data), 0)
            whole = udp_header + data
            parts = [(at, whole[at:at + 8]) for at in range(0, len(whole), 8)]
            if ident % 2:
                random.Random(ident).shuffle(parts)
            else:
                parts.reverse()
            for at, part in parts:
                raw.send(fragment(mac, ident, at, at + 8 < len(whole), part))
            try:
                ok &= s.recv(65536) == data
            except TimeoutError:
                ok = False
        t.ok(ok, "fragments of 8 bytes in any order")


def main():
    with Echo(program, "--port", "tap:t0") as e:
        peer("t0")
        mac, ok = e.mac(), True
        raw = netns.Raw("t0")
        udp(socket.AF_INET, IP4, MINE4, "IPv4")
        udp(socket.AF_INET6, IP6, MINE6, "IPv6")
        pings(IP4, "IPv4")
        pings(IP6, "IPv6")
        in_any_order(raw, mac)
        # No more than 16 packets of this source wait. Few at a time, or TAP's queue is full.
        for ident in range(3000):
            raw.send(fragment(mac, ident, 0, True, bytes(1400)))
            if ident % AT_ONCE == 0:
                ok &= comes_back(socket.AF_INET, IP4, MINE4, 3000)
        t.ok(ok and comes_back(socket.AF_INET6, IP6, MINE6, 30000),
             "datagrams amid forged fragments")
        code, figures = e.stop()
    t.ok(code == 0, "no buffer is missing at the end", e.stderr())
    t.ok(figures and dropped(figures, "malformed") == 0, "none was malformed", figures)
    t.done()


main()
