# SPDX-License-Identifier: BSD-3-Clause
"""haul-fwd between interfaces of the kernel: frames in at one end, out at the other, none lost."""
import os
import socket
import subprocess
import tempfile

import netns

import fwd

COUNT = 300
WINDOW = 16  # packets under way at once: below the capacity of each queue

netns.enter()
tap = netns.Tap()
cpus = len(os.sched_getaffinity(0))
frames = [fwd.frame(i) for i in range(COUNT)]
whole = 24 + sum(16 + len(f) for f in frames)  # of a capture file


def check(name, haul, out, back, expected):
    netns.wait_for(haul.runs, "haul-fwd to run")
    got = fwd.exchange(frames, out, back, WINDOW) if haul.process.poll() is None else []
    r = haul.end()
    tap.ok(sorted(got) == sorted(expected), f"{name}: all frames, unharmed",
           f"{len(got)} of {len(expected)}\n{r}")
    tap.ok(r.rc == 0 and r.json and r.dropped() == 0 and r.total("rx_packets") == COUNT and
           r.total("tx_packets") == COUNT and r.total("rx_bytes") == sum(map(len, frames)),
           f"{name}: the figures say so, books and pool are whole", r)


# Its own packet sockets are told from any number of inherited descriptors.
netns.veth("v0", "v1")
inherited = [socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) for _ in range(200)]
r = subprocess.run([fwd.FWD, "--port", "afpacket:v0", "--poller", "block", "--duration", "0.5"],
                   pass_fds=[s.fileno() for s in inherited], stdin=subprocess.DEVNULL,
                   capture_output=True, text=True)
tap.ok(r.returncode == 0, "block with 200 packet sockets more", r.stderr)
for s in inherited:
    s.close()
netns.ip("link del v0")

for carriers in 1, 2, cpus + 1:
    for handler in "burst", "coroutine":
        how = f"{handler}, {carriers} carriers"
        common = "--handler", handler, "--carriers", carriers

        if netns.can_open(tap, "tap", f"tap, {how}"):
            with fwd.Running("--port", "tap:t0", "--mode", "macswap", *common) as haul:
                netns.wait_for(lambda: haul.runs() and netns.exists("t0"), "t0")
                netns.wait_up("t0")
                wire = netns.Raw("t0")
                check(f"tap, {how}", haul, wire, wire, fwd.swapped(frames))
                wire.close()

        netns.veth("v0", "v1")
        netns.veth("w0", "w1")
        left, right = netns.Raw("v1"), netns.Raw("w1")
        with fwd.Running("--port", "afpacket:v0", "--port", "afpacket:w0", *common) as haul:
            check(f"afpacket, {how}", haul, left, right, frames)
        if netns.can_open(tap, "tap", f"afpacket to tap, {how}"):
            with fwd.Running("--port", "afpacket:v0", "--port", "tap:t1", *common) as haul:
                netns.wait_for(lambda: haul.runs() and netns.exists("t1"), "t1")
                netns.wait_up("t1")
                wire = netns.Raw("t1")
                check(f"afpacket to tap, {how}", haul, left, wire, frames)
                wire.close()
        if handler == "burst":  # with one queue for all carriers
            with tempfile.TemporaryDirectory() as d:
                fwd.write_pcap(f"{d}/in", [])
                with fwd.Running("--port", "afpacket:v0", "--port",
                                 f"pcap:rx={d}/in,tx={d}/out", *common) as haul:
                    netns.wait_for(haul.runs, "haul-fwd to run")
                    for f in frames:
                        left.send(f)
                    netns.wait_for(lambda: os.path.getsize(f"{d}/out") == whole or
                                   haul.process.poll() is not None, "all frames in the file")
                    r = haul.end()
                tap.ok(r.rc == 0 and sorted(fwd.read_pcap(f"{d}/out")) == sorted(frames),
                       f"afpacket to a file, {how}: all frames", r)
        left.close()
        right.close()
        netns.ip("link del v0")
        netns.ip("link del w0")

        if netns.can_open(tap, "afxdp", f"afxdp, {how}"):
            netns.veth("x0", "x1", queues=carriers)
            wire = netns.Raw("x1")
            with fwd.Running("--port", "afxdp:x0", "--mode", "macswap", *common) as haul:
                check(f"afxdp, {how}", haul, wire, wire, fwd.swapped(frames))
            wire.close()
            netns.ip("link del x0")
tap.done()
