# SPDX-License-Identifier: BSD-3-Clause
"""Scrapes, and clients of telemetry, of a program under full load, while others abuse both sockets:
every one gets its answer, no packet is lost, and no descriptor, thread, memory or coroutine stays.

HAUL_SCRAPES=10000 for more; it prints the gaps between polls with clients and without them.
HAUL_STRESS_SEED repeats a run. Usage: scrapes.py APP_GAPS
"""
import contextlib
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import netns

_, GAPS = sys.argv
SCRAPES = int(os.environ.get("HAUL_SCRAPES", 100 if netns.fewer() else 300))
TURNS = max(2, SCRAPES // 500)  # with clients and without them
PORT = 9100
ANSWER = 16384
COMMANDS = ["/haul/carriers", "/haul/coroutines", "/haul/waits", "/haul/ports", "/haul/queues"]
netns.enter()
tap = netns.Tap()
seed = int(os.environ.get("HAUL_STRESS_SEED", time.time_ns() % 1000000))
print(f"# HAUL_STRESS_SEED={seed}", flush=True)
DIR = tempfile.mkdtemp()
os.environ["RUNTIME_DIRECTORY"] = DIR


def http():
    return socket.create_connection(("127.0.0.1", PORT), 60)


def scrape():
    """The page, or None if there is none now."""
    with contextlib.suppress(OSError), http() as s:
        s.sendall(b"GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n")
        text = b""
        while more := s.recv(65536):
            text += more
        if text.startswith(b"HTTP/1.1 200 "):
            return text.decode()
    return None


def telemetry(pid):
    """A connection, or None: DPDK takes ten at a time."""
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.settimeout(60)
    try:
        s.connect(f"{DIR}/dpdk/haul-{pid}/dpdk_telemetry.v2")
        if s.recv(1024):
            return s
    except OSError:
        pass
    s.close()
    return None


def ask(s, command):
    s.send(command.encode())
    return json.loads(s.recv(ANSWER + 1))[command.split(",")[0]]


def attach(pid):
    """True if a client that comes, asks and goes gets all its answers."""
    s = telemetry(pid)
    if not s:
        return False
    with s:
        return all("error" not in ask(s, c) for c in COMMANDS)


class Hostile(threading.Thread):
    """Does harm until it is told to end, in pauses none."""

    def __init__(self, pid, number, harm):
        super().__init__()
        self.pid, self.harm, self.random = pid, harm, random.Random(seed * 100 + number)
        self.ends, self.goes, self.done = False, threading.Event(), 0
        self.start()

    def run(self):
        while not self.ends:
            if self.goes.wait(0.1):  # a look at whether it ends
                with contextlib.suppress(OSError):
                    self.harm(self)
                self.done += 1

    def end(self):
        self.ends = True
        self.join()


# Of the eight scrapers that are served at a time these hold two, and of DPDK's ten clients three.
def half_open(h):
    with http() as s:
        s.sendall(b"GET /metrics HTTP/1.1\r\nHost:"[:h.random.randrange(30)])
        time.sleep(h.random.random())  # the server gives it two seconds


def slow_reader(h):
    with socket.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        s.connect(("127.0.0.1", PORT))
        s.sendall(b"GET /metrics HTTP/1.1\r\n\r\n")
        time.sleep(h.random.random())  # does not read
        s.recv(h.random.randrange(1, 100))


def http_garbage(h):
    for _ in range(20):
        with http() as s:
            s.sendall(h.random.randbytes(h.random.randrange(1, 6000)))


def come_and_go(h):
    for _ in range(50):
        http().close()
        s = telemetry(h.pid)
        if s:
            s.close()
    time.sleep(0.01)  # others are to come, too


def silent(h):
    s = telemetry(h.pid)
    if s:
        time.sleep(h.random.random())  # says nothing
        s.close()


def no_reader(h):
    s = telemetry(h.pid)
    if not s:
        return
    with s:
        s.setblocking(False)
        for _ in range(1000):
            s.send(b"/haul/waits")


def garbage(h):
    s = telemetry(h.pid)
    if not s:
        return
    with s:
        for _ in range(20):
            s.send(h.random.randbytes(h.random.randrange(1, 1000)))
            s.recv(ANSWER + 1)


HARMS = [half_open, slow_reader, http_garbage, come_and_go, silent, no_reader, garbage]


class Program(netns.Child):
    def __init__(self):
        self.process = subprocess.Popen(
            [GAPS, "--port", "null:", "--port", "null:", "--carriers", "1", "--metrics", str(PORT),
             "--period", "0", "--json"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, env=netns.to_weigh())
        self.pid = self.process.pid
        try:
            netns.wait_for(scrape, "metrics")
        except TimeoutError:
            self.process.kill()
            raise
        # Metrics have a runtime of their own, with a thread that floats.
        self.carrier = next(t for t in netns.carriers(self.pid) if ".p" in self.name_of(t))

    def name_of(self, thread):
        with open(f"/proc/{self.pid}/task/{thread}/comm", encoding="ascii") as f:
            return f.read()

    def held(self):
        """Descriptors, threads, coroutines; and memory, in KB."""
        with open(f"/proc/{self.pid}/status", encoding="ascii") as f:
            kb = int(re.search(r"VmRSS:\s+(\d+)", f.read())[1])
        coroutines = sum(float(n) for n in re.findall(
            r"(?m)^haul_coroutines\{.*\} (\S+)$", netns.wait_for(scrape, "a scrape")))
        return (len(os.listdir(f"/proc/{self.pid}/fd")), len(os.listdir(f"/proc/{self.pid}/task")),
                coroutines), kb

    def counts(self):
        """Gaps by length, packets, and the CPU time of the carrier in ns."""
        s = netns.wait_for(lambda: telemetry(self.pid), "telemetry")
        with s:
            gaps, carrier = ask(s, "/haul/counters"), ask(s, "/haul/carrier,0")
        with open(f"/proc/{self.pid}/task/{self.carrier}/schedstat", encoding="ascii") as f:
            ran = int(f.read().split()[0])
        return {**{k: n for k, n in gaps.items() if k.startswith("gaps_")},
                "packets": carrier["rx_packets"], "cpu_ns": ran}

    def lost(self):
        return {k: n for k, n in re.findall(
            r'(?m)^haul_port_dropped_packets_total\{(.*)\} (\S+)$', netns.wait_for(
                scrape, "a scrape")) if float(n)}


def add(sums, before, after):
    for k, n in after.items():
        sums[k] = sums.get(k, 0) + n - before[k]


def tell(name, sums):
    seconds = sums["cpu_ns"] / 1e9
    print(f"# {name}: {seconds:.1f} s of CPU, {sums['packets'] / seconds / 1e6:.1f} M packets/s; "
          "gaps between polls a second " + ", ".join(
              f"{k[5:]} {n / seconds:.2f}" for k, n in sums.items() if k.startswith("gaps_")),
          flush=True)


def work(program, nb):
    """Scrapes, and as many clients of telemetry. The number of those that got their answers."""
    pages = clients = 0
    for _ in range(nb):
        # Hostile clients may have all the places for a moment.
        pages += bool(netns.wait_for(scrape, "a scrape"))
        clients += bool(netns.wait_for(lambda: attach(program.pid), "answers"))
    return pages, clients


def turns(program, hostile):
    alone, beside, served = {}, {}, [0, 0]
    warm = None
    for turn in range(TURNS):
        before = program.counts()
        time.sleep(2 if SCRAPES > 1000 else 0.5)  # of the load alone
        add(alone, before, program.counts())
        for h in hostile:
            h.goes.set()
        before = program.counts()
        for i, n in enumerate(work(program, SCRAPES // TURNS)):
            served[i] += n
        add(beside, before, program.counts())
        for h in hostile:
            h.goes.clear()
        if turn == 0:
            warm = program.held()[1]
            print(f"# after the first turn: {warm} KB", flush=True)
    tell("the load alone", alone)
    tell("with clients", beside)
    return served, warm


def abused(program):
    """Scrapers and clients that were served, and the memory held after the first turn."""
    hostile = [Hostile(program.pid, i, harm) for i, harm in enumerate(HARMS)]
    try:
        return turns(program, hostile)
    finally:
        for h in hostile:
            h.end()
        print("#", ", ".join(f"{h.harm.__name__} {h.done}" for h in hostile), flush=True)


def check(program):
    first, _ = program.held()
    served, warm = abused(program)
    tap.ok(min(served) == SCRAPES // TURNS * TURNS, f"{served[0]} scrapes, {served[1]} clients")
    netns.wait_for(lambda: program.held()[0] <= first, "descriptors and threads to go")
    tap.ok(True, "no descriptor, thread or coroutine stays")
    _, last = program.held()
    print(f"# at the end: {last} KB", flush=True)
    # glibc's arenas and stacks of threads that come and go vary, by some of each.
    tap.ok(last - warm < 16384, "memory does not grow", f"{warm} KB, then {last} KB")
    lost = program.lost()
    tap.ok(not lost, "no packet is lost", lost)
    program.process.send_signal(signal.SIGTERM)
    out = json.loads(program.process.communicate(timeout=120)[0])
    received, sent = (sum(p[k] for p in out["ports"]) for k in ("rx_packets", "tx_packets"))
    tap.ok(program.process.returncode == 0 and received == sent > 0,
           f"{received / 1e6:.0f} M packets were received and sent", (received, sent))


with Program() as sender:
    check(sender)
shutil.rmtree(DIR)
tap.done()
