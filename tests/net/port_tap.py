# SPDX-License-Identifier: BSD-3-Clause
"""TAP ports and the kernel: frames both ways on every queue, and the interface's life.

Usage: port_tap.py PROBE [user]; user: as an unprivileged user in a user namespace.
"""
import os
import subprocess
import sys

import netns
import tap
from probe import Probe, flow, frame, refused

FLOWS = 2000
AT_ONCE = 50  # below the capacity of the interface's queue
PROMISCUOUS = 0x100  # IFF_PROMISC

t = tap.Tap()
program = os.path.abspath(sys.argv[1])
netns.enter(as_user="user" in sys.argv)
if not os.access(program, os.X_OK):
    netns.skip_all(f"this user may not run {program}")
netns.need("tap")


def from_kernel(port, wire, n):
    """Sends n flows into the interface; returns the number received on each queue."""
    queues = [0] * port.queues
    for i in range(0, n, AT_ONCE):
        for k in range(AT_ONCE):
            wire.send(flow(i + k))
        _, got = port.count(AT_ONCE)
        queues = [a + b for a, b in zip(queues, got)]
    return queues


def frames(probe):
    port = probe.open("tap:t0", 2).start()
    netns.wait_up("t0")
    wire = netns.Raw("t0")
    t.ok(port.queues == 2 and port.notice == "", "two queues", port.notice)
    t.ok(port.nic == "t0", "the name to be near", port.nic)
    t.ok(port.mac != netns.mac("t0") and port.mac[0] & 3 == 2,
         "haul's end has an address of its own", port.mac.hex())
    wire.send(frame(1))
    t.ok([f for f, _ in port.recv()] == [frame(1)], "a frame from the kernel")
    # Since DPDK 26.03 the PMD drops what is not for the kernel's address, unless promiscuous.
    to = [address + frame(1)[6:] for address in (port.mac, b"\2\0\0\0\0\7", b"\3\0\0\0\0\7")]
    for f in to:
        wire.send(f)
    t.ok(sorted(f for f, _ in port.recv(3)) == sorted(to) and netns.flags("t0") & PROMISCUOUS,
         "frames to haul's end, to another host, to a group", hex(netns.flags("t0")))
    ok = True
    for q in 0, 1:
        port.send(frame(2 + q), q)
        ok &= wire.recv() == frame(2 + q)
    t.ok(ok, "a frame to the kernel from each queue")
    big = frame(9, 1514)
    wire.send(big)
    t.ok([f for f, _ in port.recv()] == [big], "a frame as large as the MTU allows")
    queues = from_kernel(port, wire, FLOWS)
    t.ok(sum(queues) == FLOWS and all(queues), f"{FLOWS} flows: none lost, spread by the kernel",
         queues)
    e = refused(probe, "tap:t0")
    t.ok("port 'tap:t0' of this program is on t0" in e.line, "the same name again", e)
    return port


def other_program():
    other = Probe(program)
    e = refused(other, "tap:t0")
    t.ok("interface t0 is in use" in e.line, "the same name in another program", e)
    port = other.open("tap:t1").start()
    t.ok(port.send(frame()) == 1, "another name in another program")
    other.kill()
    netns.wait_for(lambda: not netns.exists("t1"), "t1 to go with its program")
    t.ok(True, "an interface goes with its program")


def trouble(probe, port):
    t.ok(port.fault() == "", "no fault while all is well", port.fault())
    netns.ip("link set t0 down")
    t.ok("the interface t0 went down; ip link set t0 up" in port.fault(), "down: the fault says so",
         port.fault())
    port.close()
    t.ok(not netns.exists("t0") and probe.is_whole(), "down: closed", probe.pool())
    port = probe.open("tap:t0,mac=02:00:00:00:00:10", 2).start()
    t.ok(netns.mac("t0")[-1] == 0x10 and port.mac[-1] == 0x11, "mac= is the kernel's end")
    netns.ip("link del t0")
    t.ok("the interface t0 is gone" in port.fault(), "deleted: the fault says so", port.fault())
    netns.ip("tuntap add t0 mode tap")
    t.ok("the interface t0 is gone" in port.fault(), "deleted: another of that name is not it")
    netns.ip("link del t0")
    t.ok(port.count(1, 0.05)[0] == 0 and port.send(frame()) == 0, "deleted: nothing moves")
    port.close()
    t.ok(probe.is_whole(), "deleted: the pool is whole", probe.pool())


def prepared(probe):
    """An interface made beforehand, as root does for users, remains."""
    netns.ip("tuntap add t2 mode tap multi_queue")
    port = probe.open("tap:t2").start()
    port.send(frame())
    port.close()
    t.ok(netns.exists("t2"), "one that was there before stays")
    netns.ip("tuntap add t3 mode tap")
    e = refused(probe, "tap:t3")
    t.ok("no TAP with several queues" in e.line, "one of a single queue", e)


def many(probe):
    port = probe.open("tap:t4", 20)
    # Of DPDK 22.11, 24.11, and 26.07, which has up to 64.
    t.ok(port.queues in (4, 16) and f"{port.queues} queues for 20 carriers" in port.notice or
         port.queues == 20 and port.notice == "", "4 queues at most, more with a newer DPDK",
         (port.queues, port.notice))
    port.start()
    port.close()
    ports = [probe.open(f"tap:m{n}").start() for n in range(3)]
    wires = [netns.Raw(f"m{n}") for n in range(3)]
    for n, wire in enumerate(wires):
        wire.send(frame(n))
    t.ok([p.recv()[0][0] for p in ports] == [frame(n) for n in range(3)], "three ports at once")
    for port in ports:
        port.close()


probe = Probe(program, mem_mb=128)
port = frames(probe)
other_program()
trouble(probe, port)
prepared(probe)
many(probe)
t.ok(probe.is_whole(), "the pool is whole", probe.pool())
t.ok(probe.quit() == 0, "EAL ends")
left = subprocess.run(["ip", "-br", "link"], stdout=subprocess.PIPE, text=True).stdout.split()
t.ok("t0" not in left and "m0" not in left, "no interface is left", left)
t.done()
