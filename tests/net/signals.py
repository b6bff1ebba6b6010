# SPDX-License-Identifier: BSD-3-Clause
"""A signal at a random time, from the first millisecond on, to programs with random options: each
ends as the signal asks, or runs on and ends by the next SIGINT, without a crash, a traceback or a
hang, and leaves nothing behind. HAUL_SIGNALS=1000 for a soak; HAUL_SEED replays one."""
import contextlib
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

FWD, ECHO, HTTP, DOCTOR, DNS, TOP, COMPARE = sys.argv[1:8]
SIGNALS = int(os.environ.get("HAUL_SIGNALS", 30))
SEED = int(os.environ.get("HAUL_SEED", random.randrange(1 << 32)))
HANGS = 90
FIRST_MS, LAST_MS = 0.5, 1500

ENDS = signal.SIGINT, signal.SIGTERM, signal.SIGHUP
KILLS = signal.SIGQUIT, signal.SIGUSR2  # by their default action
HARMLESS = signal.SIGUSR1, signal.SIGPIPE, signal.SIGWINCH, signal.SIGCONT, signal.SIGTSTP
BAD = re.compile(r"Traceback|Sanitizer|runtime error|haul: BUG|core dumped")


class Start:
    """One program, its options, and what would be left of it."""

    def __init__(self, choose, d, seen):
        self.choose, self.d, self.seen = choose, d, seen
        self.links, self.paths = [], []
        kinds = ["null", "ring", "pcap", "memif", "afpacket", "fifo", "doctor", "compare",
                 "remake", "http", "dns", "top"]
        kinds += [k for k, needs in (("tap", "tap"), ("echo", "tap"), ("afxdp", "afxdp"))
                  if not netns.lacks(needs)]
        self.kind = choose.choice(kinds)
        self.args = [str(a) for a in getattr(self, self.kind)()]

    def path(self, name):
        self.paths.append(os.path.join(self.d, name))
        return self.paths[-1]

    def fwd(self, *ports, modes=("io", "macswap", "rxonly", "txonly", "generate")):
        mode = self.choose.choice(modes)
        args = [FWD, "--mode", mode, "--carriers", self.choose.choice((1, 2)), "--poller",
                self.choose.choice(("sleep", "sleep:1000", "adaptive" if not ports else "sleep"))]
        for port in ports:
            args += ["--port", port]
        if mode != "generate":
            args += ["--handler", self.choose.choice(("burst", "coroutine"))]
        more = {"control": lambda: ["--control", self.path("control")],
                "prompt": lambda: ["--interactive"],
                "capture": lambda: ["--capture", os.path.join(self.d, "capture"),
                                    *self.choose.choice(([], ["--capture-rotate", "100k"]))],
                "json": lambda: ["--json"],
                "hist": lambda: ["--hist", os.path.join(self.d, "hist")],
                "short": lambda: ["--duration", "0.2"]}
        for name in self.choose.sample(sorted(more), self.choose.randrange(4)):
            args += more[name]()
        return args

    def null(self):
        return self.fwd("null:", "null:")

    def ring(self):
        return self.fwd("ring:", "ring:")

    def pcap(self):
        fwd.write_pcap(os.path.join(self.d, "in"), [fwd.frame(i) for i in range(100)])
        return self.fwd(f"pcap:rx={self.d}/in,infinite_rx=1,tx={self.d}/out")

    def memif(self):
        return self.fwd(f"memif:role=server,socket={self.path('memif')}")

    def veth(self, kind):
        netns.veth("v0", "v1", queues=2)
        self.links.append("v0")
        return self.fwd(f"{kind}:v0", modes=("macswap", "rxonly", "txonly"))

    def afpacket(self):
        return self.veth("afpacket")

    def afxdp(self):
        return self.veth("afxdp")

    def tap(self):
        return self.fwd("tap:t0")

    def echo(self):
        return [ECHO, "--port", "tap:t0", "--ip", "10.9.9.2/24", "--delay",
                self.choose.choice(("0", "5ms"))]

    def fifo(self):
        path = os.path.join(self.d, "fifo")
        os.mkfifo(path)
        option = self.choose.choice((["--cmdline-file", path],
                                     ["--mode", "l3fwd", "--routes", path],
                                     ["--mode", "generate", "--replay", path],
                                     ["--mode", "generate", "--rate", f"@{path}"]))
        return [FWD, "--port", "null:", "--carriers", "1", "--poller", "sleep", *option]

    def http(self):
        return [HTTP, "--listen", "127.0.0.1:0", "--root", self.d, "--wait",
                self.choose.choice(("io_uring", "epoll")), "--accept",
                self.choose.choice(("each", "one")), *self.choose.choice(([], ["--json"])),
                *self.choose.choice(([], ["--duration", "0.2"], ["--period", "0.05"]))]

    def dns(self):
        return [DNS, "--port", "null:", "--address", "10.9.9.2/24", "--upstream", "10.9.9.1",
                *self.choose.choice(([], ["--json"], ["--tcp", "127.0.0.1:0"], ["--rate", "5"])),
                *self.choose.choice(([], ["--duration", "0.2"], ["--period", "0.05"]))]

    def top(self):
        return [TOP, "--pid", self.seen, "--interval", "100ms", *self.choose.choice(
            (["--once"], ["--record", os.path.join(self.d, "record")], ["--once", "--json"]))]

    def doctor(self):
        return [DOCTOR, *self.choose.choice(([], ["--port", "null:"], ["--json"]))]

    def compare(self):
        return [COMPARE, "--minutes", "1", "--out", os.path.join(self.d, "report")]

    def remake(self):
        path = os.path.join(self.d, "fifo")
        os.mkfifo(path)
        return [COMPARE, "--remake", path]

    def left_behind(self, pid):
        left = [p for p in [*self.paths, f"/var/run/dpdk/haul-{pid}"] if os.path.lexists(p)]
        left += [n for n in ("t0", "dtap0") if netns.exists(n)]
        for link in self.links:
            text = subprocess.run(["ip", "-d", "link", "show", link], stdout=subprocess.PIPE,
                                  text=True).stdout
            if "xdp" in text or "promiscuity 0" not in text:
                left.append(text)
        return left + of_folder(self.d)


def of_folder(d):
    """Processes with files of a folder in their command lines."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                if d.encode() in f.read():
                    found.append(pid)
        except OSError:
            pass
    return found


def takes(pid, sig):
    """True if a signal has not its default action any more."""
    try:
        with open(f"/proc/{pid}/status") as f:
            masks = [int(line.split()[1], 16) for line in f
                     if line.startswith(("SigBlk:", "SigIgn:", "SigCgt:"))]
    except OSError:
        return False
    return any(m >> (sig - 1) & 1 for m in masks)


def ended(process):
    try:
        return process.wait(HANGS)
    except subprocess.TimeoutExpired:
        netns.where_it_hangs(process)
        process.kill()
        process.wait()
        return None


def wrong_end(rc, sig, was_taken, said, start):
    """None, or what is wrong with the end by a signal that asks for it."""
    lines = [x for x in said.splitlines() if ": note: " not in x]
    if rc is None:
        return "it hangs"
    if BAD.search(said):
        return "a traceback, a sanitizer's report or a bug"
    if rc == 130 and start.kind in ("compare", "remake"):
        return None
    if rc == -sig:
        own = start.kind == "doctor" or not was_taken
        return None if own or any("does not end" in x for x in lines) else "killed, without a line"
    if rc in (1, 2):
        return None if lines else "an error without a line"
    return None if rc == 0 else f"exit {rc}"


def one(seed, seen):
    """None, or what was wrong; and the seconds of the end."""
    choose = random.Random(seed)
    sig = choose.choice(ENDS + ENDS + KILLS + HARMLESS)
    delay = FIRST_MS * (LAST_MS / FIRST_MS) ** choose.random() / 1e3
    with tempfile.TemporaryDirectory() as d, tempfile.TemporaryFile("w+") as err:
        start = Start(choose, d, seen)
        process = subprocess.Popen(start.args, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                   stderr=err)
        time.sleep(delay)  # at any moment
        taken = takes(process.pid, sig)
        # python3 may be a shell script, which ignores SIGQUIT.
        reloads = sig == signal.SIGHUP and start.kind == "dns"
        harmless = sig in HARMLESS or ((sig in KILLS or reloads) and taken)
        began = time.monotonic()
        process.send_signal(sig)
        last = sig
        if harmless:
            if sig == signal.SIGTSTP:
                time.sleep(0.02)  # it may have stopped by then, or not
                process.send_signal(signal.SIGCONT)
            taken_last = takes(process.pid, signal.SIGINT)
            process.send_signal(signal.SIGINT)
            last = signal.SIGINT
        rc = ended(process)
        took = time.monotonic() - began
        process.stdin.close()
        said = os.pread(err.fileno(), 1 << 20, 0).decode(errors="replace")
        wrong = None
        if rc == -sig and sig in KILLS:
            if BAD.search(said):
                wrong = "a report"
        elif rc == -sig and harmless and (not taken or start.kind == "doctor" or
                                                 COMPARE in start.args):
            pass  # by its default action, before main() or where it has that
        elif harmless:
            wrong = wrong_end(rc, last, taken_last, said, start)
        else:
            wrong = wrong_end(rc, sig, taken, said, start)
        if not wrong and rc is not None and rc >= 0:
            netns.wait_for(lambda: not of_folder(d), "its processes to end")
            left = start.left_behind(process.pid)
            wrong = f"left behind: {left}" if left else None
        for link in start.links:
            netns.ip(f"link del {link}")
    if wrong:
        what = f"{sig.name} after {delay * 1e3:.1f} ms, exit {rc}, {took:.1f} s: {wrong}"
        return f"HAUL_SEED={seed} HAUL_SIGNALS=1: {what}\n{' '.join(start.args)}\n" \
            f"{said[-3000:]}", took
    return None, took


@contextlib.contextmanager
def program():
    """The process id of one for haul-top."""
    process = subprocess.Popen([HTTP, "--listen", "127.0.0.1:0"], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL)
    try:
        yield process.pid
    finally:
        process.terminate()
        process.wait()


def main():
    tap = netns.Tap()
    print(f"# HAUL_SEED={SEED}")
    # A shell's & lets its commands ignore it, and then it is lost before main().
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with program() as seen:
        all_signals(tap, seen)
    tap.done()


def all_signals(tap, seen):
    bad, longest, slow = [], 0, []
    for i in range(SIGNALS):
        wrong, took = one(SEED + i, seen)
        longest = max(longest, took)
        if took > 5:
            slow.append(f"{SEED + i} ({took:.1f} s)")
        if wrong:
            bad.append(wrong)
            print(f"# {wrong}".replace("\n", "\n# "), flush=True)
        if (i + 1) % 50 == 0:
            print(f"# {i + 1} signals, {len(bad)} wrong, longest end {longest:.1f} s", flush=True)
    print(f"# longest end {longest:.1f} s; seeds of those of more than 5 s: "
          f"{', '.join(slow) or 'none'}")
    tap.ok(not bad, f"{SIGNALS} signals: ends as asked, nothing left behind", "\n".join(bad))


netns.enter()
main()
