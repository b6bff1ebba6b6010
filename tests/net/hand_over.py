#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""--hand-over: a program takes the ports of the one that runs, under a steady load: no packet is
lost, answered twice or overtaken. Programs that end before, or want something else."""
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

import netns

ECHO, STEADY = sys.argv[1:3]
IP = "10.77.0.1"
SEED = int(os.environ.get("HAUL_SEED", random.randrange(1 << 32)))
RATE = 2000  # packets a second: a busy machine handles them, too


class Echo:
    def __init__(self, d, port, carriers, *more, poller="block"):
        self.log = open(os.path.join(d, f"log{time.monotonic_ns()}"), "w+")
        self.process = subprocess.Popen(
            [ECHO, "--port", port, "--ip", f"{IP}/24", "--carriers", str(carriers), "--poller",
             poller, "--period", "0", "--hand-over", f"{d}/socket", *more],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self.log)

    def said(self):
        return netns.said(os.pread(self.log.fileno(), 1 << 20, 0).decode())

    def is_ready(self):
        return "ready" in self.said() or self.process.poll() is not None

    def wait_ready(self):
        netns.wait_for(self.is_ready, "haul-echo to be ready")
        if self.process.poll() is not None:
            raise RuntimeError(self.said())
        return self

    def end(self, sig=signal.SIGINT):
        if self.process.poll() is None:
            self.process.send_signal(sig)
        return self.process.wait(60)


class Bed:
    """The first program, and the kernel's end of its port."""

    def __init__(self, d, kind, carriers, *more):
        self.d, self.carriers, self.more = d, carriers, more
        self.port = f"{kind}:h0"
        dev = "h0"
        if kind == "afpacket":
            netns.veth("h0", "h1", queues=carriers)
            dev = "h1"
        self.echo = self.start().wait_ready()
        netns.ip6(dev)
        netns.ip(f"addr add 10.77.0.2/24 dev {dev}")
        netns.ip(f"link set {dev} up")
        netns.wait_up(dev)

    def start(self, *more):
        return Echo(self.d, self.port, self.carriers, *self.more, *more)

    def load(self, seconds):
        return subprocess.Popen([STEADY, IP, "7", "8", str(RATE), str(seconds)],
                                stdout=subprocess.PIPE, text=True)

    def update(self):
        new, old = self.start(), self.echo
        netns.wait_for(new.is_ready, "the new one to be ready")
        if new.process.poll() is not None:
            raise RuntimeError(f"{new.said()}; the old one: {old.process.poll()}, {old.said()}")
        rc = old.process.wait(60)
        self.echo = new
        return rc, old.said()

    def close(self):
        rc = self.echo.end()
        if netns.exists("h0") and self.port.startswith("afpacket"):
            self.promiscuous = "PROMISC" in subprocess.run(
                ["ip", "link", "show", "h0"], capture_output=True, text=True, check=True).stdout
            netns.ip("link del h0")
        return rc


def is_whole(load):
    got = json.loads(load.communicate(timeout=120)[0])
    return got["sent"] > 0 and got["lost"] == got["reordered"] == got["twice"] == 0, got


def test_updates(tap, kind, carriers):
    with tempfile.TemporaryDirectory() as d:
        bed = Bed(d, kind, carriers)
        load = bed.load(4 if netns.fewer() else 8)
        ends = [bed.update() for _ in range(2 if netns.fewer() else 4)]
        whole, got = is_whole(load)
        rc = bed.close()
        left = netns.exists("h0")
        path = os.path.exists(f"{d}/socket")
    name = f"{kind}, {carriers} carriers"
    tap.ok(whole, f"{name}: nothing is lost, twice, or overtaken", got)
    tap.ok(all(r == 0 and "handed over" in said for r, said in ends) and rc == 0,
           f"{name}: each ends well", (ends, rc, bed.echo.said()))
    tap.ok(not left and not path and not (kind == "afpacket" and bed.promiscuous),
           f"{name}: nothing is left behind", (left, path))


def test_ends_before(tap, kind, rng):
    """The new one is killed, at any moment before it has the ports."""
    with tempfile.TemporaryDirectory() as d:
        bed = Bed(d, kind, 1)
        load = bed.load(4 if netns.fewer() else 10)
        for _ in range(3 if netns.fewer() else 8):
            new = bed.start()
            time.sleep(rng.random() * 0.25)  # a random moment of its start
            if bed.echo.process.poll() is not None or new.is_ready():
                bed.echo = new.wait_ready()
                continue
            if "taken" not in new.said():
                new.process.kill()
                new.process.wait()
            if bed.echo.process.poll() is not None:  # it was killed while it took over
                break
        whole, got = is_whole(load)
        ended = bed.echo.process.poll() is not None
        rc = bed.close()
    tap.ok(ended or whole and rc == 0, f"{kind}: the old one goes on", (got, rc))


def test_others(tap):
    """Who wants other ports, or cannot be handed over, says so, and nothing happens."""
    with tempfile.TemporaryDirectory() as d:
        bed = Bed(d, "tap", 1)
        for port, carriers, says in (("tap:h9", 1, "its port 0 is tap:h0; give the same one"),
                                     ("tap:h0", 2, "2 queues, and it has 1"),
                                     ("null:", 1, "its port 0 is tap:h0")):
            new = Echo(d, port, carriers)
            rc = new.process.wait(60)
            tap.ok(rc == 2 and says in new.said() and new.said().count("\n") == 1,
                   f"{port}, {carriers} carriers: refused", (rc, new.said()))
        whole, got = is_whole(bed.load(1))
        tap.ok(whole and bed.close() == 0, "the old one does not mind", got)
        new = Echo(d, "null:", 1, poller="spin")
        rc = new.process.wait(60)
        tap.ok(rc == 2 and "only ports of the kinds tap and afpacket" in new.said(),
               "a port that cannot be handed over", (rc, new.said()))


def test_raw(tap):
    """A raw vdev of a kind that can be handed over: refused, and the old one goes on."""
    if not netns.can_open(tap, "afpacket", "a raw vdev"):
        return
    with tempfile.TemporaryDirectory() as d:
        netns.veth("r0", "r1")
        port = "net_af_packet0,iface=r0"
        old = Echo(d, port, 1, poller="spin").wait_ready()
        new = Echo(d, port, 1, poller="spin")
        rc = new.process.wait(60)
        tap.ok(rc == 1 and "--hand-over" in new.said() and old.process.poll() is None and
               old.end() == 0, "a raw vdev: refused", (rc, new.said(), old.said()))
        netns.ip("link del r0")


def test_health(tap):
    """Nobody is told of the old one's end: the new one serves."""
    with tempfile.TemporaryDirectory() as d:
        tell, told = f"{d}/tell", f"{d}/told"
        with open(tell, "w") as f:
            f.write(f"#!/bin/sh\necho $1 >>{told}\n")
        os.chmod(tell, 0o755)

        def states():
            with open(told) as f:
                return f.read().split()

        bed = Bed(d, "tap", 1, "--on-health", tell)
        netns.wait_for(lambda: os.path.exists(told) and states()[-1:] == ["serving"], "the first")
        before = len(states())
        rc, _ = bed.update()
        netns.wait_for(lambda: len(states()) > before, "the second")
        bed.close()
        tap.ok(rc == 0 and states()[before:] == ["serving", "stopped"], "health goes on", states())


def main():
    tap = netns.Tap()
    netns.enter()
    print(f"# HAUL_SEED={SEED}")
    rng = random.Random(SEED)
    for kind in "tap", "afpacket":
        if not netns.can_open(tap, kind, f"{kind}: updates"):
            continue
        for carriers in (2,) if netns.fewer() else (1, 2, 4):
            test_updates(tap, kind, carriers)
        test_ends_before(tap, kind, rng)
    test_others(tap)
    test_raw(tap)
    test_health(tap)
    tap.done()


main()
