# SPDX-License-Identifier: BSD-3-Clause
"""What tests of --hand-over share: programs that take over from each other, a steady load of
haul-echo, and people at the path who are no such programs."""
import array
import json
import os
import signal
import socket
import subprocess
import time

import netns

IP = "10.77.0.1"
RATE = 2000  # packets a second: a busy machine handles them, too


def descriptors(pid):
    """How many a process has, of files that stay: a reader of telemetry comes and goes."""
    return len(os.listdir(f"/proc/{pid}/fd"))


def threads(pid):
    return len(os.listdir(f"/proc/{pid}/task"))


class Program:
    """One with --hand-over d/socket."""

    def __init__(self, d, *args, stdin=subprocess.DEVNULL):
        self.log = open(os.path.join(d, f"log{time.monotonic_ns()}"), "w+")
        self.process = subprocess.Popen([*args, "--hand-over", f"{d}/socket"], stdin=stdin,
                                        stdout=subprocess.DEVNULL, stderr=self.log)

    def said(self):
        return netns.said(os.pread(self.log.fileno(), 1 << 20, 0).decode(errors="replace"))

    def runs(self):
        return self.process.poll() is None

    def is_ready(self):
        return "ready" in self.said() or not self.runs()

    def wait_ready(self):
        netns.wait_for(self.is_ready, "the program to be ready")
        if not self.runs():
            raise RuntimeError(self.said())
        return self

    def end(self, sig=signal.SIGINT):
        if self.runs():
            self.process.send_signal(sig)
        return self.process.wait(60)


def echo(echo_path, d, port, carriers, *more, poller="block", stdin=subprocess.DEVNULL):
    return Program(d, echo_path, "--port", port, "--ip", f"{IP}/24", "--carriers", str(carriers),
                   "--poller", poller, "--period", "0", *more, stdin=stdin)


class Bed:
    """The first program, and the kernel's end of its port."""

    def __init__(self, paths, d, kind, carriers, *more):
        self.paths, self.d, self.carriers, self.more = paths, d, carriers, more
        self.port = f"{kind}:h0"
        dev = "h0"
        if kind == "afpacket":
            netns.veth("h0", "h1", queues=carriers)
            dev = "h1"
        self.echo = self.start().wait_ready()
        netns.ip6(dev)
        netns.ip(f"addr add 10.77.0.2/24 dev {dev}")
        netns.ip(f"link set {dev} up")
        netns.wait_up(dev)

    def start(self, *more):
        return echo(self.paths[0], self.d, self.port, self.carriers, *self.more, *more)

    def load(self, seconds):
        return subprocess.Popen([self.paths[1], IP, "7", "8", str(RATE), str(seconds)],
                                stdout=subprocess.PIPE, text=True)

    def update(self, *more):
        new, old = self.start(*more), self.echo
        netns.wait_for(new.is_ready, "the new one to be ready")
        if not new.runs():
            raise RuntimeError(f"{new.said()}; the old one: {old.process.poll()}, {old.said()}")
        rc = old.process.wait(60)
        self.echo = new
        return rc, old.said()

    def close(self):
        rc = self.echo.end()
        if netns.exists("h0") and self.port.startswith("afpacket"):
            self.promiscuous = "PROMISC" in subprocess.run(
                ["ip", "link", "show", "h0"], capture_output=True, text=True, check=True).stdout
            netns.ip("link del h0")
        return rc


def result(load):
    return json.loads(load.communicate(timeout=120)[0])


def is_whole(load):
    got = result(load)
    return got["sent"] > 0 and got["lost"] == got["reordered"] == got["twice"] == 0, got


def answers(tries=50):
    """True if somebody echoes at IP."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.settimeout(0.2)  # a time: whether anybody answers is the question
        s.connect((IP, 7))
        for i in range(tries):
            try:
                s.send(bytes([i]) * 8)
                if s.recv(64) == bytes([i]) * 8:
                    return True
            except OSError:
                time.sleep(0.02)  # a time: for an interface that is not up yet
    return False


def call(path, kind=socket.SOCK_SEQPACKET):
    """Connects as a new program does."""
    s = socket.socket(socket.AF_UNIX, kind)
    s.connect(path)
    s.settimeout(60)
    return s


def receive(s):
    """What a program offers: the record, descriptors."""
    fds = array.array("i")
    record, control, _, _ = s.recvmsg(1 << 20, socket.CMSG_SPACE(250 * 4))
    for _, _, data in control:
        fds.frombytes(data[:len(data) // 4 * 4])
    return record, list(fds)


def call_until_offered(path):
    """Connects; while another one has the offer, again. The socket, the record, descriptors."""
    for _ in range(500):
        s = call(path)
        record, fds = receive(s)
        if fds:
            return s, record, fds
        s.close()
        time.sleep(0.02)  # a time: the end of the one before has no event
    raise RuntimeError(f"no offer: {record[24:280]}")


def send(s, record, fds):
    control = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
    s.sendmsg([record], control)
