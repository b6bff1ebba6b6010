# SPDX-License-Identifier: BSD-3-Clause
"""haul-http's parts against Python's HTTP client and parser: random ranges of a file, content in
chunks both ways, kept connections, errors. HAUL_SEED replays a run."""
import contextlib
import email.parser
import http.client
import os
import random
import socket
import subprocess
import sys
import tempfile
import traceback

from tap import Tap

PROGRAM = sys.argv[1]
SEED = int(os.environ.get("HAUL_SEED", random.randrange(1 << 32)))
ROUNDS, SIZE = 200, 5000


class Connection:
    """The program at one end of a pair of sockets, and a client of Python's at the other."""

    def __init__(self, folder):
        self.ours, theirs = socket.socketpair()
        self.program = subprocess.Popen([PROGRAM, folder], stdin=theirs, stdout=theirs)
        theirs.close()
        self.http = http.client.HTTPConnection("h")
        self.http.sock = self.ours

    def get(self, method, path, body=None, headers=None, **more):
        self.http.request(method, path, body=body, headers=headers or {}, **more)
        return self.http.getresponse()

    def raw(self, text):
        """Sends the bytes, and returns all that comes until the program ends. It may end before it
        has read everything: that resets the connection."""
        got = b""
        with contextlib.suppress(ConnectionError):
            self.ours.sendall(text)
            self.ours.shutdown(socket.SHUT_WR)
        with contextlib.suppress(ConnectionError):
            while more := self.ours.recv(1 << 16):
                got += more
        return got

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.http.close()
        self.ours.close()
        self.program.wait()


def random_range(rng, size):
    """The text of a range, and the bytes that it means, as a slice."""
    first = rng.randrange(size)
    kind = rng.randrange(3)
    if kind == 0:
        length = rng.randrange(1, size + 10)
        return f"-{length}", slice(max(size - length, 0), size)
    if kind == 1:
        return f"{first}-", slice(first, size)
    last = rng.randrange(first, size + 10)
    return f"{first}-{last}", slice(first, min(last + 1, size))


def parts_of(response, body):
    message = email.parser.BytesParser().parsebytes(
        b"Content-Type: " + response.headers["Content-Type"].encode() + b"\r\n\r\n" + body)
    return [(p["Content-Range"], p.get_payload(decode=True)) for p in message.get_payload()]


def ranges(folder, rng):
    with open(f"{folder}/file.txt", "rb") as f:
        content = f.read()
    with Connection(folder) as c:
        for _ in range(ROUNDS):
            asked = [random_range(rng, len(content)) for _ in range(rng.randrange(1, 5))]
            response = c.get("GET", "/file.txt",
                             headers={"Range": "bytes=" + ", ".join(a[0] for a in asked)})
            body = response.read()
            slices = [a[1] for a in asked]
            if sum(s.stop - s.start for s in slices) > len(content):
                assert (response.status, body) == (200, content)
                continue
            assert response.status == 206
            names = [f"bytes {s.start}-{s.stop - 1}/{len(content)}" for s in slices]
            if len(slices) == 1:
                assert (response.headers["Content-Range"], body) == (names[0], content[slices[0]])
                continue
            assert parts_of(response, body) == [
                (n, content[s]) for n, s in zip(names, slices)], asked


def echoes(folder, rng):
    with Connection(folder) as c:
        for _ in range(ROUNDS):
            pieces = [rng.randbytes(rng.choice((1, 10, 5000))) for _ in range(rng.randrange(5))]
            if rng.randrange(2):
                response = c.get("POST", "/echo", iter(pieces), {"Transfer-Encoding": "chunked"},
                                 encode_chunked=True)
            else:
                response = c.get("PUT", "/echo", b"".join(pieces))
            assert response.status == 200 and response.chunked
            assert response.read() == b"".join(pieces)


def kept(folder, rng):
    """One connection for all; what is not taken by a handler is not the next request."""
    with Connection(folder) as c:
        for _ in range(ROUNDS):
            method, path, status = rng.choice((
                ("GET", "/", 404), ("GET", "/file.txt", 200), ("HEAD", "/file.txt", 200),
                ("POST", "/", 405), ("GET", "/%20", 404), ("BREW", "/", 501)))
            response = c.get(method, path, b"GET / HTTP/1.1\r\n\r\n")
            body = response.read()
            assert response.status == status, (method, path, response.status)
            assert len(body) == (0 if method == "HEAD" else int(response.headers["Content-Length"]))


def pipelined(folder, rng):
    with Connection(folder) as c:
        n = rng.randrange(2, 50)
        got = c.raw(b"HEAD /file.txt HTTP/1.1\r\nHost: h\r\n\r\n" * n)
        assert got.count(b"HTTP/1.1 200 OK\r\n") == n and got.count(b"\r\n\r\n") == n
    with Connection(folder) as c:
        got = c.raw(b"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\nGET / HTTP/1.1\r\n")
        assert got.count(b"HTTP/1.1 ") == 1 and b"\r\nConnection: close\r\n" in got


def old_and_wrong(folder, _rng):
    for text, status in (
            (b"GET /file.txt HTTP/1.0\r\n\r\n", b"200"), (b"GET / HTTP/1.1\r\n\r\n", b"400"),
            (b"GET / HTTP/2.0\r\n\r\n", b"505"), (b"\x16\x03\x01", b"400"),
            (b"POST / HTTP/1.1\r\nHost: h\r\n\r\n", b"411"),
            (b"PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 9999999\r\n\r\n", b"413"),
            (b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\n", b"414"),
            (b"GET / HTTP/1.1\r\nHost: h\r\nExpect: cake\r\n\r\n", b"417"),
            (b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 100, b"431"),
            (b"GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: x, chunked\r\n\r\n", b"501")):
        with Connection(folder) as c:
            got = c.raw(text + b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            assert got.startswith(b"HTTP/1.1 " + status), got
            assert got.count(b"HTTP/1.1 ") == 1 and b"\r\nConnection: close\r\n" in got


def continues(folder, _rng):
    with Connection(folder) as c:
        c.ours.sendall(b"PUT /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n"
                       b"Expect: 100-continue\r\n\r\n")
        assert c.ours.recv(100).startswith(b"HTTP/1.1 100 Continue\r\n\r\n")
        assert b"5\r\nhello\r\n0\r\n\r\n" in c.raw(b"hello")


def main():
    result = Tap()
    print(f"# HAUL_SEED={SEED}")
    with tempfile.TemporaryDirectory() as folder:
        # No line ends, which the parser of mails would change.
        with open(f"{folder}/file.txt", "wb") as f:
            f.write(bytes(random.Random(SEED).choices(b"abcdefgh-:", k=SIZE)))
        for test in (ranges, echoes, kept, pipelined, old_and_wrong, continues):
            why = None
            try:
                test(folder, random.Random(SEED))
            except (AssertionError, OSError, http.client.HTTPException):
                why = traceback.format_exc()
            result.ok(why is None, test.__name__.replace("_", " "), why)
    result.done()


if __name__ == "__main__":
    main()
