# SPDX-License-Identifier: BSD-3-Clause
"""Metrics: both text formats, figures that agree with the program's report, hostile clients.
Usage: metrics.py HAUL_FWD HAUL_HTTP APP_STAGES; HAUL_STRESS_SEED repeats a run."""
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import fwd
import netns

_, FWD, HTTP, STAGES = sys.argv
netns.enter()
tap = netns.Tap()
seed = int(os.environ.get("HAUL_STRESS_SEED", time.time_ns() % 1000000))
print(f"# HAUL_STRESS_SEED={seed}", flush=True)
os.environ["RUNTIME_DIRECTORY"] = tempfile.mkdtemp()
PORT = 9100
NULL = ["--port", "null:", "--port", "null:", "--carriers", "2", "--metrics", str(PORT)]
OPEN = "application/openmetrics-text"


def connect(where=("127.0.0.1", PORT)):
    return socket.create_connection(where, 60)


def send(request, where=("127.0.0.1", PORT)):
    """The whole answer to what is sent on a connection of its own."""
    with connect(where) as s:
        s.sendall(request)
        text = b""
        while True:
            more = s.recv(65536)
            if not more:
                return text.decode()
            text += more


def get(path="/metrics", accept="*/*", where=("127.0.0.1", PORT)):
    """Status, headers, content."""
    head, _, content = send(f"GET {path} HTTP/1.1\r\nHost: h\r\nAccept: {accept}\r\n\r\n".encode(),
                            where).partition("\r\n\r\n")
    return int(head.split()[1]), head, content


def listens():
    try:
        connect().close()
    except ConnectionRefusedError:
        return False
    return True


def parse(text):
    """{name: {labels: value}}, and the families: {name: {"HELP": text, "TYPE": kind, ...}}."""
    values, families = {}, {}
    for line in text.splitlines():
        about = re.fullmatch(r"# (HELP|TYPE|UNIT) (\w+) (.*)", line)
        if about:
            family = families.setdefault(about[2], {})
            assert about[1] not in family, line
            family[about[1]] = about[3]
            continue
        if line == "# EOF":
            continue
        m = re.fullmatch(r'(\w+)(?:\{((?:\w+="(?:[^"\\]|\\.)*",?)+)\})? (\S+)', line)
        assert m, line
        assert m[2] not in values.setdefault(m[1], {}), line
        values[m[1]][m[2]] = float(m[3])
    return values, families


def faults(text, is_open):
    """What is wrong with a page, as OpenMetrics 1.0 and Prometheus have the rules."""
    values, families = parse(text)
    last = None
    if is_open != text.endswith("# EOF\n") or text.count("# EOF") > 1:
        yield "# EOF"
    for name, family in families.items():
        kind, base = family.get("TYPE"), name
        if not family.get("HELP", "").endswith("."):
            yield f"{name}: no help"
        if kind == "counter" and not is_open:
            base = name.removesuffix("_total")
            if base == name:
                yield f"{name}: no total"
        if is_open and family.get("UNIT", "") not in base.rsplit("_", 1)[-1]:
            yield f"{name}: its unit"
        if base.endswith(("_seconds", "_bytes")) and is_open and "UNIT" not in family:
            yield f"{name}: no unit"
        ends = {"counter": ["_total"], "gauge": [""], "histogram": ["_bucket", "_sum", "_count"]}
        for end in ends[kind]:
            if base + end not in values:
                yield f"{base + end}: no value"
    for line in text.splitlines():  # the values of a family stay together
        name = line.split("{")[0].split()[0]
        base = re.sub(r"_(total|bucket|sum|count)$", "", name)
        if line[0] == "#" or base == last:
            continue
        last = base
        if base not in families and name not in families:
            yield f"{name}: no family"
    for labels, n in values.get("haul_packet_seconds_count", {}).items():
        buckets = [v for key, v in values["haul_packet_seconds_bucket"].items()
                   if key.startswith(labels)]
        if buckets != sorted(buckets) or buckets[-1] != n or len(buckets) != 32:
            yield f"buckets of {labels}"


def check_by_promtool(text):
    if not shutil.which("promtool"):
        tap.skip("promtool check metrics", "it is not installed: its package has a server, too")
        return
    r = subprocess.run(["promtool", "check", "metrics"], input=text, text=True, timeout=60,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    tap.ok(r.returncode == 0 and not r.stdout, "promtool check metrics", r.stdout)


def test_pages():
    with fwd.Running(*NULL, "--mode", "macswap", "--times") as haul:
        netns.wait_for(haul.runs, "haul-fwd to run")
        status, head, text = get()
        tap.ok(status == 200 and "text/plain; version=0.0.4" in head
               and f"Content-Length: {len(text)}" in head, "a page", head)
        wrong = list(faults(text, False))
        tap.ok(not wrong, "Prometheus' format", wrong)
        check_by_promtool(text)
        status, head, text = get(accept=f"{OPEN};version=1.0.0,text/plain;q=0.5")
        wrong = list(faults(text, True))
        tap.ok(status == 200 and OPEN in head and not wrong, "OpenMetrics", wrong)
        first = parse(text)[0]
        time.sleep(1)  # by which the carriers' time grows
        last = parse(get("/metrics?x=1")[2])[0]
        times = {key: last["haul_carrier_seconds_total"][key] - v
                 for key, v in first["haul_carrier_seconds_total"].items()}
        for c in "01":
            both = [v for key, v in times.items() if f'carrier="{c}"' in key]
            tap.ok(len(both) == 3 and 0.9 < sum(both) < 3 and min(both) >= 0,
                   f"time of carrier {c}", times)
        haul.process.send_signal(signal.SIGINT)
        r = haul.wait()
        received = last["haul_port_received_packets_total"]
        tap.ok(r.rc == 0 and all(r.port(i)["rx_packets"] >= received[f'port="{i}"'] > 0
                                 for i in (0, 1)), "the report has these figures, or more", r)


def falls(pages):
    """Counters of a page that are less than on the page before."""
    for before, after in zip(pages, pages[1:]):
        for name, values in before.items():
            if name.endswith("_total"):
                yield from (f"{name}{{{k}}} {v} {after[name][k]}" for k, v in values.items()
                            if after[name][k] < v)


def test_counters_never_fall():
    """With many short sleeps, and while packets are refused."""
    for args in (["--port", "ring:", "--poller", "sleep"],
                 ["--port", "null:", "--port", "null:", "--mode", "macswap"]):
        with fwd.Running(*args, "--carriers", "1", "--metrics", str(PORT)) as haul:
            netns.wait_for(haul.runs, "haul-fwd to run")
            wrong = list(falls([parse(get()[2])[0] for _ in range(300)]))
            tap.ok(not wrong, f"counters never fall: {args[1]}", wrong[:3])
            haul.process.send_signal(signal.SIGINT)
            haul.wait()


def test_options():
    for text in ("x", "65536", "127.0.0.1", "127.0.0.1:", "1.2.3:80", ":80", "[::1:80", "-1",
                 "localhost:80", "1" * 100 + ":1"):
        r = fwd.run(*NULL[:-1], text, "--packets", 100)
        tap.ok(r.rc == 2 and "--metrics" in r.err and "such as" in r.err, f"--metrics {text}", r)
    with socket.create_server(("127.0.0.1", PORT)):
        r = fwd.run(*NULL, "--packets", 100)
        tap.ok(r.rc == 1 and "in use" in r.err, "a port in use", r)
        p = subprocess.run([HTTP, "--listen", "127.0.0.1:0", "--metrics", str(PORT)], text=True,
                           stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, timeout=60)
        tap.ok(p.returncode == 1 and "in use" in p.stderr, "the same of haul-http", p)
    netns.ip("addr add 192.0.2.1/32 dev lo")
    with fwd.Running(*NULL[:-1], f"192.0.2.1:{PORT}") as haul:
        netns.wait_for(haul.runs, "haul-fwd to run")
        tap.ok(get(where=("192.0.2.1", PORT))[0] == 200 and not listens(), "another address")


def test_program():
    args = ["--port", "null:", "--carriers", "1", "--period", "0", "--metrics", str(PORT)]
    with subprocess.Popen([STAGES, *args], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as p:
        netns.wait_for(listens, "it to listen")
        netns.wait_for(lambda: get()[0] == 200 and parse(get(accept=OPEN)[2])[0][
            "haul_program_packets_total"]['carrier="0"'] > 0, "packets")
        text = get(accept=OPEN)[2]
        values = parse(text)[0]
        tap.ok(not list(faults(text, True))
               and values["haul_program_gauge"]['carrier="0"'] == 1000,
               "counters of the program", list(faults(text, True)))
        p.send_signal(signal.SIGINT)
    with subprocess.Popen([HTTP, "--listen", "127.0.0.1:0", "--carriers", "2", "--metrics",
                           str(PORT)], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as p:
        netns.wait_for(listens, "haul-http to listen")
        netns.wait_for(lambda: 'acceptor",state="waiting"} 2\n' in get()[2], "two acceptors")
        text = get(accept=OPEN)[2]
        tap.ok(not list(faults(text, True)) and "haul_port_info" not in text,
               "a program without ports", list(faults(text, True)))
        waits = parse(text)[0]["haul_waiting_coroutines"]
        tap.ok(waits['cause="input of fd"'] == 2 == sum(waits.values()) and
               waits['cause="sleeping"'] == 0, "what coroutines wait for", waits)
        p.send_signal(signal.SIGTERM)
        tap.ok(p.wait(60) == 0, "its end")


def nb_fds(haul):
    return len(os.listdir(f"/proc/{haul.process.pid}/fd"))


def test_hostile():
    r = random.Random(seed)
    with fwd.Running(*NULL, "--times") as haul:
        netns.wait_for(haul.runs, "haul-fwd to run")
        fds = nb_fds(haul)
        for request, status in (
                (b"GET / HTTP/1.1\r\n\r\n", 404), (b"GET /metricsx HTTP/1.1\r\n\r\n", 404),
                (b"POST /metrics HTTP/1.1\r\n\r\n", 405), (b"\r\n\r\n", 405),
                (b"GET /metrics HTTP/1.1\r\nA: " + b"x" * 5000 + b"\r\n\r\n", 400),
                (b"GET /metrics\0 HTTP/1.1\r\n\r\n", 400), (b"\xff" * 4096, 400)):
            try:
                answer = send(request)
            except ConnectionResetError:  # more had come than was read
                answer = f" {status} "
            tap.ok(f" {status} " in answer[:20], f"{request[:30]}: {status}", answer)
        begun = time.monotonic()
        held = [connect() for _ in range(40)]
        for i, s in enumerate(held):
            s.sendall(b"GET /metrics HTTP/1.1\r\n"[:i % 20])
        tap.ok(get()[0] == 200 and time.monotonic() - begun < 30, "40 half requests before it")
        for s in held:
            s.close()
        slow = []
        for _ in range(8):
            s = socket.socket()
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            s.connect(("127.0.0.1", PORT))
            s.sendall(b"GET /metrics HTTP/1.1\r\n\r\n")
            slow.append(s)
        tap.ok(get()[0] == 200, "8 that do not read")
        for s in slow:
            s.close()
        for _ in range(3000):
            s = connect()
            if r.random() < 0.1:
                s.sendall(r.randbytes(r.randrange(1, 6000)))
            s.close()
        tap.ok(get()[0] == 200, "3000 connections")
        netns.wait_for(lambda: nb_fds(haul) <= fds + 2, "descriptors to be closed")
        held = [connect() for _ in range(20)]
        haul.process.send_signal(signal.SIGTERM)
        begun = time.monotonic()
        result = haul.wait()
        tap.ok(result.rc == 0 and time.monotonic() - begun < 20, "it ends with 20 connected",
               result)
        for s in held:
            s.close()


def test_prompt():
    """Scrapes while the prompt stops and starts."""
    r = random.Random(seed)
    commands = "".join(r.choice(["stop\n", "start\n", "set burst 16\n", "show port stats all\n"])
                       for _ in range(40))
    with fwd.Running(*NULL, "-i", stdin=subprocess.PIPE, options=["--json"]) as haul:
        netns.wait_for(listens, "it to listen")
        got = []
        for line in commands.splitlines(True):
            haul.process.stdin.write(line.encode())
            haul.process.stdin.flush()
            got.append(get()[0])
        haul.process.stdin.write(b"quit\n")
        haul.process.stdin.close()
        result = haul.wait()
        tap.ok(result.rc == 0 and set(got) <= {200, 503} and 200 in got,
               "while it stops and starts", (got, result))


test_pages()
test_counters_never_fall()
test_options()
test_program()
test_hostile()
test_prompt()
shutil.rmtree(os.environ["RUNTIME_DIRECTORY"])
tap.done()
