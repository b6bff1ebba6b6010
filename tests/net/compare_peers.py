# SPDX-License-Identifier: BSD-3-Clause
"""The programs without haul that haul-compare compares haul with: they return what they receive,
sleep when nothing arrives, and print figures that agree with the kernel's counters."""
import json
import os
import signal
import subprocess
import sys
import tempfile

import netns

import fwd

KERNEL, INTERRUPT = sys.argv[2:4]
FIGURES = {"poller", "seconds", "packets", "bytes", "sent", "send_failed", "missed", "polls",
           "empty_polls", "waits", "wakeups", "user_ns", "system_ns", "voluntary_switches",
           "involuntary_switches"}


class Peer(netns.Child):
    """One of them, ready to serve."""

    def __init__(self, program, *args):
        self.err = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([program, *map(str, args)], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=self.err, text=True)
        self.ready = self.process.stdout.readline() == "ready\n"

    def sleeps(self):
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as f:
            return f.read().rpartition(")")[2].split()[0] == "S"

    def end(self, sig=signal.SIGINT):
        """Its figures; None: it said something else, or failed."""
        self.process.send_signal(sig)
        out = self.process.stdout.read()
        rc = self.process.wait(60)
        self.said = f"exit {rc}\n{out}{os.pread(self.err.fileno(), 1 << 16, 0).decode()}"
        return json.loads(out) if rc == 0 else None


def refused(program, *args):
    done = subprocess.run([program, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=60)
    return done.returncode, done.stderr


def test_kernel(tap):
    netns.veth("v0", "v1")
    netns.ip("addr add 198.18.0.2/24 dev v1")
    netns.ip(f"neigh replace 198.18.0.1 lladdr {netns.mac('v0').hex(':')} dev v1")
    for more in [], ["--service", "2us,exp", "--service-memory", 4096, "--burst", 8]:
        name = " ".join(map(str, more)) or "no work"
        with Peer(KERNEL, "--interface", "v1", *more) as peer:
            before = netns.counter("v1", "rx_packets"), netns.counter("v1", "tx_packets")
            netns.wait_for(peer.sleeps, "the program to sleep")
            r = fwd.figures("--port", "afpacket:v0", "--mode", "generate", "--carriers", 1,
                            "--rate", "20k/200ms", "--flows", 8, "--sizes", "64,512,1514",
                            "--drain", "2s", "--eth-peer", f"0,{netns.mac('v1').hex(':')}")
            netns.wait_for(peer.sleeps, "the program to sleep again")
            f = peer.end()
        g = r.json["generator"] if r.json else {}
        got = netns.counter("v1", "rx_packets") - before[0]
        gave = netns.counter("v1", "tx_packets") - before[1]
        if not tap.ok(peer.ready and f and f["poller"] == "kernel-epoll" and
                      FIGURES | {"syscalls"} == set(f), f"{name}: figures", peer.said):
            continue
        tap.ok(f["packets"] + f["missed"] == got == g["sent"] == 4000 and
               f["sent"] == gave == f["packets"] - f["send_failed"],
               f"{name}: packets are those of the interface's counters", f"{f}\n{got} {gave}\n{r}")
        tap.ok(g["received"] + g["lost"] == 4000 and 0 < g["received"] <= f["sent"],
               f"{name}: the generator measures it", r)
        # A wait, a receive and a send at least for each wake-up.
        tap.ok(0 < f["wakeups"] <= f["waits"] and
               f["waits"] + f["polls"] < f["syscalls"] <= f["waits"] + f["polls"] + f["packets"],
               f"{name}: system calls", f)
        tap.ok(f["user_ns"] + f["system_ns"] < f["seconds"] * 1.1e9 + 2e7 and
               f["voluntary_switches"] > 0, f"{name}: CPU time and switches", f)


def echo(tap, peer, raw, name):
    frames = [fwd.frame(i) for i in range(200)]
    got = []
    for i, frame in enumerate(frames):
        if i % 40 == 0:
            netns.wait_for(peer.sleeps, "the program to sleep")
        raw.send(frame)
        if i % 8 == 7:
            got += [raw.recv() for _ in range(8)]
    tap.ok(got == fwd.swapped(frames), f"{name}: frames come back with addresses exchanged",
           f"{sum(g is not None for g in got)} of {len(frames)}")


def test_interrupt(tap):
    if not netns.can_open(tap, "tap", "dpdk-interrupt"):
        return
    for sig, more in (signal.SIGINT, []), (signal.SIGTERM, ["--service", "1us", "--cpu", 0]):
        name = " ".join(["tap", *map(str, more)])
        with Peer(INTERRUPT, "--port", "tap:t0", *more) as peer:
            if not tap.ok(peer.ready, f"{name}: starts"):
                continue
            netns.wait_up("t0")
            raw = netns.Raw("t0")
            echo(tap, peer, raw, name)
            raw.close()
            f = peer.end(sig)
        tap.ok(f and f["poller"] == "dpdk-interrupt" and FIGURES | {"arms", "own_syscalls"} ==
               set(f) and f["packets"] == f["sent"] == 200 and f["missed"] == 0,
               f"{name}: figures", peer.said)
        tap.ok(f and 5 <= f["wakeups"] <= f["waits"] <= f["own_syscalls"],
               f"{name}: it slept, and woke by packets", peer.said)


def test_vhost(tap, d):
    """A PMD whose interrupts are armed."""
    path = f"{d}/vhost"
    server = subprocess.Popen([INTERRUPT, "--port", f"vhost:{path}"], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        netns.wait_for(lambda: os.path.exists(path) or server.poll() is not None, "the socket")
        r = fwd.figures("--port", f"virtio-user:{path}", "--mode", "generate", "--carriers", 1,
                        "--rate", "0/500ms,1k/100ms,0/100ms,1k/100ms", "--drain", "20s")
        server.send_signal(signal.SIGINT)
        out, err = server.communicate(timeout=60)
    finally:
        server.kill()
    f = json.loads(out.splitlines()[-1]) if server.returncode == 0 else {}
    g = r.json["generator"] if r.json else {}
    tap.ok(f and g["sent"] == g["received"] == f["packets"] == f["sent"] == 200,
           "vhost: all packets return", f"{r}{out}{err}")
    tap.ok(f and 0 < f["wakeups"] <= f["waits"] <= f["arms"], "vhost: interrupts are armed", out)


def test_errors(tap):
    for program, args, code, words in (
            (KERNEL, [], 2, "--interface"),
            (KERNEL, ["--interface", "nowhere"], 1, "nowhere: No such device"),
            (KERNEL, ["--interface", "lo", "--address", "x"], 1, "--address x"),
            (KERNEL, ["--interface"], 2, "a value is missing"),
            (KERNEL, ["--interface", "lo", "--burst", "0"], 2, "from 1 to 512"),
            (KERNEL, ["--interface", "lo", "--cpu", "1000"], 1, "--cpu 1000"),
            (KERNEL, ["--interface", "lo", "--service", "1parsec"], 2, "--service"),
            (KERNEL, ["--interface", "lo", "--speed", "1"], 2, "no such option"),
            (INTERRUPT, [], 2, "--port"),
            (INTERRUPT, ["--port", "x"], 2, "such as tap:t0"),
            (INTERRUPT, ["--port", "tap:t0", "--empty-polls", "-1"], 2, "from 1 to"),
            (INTERRUPT, ["--port", "net_null0"], 1, "net_null has no receive interrupts"),
            (INTERRUPT, ["--port", "afpacket:lo"], 1, "net_af_packet has no receive interrupts"),
            (INTERRUPT, ["--port", "afpacket:nowhere"], 1, "afpacket:nowhere")):
        rc, err = refused(program, *args)
        tap.ok(rc == code and words in err and err.count("\n") == 1,
               f"{os.path.basename(program)} {' '.join(args)}: one line", f"exit {rc}\n{err}")
    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run([KERNEL, "--interface", "lo"], stdin=subprocess.DEVNULL, stdout=full,
                              stderr=subprocess.PIPE, text=True, timeout=60)
    tap.ok(done.returncode == 1 and "No space left" in done.stderr, "output that is lost is told",
           done.stderr)


def main():
    netns.enter()
    tap = netns.Tap()
    with tempfile.TemporaryDirectory() as d:
        test_kernel(tap)
        test_interrupt(tap)
        test_vhost(tap, d)
        test_errors(tap)
    tap.done()


main()
