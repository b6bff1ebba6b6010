# SPDX-License-Identifier: BSD-3-Clause
"""The programs of apps/examples, copied and built outside the tree with the flags of pkg-config:
each is as short as promised, and does its work for the kernel.
Usage: examples.py BUILD_DIR SOURCE_DIR"""
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path += [os.path.join(os.path.dirname(__file__), ".."),
             os.path.join(os.path.dirname(__file__), "../net")]

import flow_examples
import netns
import outside
from tap import Tap

LINES = {"echo": 60, "toptalkers": 80, "l2switch": 120, "visits": 130, "balancer": 122,
         "pinger": 119}


# The server's program under a name that Debian's redis-tools has for it: the package redis-server
# would start a service.
REDIS = "redis-check-rdb"


class Example:
    """A running example; json() ends it and returns its figures."""

    def __init__(self, binary, env, *args, name=None):
        self.out = tempfile.TemporaryFile("w+")
        self.err = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([name or binary, *args], executable=binary, env=env,
                                        stdout=self.out, stderr=self.err)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def runs(self):
        return self.process.poll() is None

    def said(self):
        """On stderr, so far."""
        return os.pread(self.err.fileno(), 100000, 0).decode()

    def stop(self):
        """Exit status, stdout, stderr."""
        self.process.send_signal(signal.SIGINT)
        status = self.process.wait()
        self.out.seek(0)
        self.err.seek(0)
        return status, self.out.read(), self.err.read()


def ping(address, count, size=56):
    return subprocess.run(["ping", "-n", "-f", "-q", "-c", str(count), "-s", str(size), "-w", "20",
                           address], stdout=subprocess.PIPE, text=True).returncode == 0


def udp_echoed(address, datagrams):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.settimeout(60)
        s.connect((address, 7))
        for n in range(datagrams):
            s.send(b"%d" % n)
        return {s.recv(100) for _ in range(datagrams)} == {b"%d" % n for n in range(datagrams)}


def echo(tap, binary, env):
    with Example(binary, env, "--port", "tap:e0", "--ip", "10.77.0.1/24", "--json") as e:
        netns.wait_carriers(e.process)
        netns.ip("address add 10.77.0.2/24 dev e0")
        netns.wait_up("e0")
        tap.ok(ping("10.77.0.1", 200) and ping("10.77.0.1", 50, 1400), "echo: pings are answered")
        tap.ok(udp_echoed("10.77.0.1", 100), "echo: datagrams come back")
        status, out, err = e.stop()
        figures = json.loads(out)
        tap.ok(status == 0 and figures["counters"]["answered"] >= 350
               and figures["counters"]["answered"] == sum(
                   c["counters"]["answered"] for c in figures["carriers"]),
               "echo: replies are counted, by carriers too", f"{status} {err} {figures}")


def toptalkers(tap, binary, env):
    """Two addresses send 300 and 100 datagrams."""
    with Example(binary, env, "--port", "tap:t0", "--period", "0") as e:
        netns.wait_carriers(e.process)
        netns.ip("address add 10.78.0.2/24 dev t0")
        netns.ip("address add 10.78.0.3/24 dev t0")
        netns.wait_up("t0")
        netns.ip("neighbour add 10.78.0.9 lladdr 02:00:00:00:00:09 dev t0")
        for source, datagrams in ("10.78.0.2", 100), ("10.78.0.3", 300):
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
                s.bind((source, 0))
                for _ in range(datagrams):
                    s.sendto(b"x", ("10.78.0.9", 9))
        # The kernel counts what the program has read.
        netns.wait_for(lambda: netns.counter("t0", "tx_packets") >= 400, "the datagrams")
        # A frame too short for IPv4, and one of another protocol.
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as raw:
            raw.bind(("t0", 0))
            raw.send(b"\x02" * 12 + b"\x08\x00")
            raw.send(b"\x02" * 12 + b"\x88\xcc" + bytes(50))
        status, out, err = e.stop()
        lines = [line.split() for line in out.splitlines() if " packets from " in line]
        tap.ok(status == 0 and lines[:2] == [["300", "packets", "from", "10.78.0.3"],
                                             ["100", "packets", "from", "10.78.0.2"]],
               "toptalkers: the busiest comes first", f"{status} {err} {out}")


def in_namespace(name, *command):
    return subprocess.run(["ip", "netns", "exec", name, *command], stdout=subprocess.PIPE,
                          text=True).returncode == 0


def l2switch(tap, binary, env):
    """Three hosts, each in a namespace of its own, at the ports of the switch."""
    ports = []
    netns.mount("tmpfs", "/run")  # of this test's namespace: ip keeps the names there
    for i in range(3):
        netns.veth(f"p{i}", f"h{i}")
        netns.ip(f"netns add host{i}")
        netns.ip(f"link set h{i} netns host{i}")
        netns.ip(f"-n host{i} address add 10.79.0.{i + 1}/24 dev h{i}")
        netns.ip(f"-n host{i} link set h{i} up")
        ports += ["--port", f"afpacket:p{i}"]
    with Example(binary, env, *ports, "--json", "--period", "0") as e:
        def reaches(a, b, count=1):
            return in_namespace(f"host{a}", "ping", "-n", "-q", "-f", "-c", str(count), "-w", "10",
                                f"10.79.0.{b + 1}")
        netns.wait_for(lambda: reaches(0, 1) or not e.runs(), "the first ping")
        tap.ok(reaches(0, 1, 200) and reaches(1, 2, 200) and reaches(2, 0, 200),
               "l2switch: every host reaches the others")
        status, out, err = e.stop()
        figures = json.loads(out)
        counters = figures["counters"]
        tap.ok(status == 0 and counters["sent"] >= 1200 and 0 < counters["flooded"] < 100,
               "l2switch: learned addresses are not flooded", f"{status} {err} {counters}")
        tap.ok("same_port" in figures["ports"][0]["dropped"],
               "l2switch: its own reason is among the drops", figures["ports"][0]["dropped"])


def answers(address, datagrams):
    """Sends datagrams, at most 64 under way, and returns the numbers that come back, sorted. One
    that has no answer after ten seconds is given up: see visits()."""
    numbers = []
    sent = lost = 0
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.settimeout(10)  # ten times the deadline of a request
        s.connect((address, 7))
        while len(numbers) + lost < datagrams:
            while sent < datagrams and sent - len(numbers) - lost < 64:
                s.send(b"a visit, which is longer than its answer")
                sent += 1
            try:
                numbers.append(int(s.recv(100)))
            except TimeoutError:
                lost = sent - len(numbers)
    return sorted(numbers)


def calls_while_a_packet_waits(example, server):
    """The system calls of the carriers meanwhile, but those of TAP's PMD, which looks after a
    signal. The server stands still, so the packet waits until its deadline."""
    server.process.send_signal(signal.SIGSTOP)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.sendto(b"a visit", ("10.77.0.1", 7))
        # The request and the poll are over by then; the deadline is after a second.
        time.sleep(0.2)
        calls = calls_of_carriers(example.process, 0.3)
    server.process.send_signal(signal.SIGCONT)
    return [call for call in calls if not call.startswith(("readv(", "---", "rt_sigreturn"))]


def calls_of_carriers(process, seconds):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "calls")
        strace = subprocess.Popen(["strace", "-ff", "-qq", "-o", path, "-p", str(process.pid)],
                                  stderr=subprocess.DEVNULL)
        time.sleep(seconds)  # what is measured is the time without packets
        strace.send_signal(signal.SIGINT)
        strace.wait()
        carriers = {str(tid) for tid in netns.carriers(process.pid)}
        lines = []
        for name in os.listdir(folder):
            if name.rpartition(".")[2] in carriers:
                with open(os.path.join(folder, name), encoding="utf-8") as f:
                    lines += f.read().splitlines()
        return lines


def visits(tap, binary, env):
    """The kernel sends datagrams; a redis server at its loopback address counts them."""
    netns.ip("link set lo up")
    with tempfile.TemporaryDirectory() as folder, Example(
            REDIS, None, "--bind", "127.0.0.1", "--save", "", "--dir", folder,
            name="redis-server") as server:
        for kind in "tap:r0", "afxdp:r0":
            for poller in "spin", "block":
                name = f"visits: {kind.split(':')[0]}, {poller}"
                if kind == "afxdp:r0":
                    if not netns.can_open(tap, "afxdp", name):
                        continue
                    netns.veth("r0", "r1")
                with Example(binary, env, "--port", kind, "--poller", poller, "--json") as e:
                    side = "r1" if kind == "afxdp:r0" else "r0"
                    netns.wait_carriers(e.process)
                    netns.ip(f"address add 10.77.0.2/24 dev {side}")
                    netns.wait_up(side)
                    subprocess.run(["redis-cli", "flushall"], stdout=subprocess.DEVNULL, check=True)
                    numbers = answers("10.77.0.1", 2000)
                    # A machine that stands still for a second makes those under way miss their
                    # deadline. The server may have counted them.
                    failed = 2000 - len(numbers)
                    tap.ok(len(set(numbers)) == len(numbers) and
                           (failed or numbers == list(range(1, 2001))),
                           f"{name}: each datagram is counted once, and answered", numbers[-9:])
                    if kind == "tap:r0" and poller == "spin":
                        calls = calls_while_a_packet_waits(e, server)
                        tap.ok(not calls, f"{name}: no system call while a packet waits", calls[:9])
                        late = 1
                    else:
                        late = 0
                    status, out, err = e.stop()
                    counters = json.loads(out)["counters"]
                    tap.ok(status == 0 and failed <= counters["failed"] <= failed + late
                           and counters["answered"] >= 2000 - failed,
                           f"{name}: none is lost", f"{status} {err} {counters} {failed}")
                    tap.ok(failed <= 64, f"{name}: few fail", f"{status} {err} {counters}")
                if kind == "afxdp:r0":
                    netns.ip("link del r0")
        with Example(binary, env, "--port", "tap:r0", "--redis-port", "1", "--json") as e:
            netns.wait_carriers(e.process)
            netns.ip("address add 10.77.0.2/24 dev r0")
            netns.wait_up("r0")
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
                s.connect(("10.77.0.1", 7))
                for _ in range(10):
                    s.send(b"a visit")
                netns.wait_for(lambda: netns.counter("r0", "tx_packets") >= 10, "the datagrams")
                tap.ok(ping("10.77.0.1", 10), "visits: without a server pings are answered")
            status, out, err = e.stop()
            failed = json.loads(out)["counters"]["failed"]
            tap.ok(status == 0 and failed == 10, "visits: without a server requests fail",
                   f"{status} {err} {failed}")
        tap.ok(server.runs(), "visits: the server has run all the time")


def balancer(tap, binary, env):
    flow_examples.balancer(tap, binary, env, Example)


def pinger(tap, binary, env):
    flow_examples.pinger(tap, binary, env, Example)


def main():
    build, tree = sys.argv[1:]
    netns.enter()
    tap = Tap()
    with outside.installed(build) as root:
        env = outside.environment(root)
        for name, test in (("echo", echo), ("toptalkers", toptalkers), ("l2switch", l2switch),
                           ("visits", visits), ("balancer", balancer), ("pinger", pinger)):
            path = os.path.join(tree, f"apps/examples/{name}.c")
            with open(path, encoding="utf-8") as f:
                lines = len(f.readlines())
            tap.ok(lines <= LINES[name], f"{name}: {lines} lines, at most {LINES[name]}")
            binary = outside.compile_program(root, name, path, package="haul-app")
            wrong = outside.run([binary, "--port"], env=env)
            tap.ok(wrong.returncode == 2 and wrong.stdout.count("\n") == 1,
                   f"{name}: a wrong argument is one line", wrong.stdout)
            helped = outside.run([binary, "-h"], env=env)
            tap.ok(helped.returncode == 0 and "--carriers" in helped.stdout, f"{name}: help",
                   helped.stdout)
            test(tap, binary, env)
    tap.done()


main()
