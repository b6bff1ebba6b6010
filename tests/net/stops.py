# SPDX-License-Identifier: BSD-3-Clause
"""Stops under load, with random options and ports: each ends with exit code 0 and figures, and
leaves nothing behind. HAUL_STOPS=1000 for a soak; HAUL_SEED replays one."""
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

import netns

import fwd

FWD, ECHO = sys.argv[1:3]
STEALS = ("off", "cluster", "global") if "steals" in sys.argv[3:] else ("off",)
STOPS = int(os.environ.get("HAUL_STOPS", 12 if netns.fewer() else 24))
SEED = int(os.environ.get("HAUL_SEED", random.randrange(1 << 32)))

# Longer than any stop: handlers have a second to end, another after the cancel, and a loaded
# machine or a sanitizer takes more time.
HANGS = 60

IP = "10.9.9.2"
POLLERS = "spin", "block", "adaptive", "adaptive:5", "sleep", "sleep:1000"
BLOCKING = "block", "adaptive", "adaptive:5"


class Blast:
    """Sends frames into an interface, as fast as one process can, until it is killed."""

    def __init__(self, name, frames):
        self.pid = os.fork()
        if self.pid:
            return
        raw = netns.Raw(name)
        while True:
            for frame in frames:
                try:
                    raw.send(frame)
                except OSError:
                    os._exit(0)

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


class Ping:
    def __init__(self, size):
        self.process = subprocess.Popen(
            ["ping", "-f", "-q", "-n", "-W", "1", "-s", str(size), IP], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def kill(self):
        self.process.kill()
        self.process.wait()


class Program:
    def __init__(self, args, ready):
        self.args = args
        self.ready = ready
        self.err = tempfile.TemporaryFile("w+")
        self.out = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(args, stdin=subprocess.DEVNULL, stdout=self.out,
                                        stderr=self.err)

    def said(self):
        return os.pread(self.err.fileno(), 1 << 20, 0).decode()

    def is_up(self):
        return self.ready in self.said() or self.process.poll() is not None

    def stop(self, sig):
        """Stops the program; returns the seconds that it took."""
        began = time.monotonic()
        self.process.send_signal(sig)
        try:
            self.process.wait(HANGS)
        except subprocess.TimeoutExpired:
            netns.where_it_hangs(self.process)
            self.process.kill()
            self.process.wait()
        return time.monotonic() - began

    def wrong(self):
        """None, or the error in its end."""
        try:
            json.loads(os.pread(self.out.fileno(), 1 << 22, 0).decode())
            figures = True
        except ValueError:
            figures = False
        # On a busy machine an end that takes two seconds of work takes more than five. Pollers
        # spin in DPDK's rings behind a thread that has no CPU, which the watchdog sees.
        lines = [line for line in self.said().splitlines()
                 if not re.search(r": note: | ready: |takes long; another| has run for |"
                                  # of DPDK, whose peer has ended
                                  r"^TELEMETRY: Error writing to socket: |"
                                  r"^\d+\.\d s$|^  ", line)]
        if self.process.returncode == 0 and figures and not lines:
            return None
        return f"exit {self.process.returncode}, figures {figures}: {lines}"

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def options(choose, poller=True, blocks=True):
    steal = choose.choice(STEALS)
    args = ["--json", "--carriers", str(choose.choice((1, 2, 2, 3))), "--steal", steal,
            "--spread", choose.choice(("packets", "all", "off"))]
    if steal != "off":
        args += ["--order", choose.choice(("flow", "any"))]
    if poller:
        args += ["--poller", choose.choice(
            [p for p in POLLERS if blocks or p not in BLOCKING])]
    return args


def frames(choose, to):
    ip = b"\x45\0\0\x2e\0\0\0\0\x40\x11\0\0" + bytes([10, 9, 9, 1]) + bytes([10, 9, 9, 2])
    return [to + b"\x02\0\0\0\0\x07\x08\0" + ip +
            (1024 + choose.randrange(1000)).to_bytes(2, "big") + bytes(24) for _ in range(64)]


class Stop:
    """One stop: the program and its load."""

    def __init__(self, choose, d):
        self.choose, self.d = choose, d
        self.loads, self.peers, self.links = [], [], []
        kinds = ["null", "ring", "pcap", "memif", "tap", "afpacket", "afxdp", "afxdp"]
        self.kind = choose.choice([k for k in kinds if not netns.lacks(k)])
        self.program = getattr(self, self.kind)()

    def fwd(self, *args, blocks=False, handler=None):
        handler = handler or self.choose.choice(("burst", "coroutine"))
        return Program([FWD, *args, "--handler", handler, "--period", "0.05",
                        *options(self.choose, blocks=blocks)], " s\n")

    def null(self):
        return self.fwd("--port", "null:", "--port", "null:", "--mode",
                        self.choose.choice(("io", "macswap", "rxonly")))

    def ring(self):
        return self.fwd("--port", "ring:", "--port", "ring:", "--tx-first", "8")

    def pcap(self):
        path = os.path.join(self.d, "in.pcap")
        fwd.write_pcap(path, [fwd.frame(i) for i in range(2000)])
        return self.fwd("--port", f"pcap:rx={path},infinite_rx=1", "--port", "null:")

    def memif(self):
        path = os.path.join(self.d, "memif.sock")
        program = self.fwd("--port", f"memif:role=server,socket={path}", "--mode", "macswap")
        netns.wait_for(program.is_up, "the server to run", HANGS)
        client = Program(
            [FWD, "--port", f"memif:role=client,socket={path}", "--mode", "txonly", "--handler",
             self.choose.choice(("burst", "coroutine")), "--carriers", "1", "--json",
             "--period", "0.05"], " s\n")
        # Either of the two ends first.
        first, second = self.choose.choice(((program, client), (client, program)))
        self.peers.append(second)
        return first

    def kernel(self, spec, peer):
        """haul-echo flooded with pings, or haul-fwd with a random load."""
        echo = self.choose.random() < 0.6
        if echo:
            program = Program([ECHO, "--port", spec, "--ip", f"{IP}/24", "--delay",
                               self.choose.choice(("0", "10us", "5ms", "300ms", "10s")),
                               *options(self.choose)], " ready: ")
        else:
            program = self.fwd("--port", spec, "--mode", "macswap", blocks=True)
        netns.wait_for(program.is_up, "it to run", HANGS)
        if program.process.poll() is None:
            netns.ip(f"addr add 10.9.9.1/24 dev {peer}")
            netns.wait_up(peer, HANGS)
            if echo:
                self.loads += [Ping(self.choose.choice((8, 56, 1400))) for _ in range(3)]
            else:
                self.loads.append(Blast(peer, frames(self.choose, b"\xff" * 6)))
        return program

    def tap(self):
        return self.kernel("tap:t0", "t0")

    def over_veth(self, kind):
        netns.veth("v0", "v1", queues=2)
        self.links.append("v0")
        return self.kernel(f"{kind}:v0", "v1")

    def afpacket(self):
        return self.over_veth("afpacket")

    def afxdp(self):
        return self.over_veth("afxdp")

    def left_behind(self):
        left = []
        for link in self.links:
            text = subprocess.run(["ip", "-d", "link", "show", link], stdout=subprocess.PIPE,
                                  text=True).stdout
            if "xdp" in text or "promiscuity 0" not in text:
                left.append(f"{link}: {text}")
        if self.kind == "tap" and netns.exists("t0"):
            left.append("t0")
        for program in [self.program, *self.peers]:
            if os.path.exists(f"/var/run/dpdk/haul-{program.process.pid}"):
                left.append(f"/var/run/dpdk/haul-{program.process.pid}")
        return left

    def run(self):
        """The seconds that it took, and the error or None."""
        try:
            for program in [self.program, *self.peers]:
                netns.wait_for(program.is_up, f"it to run: {program.args}", HANGS)
            time.sleep(self.choose.choice((0, 0.05, 0.3)))  # at any moment
            sig = self.choose.choice((signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
            took = self.program.stop(sig)
            wrong = self.program.wrong()
            for peer in self.peers:
                took = max(took, peer.stop(sig))
                wrong = wrong or peer.wrong()
            left = self.left_behind()
            return took, f"left behind: {left}" if left and not wrong else wrong
        finally:
            for load in self.loads:
                load.kill()
            for program in [self.program, *self.peers]:
                program.kill()
            for link in self.links:
                netns.ip(f"link del {link}")

    def __str__(self):
        return " ".join(self.program.args) + \
            "".join(f" | {' '.join(peer.args)}" for peer in self.peers)


def main():
    tap = netns.Tap()
    print(f"# HAUL_SEED={SEED}")
    longest, which, bad = 0, "", []
    for i in range(STOPS):
        with tempfile.TemporaryDirectory() as d:
            stop = Stop(random.Random(SEED + i), d)
            took, wrong = stop.run()
        if wrong:
            bad.append(f"HAUL_SEED={SEED + i} HAUL_STOPS=1: {stop}\n{took:.1f} s, {wrong}\n"
                       f"{stop.program.said()[-2000:]}")
            print(f"# {bad[-1]}".replace("\n", "\n# "), flush=True)
        if took > longest:
            longest, which = took, f"HAUL_SEED={SEED + i} HAUL_STOPS=1: {stop}"
        if (i + 1) % 50 == 0:
            print(f"# {i + 1} stops, longest {longest:.2f} s", flush=True)
    print(f"# longest of {STOPS} stops: {longest:.2f} s: {which}")
    for kind in "tap", "afxdp":
        netns.can_open(tap, kind)
    tap.ok(not bad, f"{STOPS} stops under load: exit 0, figures, nothing left behind",
           f"{len(bad)} of them:\n" + "\n".join(bad))
    tap.done()


netns.enter()
main()
