# SPDX-License-Identifier: BSD-3-Clause
"""Telemetry: commands of packet programs by DPDK's own client, at all times of a program's life;
the socket of a program without EAL, and its hostile clients.
Usage: telemetry.py HAUL_FWD APP_STAGES HAUL_HTTP; HAUL_STRESS_SEED repeats a run."""
import glob
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

import fwd
import netns
from prompt import Client as Prompt
from web import Server

_, FWD, STAGES, HTTP = sys.argv
ANSWER = 16384
netns.enter()
tap = netns.Tap()
seed = int(os.environ.get("HAUL_STRESS_SEED", time.time_ns() % 1000000))
print(f"# HAUL_STRESS_SEED={seed}", flush=True)
DIR = tempfile.mkdtemp()
os.environ["RUNTIME_DIRECTORY"] = DIR
NULL = ["--port", "null:", "--port", "null:", "--carriers", "2"]


def path_of(pid):
    return f"{DIR}/dpdk/haul-{pid}/dpdk_telemetry.v2"


class Client:
    def __init__(self, pid, seconds=60):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.sock.settimeout(seconds)
        netns.wait_for(lambda: self.connects(path_of(pid)), "the socket of telemetry", seconds)
        self.about = json.loads(self.sock.recv(1024))

    def connects(self, path):
        try:
            self.sock.connect(path)
        except (FileNotFoundError, ConnectionRefusedError, BlockingIOError):
            return False
        return True

    def raw(self, command):
        self.sock.send(command.encode() if isinstance(command, str) else command)
        text = self.sock.recv(ANSWER + 1)
        assert 0 < len(text) <= ANSWER, (command, len(text))
        return json.loads(text)

    def ask(self, command):
        return self.raw(command)[command.split(",")[0]]

    def close(self):
        self.sock.close()


def ours(client):
    return [name for name in client.ask("/") if name.startswith("/haul/")]


def dpdk_client(pid, commands):
    """What DPDK's own client prints for these."""
    text = "".join(f"{c}\n" for c in commands)
    r = subprocess.run(["dpdk-telemetry.py", "-f", f"haul-{pid}"], input=text, text=True,
                       stdout=subprocess.PIPE, timeout=60)
    return [json.loads(line) for line in r.stdout.splitlines()]


def check_usage(client):
    if "/eal/lcore/usage" not in client.ask("/"):
        tap.skip("usage of lcores", "DPDK before 23.03 does not ask for it")
        return
    got = client.ask("/eal/lcore/usage")
    tap.ok(got["lcore_ids"] == [0, 1] and all(
        0.9 * all_of < busy <= all_of for busy, all_of in
        zip(got["busy_cycles"], got["total_cycles"])), "usage of lcores", got)


def test_commands():
    with fwd.Running(*NULL, "--mode", "macswap", "--times") as haul:
        netns.wait_for(haul.runs, "haul-fwd to run")
        client = Client(haul.process.pid)
        names = ours(client)
        tap.ok(len(names) == 24, "the commands", names)
        # A first answer may come before the program lets others read.
        tap.ok([n for n in names if "error" in client.ask(n)] ==
               ["/haul/set/burst", "/haul/set/carriers", "/haul/set/policy",
                "/haul/set/stealing", "/haul/stack",
                "/haul/trace"],
               "all have answers, but changes and those for an address and a timeline",
               [client.ask(n) for n in names])
        tap.ok(all("Takes no parameters" in client.ask(f"/help,{n}")[n] or
                   "Parameters: " in client.ask(f"/help,{n}")[n] for n in names), "help")
        if shutil.which("dpdk-telemetry.py"):
            got = dpdk_client(haul.process.pid, names)
            tap.ok([list(a) for a in got] == [[n] for n in names] and
                   all(isinstance(a[n], dict) for a, n in zip(got, names)),
                   "dpdk-telemetry.py shows them", got)
        else:
            tap.skip("dpdk-telemetry.py shows them", "it is not installed")
        carriers = client.ask("/haul/carriers")
        tap.ok(list(carriers) == ["0", "1"] and all(
            c["work_ns"] > 0 and c["polls"] >= c["empty_polls"] >= c["held_polls"]
            for c in carriers.values()),
            "carriers", carriers)
        tap.ok(list(client.ask("/haul/carriers,1")) == ["1"], "from one carrier on")
        for command in ("/haul/carrier,2", "/haul/port,x", "/haul/ports,-1", "/haul/port,0x1",
                        "/haul/waits,1 ", "/haul/queues,99999999999999999999"):
            got = client.ask(command)
            tap.ok(list(got) == ["error"] and "give a number" in got["error"],
                   f"a wrong parameter: {command}", got)
        before = client.ask("/haul/port,0")
        time.sleep(1.2)  # shares are remembered once a second
        after, one = client.ask("/haul/port,0"), client.ask("/haul/carrier,0")
        tap.ok(after["rx_packets"] > before["rx_packets"], "counters grow", (before, after))
        tap.ok(sum(after[q]["rx_packets"] for q in "01") >= before["rx_packets"],
               "queues add up to the port", after)
        tap.ok(900 <= one["recent_work_permille"] <= 1000 and
               5 * 10**8 <= one["recent_ns"], "a busy carrier", one)
        check_usage(client)
        groups = client.ask("/haul/coroutines")
        tap.ok(groups["0"]["name"] == "poller" and groups["0"]["ready"] == 2, "coroutines", groups)
        latency = client.ask("/haul/latency")
        tap.ok(latency["0"]["handler"]["count"] > 0, "latency", latency)
        buckets = client.ask("/haul/latency_buckets")["0"]["handler"]
        later = client.ask("/haul/latency")["0"]["handler"]
        tap.ok(latency["0"]["handler"]["count"] <= sum(buckets.values()) <= later["count"] and
               min(map(int, buckets)) <= later["max_ns"] and
               all((int(last) + 1) % 8 == 0 for last in buckets), "its histogram",
               (latency, buckets, later))
        last = client.ask("/haul/ports")
        haul.process.send_signal(signal.SIGINT)
        r = haul.wait()
        tap.ok(r.rc == 0 and all(
            r.port(i)["rx_packets"] >= last[str(i)]["rx_packets"] > 0 for i in (0, 1)),
            "the last figures are those of the report, or less", r)
        client.close()


def stack_of(client, address):
    """On a busy machine a carrier may not get a CPU for a second."""
    while True:
        got = client.ask(f"/haul/stack,{address}")
        if "does not answer" not in got.get("error", ""):
            return got


def test_stack(client):
    """Of a program in which coroutines wait."""
    wait = client.ask("/haul/waits")["0"]
    got = stack_of(client, wait["coroutine"])
    tap.ok(got["name"] == wait["name"] and got["coroutine"] == wait["coroutine"] and
           got["carrier"] == wait["carrier"] and got["what"] == wait["what"] and
           got["frames"] > 0 and all("+0x" in got[str(i)] for i in range(got["frames"])),
           "a call stack", (wait, got))
    for text in ("", "x", "0x", "0x12g", "-0x10", "0x" + "1" * 17, "0x10 ", "123", "0x10,0x20",
                 wait["coroutine"] + "/"):
        got = client.ask(f"/haul/stack,{text}" if text else "/haul/stack")
        tap.ok(list(got) == ["error"] and "give the address" in got["error"],
               f"no address: {text!r}", got)
    address = int(wait["coroutine"], 16)
    for n in 0, 1, address + 1, address + 8, 2**64 - 1, 2**47 - 64, 0x1000:
        got = stack_of(client, hex(n))
        tap.ok(list(got) == ["error"] and "no coroutine has this address" in got["error"],
               f"no coroutine: {n:#x}", got)
    r = random.Random(seed)
    tap.ok(all(isinstance(stack_of(client, hex(address + 192 * r.randrange(-999, 999))), dict)
               for _ in range(500)), "any coroutine or none")


def test_trace():
    path = f"{DIR}/timeline"
    with fwd.Running(*NULL, "--trace", path) as haul:
        netns.wait_for(haul.runs, "haul-fwd to run")
        client = Client(haul.process.pid)
        tap.ok(not os.path.exists(path) and client.ask("/haul/trace") == {"file": path},
               "/haul/trace tells its file")
        netns.wait_for(lambda: os.path.exists(path), "the file")
        mode = os.stat(path).st_mode
        tap.ok(mode & 0o77 == 0 and os.path.getsize(path) > 1000, "and writes it", oct(mode))
        os.unlink(path)
        client.close()
        tap.ok(haul.end().rc == 0, "a good end")


def test_own():
    args = ["--port", "null:", "--carriers", "1", "--period", "0", "--commands"]
    with subprocess.Popen([STAGES, *args], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True) as p:
        client = Client(p.pid)
        netns.wait_for(lambda: client.raw("/stages/values")["/stages/values"], "its command")
        netns.wait_for(lambda: client.ask("/stages/values").get("counted"), "packets")
        got = client.ask("/stages/values,a,b")
        want = {"a_list": {"0": -1, "1": "0.5", "2": 1, "3": "\"a\\??", "4": {"nothing": ""}},
                "beside_a_report": 0, "max": 2**63 - 1, "params": "a,b"}
        tap.ok(got.pop("counted", 0) > 0 and got == want, "a command of the program's own", got)
        got = client.ask("/stages/values,long")
        tap.ok(list(got) == ["error"] and "longer" in got["error"], "too long an answer", got)
        counters = client.ask("/haul/counters")
        tap.ok(counters["packets"] > 0 and counters["gauge"] == 1000, "its counters", counters)
        p.send_signal(signal.SIGINT)
        said = p.communicate(timeout=60)[1]
        tap.ok(p.returncode == 0 and "hook commands 7" in said, "wrong names are refused", said)
        client.close()


def test_beside_reports():
    args = ["--port", "null:", "--carriers", "1", "--period", "2ms", "--commands"]
    none = subprocess.DEVNULL
    with subprocess.Popen([STAGES, *args], stdout=none, stderr=none) as p:
        client = Client(p.pid)
        netns.wait_for(lambda: client.raw("/stages/values")["/stages/values"], "its command")
        got = [client.ask("/stages/values").get("beside_a_report") for _ in range(500)]
        tap.ok(0 in got and 1 not in got, "no answer is made beside a report", got.count(1))
        p.send_signal(signal.SIGINT)
        p.wait(60)
        client.close()


def test_buckets():
    path = os.path.join(DIR, "b")
    with fwd.Running("--port", "null:", "--rxq", 2, "--carriers", 2, "--rss-ip", "--control",
                     path) as haul:
        netns.wait_for(haul.runs, "haul-fwd to run")
        client, prompt = Client(haul.process.pid), Prompt(path, haul)
        said = [prompt.ask("show buckets 0"), prompt.ask("set bucket 0 3 carrier 1"),
                prompt.ask("show buckets 0")]
        tap.ok([s.split("\n")[:2] for s in (said[0], said[2])] == [
            ["  queue 0, carrier 0: buckets 0-127", "  queue 1, carrier 1: buckets none"],
            ["  queue 0, carrier 0: buckets 0-2,4-127", "  queue 1, carrier 1: buckets 3"]] and
            said[1].strip() == "", "an entry of a device's table moves", said)
        got = client.ask("/haul/buckets")
        tap.ok(got["3"] == {"port": 0, "bucket": 3, "queue": 1, "carrier": 1} and
               got["4"]["carrier"] == 0, "and telemetry tells", got)
        tap.ok(list(client.ask("/haul/buckets,126")) == ["126", "127"], "from one on")
        said = prompt.ask("set bucket 0 128 carrier 1")
        tap.ok("has no bucket 128" in said and len(said.strip().splitlines()) == 1,
               "there are no more", said)
        client.close()
        haul.end()
    with fwd.Running("--port", "null:", "--rxq", 1, "--carriers", 2, "--spread", "all") as haul:
        netns.wait_for(haul.runs, "haul-fwd to run")
        client = Client(haul.process.pid)
        got = client.ask("/haul/buckets")
        tap.ok({b["carrier"] for b in got.values()} == {0, 1} and
               all("rx_packets" in b for b in got.values()), "buckets of software", got)
        client.close()
        haul.end()


def change(client, command):
    """A carrier whose thread is kept from running may not answer in time."""
    while True:
        got = client.ask(f"/haul/set/{command}")
        if "does not answer" not in got.get("error", ""):
            return got


def pollers(client):
    """What the pollers do, by port and carrier; a port has a queue for each carrier here."""
    queues = client.ask("/haul/queues")
    return {f"{q['port']},{q['carrier']}": q["poller"] for q in queues.values()}


def used(client):
    return [int(c) for c, got in client.ask("/haul/carriers").items() if got["in_use"]]


WRONG = {"port": ["", "x", "-1,0,spin", "2,0,spin", " 0,0,spin", "0" * 17 + ",0,spin"],
         "carrier": ["0", "0,", "0,x,spin", "0,2,spin", "0,0x1,spin"],
         "policy": ["0,0", "0,0,", "0,0,nap", "0,0,sleep:0", "0,0,spin,", "0,0,spin,1"],
         "way to wait": ["all,all,block", "1,0,adaptive:9"]}


def test_control():
    with fwd.Running(*NULL) as haul:
        netns.wait_for(haul.runs, "haul-fwd to run")
        client = Client(haul.process.pid)
        for command in ("policy,all,all,sleep", "burst,8", "carriers,0", "stealing,on", "policy",
                        "burst"):
            got = change(client, command)
            tap.ok(list(got) == ["error"] and got["error"].startswith("not allowed: ") and
                   got["error"].endswith(" --telemetry-control"), f"not allowed: {command}", got)
        got = client.ask("/haul/policies")
        tap.ok(got["control"] == 0 and got["poller"] == "spin", "and is not made", got)
        client.close()
        haul.end()
    with fwd.Running(*NULL, "--telemetry-control", "--steal", "global") as haul:
        netns.wait_for(haul.runs, "haul-fwd to run")
        client = Client(haul.process.pid)
        for text, want in ("off", 0), ("off", 0), ("on", 1):
            got = change(client, f"stealing,{text}")
            now = client.ask("/haul/policies")
            tap.ok(got == {"stealing": text} and now["steals"] == want and
                   now["steal"] == "global", f"stealing: {text}", (got, now))
        for text in "", "x", "on,", "1":
            got = change(client, f"stealing,{text}")
            tap.ok(list(got) == ["error"] and "on or off" in got["error"],
                   f"no choice: {text!r}", got)
        client.close()
        haul.end()
    path = os.path.join(DIR, "s")
    with fwd.Running(*NULL, "--telemetry-control", "--control", path) as haul:
        netns.wait_for(haul.runs, "haul-fwd to run")
        client, prompt = Client(haul.process.pid), Prompt(path, haul)
        tap.ok(client.ask("/haul/policies")["control"] == 1 and
               set(pollers(client).values()) == {"spin"}, "changes are allowed")
        for command, of in (("all,1,sleep:50", {"0,1": "sleep:50", "1,1": "sleep:50"}),
                            ("1,0,sleep", {"1,0": "sleep:100"}), ("0,all,spin", {"0,1": "spin"})):
            want = {**pollers(client), **of}
            got = change(client, f"policy,{command}")
            tap.ok(got["poller"] in of.values() and pollers(client) == want, f"set: {command}",
                   (got, want, pollers(client)))
        before = pollers(client)
        for what, texts in WRONG.items():
            for text in texts:
                got = change(client, f"policy,{text}")
                tap.ok(list(got) == ["error"] and what in got["error"] and
                       "haul_io" not in got["error"], f"no {what}: {text!r}", got)
        for text in "", "0", "513", "x", "all", "64,", "64,1":
            got = change(client, f"burst,{text}")
            tap.ok(list(got) == ["error"] and "from 1 to 512" in got["error"],
                   f"no burst: {text!r}", got)
        tap.ok(pollers(client) == before and client.ask("/haul/policies")["poller"] == "spin",
               "nothing else has changed", (before, pollers(client)))
        got = change(client, "stealing,on")
        tap.ok("--steal cluster" in got.get("error", "") or "HAUL_STEAL" in os.environ,
               "carriers do not steal", got)
        for text in "", "2", "x", "-", "0,", ",0", "0-", "1-0", "0 ", "0,1,2", "0-4294967296":
            got = change(client, f"carriers,{text}")
            tap.ok(list(got) == ["error"] and "from 0 to 1" in got["error"],
                   f"no carriers: {text!r}", got)
        tap.ok(used(client) == [0, 1], "both carriers are in use", used(client))
        for text, want in ("1", [1]), ("0", [0]), ("0-1", [0, 1]), ("1,1", [1]), ("0,1", [0, 1]):
            got = change(client, f"carriers,{text}")
            tap.ok(list(got["carriers"].values()) == want and used(client) == want and
                   {q["carrier"] for q in client.ask("/haul/queues").values()} == set(want),
                   f"carriers in use: {text}", (got, used(client)))
        tap.ok(change(client, "burst,64") == {"burst": 64} and
               change(client, "policy,all,all,sleep:70") == {"poller": "sleep:70"}, "set: all")
        prompt.ask("stop")
        got = [change(client, c) for c in ("policy,all,all,spin", "burst,8", "carriers,0")]
        tap.ok(all("no poller runs" in g["error"] for g in got), "stopped pollers", got)
        prompt.ask("start")
        got = client.ask("/haul/policies")
        tap.ok(got["poller"] == "sleep:70" and got["burst"] == 64 and
               set(pollers(client).values()) == {"sleep:70"}, "and after a start", got)
        prompt.ask("set poller spin")
        tap.ok(set(pollers(client).values()) == {"spin"} and
               client.ask("/haul/policies")["poller"] == "spin", "as the prompt has it")
        client.close()
        tap.ok(haul.end().rc == 0, "a good end after changes")


class Asker(threading.Thread):
    """Asks anything, at random times, until its program is gone. All answers are to be JSON."""

    def __init__(self, pid, number, names=()):
        super().__init__()
        self.pid, self.random, self.wrong = pid, random.Random(seed * 100 + number), []
        self.names, self.answers, self.values, self.ends = names, 0, 0, False
        self.coroutines = ["0x10"]
        self.start()

    def command(self):
        r = self.random
        if r.random() < 0.05:
            return r.randbytes(r.randrange(1, 2000)).replace(b"\0", b" ")
        name = r.choice(self.names) if r.random() < 0.9 else "/" + "x" * r.randrange(100)
        params = r.choice(["", "", "", ",0", ",1", ",-1", ",x", ",,", "," + "9" * 30, ",0,1",
                           ",all,1,sleep", "," + str(r.randrange(300)),
                           "," + r.choice(self.coroutines)])
        return (name + params).encode()

    def ask(self, client):
        command = self.command()
        client.sock.send(command)
        text = client.sock.recv(ANSWER + 1)
        if not text:
            raise ConnectionResetError
        printable = all(32 <= c < 127 and c not in b'"\\' for c in command)
        try:
            answer = json.loads(text)
        except ValueError:
            if printable:  # DPDK escapes no name that it does not know
                self.wrong.append((command, text))
            return
        self.answers += 1
        if waits := (answer.get("/haul/waits") or {}).get("0"):
            self.coroutines = self.coroutines[-20:] + [waits["coroutine"]]
        self.values += any(isinstance(v, dict) and "error" not in v for v in answer.values())

    def run(self):
        while not self.ends and os.path.exists(f"/proc/{self.pid}"):
            try:
                client = Client(self.pid, 5)
                self.names = self.names or ours(client)
                if not self.names:
                    raise KeyError("no commands yet")  # EAL listens before haul has added them
                for _ in range(self.random.randrange(1, 200)):
                    self.ask(client)
                    if self.random.random() < 0.2:
                        time.sleep(self.random.random() * 0.01)  # a random pause
                client.close()
            except (OSError, ValueError, KeyError, TimeoutError):
                time.sleep(0.001)  # until it listens again, or is gone
            except AssertionError as e:
                if "socket of telemetry" not in str(e):
                    self.wrong.append(e)
            except SystemExit:
                return


def finish(askers):
    for a in askers:
        a.ends = True
        a.join()
    return [w for a in askers for w in a.wrong], sum(a.values for a in askers)


def test_any_time():
    """From the first instant to the last, while the prompt stops, starts and changes ports."""
    r = random.Random(seed)
    with tempfile.TemporaryDirectory() as d:
        for turn in range(3):
            path = os.path.join(d, f"s{turn}")
            more = r.choice([[], ["--times"], ["--steal", "cluster"], ["--poller", "sleep"]])
            more += r.choice([[], ["--telemetry-control"]])
            ports = [r.choice(["null:", "ring:"]) for _ in range(2)]
            with fwd.Running("--port", ports[0], "--port", ports[1], "--carriers", 2,
                             "--mode", r.choice(["io", "macswap"]), "--control", path,
                             *more) as haul:
                askers = [Asker(haul.process.pid, 10 * turn + i) for i in range(3)]
                netns.wait_for(haul.runs, "haul-fwd to run")
                prompt = Prompt(path, haul)
                for _ in range(30):
                    prompt.ask(r.choice([
                        "stop", "start", "show port stats all", "port stop all", "port start all",
                        "set burst 16", "set fwd rxonly", "set fwd io", "show json",
                        "clear port stats all", "port config mtu 0 1400",
                        *["port detach 1"] * (turn == 2)]))
                    time.sleep(r.random() * 0.05)  # a random pause
                prompt.ask("start")
                time.sleep(0.2)  # questions at work, and then at the end
                if r.random() < 0.5:
                    prompt.sock.sendall(b"quit\n")
                else:
                    haul.process.send_signal(signal.SIGTERM)
                haul.process.wait(60)
                wrong, values = finish(askers)
                tap.ok(haul.process.returncode == 0 and not wrong and values > 0,
                       f"at any time: {' '.join(ports + more)}, {values} answers",
                       f"{haul.process.returncode} {wrong[:3]} {haul.said()}")


def test_port_loss():
    if not netns.can_open(tap, "afpacket"):
        return
    netns.veth("v0", "v1")
    with fwd.Running("--port", "afpacket:v0", "--carriers", 1) as haul:
        askers = [Asker(haul.process.pid, 100 + i) for i in range(3)]
        netns.wait_for(haul.runs, "haul-fwd to run")
        time.sleep(0.5)  # questions before the loss
        netns.ip("link del v0")
        haul.process.wait(60)
        wrong, values = finish(askers)
        tap.ok(haul.process.returncode == 1 and not wrong and values > 10,
               f"a port is lost, {values} answers", f"{wrong[:3]} {haul.said()}")


def connect(pid):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.settimeout(60)
    try:
        s.connect(path_of(pid))
    except BlockingIOError:
        pass
    return s


def some_answers(pid, n):
    client = Client(pid)
    names = ours(client)
    for i in range(n):
        assert isinstance(client.ask(names[i % len(names)]), dict)
    client.close()
    return True


def test_without_eal():
    with Server(HTTP, "--carriers", "2", "--backend", "127.0.0.1:9") as server:
        pid = server.process.pid
        client = Client(pid)
        tap.ok(client.about["pid"] == pid and client.about["max_output_len"] == ANSWER
               and client.about["version"].startswith("haul-http"), "about it", client.about)
        server.ask("/none")
        got = client.ask("/http/figures")
        tap.ok(got["requests"] == 1 and got["statuses"] and got["carriers"]["0"]["id"] == 0,
               "its figures", got)
        # A slow acceptor may be before its first wait.
        netns.wait_for(lambda: client.ask("/haul/coroutines")["0"]["blocked"] == 2, "acceptors")
        got = client.ask("/haul/coroutines")
        tap.ok(got["0"]["name"] == "acceptor", "coroutines", got)
        got = client.ask("/haul/waits")
        tap.ok(got["0"]["what"].startswith("input of fd"), "waits", got)
        netns.wait_for(lambda: client.ask("/haul/causes")["waiting"] == 2, "nobody else to wait")
        got = client.ask("/haul/causes")
        tap.ok(got["waiting"] == 2 and got["0"]["what"] == "input of fd" and
               got["0"]["waiting"] == 2 and got["1"]["waiting"] == 0, "their causes", got)
        test_stack(client)
        tap.ok(client.ask("/haul/ports") == {"error": "this program has no ports"}, "no ports")
        tap.ok(client.ask("/none") is None and client.ask("/help,/none") is None and
               client.raw(b"\xff\xfe") == {"none": None}, "no such command")
        mode = os.stat(os.path.dirname(path_of(pid))).st_mode
        tap.ok(mode & 0o77 == 0, "for its user only", oct(mode))
        if shutil.which("dpdk-telemetry.py"):
            got = dpdk_client(pid, ["/haul/info", "/help,/haul/info"])
            tap.ok(got[0]["/haul/info"]["program"] == "haul-http", "dpdk-telemetry.py", got)
        else:
            tap.skip("dpdk-telemetry.py", "it is not installed")
        client.close()
        hostile(server, pid)
        asker = Asker(pid, 200)
        time.sleep(0.5)  # questions before the end
    wrong, values = finish([asker])
    tap.ok(not wrong and values > 10 and not os.path.exists(os.path.dirname(path_of(pid))),
           "it ends amid questions, and its directory goes", wrong[:3])


def hostile(server, pid):
    netns.wait_for(lambda: some_answers(pid, 20), "answers")
    fds = server.nb_fds()
    for _ in range(5000):
        connect(pid).close()
    tap.ok(some_answers(pid, 20), "5000 connections, one after the other")
    held = [connect(pid) for _ in range(40)]
    time.sleep(5.5)  # the silent ones are to be left after five seconds
    tap.ok(some_answers(pid, 20), "40 that say nothing")
    for s in held:
        s.close()
    slow = [connect(pid) for _ in range(8)]
    for s in slow:
        s.setblocking(False)
        try:
            for _ in range(10000):
                s.send(b"/haul/coroutines")
        except OSError:
            pass
    tap.ok(some_answers(pid, 20) and server.ask("/none")[0] == 404, "8 that do not read")
    for s in slow:
        s.close()
    r = random.Random(seed)
    for _ in range(300):
        s = connect(pid)
        try:
            for _ in range(r.randrange(5)):
                s.send(r.randbytes(r.randrange(1, 5000)))
        except OSError:
            pass
        s.close()
    tap.ok(some_answers(pid, 20), "garbage")
    netns.wait_for(lambda: server.nb_fds() <= fds, "the descriptors to be closed")
    tap.ok(True, "no descriptor stays open")


test_commands()
test_trace()
test_control()
test_buckets()
test_own()
test_beside_reports()
test_any_time()
test_port_loss()
test_without_eal()
left = glob.glob(f"{DIR}/dpdk/*")
tap.ok(not left, "no directory stays", left)
shutil.rmtree(DIR)
tap.done()
