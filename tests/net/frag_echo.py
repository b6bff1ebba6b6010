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


def udp(t, family, address, mine, name):
    bad = [size for size in SIZES if not comes_back(family, address, mine, size)]
    t.ok(not bad, f"{name}: datagrams of {len(SIZES)} sizes come back", bad)


def pings(t, address, name):
    for size in 3000, 60000:
        p = Ping(address, 20, size, "-i", "0.01", "-W", "60")
        t.ok(p.lossless(), f"{name}: pings of {size} bytes", p.line)


def ones(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    total = (total & 0xffff) + (total >> 16)
    return 0xffff - ((total & 0xffff) + (total >> 16))


def fragment(macs, ident, at, more, data):
    """An IPv4 fragment of a datagram from MINE4."""
    def header(checksum):
        return struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(data), ident, more << 13 | at // 8,
                           64, 17, checksum, socket.inet_aton(MINE4), socket.inet_aton(IP4))
    return macs + b"\x08\x00" + header(ones(header(0))) + data


def in_any_order(t, raw, macs, name):
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
                raw.send(fragment(macs, ident, at, at + 8 < len(whole), part))
            try:
                ok &= s.recv(65536) == data
            except TimeoutError:
                ok = False
        t.ok(ok, f"{name}fragments of 8 bytes in any order")


def all_sizes(t, e, iface, name="", forged=3000):
    """Over the interface, to the program e. forged: first fragments without a second one."""
    macs, ok = e.mac() + netns.mac(iface), True
    raw = netns.Raw(iface)
    udp(t, socket.AF_INET, IP4, MINE4, f"{name}IPv4")
    udp(t, socket.AF_INET6, IP6, MINE6, f"{name}IPv6")
    pings(t, IP4, f"{name}IPv4")
    pings(t, IP6, f"{name}IPv6")
    in_any_order(t, raw, macs, name)
    # No more than 16 packets of this source wait. Few at a time, or TAP's queue is full.
    for ident in range(forged):
        raw.send(fragment(macs, ident, 0, True, bytes(1400)))
        if ident % AT_ONCE == 0:
            ok &= comes_back(socket.AF_INET, IP4, MINE4, 3000)
    t.ok(ok and comes_back(socket.AF_INET6, IP6, MINE6, 30000),
         f"{name}datagrams amid forged fragments")
    raw.close()
    code, figures = e.stop()
    t.ok(code == 0, f"{name}no buffer is missing at the end", e.stderr())
    t.ok(figures and dropped(figures, "malformed") == 0, f"{name}none was malformed", figures)


def main():
    program = os.path.abspath(sys.argv[1])
    netns.enter()
    netns.need("tap")
    t = netns.Tap()
    with Echo(program, "--port", "tap:t0") as e:
        peer("t0")
        all_sizes(t, e, "t0")
    t.done()


if __name__ == "__main__":
    main()
