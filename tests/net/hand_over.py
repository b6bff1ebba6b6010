#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""--hand-over: a program takes the ports of the one that runs, under a steady load: no packet is
lost, answered twice or overtaken. Programs that end before, or want something else."""
import os
import random
import socket
import struct
import sys
import tempfile
import threading
import time

import netns
from hand_over_bed import Bed, Program, answers, echo, is_whole

PATHS = sys.argv[1:3]
ECHO, DNS = sys.argv[1], sys.argv[3]
SEED = int(os.environ.get("HAUL_SEED", random.randrange(1 << 32)))


def test_updates(tap, kind, carriers):
    with tempfile.TemporaryDirectory() as d:
        bed = Bed(PATHS, d, kind, carriers)
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
        bed = Bed(PATHS, d, kind, 1)
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
        bed = Bed(PATHS, d, "tap", 1)
        for port, carriers, says in (("tap:h9", 1, "its port 0 is tap:h0; give the same one"),
                                     ("tap:h0", 2, "2 queues, and it has 1"),
                                     ("null:", 1, "its port 0 is tap:h0")):
            new = echo(ECHO, d, port, carriers)
            rc = new.process.wait(60)
            tap.ok(rc == 2 and says in new.said() and new.said().count("\n") == 1,
                   f"{port}, {carriers} carriers: refused", (rc, new.said()))
        whole, got = is_whole(bed.load(1))
        tap.ok(whole and bed.close() == 0, "the old one does not mind", got)
        new = echo(ECHO, d, "null:", 1, poller="spin")
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
        old = echo(ECHO, d, port, 1, poller="spin").wait_ready()
        new = echo(ECHO, d, port, 1, poller="spin")
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

        bed = Bed(PATHS, d, "tap", 1, "--on-health", tell)
        netns.wait_for(lambda: os.path.exists(told) and states()[-1:] == ["serving"], "the first")
        before = len(states())
        rc, _ = bed.update()
        netns.wait_for(lambda: len(states()) > before, "the second")
        bed.close()
        tap.ok(rc == 0 and states()[before:] == ["serving", "stopped"], "health goes on", states())


class Clients:
    """Connects again and again, until it is closed, and counts who does not get what it expects."""

    def __init__(self, port, ask, expect):
        self.good, self.bad, self.ends = 0, [], False
        self.port, self.what, self.expect = port, ask, expect
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def ask(self):
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as s:
            s.sendall(self.what)
            got = b""
            while self.expect not in got:
                more = s.recv(4096)
                if not more:
                    break
                got += more
        return self.expect in got

    def run(self):
        while not self.ends:
            try:
                if self.ask():
                    self.good += 1
                else:
                    self.bad.append("no answer")
            except OSError as e:
                self.bad.append(str(e))

    def close(self):
        self.ends = True
        self.thread.join()
        return self.good, self.bad


def test_metrics(tap):
    """The socket of --metrics goes along: each request finds somebody."""
    with tempfile.TemporaryDirectory() as d:
        bed = Bed(PATHS, d, "tap", 1, "--metrics", "127.0.0.1:9100")
        clients = Clients(9100, b"GET /metrics HTTP/1.0\r\n\r\n", b"200 OK")
        rcs = [bed.update()[0] for _ in range(1 if netns.fewer() else 3)]
        good, bad = clients.close()
        # The old one ends with those that it has accepted.
        refused = [b for b in bad if "refused" in b]
        tap.ok(not any(rcs) and good > 0 and not refused and len(bad) <= 2 * len(rcs) and
               bed.close() == 0, f"--metrics: {good} requests during updates", (rcs, bad[:3]))


def test_dns(tap):
    """The same of haul-dns --tcp, whose connections end, or are served, with the old one."""
    name = b"\x02id\x06server\x00" + struct.pack(">HH", 16, 3)
    query = struct.pack(">HHHHHH", 7, 0, 1, 0, 0, 0) + name
    with tempfile.TemporaryDirectory() as d:
        def start():
            return Program(d, DNS, "--port", "tap:h0", "--address", "10.77.0.1/24", "--upstream",
                           "10.77.0.2", "--tcp", "127.0.0.1:5353", "--id", "the-node", "--carriers",
                           "1", "--poller", "block", "--period", "0", "--allow",
                           "127.0.0.0/8").wait_ready()
        old = start()
        clients = Clients(5353, struct.pack(">H", len(query)) + query, b"the-node")
        rcs = []
        for _ in range(1 if netns.fewer() else 3):
            new = start()
            rcs.append(old.process.wait(60))
            old = new
        good, bad = clients.close()
        refused = [b for b in bad if "refused" in b]
        tap.ok(not any(rcs) and good > 0 and not refused and len(bad) <= 2 * len(rcs) and
               old.end() == 0, f"--tcp: {good} connections during updates", (rcs, good, bad[:3]))


def test_queries(tap):
    """haul-dns has a host, which starts after its pollers: packets wait for it."""
    name = b"\x02id\x06server\x00" + struct.pack(">HH", 16, 3)
    seen, sent, over = set(), [], threading.Event()
    with tempfile.TemporaryDirectory() as d:
        def start():
            return Program(d, DNS, "--port", "tap:h0", "--address", "10.77.0.1/24", "--upstream",
                           "10.77.0.2", "--id", "n", "--carriers", "1", "--poller", "block",
                           "--period", "0").wait_ready()
        old = start()
        netns.ip6("h0")
        netns.ip("addr add 10.77.0.2/24 dev h0")
        netns.ip("link set h0 up")
        netns.wait_up("h0")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.connect(("10.77.0.1", 53))
            s.settimeout(2)  # a time: for the last answers

            def receive():
                while not over.is_set() or len(seen) < len(sent):
                    try:
                        seen.add(s.recv(600)[:2])
                    except TimeoutError:
                        if over.is_set():
                            return

            def ask():
                while not over.is_set() and len(sent) < 1 << 16:
                    sent.append(struct.pack(">H", len(sent)))
                    s.send(sent[-1] + struct.pack(">HHHHH", 0, 1, 0, 0, 0) + name)
                    time.sleep(0.0005)  # the pace
            threads = [threading.Thread(target=receive), threading.Thread(target=ask)]
            for t in threads:
                t.start()
            for _ in range(1 if netns.fewer() else 4):
                new = start()
                old.process.wait(60)
                old = new
            over.set()
            for t in threads:
                t.join()
        tap.ok(old.end() == 0 and len(seen) == len(sent) > 0, "haul-dns: no query is lost",
               (len(sent), len(seen)))


def test_again(tap):
    """A port that was taken over is lost, and taken again: it is opened as any is."""
    with tempfile.TemporaryDirectory() as d:
        bed = Bed(PATHS, d, "afpacket", 1, "--lost-port", "return")
        bed.update()
        netns.ip("link del h0")
        netns.wait_for(lambda: "is taken again" in bed.echo.said(), "the loss")
        netns.veth("h0", "h1")
        netns.wait_for(lambda: "is back" in bed.echo.said(), "the return")
        netns.ip("addr add 10.77.0.2/24 dev h1")
        netns.wait_up("h1")
        answers()
        whole, got = is_whole(bed.load(1))
        rc, _ = bed.update()
        tap.ok(whole and rc == 0 and bed.close() == 0, "after an update: lost, and back", got)


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
    test_metrics(tap)
    test_dns(tap)
    test_queries(tap)
    if netns.can_open(tap, "afpacket", "a port that is lost"):
        test_again(tap)
    tap.done()


main()
