# SPDX-License-Identifier: BSD-3-Clause
"""TAP's PMD reads after a signal only: packets are received also where signals get lost, where its
count of them repeats, and after a shortage of packet buffers."""
import contextlib
import os
import re
import resource
import signal
import socket
import struct
import sys

import netns
import tap
import wait
from echo import IP4, MINE4, Echo
from probe import Probe, frame
from wait import Link, ask

PROBE, ECHO = map(os.path.abspath, sys.argv[1:3])
REQUESTS = 40
REPEATS = 10
FRAMES = 10

t = tap.Tap()


@contextlib.contextmanager
def inherited(action):
    """What programs do on SIGIO that are started now."""
    before = signal.signal(signal.SIGIO, action)
    try:
        yield
    finally:
        signal.signal(signal.SIGIO, before)


def overflow(poller, action, what):
    """The kernel can queue no signal: it sends SIGIO, which a program may ignore."""
    with Link("tap") as link, inherited(action), \
            Echo(ECHO, "--port", link.port, "--carriers", 2, "--poller", poller) as e:
        link.up(e)
        before = ask(REQUESTS)
        resource.prlimit(e.process.pid, resource.RLIMIT_SIGPENDING, (0, 0))
        answered = ask(REQUESTS)
        t.ok(before == answered == REQUESTS and not e.ended(),
             f"{poller}, no signal can be queued, {what}: {REQUESTS} requests answered",
             (before, answered, e.process.returncode, e.stderr()))
        t.ok(not e.ended() and e.stop()[0] == 0, f"{poller}, {what}: clean end", e.stderr())


# v = count; v + 1 | 1 << 31; count = v. As compilers for x86-64 write it.
ADDS = re.compile(rb"\x8b\x05(.{4})\x83\xc0\x01\x0d\0\0\0\x80\x89\x05", re.S)


def count_at(pid):
    """The address of the PMD's count; None where its code looks different."""
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb") as mem:
        for line in maps:
            fields = line.split()
            if len(fields) < 6 or "net_tap" not in fields[5] or "x" not in fields[1]:
                continue
            first, end = (int(n, 16) for n in fields[0].split("-"))
            mem.seek(first)
            found = ADDS.search(mem.read(end - first))
            if found:
                return first + found.start() + 6 + struct.unpack("<i", found[1])[0]
    return None


def stands(pid):
    """True if all threads are stopped."""
    for tid in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{tid}/stat") as f:
            if f.read().rsplit(")", 1)[1].split()[0] != "T":
                return False
    return True


def store_old(pid, at):
    """What a thread does to the others that lost its CPU amid the addition."""
    with open(f"/proc/{pid}/mem", "r+b", buffering=0) as mem:
        mem.seek(at)
        count, = struct.unpack("<I", mem.read(4))
        mem.seek(at)
        mem.write(struct.pack("<I", count - 1))


def repeats():
    """Each request's signal leads to the count that the queue's poller has seen last."""
    with Link("tap") as link, \
            Echo(ECHO, "--port", link.port, "--carriers", 2, "--poller", "spin") as e:
        link.up(e)
        ask(1)
        pid, at = e.process.pid, count_at(e.process.pid)
        if at is None:
            t.skip("the count repeats", "the PMD's code is of another compiler")
            return
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.bind((MINE4, 0))
            s.settimeout(wait.LOST)
            answered = 0
            for n in range(REPEATS):
                os.kill(pid, signal.SIGSTOP)
                netns.wait_for(lambda: stands(pid), "the program to stop")
                store_old(pid, at)
                s.sendto(bytes([n]), (IP4, 7))
                os.kill(pid, signal.SIGCONT)
                try:
                    answered += s.recv(64) == bytes([n])
                except TimeoutError:
                    break
        t.ok(answered == REPEATS, f"the count repeats: {REPEATS} requests answered", answered)


def shortage():
    """A poll without a buffer loses its packet, and none of those behind."""
    probe = Probe(PROBE, mbufs=512)
    ring, port = probe.open("ring:").start(), probe.open("tap:t0").start()
    netns.wait_up("t0")
    wire = netns.Raw("t0")
    wire.send(frame())
    t.ok(port.count(1)[0] == 1, "a frame")
    buffers, _ = probe.pool()
    t.ok(ring.send(frame(), 0, buffers) == buffers and probe.pool()[0] == 0, "no buffer is left",
         buffers)
    for _ in range(FRAMES):
        wire.send(frame())
    t.ok(port.count(FRAMES, 0.3)[0] == 0, "nothing is received without buffers")
    t.ok(ring.count(buffers)[0] == buffers, "the buffers are back", buffers)
    got, _ = port.count(FRAMES - 1)
    t.ok(got == FRAMES - 1, f"{FRAMES - 1} frames that waited for buffers", got)
    port.close()
    ring.close()
    t.ok(probe.is_whole() and probe.quit() == 0, "clean end")


netns.enter()
netns.need("tap")
for poller in wait.POLLERS:
    overflow(poller, signal.SIG_DFL, "SIGIO as it is")
    overflow(poller, signal.SIG_IGN, "SIGIO ignored")
repeats()
shortage()
t.done()
