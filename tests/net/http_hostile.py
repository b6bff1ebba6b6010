# SPDX-License-Identifier: BSD-3-Clause
"""haul-http with hostile clients: slow heads, silence, garbage, giant heads, pipelines that nobody
reads, too many connections. They are thrown out, others are served meanwhile, memory is bounded.
HAUL_SEED replays the garbage.

usage: http_hostile.py haul-http"""
import contextlib
import os
import random
import sys
import tempfile
import threading
import time
import traceback

import web
from tap import Tap

PROGRAM = sys.argv[1]
SEED = int(os.environ.get("HAUL_SEED", random.randrange(1 << 32)))
MANY = 200
PROMPT = 5  # seconds in which a good client is served, on a busy machine


class Good:
    """A client that asks again and again, while the block runs."""

    def __init__(self, server):
        self.server, self.times, self.wrong, self.ends = server, [], [], False
        self.thread = threading.Thread(target=self.run)

    def run(self):
        while not self.ends:
            begin = time.monotonic()
            status, _ = self.server.ask("/file")
            self.times.append(time.monotonic() - begin)
            if status != 200:
                self.wrong.append(status)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, kind, *_):
        self.ends = True
        self.thread.join()
        if not kind:
            assert not self.wrong and self.times, self.wrong
            worst = sorted(self.times)[len(self.times) * 99 // 100]
            print(f"# {len(self.times)} good requests, p99 {worst * 1e3:.1f} ms", flush=True)
            assert worst < PROMPT


def slow_heads(server):
    """A byte now and then never ends a head: the limit is for all of it."""
    clients = [server.connect() for _ in range(MANY)]
    text = b"GET / HTTP/1.1\r\nHost: h\r\nX: " + b"x" * 1000
    open_ones, answers = set(clients), []
    with Good(server):
        for byte in text:
            for c in list(open_ones):
                try:
                    c.sendall(bytes([byte]))
                except ConnectionError:
                    open_ones.discard(c)
            if not open_ones:
                break
            time.sleep(0.02)  # the slowness
        for c in clients:
            answers.append(web.rest_of(c))
            c.close()
    assert not open_ones
    assert all(not a or a.startswith(b"HTTP/1.1 408 ") for a in answers)


def silence(server):
    clients = [server.connect() for _ in range(MANY)]
    clients[0].sendall(b"GET /file HTTP/1.1\r\nHost: h\r\n\r\n")
    with Good(server):
        assert web.rest_of(clients[0]).startswith(b"HTTP/1.1 200 ")
        for c in clients[1:]:
            assert web.rest_of(c) == b""
            c.close()


def garbage(server):
    rng = random.Random(SEED)
    with Good(server):
        for _ in range(MANY):
            text = rng.randbytes(rng.randrange(1, 3000))
            if rng.randrange(2):
                text = b"GET / HTTP/1.1\r\n" + text
            with server.connect() as c, contextlib.suppress(ConnectionError):
                c.sendall(text)
                c.shutdown(1)
                status, _ = web.split(web.rest_of(c))
                assert status in (None, 400, 414, 431, 501, 505), (text, status)


def giant_heads(server):
    for begin, status in ((b"GET /", b"414"), (b"GET / HTTP/1.1\r\nA: ", b"431"), (b"G", b"414")):
        with server.connect() as c:
            with contextlib.suppress(ConnectionError):
                c.sendall(begin + b"x" * (1 << 20))
            got = web.rest_of(c)
            assert not got or got.startswith(b"HTTP/1.1 " + status), got
    with server.connect() as c:
        with contextlib.suppress(ConnectionError):
            c.sendall(b"GET / HTTP/1.1\r\nHost: h\r\n" + b"A: b\r\n" * 100000)
        got = web.rest_of(c)
        assert not got or got.startswith(b"HTTP/1.1 431 "), got


def unread(server):
    """Pipelines of large files that are not read: a send that takes too long ends them."""
    clients = [server.connect() for _ in range(20)]
    before = server.rss_kb()
    with Good(server):
        for c in clients:
            c.settimeout(0.2)  # it is blocked soon, which is the aim
            with contextlib.suppress(OSError):
                for _ in range(1000):
                    c.sendall(b"GET /big HTTP/1.1\r\nHost: h\r\n\r\n" * 10)
        web.wait_for("all are thrown out", lambda: server.nb_fds() < 20)
        most = server.rss_kb() - before
    print(f"# {most} kB more for {len(clients)} of them", flush=True)
    assert most < 100000  # a buffered response of each would be twice that
    for c in clients:
        c.close()


def bodies(server):
    with server.connect() as c, contextlib.suppress(ConnectionError):
        c.sendall(b"GET /file HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999\r\n\r\n")
        assert web.rest_of(c).startswith(b"HTTP/1.1 413 ")
    with server.connect() as c:
        c.sendall(b"GET /file HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n")
        with contextlib.suppress(ConnectionError):
            c.sendall(b"1;" + b"x" * 500 + b"\r\nx\r\n" * 100000)
        assert web.rest_of(c).count(b"HTTP/1.1 ") == 1


def too_many(server):
    """More connections than there may be wait for those that are served."""
    clients = []
    for _ in range(3 * MANY):
        with contextlib.suppress(OSError):
            clients.append(server.connect())
    web.wait_for("as many as there may be", lambda: server.nb_fds() >= MANY)
    assert server.nb_fds() < 2 * MANY + 50
    for c in clients:
        c.close()
    assert server.ask("/file") == (200, b"content")


def main():
    result = Tap()
    print(f"# HAUL_SEED={SEED}")
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/file", "wb") as f:
            f.write(b"content")
        with open(f"{folder}/big", "wb") as f:
            f.truncate(10 << 20)
        for wait in web.WAITS:
            for test in (slow_heads, silence, garbage, giant_heads, unread, bodies, too_many):
                why = None
                try:
                    with web.Server(PROGRAM, "--root", folder, "--wait", wait, "--head", "1s",
                                    "--idle", "1500ms", "--transfer", "1s", "--connections",
                                    2 * MANY) as server:
                        test(server)
                except (AssertionError, OSError):
                    why = traceback.format_exc()
                result.ok(why is None, f"{test.__name__.replace('_', ' ')}, {wait}", why)
    result.done()


if __name__ == "__main__":
    main()
