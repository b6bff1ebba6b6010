# SPDX-License-Identifier: BSD-3-Clause
"""haul-http: its end and its figures. Requests that are under way get their answers, idle
connections are closed at once, what lasts too long is cut and counted; a second signal ends all.
With io_uring and with epoll, with one acceptor and with several. HAUL_SEED replays the random part.

usage: http_end.py haul-http"""
import contextlib
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback

import web
from tap import Tap

PROGRAM = sys.argv[1]
SEED = int(os.environ.get("HAUL_SEED", random.randrange(1 << 32)))
STOPS = int(os.environ.get("HAUL_STOPS", 4))
PROMPT = 4  # seconds in which it ends on a busy machine, without waiting for a limit
BIG = 16 << 20  # more than sockets take
GET = b"GET %s HTTP/1.1\r\nHost: h\r\n\r\n"
ASKS = GET % b"/"


def figures(server):
    return json.loads(server.output)


def one_answer(s):
    """The next one of a connection that is kept."""
    got = b""
    while b"\r\n\r\n" not in got:
        got += s.recv(1 << 16)
    return got


def idle_ones(options):
    """Those with an answer, and those that have sent nothing; some have gone, in any order."""
    rng = random.Random(SEED)
    with web.Server(PROGRAM, "--json", *options) as server:
        before = server.nb_sockets()
        clients = [server.connect() for _ in range(40)]
        for c in clients[:20]:
            c.sendall(ASKS)
            assert one_answer(c).startswith(b"HTTP/1.1 404 ")
        web.wait_for("all are accepted", lambda: server.nb_sockets() == before + 40)
        rng.shuffle(clients)
        for i in range(20):
            clients.pop().close()
            web.wait_for("it has ended", lambda n=39 - i: server.nb_sockets() == before + n)
        began = time.monotonic()
    assert time.monotonic() - began < PROMPT
    for c in clients:
        assert web.rest_of(c) == b""  # and no reset
        c.close()
    assert figures(server)["connections"] == 40 and figures(server)["statuses"] == {"404": 20}
    assert not any(figures(server)["limits"].values()), server.output


def under_way(options):
    """A call of the backend, a head of which a part has come, and a file that is being read."""
    backend = web.Backend()
    backend.delay = 0.5  # of which the signal comes in the middle
    with tempfile.TemporaryDirectory() as folder, web.Server(
            PROGRAM, "--json", "--backend", f"127.0.0.1:{backend.port}", "--root", folder,
            "--stop-time", "1min", *options) as server:
        with open(f"{folder}/big", "wb") as f:
            f.truncate(BIG)
        called, halfway, reads = (server.connect() for _ in range(3))
        halfway.sendall(ASKS[:10])
        reads.sendall(GET % b"/big")
        part = one_answer(reads)
        called.sendall(ASKS)
        web.wait_for("the call", lambda: backend.accepted == 1)
        server.process.terminate()
        web.wait_for("no more connections", lambda: not accepts(server))
        halfway.sendall(ASKS[10:])
        for c in (called, halfway):
            got = web.rest_of(c)
            assert web.split(got) == (200, b"hello\n") and b"Connection: close\r\n" in got, got
            c.close()
        # It was told that the connection is kept, and could not know better.
        began = time.monotonic()
        part += web.rest_of(reads)
        assert time.monotonic() - began < PROMPT
        assert b"Connection: close" not in part[:500] and len(web.split(part)[1]) == BIG
        reads.close()
        server.process.wait()  # else the next signal would be the second one
    assert figures(server)["statuses"] == {"200": 3}, server.output
    assert not any(figures(server)["limits"].values()), server.output
    backend.close()


def accepts(server):
    try:
        server.connect().close()
    except ConnectionError:
        return False
    return True


def too_long(options):
    backend = web.Backend()
    backend.delay = 60  # as if it hung
    with web.Server(PROGRAM, "--json", "--stop-time", "200ms", "--backend-time", "1min",
                    "--backend", f"127.0.0.1:{backend.port}", *options) as server:
        c = server.connect()
        c.sendall(ASKS)
        web.wait_for("the call", lambda: backend.accepted == 1)
        before = server.nb_sockets()
        others = [server.connect() for _ in range(8)]
        web.wait_for("all are accepted", lambda: server.nb_sockets() == before + 8)
        random.Random(SEED).shuffle(others)
        for other in others:
            other.close()
        web.wait_for("they have ended", lambda: server.nb_sockets() == before)
        began = time.monotonic()
    assert time.monotonic() - began < PROMPT
    assert figures(server)["limits"]["stop_time"] == 1, server.output  # and none of the others
    assert web.rest_of(c) == b""
    c.close()
    backend.close()


def second_signal(options):
    backend = web.Backend()
    backend.delay = 60  # as if it hung
    server = web.Server(PROGRAM, "--stop-time", "1min", "--backend-time", "1min",
                        "--backend", f"127.0.0.1:{backend.port}", *options)
    with server.connect() as c:
        c.sendall(ASKS)
        web.wait_for("the call", lambda: backend.accepted == 1)
        server.process.terminate()
        web.wait_for("no more connections", lambda: not accepts(server))
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(PROMPT) == -signal.SIGINT
    assert server.process.stdout.read() == ""
    server.process.stdout.close()
    server.reader.join()
    server.process.stderr.close()
    backend.close()


def limits(options):
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/big", "wb") as f:
            f.truncate(BIG)
        with web.Server(PROGRAM, "--json", "--root", folder, "--idle", "300ms", "--head", "300ms",
                        "--transfer", "300ms", *options) as server:
            clients, before = [], server.nb_sockets()
            for text in (b"", b"GET / HT", GET % (b"/" + b"x" * 9000),
                         ASKS[:-2] + b"A: b\r\n" * 100 + b"\r\n",
                         ASKS[:-2] + b"Content-Length: 99999999\r\n\r\n", GET % b"/big"):
                clients.append(server.connect())
                clients[-1].sendall(text)
            for c in clients[:-1]:
                web.rest_of(c)
            # The last one reads nothing.
            web.wait_for("all are thrown out", lambda: server.nb_sockets() == before)
            for c in clients:
                c.close()
    found = figures(server)
    wanted = {"idle": 1, "head": 1, "line": 1, "fields": 1, "body": 1, "transfer": 1,
              "stop_time": 0}
    assert found["limits"] == wanted, server.output
    assert found["statuses"] == {"200": 1, "408": 1, "413": 1, "414": 1, "431": 1}, server.output
    assert found["tx_bytes"] > 65536 and found["rx_bytes"] > 8000, server.output
    for name in "connections", "requests", "rx_bytes", "tx_bytes":
        assert found[name] == sum(c[name] for c in found["carriers"]), server.output


def texts(options):
    server = web.Server(PROGRAM, "--duration", "0.7", "--period", "0.2", *options)
    with server.connect() as c:
        c.sendall(ASKS)
        assert one_answer(c)
        lines = server.process.stdout.read().splitlines()
    assert server.process.wait() == 0
    server.process.stdout.close()
    server.reader.join()
    server.process.stderr.close()
    rest = lines[lines.index(next(x for x in lines if x.startswith("total of "))):]
    assert any("  open 1  " in x for x in lines) and len(lines) - len(rest) >= 2, lines
    assert [x.split()[:2] for x in rest[1:3]] == [["connections", "1"], ["requests", "1"]], rest
    assert any(x.split()[:3] == ["status", "404", "1"] for x in rest), rest


def forbidden(options):
    """A file that the user of the server may not read: in a user namespace root is nobody."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        for name, mode in (("open", 0o644), ("closed", 0)):
            with open(f"{folder}/{name}", "wb") as f:
                f.write(b"content")
            os.chmod(f"{folder}/{name}", mode)
        with web.Server("unshare", "--user", PROGRAM, "--root", folder, *options) as server:
            for _ in range(2):  # the second time it is in memory
                assert server.ask("/open") == (200, b"content")
                assert server.ask("/closed")[0] == 403


def stops_under_load(options):
    """Each answer that has begun is whole."""
    rng = random.Random(SEED)
    content = rng.randbytes(300000)
    wrong, answered = [], []

    def client(server, big):
        with contextlib.suppress(ConnectionError, socket.timeout), server.connect() as s:
            while True:
                s.sendall(GET % (b"/big" if big else b"/small"))
                got, wanted = b"", content if big else b"small"
                while b"\r\n\r\n" not in got or len(got.partition(b"\r\n\r\n")[2]) < len(wanted):
                    more = s.recv(1 << 16)
                    if not more:
                        if got:
                            wrong.append(got[:300])
                        return
                    got += more
                answered.append(web.split(got)[0])
                if web.split(got) != (200, wanted):
                    wrong.append(got[:300])

    with tempfile.TemporaryDirectory() as folder:
        for name, what in (("big", content), ("small", b"small")):
            with open(f"{folder}/{name}", "wb") as f:
                f.write(what)
        for _ in range(STOPS):
            with web.Server(PROGRAM, "--json", "--root", folder, *options) as server:
                threads = [threading.Thread(target=client, args=[server, rng.randrange(2)])
                           for _ in range(8)]
                for t in threads:
                    t.start()
                time.sleep(rng.uniform(0, 0.3))  # any moment
                began = time.monotonic()
            assert time.monotonic() - began < PROMPT + 1, time.monotonic() - began
            for t in threads:
                t.join()
            assert not any(figures(server)["limits"].values()), server.output
    assert not wrong and answered, wrong[:3]
    print(f"# {len(answered)} answers, {STOPS} stops", flush=True)


def main():
    result = Tap()
    print(f"# HAUL_SEED={SEED}")
    tests = [idle_ones, under_way, too_long, second_signal, limits, texts, stops_under_load]
    if subprocess.run(["unshare", "--user", "true"], check=False).returncode == 0:
        tests.append(forbidden)
    for wait in web.WAITS:
        for accept in ("each", "one"):
            for test in tests:
                why = None
                try:
                    test(["--wait", wait, "--accept", accept])
                except (AssertionError, OSError, StopIteration, subprocess.TimeoutExpired):
                    why = traceback.format_exc()
                result.ok(why is None, f"{test.__name__.replace('_', ' ')}, {wait}, {accept}", why)
    result.done()


if __name__ == "__main__":
    main()
