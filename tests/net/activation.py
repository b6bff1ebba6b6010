#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Sockets that systemd passes: haul-http --listen systemd, haul-dns --tcp and --metrics; who
restarts under a load of connections loses none; what is passed and does not fit has a line.

usage: activation.py haul-http haul-dns"""
import contextlib
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading

import netns

HTTP, DNS = sys.argv[1:3]
GET = b"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"


def listener(kind=socket.SOCK_STREAM, family=socket.AF_INET, listens=True):
    s = socket.socket(family, kind)
    if family == socket.AF_UNIX:
        s.bind("")  # a name of the kernel's choice
    else:
        s.bind(("127.0.0.1" if family == socket.AF_INET else "::", 0))
    if listens:
        s.listen(512)
    return s


def start(args, sockets, names=None):
    """As systemd does: descriptors from 3 on, and the environment that tells of them."""
    def place():
        high = [os.dup2(s.fileno(), 100 + i) for i, s in enumerate(sockets)]
        for i, fd in enumerate(high):
            os.dup2(fd, 3 + i)
            os.close(fd)
    tell = f"LISTEN_PID=$$ LISTEN_FDS={len(sockets)}"
    if names:
        tell += f" LISTEN_FDNAMES={':'.join(names)}"
    # pylint: disable-next=subprocess-popen-preexec-fn
    return subprocess.Popen(["/bin/sh", "-c", f'export {tell}; exec "$@"', "sh", *args],
                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE, text=True, preexec_fn=place, close_fds=False)


def ask(address, what, expect):
    with socket.create_connection(address, timeout=60) as s:
        s.sendall(what)
        got = b""
        while expect not in got:
            more = s.recv(1 << 16)
            if not more:
                return False
            got += more
    return True


def test_real(tap):
    """The client of systemd's own."""
    tool = shutil.which("systemd-socket-activate")
    if not tool:
        tap.skip("systemd-socket-activate", "not installed")
        return
    with listener() as free:
        port = free.getsockname()[1]
    with subprocess.Popen([tool, "-l", f"127.0.0.1:{port}", "--fdname=web", HTTP, "--listen",
                           "systemd:web"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as p:
        good = False
        for _ in range(6000):
            with contextlib.suppress(ConnectionRefusedError):
                good = ask(("127.0.0.1", port), GET, b"HTTP/1.1 ")
                break
        p.send_signal(signal.SIGTERM)
        out, err = netns.finish(p)
    tap.ok(good and p.returncode == 0 and "ready" in err, "systemd-socket-activate", (out, err))


def test_wrong(tap):
    with listener() as good, listener(listens=False) as deaf, \
            listener(socket.SOCK_DGRAM, listens=False) as udp, \
            listener(family=socket.AF_UNIX) as local, open("/dev/null", "rb") as null:
        for value, sockets, names, says in (
                ("systemd", [], None, "has passed no socket"),
                ("systemd:b", [good], ["a"], "of this name; there is: a"),
                ("systemd", [good, local], ["a", "b"], "there are: a, b"),
                ("systemd:a", [good, local], ["a", "a"], "2 such sockets"),
                ("systemd", [deaf], ["a"], "the socket a of systemd's does not listen"),
                ("systemd", [udp], None, "does not listen for TCP"),
                ("systemd", [local], None, "does not listen for TCP"),
                ("systemd", [null], None, "does not listen for TCP"),
                ("systemdx", [good], None, "give an IPv4 address")):
            with start([HTTP, "--listen", value], sockets, names) as p:
                _, err = netns.finish(p)
            tap.ok(p.returncode == 2 and says in err and err.count("\n") == 1,
                   f"--listen {value} with {len(sockets)}: {says}", (p.returncode, err))


def test_family(tap):
    with listener(family=socket.AF_INET6) as s:
        with start([HTTP, "--listen", "systemd", "--carriers", "2"], [s]) as p:
            good = ask(("127.0.0.1", s.getsockname()[1]), GET, b"HTTP/1.1 ")
            p.send_signal(signal.SIGTERM)
            _, err = netns.finish(p)
        tap.ok(good and p.returncode == 0, "a socket of IPv6 and IPv4",
               err)


class Load:
    """Clients, which connect again and again."""

    def __init__(self, address, clients):
        self.address, self.good, self.bad, self.ends = address, 0, [], False
        self.threads = [threading.Thread(target=self.run) for _ in range(clients)]
        for t in self.threads:
            t.start()

    def run(self):
        while not self.ends:
            try:
                if ask(self.address, GET, b"HTTP/1.1 "):
                    self.good += 1
                else:
                    self.bad.append("no answer")
            except OSError as e:
                self.bad.append(str(e))

    def close(self):
        self.ends = True
        for t in self.threads:
            t.join()


def test_restart(tap, wait):
    """The socket stays, and with it who has connected."""
    with listener() as s:
        load = Load(s.getsockname(), 8)
        rcs = []
        for _ in range(3 if netns.fewer() else 10):
            before = load.good
            with start([HTTP, "--listen", "systemd", "--carriers", "2", "--wait", wait], [s]) as p:
                netns.wait_for(lambda before=before: load.good > before + 100, "it to serve")
                p.send_signal(signal.SIGTERM)
                _, err = netns.finish(p)
            rcs.append(p.returncode)
        with start([HTTP, "--listen", "systemd"], [s]) as p:
            load.close()
            p.send_signal(signal.SIGTERM)
            netns.finish(p)
    tap.ok(not any(rcs) and not load.bad, f"{wait}: {len(rcs)} restarts under load, "
           f"{load.good} connections", (rcs, len(load.bad), load.bad[:3], err))


def test_dns(tap):
    """haul-dns has two."""
    name = b"\x02id\x06server\x00" + struct.pack(">HH", 16, 3)
    query = struct.pack(">HHHHHH", 7, 0, 1, 0, 0, 0) + name
    if not netns.can_open(tap, "tap", "haul-dns with two sockets"):
        return
    with listener() as tcp, listener() as web:
        with start([DNS, "--port", "tap:h0", "--address", "10.77.0.1/24", "--upstream", "10.77.0.2",
                    "--id", "the-node", "--carriers", "1", "--poller", "block", "--period", "0",
                    "--tcp", "systemd:dns", "--metrics", "systemd:figures", "--allow",
                    "127.0.0.0/8"],
                   [web, tcp], ["figures", "dns"]) as p:
            good = ask(tcp.getsockname(), struct.pack(">H", len(query)) + query, b"the-node")
            seen = ask(web.getsockname(), b"GET /health HTTP/1.0\r\n\r\n", b"200 OK")
            p.send_signal(signal.SIGTERM)
            _, err = netns.finish(p)
        tap.ok(good and seen and p.returncode == 0, "haul-dns: --tcp and --metrics", (seen, err))
        with start([DNS, "--port", "tap:h0", "--address", "10.77.0.1/24", "--upstream", "10.77.0.2",
                    "--carriers", "1", "--period", "0", "--tcp", "systemd", "--metrics",
                    "systemd"], [tcp]) as p:
            _, err = netns.finish(p)
        err = netns.said(err)
        tap.ok(p.returncode == 1 and "is another option's" in err and err.count("\n") == 1,
               "one socket for two options", (p.returncode, err))


def main():
    tap = netns.Tap()
    netns.enter()
    test_real(tap)
    test_wrong(tap)
    test_family(tap)
    for wait in "io_uring", "epoll":
        test_restart(tap, wait)
    test_dns(tap)
    tap.done()


main()
