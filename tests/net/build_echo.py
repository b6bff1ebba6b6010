# SPDX-License-Identifier: BSD-3-Clause
"""The kernel takes packets that were built by haul: datagrams and pings of all sizes over TAP, with
checksums by haul and by the PMD."""
import os
import socket
import sys

import netns
from echo import IP4, IP6, MINE4, MINE6, Echo, Ping, peer

t = netns.Tap()
program = os.path.abspath(sys.argv[1])
netns.enter()
netns.need("tap")
LARGEST = {socket.AF_INET: 1472, socket.AF_INET6: 1452}


def wrong_checksums():
    """Datagrams that the kernel has refused, of both versions."""
    with open("/proc/net/snmp") as f:
        names, values = [line.split() for line in f if line.startswith("Udp:")]
    with open("/proc/net/snmp6") as f:
        six = dict(line.split() for line in f)
    return int(values[names.index("InCsumErrors")]) + int(six["Udp6InCsumErrors"])


def datagrams(family, address, mine):
    """The first that does not come back as it was; None: there is none."""
    with socket.socket(family, socket.SOCK_DGRAM) as s:
        s.settimeout(60)
        s.bind((mine, 0))
        s.connect((address, 7))
        for size in [*range(200), *range(200, LARGEST[family], 37), LARGEST[family]]:
            sent = os.urandom(size) if size % 2 else bytes(size)
            s.send(sent)
            if s.recv(2048) != sent:
                return size
    return None


for args in [], ["--offload"]:
    by = "the PMD's" if args else "haul's"
    with Echo(program, "--port", "tap:t0", *args) as e:
        peer("t0")
        before = wrong_checksums()
        for name, family, address, mine in (("IPv4", socket.AF_INET, IP4, MINE4),
                                            ("IPv6", socket.AF_INET6, IP6, MINE6)):
            bad = datagrams(family, address, mine)
            t.ok(bad is None, f"{name}: datagrams with {by} checksums", bad)
            p = Ping(address, 20, 1000, "-i", "0.01", "-W", "60")
            t.ok(p.lossless(), f"{name}: pings with {by} checksums", p.line)
        t.ok(wrong_checksums() == before, f"no wrong checksum among {by}")
        code, figures = e.stop()
    t.ok(code == 0 and figures["counters"]["built"] > 500, "each answer was a new packet", figures)
t.done()
