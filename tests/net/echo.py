# SPDX-License-Identifier: BSD-3-Clause
"""haul-echo under test: starts it, waits until it is ready, ends it, returns its output."""
import contextlib
import json
import os
import re
import signal
import struct
import subprocess
import tempfile

import netns

IP4, IP6 = "10.9.9.2", "fd09::2"  # haul-echo's
MINE4, MINE6 = "10.9.9.1", "fd09::1"  # the kernel's


class Failed(Exception):
    pass


class Echo:
    """A running haul-echo: with Echo(binary, "--port", "tap:t0", ...) as e: ..."""

    def __init__(self, binary, *args):
        self.err = tempfile.TemporaryFile("w+")
        self.out = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [binary, *netns.settings(args), "--ip", f"{IP4}/24", "--ip6", f"{IP6}/64", "--json",
             "--period", "0", *map(str, args), *netns.eal(args)],
            stdin=subprocess.DEVNULL, stdout=self.out, stderr=self.err, text=True)

    def __enter__(self):
        try:
            netns.wait_for(lambda: self.ended() or self.said(" ready: "), "haul-echo to be ready")
            if self.ended():
                raise Failed(f"exit code {self.process.returncode}: {self.stderr()}")
        except BaseException:
            self.kill()
            raise
        return self

    def __exit__(self, *_):
        self.kill()

    def ended(self):
        return self.process.poll() is not None

    def stderr(self):
        """Read with an offset of its own: the program continues to write at the end."""
        return netns.said(os.pread(self.err.fileno(), 1 << 20, 0).decode())

    def said(self, text):
        return text in self.stderr()

    def mac(self):
        found = re.search(r"ready: port 0 .* ([0-9a-fA-F:]{17}),", self.stderr())
        return bytes.fromhex(found[1].replace(":", ""))

    def kill(self):
        if not self.ended():
            self.process.kill()
            self.process.wait()

    def wait(self, seconds=60):
        """Waits until it has ended by itself: exit code and figures (None without figures)."""
        self.process.wait(seconds)
        self.out.seek(0)
        text = self.out.read()
        return self.process.returncode, json.loads(text) if text.strip() else None

    def stop(self, sig=signal.SIGINT):
        self.process.send_signal(sig)
        return self.wait()


def peer(name):
    """Gives the kernel's side its addresses."""
    netns.ip6(name)
    netns.ip(f"addr add {MINE4}/24 dev {name}")
    netns.ip(f"addr add {MINE6}/64 dev {name} nodad")
    netns.wait_up(name)


def replies(figures, proto):
    n = figures["counters"]["replies_" + proto]
    if n != sum(c["counters"]["replies_" + proto] for c in figures["carriers"]):
        raise Failed(f"the sum differs from the carriers': {figures}")
    return n


def dropped(figures, reason=None):
    """Packets dropped on all ports, for one reason or all."""
    return sum(n for p in figures["ports"] for why, n in p["dropped"].items()
               if reason in (None, why))


def echo_replies():
    """The echo replies, of both kinds, that the kernel of this namespace has received."""
    def rows(name):
        with open(f"/proc/net/{name}") as f:
            return [line.split() for line in f]

    names, values = [row for row in rows("snmp") if row[0] == "Icmp:"]
    return int(values[names.index("InEchoReps")]) + \
        int(dict(rows("snmp6"))["Icmp6InEchoReplies"])


class Ping:
    """ping's output: packets sent, packets received, its line of times."""

    def __init__(self, address, count, size, *args):
        self.what = f"{address} size {size}"
        before = echo_replies()
        done = subprocess.run(
            ["ping", "-n", "-q", "-c", str(count), "-s", str(size), *args, address],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env={**os.environ, "LC_ALL": "C"})
        found = re.search(r"(\d+) packets transmitted, (\d+) received(.*)", done.stdout)
        if not found:
            raise Failed(f"ping {address}: {done.stdout}")
        self.sent, self.received = int(found[1]), int(found[2])
        # After the last request ping waits for only twice the longest time so far: on a busy
        # machine replies come later.
        if 0 < self.received < self.sent:
            with contextlib.suppress(TimeoutError):
                netns.wait_for(lambda: echo_replies() - before >= self.sent, "late replies")
            self.received = echo_replies() - before
        times = re.search(r"rtt .*", done.stdout)
        self.line = f"{found[0]}; {times[0] if times else 'no times'}"
        # Shows duplicates and corrupted payloads.
        self.clean = "+" not in found[3] and "wrong data" not in done.stdout

    def lossless(self):
        return self.clean and self.sent > 0 and self.received == self.sent


def resolve(address):
    """Pings until a reply comes; returns the number of requests. If a neighbour does not answer
    for three seconds, as on a busy machine, all packets that wait for it are lost."""
    tried = []

    def answers():
        tried.append(Ping(address, 1, 56, "-W", "1"))
        return tried[-1].received
    netns.wait_for(answers, f"an answer of {address}")
    return len(tried)


def flood(address, count, size):
    """ping -f: sends the next request after a reply, or after 10 ms."""
    return Ping(address, count, size, "-f")


def cksum(data):
    data += bytes(len(data) % 2)
    s = sum(struct.unpack(f">{len(data) // 2}H", data))
    while s >> 16:
        s = (s & 0xffff) + (s >> 16)
    return struct.pack(">H", ~s & 0xffff)


def echo_request(dst, src):
    """A ping request that the program answers: Ethernet, IPv4, ICMP."""
    icmp = b"\x08\x00\x00\x00\x12\x34\x00\x01" + bytes(range(32))
    icmp = icmp[:2] + cksum(icmp) + icmp[4:]
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(icmp), 1, 0, 64, 1, 0) + \
        bytes(map(int, MINE4.split("."))) + bytes(map(int, IP4.split(".")))
    ip = ip[:10] + cksum(ip) + ip[12:]
    return dst + src + b"\x08\x00" + ip + icmp
