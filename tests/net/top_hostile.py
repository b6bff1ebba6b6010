# SPDX-License-Identifier: BSD-3-Clause
"""haul-top and sockets that are no telemetry of haul: garbage, answers cut short, too long or late,
none at all. One line and exit code 1 without a screen; with one, the line is shown, and keys work.
Usage: top_hostile.py HAUL_TOP; HAUL_STRESS_SEED repeats a run."""
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import netns

sys.path.append("/usr/lib/python3/dist-packages")  # where Debian has pyte, for any python3
from terminal import Terminal  # noqa: E402

TOP = sys.argv[1]
tap = netns.Tap()
seed = int(os.environ.get("HAUL_STRESS_SEED", time.time_ns() % 1000000))
print(f"# HAUL_STRESS_SEED={seed}", flush=True)
DIR = tempfile.mkdtemp()
ABOUT = {"version": "none", "pid": os.getpid(), "max_output_len": 16384}
INFO = {"program": "sick", "haul": "0", "pid": os.getpid(), "carriers": 1, "uptime_ns": 10**9}


class Server:
    """Answers each command by the function answer(command): bytes, or None to say nothing. hello:
    its first words, the same."""

    def __init__(self, answer, hello=json.dumps(ABOUT).encode(), kind=socket.SOCK_SEQPACKET,
                 backlog=16, accepts=True):
        self.path = os.path.join(DIR, f"s{random.getrandbits(32)}")
        self.answer, self.hello, self.ends = answer, hello, False
        self.sock = socket.socket(socket.AF_UNIX, kind)
        self.sock.bind(self.path)
        self.sock.listen(backlog)
        self.thread = threading.Thread(target=self.serve, daemon=True)
        if accepts:
            self.thread.start()

    def serve(self):
        while not self.ends:
            try:
                client, _ = self.sock.accept()
            except OSError:
                return
            try:
                self.talk(client)
            except OSError:
                client.close()

    def talk(self, client):
        if self.hello is not None:
            client.send(self.hello)
        while command := client.recv(1024):
            text = self.answer(command.decode())
            if text is not None:
                client.send(text)
                if not text:  # an empty packet looks like the end
                    break
        client.close()

    def close(self):
        self.ends = True
        self.sock.close()
        os.unlink(self.path)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def right(values):
    """Answers with these values, by command."""
    def answer(command):
        name = command.split(",")[0]
        return json.dumps({name: values.get(name)}).encode()
    return answer


def once(server, *args):
    return subprocess.run([TOP, "--socket", server.path, "--once", "--interval", "0.1", *args],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)


def fails(server, name, text):
    r = once(server, "--patience", "0.3")
    tap.ok(r.returncode == 1 and not r.stdout and r.stderr.count("\n") == 1 and text in r.stderr and
           all(" " <= c <= "~" for c in r.stderr[:-1]), name, r)


def cut(command):
    return json.dumps({command: INFO}).encode()[:-5]


def test_lines():
    for name, text, answer in (
            ("garbage", "not JSON", lambda c: b"\xff\x00\x1b[31m garbage"),
            ("an answer cut short", "/haul/info: the answer is cut short", cut),
            ("one bracket", "cut short", lambda c: b"{"),
            ("no object", "not an answer of telemetry", lambda c: b"[]"),
            ("a number", "not an answer of telemetry", lambda c: b'{"/haul/info": 5}'),
            ("another command's", "not an answer of telemetry", lambda c: b'{"/none": {}}'),
            ("too long an answer", "more than 64 KB", lambda c: b" " * 70000),
            ("deep", "not JSON", lambda c: b"[" * 60000),
            ("no answer", "no answer for 300ms", lambda c: None),
            ("the end", "closed the connection", lambda c: b""),
            ("no haul", "no program of haul", right({})),
            ("an error", "it starts", right({"/haul/info": {"error": "it starts\x1b\n"}}))):
        with Server(answer) as server:
            fails(server, name, text)
    for name, text, hello in (
            ("garbage at first", "not JSON", b"\xff\xfe\x01"),
            ("nothing at first", "no answer", None),
            ("no pid", "not an answer of telemetry", b"{}"),
            ("too much at first", "more than 64 KB", b" " * 80000)):
        with Server(right({}), hello) as server:
            fails(server, name, text)
    with Server(right({}), kind=socket.SOCK_STREAM) as server:
        fails(server, "another kind of socket", "wrong type")
    with Server(right({}), backlog=0, accepts=False) as server:
        waiting = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        waiting.connect(server.path)
        fails(server, "too many clients", "no answer")
        waiting.close()


def test_odd_values():
    """Right in form only: shown, whatever it is."""
    lists = {f"/haul/{n}": {"0": {"name": "\x1b[2J\u00e9", "rx_packets": -5, "spec": 7}, "1": 3}
             for n in ("carriers", "ports", "queues", "drops", "latency", "coroutines", "causes",
                       "waits")}
    with Server(right({"/haul/info": INFO | {"program": "\x1b]0;x\x07"}, **lists})) as server:
        for view in "overview", "carriers", "ports", "queues", "drops", "coroutines", "waits", \
                "latency", "counts":
            r = once(server, "--view", view)
            tap.ok(r.returncode == 0 and all(c == "\n" or " " <= c <= "~" for c in r.stdout),
                   f"odd values: {view}", r)
        json.loads(once(server, "--json").stdout)

    def endless(command):
        name, _, first = command.partition(",")
        n = int(first or 0)
        if name == "/haul/info":
            return json.dumps({name: INFO}).encode()
        return json.dumps({name: {str(n): {}, "next": n + 1}}).encode()
    with Server(endless) as server:
        r = once(server, "--json")
        tap.ok(r.returncode == 0 and 1 < len(json.loads(r.stdout)["ports"]) < 1000,
               "a list without an end", r)
    r = random.Random(seed)

    def any_json(depth):
        kind = r.randrange(7 if depth else 4)
        return [r.randrange(-2**63, 2**63), r.random(), None, "é\x1b" * r.randrange(9)][kind] \
            if kind < 4 else {r.choice(["0", "1", "ns", "next", "error", "work_ns", "ready"]):
                              any_json(depth - 1) for _ in range(5)}
    with Server(lambda c: json.dumps({c.split(",")[0]: INFO if c == "/haul/info" else
                                      {"0": any_json(3), "1": any_json(2)}}).encode()) as server:
        codes = [once(server, "--view", view).returncode for view in
                 ["overview", "carriers", "ports", "drops", "coroutines", "waits", "latency"] * 2]
        tap.ok(set(codes) <= {0, 1}, "values at random", codes)


def top_on(*args):
    """On a terminal that pyte emulates in full."""
    return Terminal([TOP, "--interval", "0.1", *args], env={"TERM": "screen"})


def test_screen():
    slow = threading.Event()

    def answer(command):
        if slow.is_set():
            return None
        return right({"/haul/info": INFO})(command)
    with Server(answer) as server, top_on("--socket", server.path, "--patience", "1h") as t:
        t.until(lambda: "sick " in t.row(0) and t.shows("up 00:00:01"), "figures")
        slow.set()
        t.type("c")
        t.until(lambda: ": carriers " in t.row(0), "a view while there is no answer")
        t.type("h")
        t.until(lambda: t.shows("this page"), "help while there is no answer")
        tap.ok(t.fits(80, 24), "keys work without an answer", t)
        t.kill(signal.SIGTERM)
        tap.ok(t.ends()[0] == 0 and t.is_restored(), "ends without an answer", t)
    slow.clear()
    with Server(answer) as server, top_on("--socket", server.path, "--patience", "0.2") as t:
        t.until(lambda: "sick " in t.row(0), "figures")
        slow.set()
        t.until(lambda: t.shows("no answer for 200ms"), "the line")
        slow.clear()
        t.until(lambda: not t.shows("no answer") and "sick " in t.row(0), "figures again")
        tap.ok(True, "the line is shown, and goes")
        t.type("q")
        t.ends()
    with Server(lambda c: b"garbage") as server, top_on(
            "--socket", server.path) as t:
        t.until(lambda: "not JSON" in t.row(22), "the line")
        t.type("q")
        tap.ok(t.ends()[0] == 0 and t.is_restored(), "garbage on the screen", t)


def test_list():
    """One that says nothing does not hide the others."""
    folder = os.path.join(DIR, "dpdk")
    env = os.environ | {"RUNTIME_DIRECTORY": DIR}
    servers = [Server(right({"/haul/info": INFO})), Server(lambda c: None), Server(right({}))]
    for i, s in enumerate(servers):
        os.makedirs(f"{folder}/p{i}")
        os.rename(s.path, f"{folder}/p{i}/dpdk_telemetry.v2")
        os.symlink(f"{folder}/p{i}/dpdk_telemetry.v2", s.path)
    r = subprocess.run([TOP, "--list", "--patience", "0.3"], env=env, capture_output=True,
                       text=True, timeout=60)
    tap.ok(r.returncode == 0 and f"{folder}/p0/" in r.stdout and f"{folder}/p1/" not in r.stdout and
           f"{folder}/p2/" not in r.stdout + r.stderr and f"{folder}/p1/" in r.stderr,
           "a list with one that does not answer", r)
    for s in servers:
        s.close()


try:
    test_lines()
    test_odd_values()
    test_screen()
    test_list()
finally:
    shutil.rmtree(DIR)
tap.done()
