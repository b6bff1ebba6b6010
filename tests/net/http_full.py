# SPDX-License-Identifier: BSD-3-Clause
"""haul-http when more files are to be opened at the same time than threads and their queue take: so
many are answered with 503, at once, and everything else goes on. With io_uring and with epoll.

usage: http_full.py haul-http slow_open"""
import os
import resource
import select
import sys
import tempfile
import time
import traceback

import web
from tap import Tap

PROGRAM, SLOW_OPEN = sys.argv[1:]
# Of the pool. While its threads start, the queue alone has room.
THREADS, QUEUE = 64, 1024
MORE = 20
GET = b"GET /file HTTP/1.1\r\nHost: h\r\n\r\n"
CONTENT = b"what the disk had\n"


class Client:
    """A connection that is kept."""

    def __init__(self, server):
        self.socket = server.connect()
        self.got = b""

    def status(self):
        """Of the answer, once all of it is there."""
        self.got += self.socket.recv(1 << 16)
        status, content = web.split(self.got)
        whole = status != 200 or content == CONTENT
        if whole:
            self.got = b""
        return status if whole else None


def answers(clients, n, seconds=60):
    """The first n or more of the clients that have an answer, and its status."""
    found = {}
    waiting = {c.socket.fileno(): c for c in clients}
    poll = select.poll()
    for fd in waiting:
        poll.register(fd, select.POLLIN)
    end = time.monotonic() + seconds
    while len(found) < n:
        assert time.monotonic() < end, f"after {seconds} s {len(found)} of {n} answers"
        for fd, _ in poll.poll(100):
            status = waiting[fd].status()
            if status is not None:
                poll.unregister(fd)
                found[waiting[fd]] = status
    return found


def full(wait):
    with tempfile.TemporaryDirectory() as folder:
        gate = f"{folder}/gate"
        os.mkdir(f"{folder}/root")
        with open(f"{folder}/root/file", "wb") as f:
            f.write(CONTENT)
        with open(gate, "wb"):
            pass
        with web.Server(PROGRAM, "--root", f"{folder}/root", "--wait", wait, "--carriers", 2,
                        "--connections", 4000, "--transfer", "10min",
                        env={"LD_PRELOAD": SLOW_OPEN, "HAUL_TEST_GATE": gate}) as server:
            clients = [Client(server) for _ in range(THREADS + QUEUE + MORE)]
            for c in clients:
                c.socket.sendall(GET)
            refused = answers(clients, MORE)
            assert set(refused.values()) == {503}, refused.values()
            for c in refused:  # each on its connection, which is kept
                c.socket.sendall(GET)
            again = answers(clients, MORE)  # some of the refused may find room by now
            assert set(again.values()) == {503}, again.values()
            assert server.ask("/..")[0] == 400
            os.unlink(gate)
            rest = [c for c in clients if c not in again]
            statuses = list(answers(rest, len(rest)).values())
            assert QUEUE <= statuses.count(200) <= THREADS + QUEUE, statuses.count(200)
            assert set(statuses) <= {200, 503}, set(statuses)
            for c in clients:
                c.socket.sendall(GET)
                assert answers([c], 1) == {c: 200}
            for c in clients:
                c.socket.close()


def main():
    result = Tap()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    for wait in web.WAITS:
        if hard < 8192:
            result.skip(wait, "too few descriptors")
            continue
        why = None
        try:
            full(wait)
        except (AssertionError, OSError):
            why = traceback.format_exc()
        result.ok(why is None, f"files that wait for a disk fill the queue, {wait}", why)
    result.done()


if __name__ == "__main__":
    main()
