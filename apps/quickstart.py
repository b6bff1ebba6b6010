#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Demonstrates haul-echo: starts it on a TAP interface in a private network namespace, has the
kernel ping it and send it UDP, and prints the results. Leaves nothing behind.

Usage: quickstart            the haul-echo that is installed
       quickstart HAUL-ECHO  another one, in the namespaces of the caller: they must be private"""
import contextlib
import json
import math
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

IP4, IP6 = "10.77.0.1", "fd77::1"  # of haul-echo; the kernel's end of the interface has .2 and ::2
TAP = "haul0"
PING_SIZES = 56, 512, 1400
PINGS = 200
UDP_SIZES = 16, 1400
SOCKETS = 8  # each with its own source port, so that the kernel spreads them over carriers
DATAGRAMS = 100  # per socket
PORT = 7
SLEEP_MS = 50
SLEEPERS = 500


class Failed(Exception):
    pass


def run(*command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          **options)
    if done.returncode:
        raise Failed(f"{' '.join(command)}: {done.stdout.strip()}")
    return done.stdout


class Echo:
    """A run of haul-echo on its TAP interface."""

    def __init__(self, binary, *arguments):
        self.log = tempfile.TemporaryFile("a+")
        self.command = [binary, "--port", f"tap:{TAP}", "--ip", f"{IP4}/24", "--ip6", f"{IP6}/64",
                        "--period", "0", "--json", *arguments]
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, text=True,
                                        stdout=subprocess.PIPE, stderr=self.log)

    def said(self):
        self.log.seek(0)
        return self.log.read()

    def fail(self):
        self.process.wait()
        raise Failed(f"haul-echo ended with exit status {self.process.returncode}\n"
                     + self.said().strip())

    def wait_until_ready(self):
        while "ready:" not in self.said():
            if self.process.poll() is not None:
                self.fail()
            time.sleep(0.01)
        run("ip", "address", "add", f"{IP4[:-1]}2/24", "dev", TAP)
        run("ip", "address", "add", f"{IP6[:-1]}2/64", "dev", TAP, "nodad")
        run("ip", "link", "set", TAP, "up")

    def stop(self):
        """Ends haul-echo; returns its statistics."""
        self.process.send_signal(signal.SIGINT)
        try:
            out = self.process.communicate(timeout=30)[0]
        except subprocess.TimeoutExpired:
            raise Failed("haul-echo did not end within 30 s\n" + self.said().strip()) from None
        if self.process.returncode:
            self.fail()
        return json.loads(out)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()


@contextlib.contextmanager
def echo(binary, *arguments):
    program = Echo(binary, *arguments)
    try:
        program.wait_until_ready()
        yield program
    finally:
        program.kill()


class Row:
    """Packets of one kind: their number, and the time until each reply."""

    def __init__(self, what, size, sent, times):
        self.what, self.size, self.sent, self.times = what, size, sent, sorted(times)

    def percentile(self, p):
        return self.times[math.ceil(len(self.times) * p / 100) - 1]

    def show(self):
        line = f"  {self.what:10}{self.size:>6} B{self.sent:>8}{len(self.times):>10}"
        if self.times:
            line += "".join(f"{v * 1e6:>9.0f} us" for v in (
                self.percentile(50), self.percentile(99), self.times[-1]))
        say(line)


def ping(what, address, size):
    out = subprocess.run(["ping", "-n", "-c", str(PINGS), "-i", "0.002", "-W", "5", "-s", str(size),
                          address], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                         env={**os.environ, "LC_ALL": "C"}).stdout
    times = [float(ms) / 1000 for ms in re.findall(r"icmp_seq=\d+ .*time=([\d.]+) ms", out)]
    return Row(what, size, PINGS, times)


def udp(what, family, address, size):
    """Sends different datagrams one at a time, from each socket in turn."""
    times = []
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket(family, socket.SOCK_DGRAM))
                   for _ in range(SOCKETS)]
        for s in sockets:
            s.connect((address, PORT))
            s.settimeout(5)
        for n in range(DATAGRAMS):
            for s in sockets:
                data = n.to_bytes(4, "big") + os.urandom(size - 4)
                began = time.perf_counter()
                s.send(data)
                with contextlib.suppress(TimeoutError, ConnectionError):
                    if s.recv(65536) == data:
                        times.append(time.perf_counter() - began)
    return Row(what, size, DATAGRAMS * SOCKETS, times)


def at_once():
    """Sends many datagrams at once. Returns the number of replies, and the time until the last."""
    waiting = set(range(SLEEPERS))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        s.connect((IP4, PORT))
        began = time.perf_counter()
        for n in range(SLEEPERS):
            s.send(n.to_bytes(4, "big"))
        while waiting and select.select([s], [], [], 5)[0]:
            waiting.discard(int.from_bytes(s.recv(64), "big"))
        return SLEEPERS - len(waiting), time.perf_counter() - began


def say(text=""):
    print(text, flush=True)


def show_carriers(figures):
    say("  carrier  CPU  cluster    received  answered: ARP, ND    ping     UDP    coroutines run")
    for c in figures["carriers"]:
        done = {name.removeprefix("replies_"): n for name, n in c["counters"].items()}
        cpu = c["cpu"] if c["cpu"] >= 0 else "any"
        say(f"  {c['id']:>7}{cpu:>5}{c['cluster']:>9}{c['rx_packets']:>12}"
            f"{done['arp'] + done['nd']:>19}{done['icmp'] + done['icmp6']:>8}{done['udp']:>8}"
            f"{c['slices']:>18}")


def one_by_one(binary):
    """Pings and datagrams one after the other. Returns the numbers answered and not answered."""
    rows = []
    with echo(binary) as program:
        say(f"  $ {' '.join(program.command)}\n")
        say("                         sent  answered     median         p99         max")
        for what, address in ("ping IPv4", IP4), ("ping IPv6", IP6):
            for size in PING_SIZES:
                rows.append(ping(what, address, size))
                rows[-1].show()
        for what, family, address in ("UDP IPv4", socket.AF_INET, IP4), \
                ("UDP IPv6", socket.AF_INET6, IP6):
            for size in UDP_SIZES:
                rows.append(udp(what, family, address, size))
                rows[-1].show()
        figures = program.stop()
    say()
    show_carriers(figures)
    if len(figures["carriers"]) >= len(os.sched_getaffinity(0)):
        say("""
  Every CPU has a carrier that spins, so kernel and ping share the CPUs with carriers; that explains
  the slowest replies. --carriers N leaves CPUs to others.""")
    return sum(len(r.times) for r in rows), sum(r.sent - len(r.times) for r in rows)


def sleeping(binary):
    """Handlers that sleep. Returns the numbers of datagrams answered and not answered."""
    say(f"""
A coroutine handles each packet: plain C that may wait. Now with --delay {SLEEP_MS}ms: each handler
sleeps that long before it answers, and {SLEEPERS} datagrams arrive at once.
""")
    with echo(binary, "--delay", f"{SLEEP_MS}ms") as program:
        answered, seconds = at_once()
        program.stop()
    say(f"  {answered} of {SLEEPERS} answered, the last after {seconds * 1e3:.0f} ms; "
        f"one after the other would take {SLEEPERS * SLEEP_MS / 1000:.0f} s\n")
    return answered, SLEEPERS - answered


def enter():
    """Begins again in private namespaces, with the installed haul-echo."""
    binary = shutil.which("haul-echo")
    if not binary:
        raise Failed("haul-echo is not in PATH: install haul")
    for tool, package in ("ip", "iproute2"), ("ping", "iputils-ping"):
        if not shutil.which(tool):
            raise Failed(f"{tool} is missing: install {package}")
    for namespaces in "-nm", "-rnm":  # for root; for a user, mapped to root inside
        if not subprocess.run(["unshare", namespaces, "true"],
                              stderr=subprocess.DEVNULL).returncode:
            os.execvp("unshare", ["unshare", namespaces, sys.executable, "-B",
                                  os.path.abspath(__file__), binary])
    raise Failed("this user cannot make a network namespace here: run it as root")


def try_next(binary):
    """What the last lines say."""
    if binary == shutil.which("haul-echo"):  # installed
        folder, left, build = "", "nothing", ""
        docs = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "docs")
        more = ("man haul", "an overview"), (docs, "guides, with a first program of your own")
    else:
        folder, left = "build/apps/", "only build/"
        build = "\n  ninja -C build                         builds the other programs"
        more = ("README.md", "a first program of your own"),
    return f"""{left} is left behind

What to try next{build}
  {folder + 'haul-doctor':<38} checks this machine, and prints remedies
  {folder}haul-fwd --port null: --mode io --handler burst --duration 5
  {'':38} measures forwarding without a NIC
  {folder + 'haul-echo --help':<38} lists other ports: AF_XDP, AF_PACKET, PCI NICs, ...
""" + "\n".join(f"  {what:<38} {does}" for what, does in more)


def main():
    if "--help" in sys.argv or "-h" in sys.argv:
        say(__doc__)
        return 0
    if len(sys.argv) > 2:
        raise Failed("give one argument at most: see --help")
    if len(sys.argv) < 2:
        enter()
    binary = sys.argv[1]
    # EAL needs a directory under /run. This one ends with the namespace.
    run("mount", "-t", "tmpfs", "tmpfs", "/run")
    run("ip", "link", "set", "lo", "up")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))

    say(f"haul: haul-echo on the TAP interface {TAP}, with this machine's kernel as its peer\n")
    counts = one_by_one(binary), sleeping(binary)
    answered, lost = map(sum, zip(*counts))
    if lost:
        say(f"haul: {lost} of {answered + lost} packets were not answered")
        return 1
    say(f"haul: all {answered} packets were answered; {try_next(binary)}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as e:
        print(f"haul: {e}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
