# SPDX-License-Identifier: BSD-3-Clause
"""haul-http in front of a backend, and files: what a client sees when all goes well, and when the
backend does not. With io_uring and with epoll, with one acceptor and with several.

usage: http_front.py haul-http"""
import http.client
import os
import random
import sys
import tempfile
import threading
import traceback

import web
from tap import Tap

PROGRAM = sys.argv[1]


def calls(options):
    backend = web.Backend()
    with web.Server(PROGRAM, "--backend", f"127.0.0.1:{backend.port}", *options) as server:
        assert server.ask("/") == (200, b"hello\n")
        assert server.ask("/parallel") == (200, b"hello\nhello\n")
        assert server.ask("/none")[0] == 404
        client = http.client.HTTPConnection("127.0.0.1", server.port)
        for _ in range(100):
            client.request("GET", "/")
            assert client.getresponse().read() == b"hello\n"
        client.close()
        # At most one for each carrier and call, though a hundred were made.
        assert backend.accepted <= 2 * os.cpu_count() + 2, backend.accepted
    backend.close()


def many(options):
    """Clients at the same time, on kept connections; the backend takes its time."""
    backend = web.Backend()
    backend.delay = 0.01  # so that calls overlap
    wrong = []

    def client():
        c = http.client.HTTPConnection("127.0.0.1", server.port)
        for path, content in (("/", b"hello\n"), ("/parallel", b"hello\nhello\n")) * 10:
            c.request("GET", path)
            got = c.getresponse().read()
            if got != content:
                wrong.append(got)
        c.close()

    with web.Server(PROGRAM, "--backend", f"127.0.0.1:{backend.port}", *options) as server:
        threads = [threading.Thread(target=client) for _ in range(50)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert not wrong, wrong[:3]
        web.wait_for("all connections are closed", lambda: server.ask("/")[0] == 200)
    backend.close()


def bad_backends(options):
    backend = web.Backend()
    good = backend.answer
    with web.Server(PROGRAM, "--backend", f"127.0.0.1:{backend.port}", "--backend-time", "300ms",
                    *options) as server:
        backend.closes = True
        for _ in range(20):  # on kept connections that are closed by then
            assert server.ask("/") == (200, b"hello\n")
            assert server.ask("/parallel") == (200, b"hello\nhello\n")
        backend.closes = False
        for wrong in (b"", b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
                      b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n" + b"x" * 9999,
                      b"garbage\r\n\r\n", b"HTTP/1.1 200 OK\n\n", b"HTTP/1.1 101 X\r\n\r\n"):
            backend.answer, backend.closes = wrong, True
            assert server.ask("/")[0] == 502, wrong
            assert server.ask("/parallel")[0] == 502, wrong
        backend.answer = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 200 OK\r\n\r\nuntil the end"
        assert server.ask("/") == (200, b"until the end")
        backend.answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" \
            b"2\r\nab\r\n1;x\r\nc\r\n0\r\nA: b\r\n\r\n"
        backend.closes = False
        assert server.ask("/") == (200, b"abc")
        backend.answer, backend.delay = good, 2
        assert server.ask("/")[0] == 504
        assert server.ask("/parallel")[0] == 504
        backend.close()
        assert server.ask("/")[0] in (502, 504)


def files(options):
    rng = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        content = rng.randbytes(1000000)
        with open(f"{folder}/file", "wb") as f:
            f.write(content)
        with web.Server(PROGRAM, "--root", folder, *options) as server:
            assert server.ask("/file") == (200, content)
            assert server.ask("/file", b"Range: bytes=5-70000\r\n") == (206, content[5:70001])
            several = server.ask("/file", b"Range: bytes=0-99999,-3\r\n")
            assert several[0] == 206 and content[:100000] in several[1]
            assert server.ask("/file", b"Range: bytes=1000000-\r\n")[0] == 416
            assert server.ask("/none")[0] == 404 and server.ask("/..")[0] == 400
            fds = server.nb_fds()
            for _ in range(50):
                server.ask("/file", b"Range: bytes=5-5\r\n")
            # A carrier may have opened its ring meanwhile.
            web.wait_for("all files are closed", lambda: server.nb_fds() <= fds + 10)


def main():
    result = Tap()
    for wait in web.WAITS:
        for accept in ("each", "one"):
            options = ["--wait", wait, "--accept", accept]
            for test in (calls, many, bad_backends, files):
                why = None
                try:
                    test(options)
                except (AssertionError, OSError, http.client.HTTPException):
                    why = traceback.format_exc()
                result.ok(why is None, f"{test.__name__.replace('_', ' ')}, {wait}, {accept}", why)
    result.done()


if __name__ == "__main__":
    main()
