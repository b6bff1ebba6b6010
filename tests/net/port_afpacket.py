# SPDX-License-Identifier: BSD-3-Clause
"""Packet socket ports: an interface shared with the kernel, a socket per queue.

Usage: port_afpacket.py PROBE [user]; user: as an unprivileged user in a user namespace.
"""
import os
import subprocess
import sys

import netns
import tap
from probe import Probe, flow, frame, refused

FLOWS = 2000
AT_ONCE = 100  # below a ring's capacity

t = tap.Tap()
program = os.path.abspath(sys.argv[1])
netns.enter(as_user="user" in sys.argv)
if not os.access(program, os.X_OK):
    netns.skip_all(f"this user may not run {program}")
netns.veth("v0", "v1")


def frames(probe):
    port = probe.open("afpacket:v0", 2).start()
    wire = netns.Raw("v1")
    t.ok(port.queues == 2 and port.notice == "", "a queue per carrier", port.notice)
    t.ok(port.mac == netns.mac("v0"), "the interface's address", port.mac.hex())
    wire.send(frame(1))
    t.ok([f for f, _ in port.recv()] == [frame(1)], "a frame comes in")
    ok = True
    for q in 0, 1:
        port.send(frame(2 + q), q)
        ok &= wire.recv() == frame(2 + q)
    t.ok(ok, "a frame goes out from each queue")
    big = frame(9, 1514)
    wire.send(big)
    t.ok([f for f, _ in port.recv()] == [big], "a frame as large as the MTU allows")
    got = [0, 0]
    for i in range(0, FLOWS, AT_ONCE):
        for k in range(AT_ONCE):
            wire.send(flow(i + k))
        _, queues = port.count(AT_ONCE)
        got = [a + b for a, b in zip(got, queues)]
    t.ok(sum(got) == FLOWS and all(got), f"{FLOWS} flows: none lost, spread over the queues", got)
    taken = port.send(frame(5), n=2000)
    came = 0
    while came < taken and wire.recv() == frame(5):
        came += 1
    t.ok(taken == came == 2000, "2,000 frames out, faster than the ring", (taken, came))
    e = refused(probe, "afpacket:v0")
    t.ok("port 'afpacket:v0' of this program is on v0" in e.line, "the same interface again", e)
    port.close()
    t.ok(probe.is_whole(), "the pool is whole", probe.pool())


def promiscuous(probe):
    before = netns.flags("v0") & 0x100
    port = probe.open("afpacket:v0").start()
    during = netns.flags("v0") & 0x100
    port.close()
    t.ok(not before and during and not netns.flags("v0") & 0x100, "promiscuous while it is open")


def offloads(probe):
    subprocess.run(["ethtool", "-K", "v1", "tx", "on"], check=True, stdout=subprocess.DEVNULL)
    port = probe.open("afpacket:v0")
    notice = port.notice
    port.close()
    at = notice.find("ethtool -K v1 tx off")
    t.ok(at > 0, "offloads at the other end: a notice with the remedy", notice)
    subprocess.run(notice[at:].split(";")[0], shell=True, check=True, stdout=subprocess.DEVNULL)
    port = probe.open("afpacket:v0")
    t.ok(port.notice == "", "the remedy helps", port.notice)
    port.close()


def jumbo(probe):
    netns.ip("link set v0 mtu 9000")
    port = probe.open("afpacket:v0")
    t.ok("MTU 9000: frames of up to 1981 bytes are received and of up to 2016 sent" in port.notice,
         "an MTU that is too large for the buffers", port.notice)
    port.close()
    netns.ip("link set v0 mtu 1500")


def trouble(probe):
    port = probe.open("afpacket:v0,framecnt=64", 2).start()
    netns.ip("link set v0 down")
    t.ok("the interface v0 went down" in port.fault(), "down: the fault says so", port.fault())
    port.send(frame(), n=100)
    t.ok(port.count(1, 0.05)[0] == 0, "down: nothing hangs")
    port.close()
    netns.ip("link set v0 up")
    port = probe.open("afpacket:v0", 2).start()
    netns.ip("link del v0")
    t.ok("the interface v0 is gone" in port.fault(), "deleted: the fault says so", port.fault())
    port.send(frame(), n=100)
    t.ok(port.count(1, 0.05)[0] == 0, "deleted: nothing hangs")
    port.close()
    t.ok(probe.is_whole(), "deleted: the pool is whole", probe.pool())


probe = Probe(program, mem_mb=128)
frames(probe)
promiscuous(probe)
offloads(probe)
jumbo(probe)
trouble(probe)
t.ok(probe.quit() == 0, "EAL ends")
t.done()
