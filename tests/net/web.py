# SPDX-License-Identifier: BSD-3-Clause
"""haul-http running on loopback, for its tests."""
import contextlib
import os
import re
import socket
import subprocess
import threading
import time

import netns

WAITS = ("io_uring", "epoll")


class Server:
    """The program with its options; as a context it must end well by SIGTERM."""

    def __init__(self, program, *options, env=None):
        asan = ":verify_asan_link_order=0" if env else ""  # for LD_PRELOAD
        self.process = subprocess.Popen(
            [program, *map(str, options), "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=netns.to_weigh(asan) | (env or {}), text=True)
        line = self.process.stderr.readline()
        while ": note: " in line:  # such as of a folder of others for telemetry
            line = self.process.stderr.readline()
        ready = re.search(r"ready: http://127\.0\.0\.1:(\d+)/", line)
        assert ready, line
        self.port = int(ready[1])
        self.lines = []
        self.output = None  # what it has printed to stdout, once it has ended
        self.reader = threading.Thread(target=lambda: self.lines.extend(self.process.stderr))
        self.reader.start()

    def connect(self, timeout=60):
        return socket.create_connection(("127.0.0.1", self.port), timeout)

    def ask(self, path, more=b""):
        """One request on a connection of its own: status and content."""
        with self.connect() as s:
            s.sendall(b"GET %s HTTP/1.1\r\nHost: h\r\nConnection: close\r\n%s\r\n" % (
                path.encode(), more))
            return split(rest_of(s))

    def rss_kb(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as f:
            return int(re.search(r"VmRSS:\s+(\d+)", f.read())[1])

    def nb_fds(self):
        return len(subprocess.run(["ls", f"/proc/{self.process.pid}/fd"], check=True, text=True,
                                  stdout=subprocess.PIPE).stdout.split())

    def nb_sockets(self):
        folder, n = f"/proc/{self.process.pid}/fd", 0
        for name in os.listdir(folder):
            with contextlib.suppress(OSError):
                n += os.readlink(f"{folder}/{name}").startswith("socket:")
        return n

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.process.terminate()
        self.output, _ = self.process.stdout.read(), self.process.stdout.close()
        code = self.process.wait()
        self.reader.join()
        self.process.stderr.close()
        # In some namespaces no directory for its socket can be made.
        lines = [line for line in self.lines if "note: no telemetry" not in line]
        if not kind:
            assert code == 0 and not lines, (code, lines)


class Backend:
    """Answers GET with some bytes, on a thread for each connection; what it does can be set."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=1000)
        self.port = self.listener.getsockname()[1]
        self.answer = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello\n"
        self.closes = False  # after each answer, without saying so before
        self.delay = 0
        self.accepted = 0
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                s = self.listener.accept()[0]
                self.accepted += 1
                threading.Thread(target=self.serve, args=[s], daemon=True).start()

    def serve(self, s):
        with contextlib.suppress(OSError), s:
            while s.recv(4096):
                time.sleep(self.delay)  # the backend's work
                s.sendall(self.answer)
                if self.closes:
                    return

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


def rest_of(s):
    """All that comes until the end, or until a reset."""
    got = bytearray()
    with contextlib.suppress(ConnectionError):
        while more := s.recv(1 << 16):
            got += more
    return bytes(got)


def split(response):
    head, _, content = response.partition(b"\r\n\r\n")
    return (int(head[9:12]) if head else None), content


def wait_for(what, condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"after {seconds} s still not: {what}"
        time.sleep(0.02)  # the next look
