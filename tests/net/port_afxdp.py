# SPDX-License-Identifier: BSD-3-Clause
"""AF_XDP ports on veth: a queue each, and every packet buffer is returned in every case.

Usage: port_afxdp.py PROBE
"""
import os
import subprocess
import sys
import threading

import netns
import tap
from probe import Error, Probe, flow, frame, refused

FLOWS = 2000
AT_ONCE = 100

t = tap.Tap()
program = os.path.abspath(sys.argv[1])
netns.enter()
netns.need("afxdp")
netns.veth("v0", "v1", queues=2)


def frames(probe, wire):
    port = probe.open("afxdp:v0", 2).start()
    t.ok(port.queues == 2 and len(set(i.split(".")[0] for i in port.ids)) == 2,
         "two queues, each a device of DPDK's", port.ids)
    t.ok(port.notice == "" and port.mac == netns.mac("v0"), "the interface's address", port.notice)
    wire.send(frame(1))
    t.ok([f for f, _ in port.recv()] == [frame(1)], "a frame comes in")
    ok = True
    for q in 0, 1:
        port.send(frame(2 + q), q)
        ok &= wire.recv() == frame(2 + q)
    t.ok(ok, "a frame goes out from each queue")
    for size in 60, 1514:
        wire.send(frame(9, size))
        t.ok([f for f, _ in port.recv()] == [frame(9, size)], f"a frame of {size} bytes")
    got = [0, 0]
    for i in range(0, FLOWS, AT_ONCE):
        for k in range(AT_ONCE):
            wire.send(flow(i + k))
        _, queues = port.count(AT_ONCE)
        got = [a + b for a, b in zip(got, queues)]
    t.ok(sum(got) == FLOWS and all(got), f"{FLOWS} flows: none lost, spread over the queues", got)
    taken = port.send(frame(5), n=3000)
    came = 0
    while came < taken and wire.recv() == frame(5):
        came += 1
    t.ok(taken == came == 3000, "3,000 frames out, more than the ring holds", (taken, came))
    t.ok(not probe.is_whole(), "the kernel has packet buffers", probe.pool())
    e = refused(probe, "afxdp:v0")
    t.ok("port 'afxdp:v0' of this program is on v0" in e.line, "the same interface again", e)
    port.close()
    t.ok(probe.is_whole(), "and has given them back", probe.pool())


def unread(probe, wire):
    """More frames than the rings hold, without a receiver."""
    port = probe.open("afxdp:v0", 2).start()
    for n in range(6000):
        wire.send(flow(n))
    port.send(frame(), n=50)
    port.close()
    t.ok(probe.is_whole(), "closed with full rings: the pool is whole", probe.pool())


def under_fire(probe, wire):
    """A port closed while packets arrive."""
    stop = threading.Event()

    def fire():
        n = 0
        while not stop.is_set():
            wire.send(flow(n % 5000))
            n += 1

    thread = threading.Thread(target=fire)
    thread.start()
    ok = True
    for rings in 2, 1, 2, 2, 1, 2, 1, 2:
        port = probe.open("afxdp:v0", rings).start()
        received, _ = port.count(500)
        port.close()
        ok &= received == 500 and probe.is_whole()
    stop.set()
    thread.join()
    t.ok(ok, "opened and closed eight times while packets come in: the pool is whole",
         probe.pool())


def fewer(probe):
    port = probe.open("afxdp:v0", 1)
    t.ok(port.queues == 1 and
         "packets of 1 go to the kernel; ethtool -L v0 rx 1 tx 1" in port.notice,
         "fewer carriers than queues", port.notice)
    port.close()
    port = probe.open("afxdp:v0", 5)
    t.ok(port.queues == 2 and "2 queues for 5 carriers" in port.notice, "more carriers than queues",
         port.notice)
    port.close()


def not_ready(probe):
    netns.ip("link set v1 down")
    e = refused(probe, "afxdp:v0")
    t.ok("the other end of v0 is down; ip link set v1 up" in e.line, "the other end is down", e)
    netns.ip("link set v1 up")
    subprocess.run(["ethtool", "-K", "v1", "tx", "on"], check=True, stdout=subprocess.DEVNULL)
    port = probe.open("afxdp:v0", 2)
    notice = port.notice
    port.close()
    at = notice.find("ethtool -K v1 tx off")
    t.ok(at > 0, "offloads: a notice with the remedy", notice)
    subprocess.run(notice[at:].split(";")[0], shell=True, check=True, stdout=subprocess.DEVNULL)
    port = probe.open("afxdp:v0", 2)
    t.ok(port.notice == "", "the remedy helps", port.notice)
    port.close()


def other_program():
    wire = netns.Raw("v1")
    one, two = Probe(program), Probe(program)
    one.open("afxdp:v0,start_queue=0").start()
    e = refused(two, "afxdp:v0")
    t.ok("another program has queues of v0, or left its XDP program there" in e.line,
         "a queue of another program", e)
    one.kill()
    two.kill()
    three = Probe(program)
    port = three.open("afxdp:v0", 2).start()
    wire.send(frame(1))
    t.ok([f for f, _ in port.recv()] == [frame(1)], "after a program that was killed")
    port.close()
    t.ok(three.is_whole() and three.quit() == 0, "after a program that was killed: EAL ends")


def raw():
    """DPDK's own syntax, without a wait until the queue is free."""
    probe = Probe(program)
    netns.veth("v2", "v3")
    other = netns.Raw("v3")
    port = probe.open("net_af_xdp_mine,iface=v2,busy_budget=0").start()
    other.send(frame(4))
    t.ok([f for f, _ in port.recv()] == [frame(4)], "DPDK's own spelling")
    port.close()
    t.ok(probe.is_whole() and probe.quit() == 0, "DPDK's own spelling: the pool is whole")


def small_pool():
    probe = Probe(program, mbufs=1500)
    e = refused(probe, "afxdp:v0")
    t.ok("the packet pool of 1500 is too small" in e.line, "a small pool", e)
    probe.kill()


def trouble(probe):
    port = probe.open("afxdp:v0", 2).start()
    netns.ip("link set v0 down")
    t.ok("the interface v0 went down" in port.fault(), "down: the fault says so", port.fault())
    port.send(frame(), n=100)
    port.close()
    t.ok(probe.is_whole(), "down: the pool is whole", probe.pool())
    netns.ip("link set v0 up")
    netns.wait_up("v0")
    port = probe.open("afxdp:v0", 2).start()
    t.ok(port.fault() == "", "no fault while all is well", port.fault())
    netns.ip("link set v0 xdp off")
    t.ok("the XDP program of v0 was removed" in port.fault(), "no program: the fault says so",
         port.fault())
    port.close()
    t.ok(probe.is_whole(), "no program: the pool is whole", probe.pool())
    port = probe.open("afxdp:v0", 2).start()
    netns.ip("link del v0")
    t.ok("the interface v0 is gone" in port.fault(), "deleted: the fault says so", port.fault())
    port.send(frame(), n=100)
    t.ok(port.count(1, 0.05)[0] == 0, "deleted: nothing hangs")
    port.close()
    t.ok(probe.is_whole(), "deleted: the pool is whole", probe.pool())


probe = Probe(program)
try:
    probe.open("afxdp:v0").close()
except Error as e:
    netns.skip_all(e.line)
wire = netns.Raw("v1")
frames(probe, wire)
unread(probe, wire)
under_fire(probe, wire)
fewer(probe)
not_ready(probe)
other_program()
raw()
small_pool()
trouble(probe)
t.ok(probe.quit() == 0, "EAL ends")
t.done()
