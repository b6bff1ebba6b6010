# SPDX-License-Identifier: BSD-3-Clause
"""haul-fwd between interfaces of the kernel: frames in at one end, out at the other, none lost."""
import contextlib
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

def over_tap(how, common, carriers):
    with fwd.Running("--port", "tap:t0", "--mode", "macswap", *common) as haul:
        netns.wait_for(lambda: haul.runs() and netns.exists("t0"), "t0")
        netns.wait_up("t0")
        wire = netns.Raw("t0")
        check(how, haul, wire, wire, fwd.swapped(frames))
        wire.close()


@contextlib.contextmanager
def cables():
    """The far ends of v0 and w0."""
    netns.veth("v0", "v1")
    netns.veth("w0", "w1")
    with contextlib.closing(netns.Raw("v1")) as left, contextlib.closing(netns.Raw("w1")) as right:
        yield left, right
    netns.ip("link del v0")
    netns.ip("link del w0")


def over_afpacket(how, common, carriers):
    with cables() as (left, right), \
            fwd.Running("--port", "afpacket:v0", "--port", "afpacket:w0", *common) as haul:
        check(how, haul, left, right, frames)


def to_tap(how, common, carriers):
    with cables() as (left, _), \
            fwd.Running("--port", "afpacket:v0", "--port", "tap:t1", *common) as haul:
        netns.wait_for(lambda: haul.runs() and netns.exists("t1"), "t1")
        netns.wait_up("t1")
        wire = netns.Raw("t1")
        check(how, haul, left, wire, frames)
        wire.close()


def to_file(how, common, carriers):
    """With one queue for all carriers."""
    with cables() as (left, _), tempfile.TemporaryDirectory() as d:
        fwd.write_pcap(f"{d}/in", [])
        with fwd.Running("--port", "afpacket:v0", "--port", f"pcap:rx={d}/in,tx={d}/out",
                         *common) as haul:
            netns.wait_for(haul.runs, "haul-fwd to run")
            for f in frames:
                left.send(f)
            netns.wait_for(lambda: os.path.getsize(f"{d}/out") == whole or
                           haul.process.poll() is not None, "all frames in the file")
            result = haul.end()
        tap.ok(result.rc == 0 and sorted(fwd.read_pcap(f"{d}/out")) == sorted(frames),
               f"{how}: all frames", result)


def over_afxdp(how, common, carriers):
    netns.veth("x0", "x1", queues=carriers)
    wire = netns.Raw("x1")
    with fwd.Running("--port", "afxdp:x0", "--mode", "macswap", *common) as haul:
        check(how, haul, wire, wire, fwd.swapped(frames))
    wire.close()
    netns.ip("link del x0")


KINDS = [  # what it needs, its name, its test
    ("tap", "tap", over_tap), (None, "afpacket", over_afpacket),
    ("tap", "afpacket to tap", to_tap), (None, "afpacket to a file", to_file),
    ("afxdp", "afxdp", over_afxdp)]
for number, handler, (needs, kind, test) in netns.some((1, 2, cpus + 1), ("burst", "coroutine"),
                                                       KINDS):
    name = f"{kind}, {handler}, {number} carriers"
    if needs is None or netns.can_open(tap, needs, name):
        test(name, ("--handler", handler, "--carriers", number), number)
tap.done()
