# SPDX-License-Identifier: BSD-3-Clause
"""Ports that need nothing from the kernel: null, ring, pcap files, and DPDK's own syntax.

Usage: port_memory.py PROBE
"""
import os
import struct
import sys
import tempfile

import tap
from probe import Error, Probe, flow, frame, refused

t = tap.Tap()


def capture(path, frames):
    with open(path, "wb") as f:
        f.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        for data in frames:
            f.write(struct.pack("<IIII", 1, 2, len(data), len(data)) + data)


def captured(path):
    with open(path, "rb") as f:
        data = f.read()
    frames, at = [], 24
    while at < len(data):
        size, = struct.unpack_from("<I", data, at + 8)
        frames.append(data[at + 16:at + 16 + size])
        at += 16 + size
    return frames


def null(probe):
    port = probe.open("null:size=100", 3).start()
    t.ok(port.queues == 3 and port.notice == "", "null: as many queues as wished", port.notice)
    total, queues = port.count(3000)
    t.ok(total == 3000 and all(queues), "null: each queue receives", queues)
    t.ok(len(port.recv()[0][0]) == 100, "null: packets of the size asked for")
    t.ok(port.send(frame()) == 1, "null: takes what is sent")
    port.close()
    port = probe.open("null:no-rx=1").start()
    t.ok(port.count(1, 0.05)[0] == 0, "null: no-rx=1 receives nothing")
    port.close()
    t.ok(probe.is_whole(), "null: the pool is whole", probe.pool())


def ring(probe):
    one, two = probe.open("ring:", 2).start(), probe.open("ring:named").start()
    t.ok(one.ids != two.ids, "ring: two of a kind are two", (one.ids, two.ids))
    t.ok(one.mac != bytes(6) and one.mac[0] & 1 == 0, "ring: has an address", one.mac.hex())
    one.send(frame(1), q=1)
    two.send(frame(2))
    t.ok(one.recv() == [(frame(1), 1)], "ring: what is sent on a queue comes back on it")
    t.ok(two.recv() == [(frame(2), 0)], "ring: and not on another port")
    one.send(frame(), q=0, n=900)
    t.ok(not probe.is_whole(), "ring: what was sent is out of the pool")
    one.close()
    two.close()
    t.ok(probe.is_whole(), "ring: and back after the close", probe.pool())
    port = probe.open("ring:", 20)
    t.ok(port.queues == 16 and "16 queues for 20 carriers" in port.notice,
         "ring: fewer queues than wished are told of", port.notice)
    port.close()


def pcap_twice(probe, directory, rx, tx):
    """A file being written belongs to one port, under each of its names."""
    soft, hard = os.path.join(directory, "soft"), os.path.join(directory, "hard")
    os.symlink(rx, soft)
    os.link(rx, hard)
    before = open(rx, "rb").read()
    for name in rx, soft, hard, f"{directory}/./in.pcap":
        e = refused(probe, f"pcap:rx={rx},tx={name}")
        t.ok("rx and tx are the same file" in e.line, f"pcap: its own input, {name[-7:]}", e)
    reader = probe.open(f"pcap:rx={rx}")
    same = probe.open(f"pcap:rx={hard},tx={tx}").start()
    same.send(frame())  # now it can be read, too
    for spec in f"tx={soft}", f"tx={hard}", f"tx={tx}", f"rx={tx}":
        e = refused(probe, f"pcap:{spec}")
        t.ok("of this program has the same file" in e.line, f"pcap: {spec[:3]} of another port", e)
    reader.close(), same.close()
    t.ok(open(rx, "rb").read() == before, "pcap: the input is as it was")
    one, two = probe.open("pcap:tx=/dev/null"), probe.open("pcap:tx=/dev/null")
    t.ok(True, "pcap: a device is shared")
    one.close(), two.close()


def pcap(probe, directory):
    rx, tx = os.path.join(directory, "in.pcap"), os.path.join(directory, "out.pcap")
    packets = [flow(n, 60 + 100 * n) for n in range(15)]
    capture(rx, packets)
    port = probe.open(f"pcap:rx={rx},tx={tx}", 2).start()
    t.ok(port.queues == 1 and "1 queue for 2 carriers" in port.notice, "pcap: one queue",
         port.notice)
    t.ok(port.nic == "", "pcap: nothing to be near", port.nic)
    t.ok([f for f, _ in port.recv(15)] == packets, "pcap: receives what is in the file")
    t.ok(port.count(1, 0.05)[0] == 0, "pcap: and at its end nothing")
    for n in range(5):
        port.send(frame(n))
    port.close()
    t.ok(captured(tx) == [frame(n) for n in range(5)], "pcap: writes what is sent")
    pcap_twice(probe, directory, rx, tx)
    port = probe.open(f"pcap:rx={rx},infinite_rx=1").start()
    t.ok(port.count(1000)[0] == 1000, "pcap: infinite_rx=1 begins again")
    t.ok(port.send(frame()) == 1, "pcap: takes packets without a file for them")
    port.close()
    port = probe.open(f"pcap:tx={tx}").start()
    t.ok(port.count(1, 0.05)[0] == 0, "pcap: receives nothing without a file")
    port.close()
    t.ok(probe.is_whole(), "pcap: the pool is whole", probe.pool())


def raw(probe):
    port = probe.open("net_null5,size=80", 2).start()
    t.ok(port.queues == 2 and len(port.recv()[0][0]) == 80, "raw: DPDK's own spelling")
    port.close()
    port = probe.open("net_ring_mine", 2).start()
    port.send(frame(), n=100)
    port.close()
    t.ok(probe.is_whole(), "raw: has the care of its kind", probe.pool())
    port = probe.open("net_null5").start()
    port.close()
    t.ok(probe.is_whole(), "raw: the name is free again", probe.pool())


def full(probe):
    ports, e = [], None
    while e is None and len(ports) < 60:
        try:
            ports.append(probe.open("null:"))
        except Error as error:
            e = error
    t.ok(e and f"DPDK has room for {len(ports)} devices, and all are taken" in e.line,
         "more ports than DPDK has room for", e)
    for port in ports:
        port.close()
    port = probe.open("null:")
    port.close()
    t.ok(probe.is_whole(), "closed ports make room")


probe = Probe(sys.argv[1])
null(probe)
ring(probe)
with tempfile.TemporaryDirectory() as d:
    pcap(probe, d)
raw(probe)
full(probe)
t.ok(probe.quit() == 0, "EAL ends")
t.done()
