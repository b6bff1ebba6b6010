# SPDX-License-Identifier: BSD-3-Clause
"""haul-fwd under test: starting and ending it, its figures, capture files, frames."""
import json
import os
import signal
import struct
import subprocess
import sys
import tempfile

import netns

FWD = sys.argv[1] if len(sys.argv) > 1 else "haul-fwd"

OURS = {"tx_full", "tx_refused", "no_coroutine", "malformed", "not_for_us", "unsupported",
        "stopping", "consumed", "late", "over_share"}
REASONS = OURS | {"rx_missed", "rx_nombuf", "rx_errors", "tx_errors"}


class Result:
    def __init__(self, args, rc, out, err):
        self.args, self.rc, self.out, self.err = args, rc, out, err
        try:
            self.json = json.loads(out.removeprefix("haul-fwd> "))
        except ValueError:
            self.json = None

    def __str__(self):
        return f"haul-fwd {' '.join(self.args)}\nexit {self.rc}\n{self.err}{self.out}"

    def port(self, i):
        return self.json["ports"][i]

    def total(self, key):
        return sum(p[key] for p in self.json["ports"])

    def dropped(self, reason=None):
        """Packets dropped by haul for a reason; for all, without those that it used (rxonly) or
        that never reached it."""
        return sum(n for p in self.json["ports"] for why, n in p["dropped"].items()
                   if (why == reason if reason else why in OURS - {"consumed"}))


class Running(netns.Child):
    """A haul-fwd that runs until it is told to end."""

    def __init__(self, *args, options=("--json", "--period", "0.05"), out=None, **popen):
        self.args = [*map(str, args), *options]
        if "--eal" in args:
            self.args = [*options, *map(str, args)]
        self.err = tempfile.TemporaryFile("w+")
        self.out = out or tempfile.TemporaryFile("w+")
        popen.setdefault("stdin", subprocess.DEVNULL)
        self.process = subprocess.Popen(
            [FWD, *netns.settings(self.args), *self.args, *netns.eal(self.args)],
            stdout=self.out, stderr=self.err, **popen)

    def said(self):
        """All of stderr so far."""
        return netns.said(os.pread(self.err.fileno(), 1 << 22, 0).decode())

    def output(self):
        """All of stdout so far."""
        return os.pread(self.out.fileno(), 1 << 22, 0).decode()

    def takes_signals(self):
        """True if it has its own handling of SIGINT and SIGTERM, or has ended."""
        with open(f"/proc/{self.process.pid}/status") as f:
            blocked = [line.split()[1] for line in f if line.startswith("SigBlk:")]
        return not blocked or int(blocked[0], 16) & 0x4002 == 0x4002 or \
            self.process.poll() is not None

    def runs(self):
        """True if it has printed a report, so that its pollers run, or has ended."""
        return " s\n" in self.said() or self.process.poll() is not None

    def wait_for(self, cond, what, seconds=60):
        """Waits until cond() is true. If the program ends before, or takes too long, the error has
        what it said, and it is killed: its with statement may not have begun."""
        def done():
            ended = self.process.poll() is not None
            return cond() or ended and f"waited for {what}, and it has ended"

        try:
            came = netns.wait_for(done, what, seconds)
        except TimeoutError as e:
            netns.where_it_hangs(self.process)
            came = str(e)
        if came is not True:
            self.process.kill()
            raise TimeoutError(f"{came}\n{self.wait()}")

    def wait(self, seconds=120):
        rc = self.process.wait(seconds)
        out = b""
        if hasattr(self.out, "fileno"):
            out = os.pread(self.out.fileno(), 1 << 22, 0)
        return Result(self.args, rc, out.decode(), self.said())

    def end(self, sig=signal.SIGINT):
        self.process.send_signal(sig)
        return self.wait()


def run(*args, seconds=120):
    """Runs it until it ends by itself."""
    args = [*map(str, args)]
    more = netns.settings(args) if "--port" in args else []
    with subprocess.Popen([FWD, *more, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, errors="surrogateescape") as p:
        out, err = netns.finish(p, seconds)
    said = netns.said(err).splitlines(True)
    if "HAUL_CARRIERS" in os.environ:
        said = [line for line in said if " carriers but only " not in line]
    return Result(args, p.returncode, out, "".join(said))


def figures(*args):
    return run(*args, "--json", "--period", "0")


def write_pcap(path, frames):
    with open(path, "wb") as f:
        f.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for i, frame in enumerate(frames):
            f.write(struct.pack("<IIII", i, 0, len(frame), len(frame)) + frame)


def read_pcap(path):
    with open(path, "rb") as f:
        data = f.read()
    frames, at = [], 24
    while at < len(data):
        size = struct.unpack_from("<I", data, at + 8)[0]
        frames.append(data[at + 16:at + 16 + size])
        at += 16 + size
    return frames


def frame(i, size=None):
    """The frame with this number, which no other number has, of 60 to 1514 bytes."""
    size = size or 60 + i * 97 % 1455
    head = struct.pack("!6s6sHI", b"\x02\x00\x00\x00\xaa" + bytes([i % 251]),
                       b"\x02\x00\x00\x00\xbb" + bytes([i % 241]), 0x88B5, i)
    return (head + bytes((i + k) & 0xFF for k in range(size)))[:size]


def macs(mac, frames, to):
    """The frames as mode mac edits them."""
    return [to + mac + f[12:] for f in frames]


def exchange(frames, out, back, window):
    """Sends frames into one interface and receives as many from another, `window` under way at
    once. Returns those received: fewer if one does not come."""
    got = []
    for i in range(0, len(frames), window):
        part = frames[i:i + window]
        for f in part:
            out.send(f)
        for _ in part:
            f = back.recv()
            if f is None:
                return got
            got.append(f)
    return got


def swapped(frames):
    return [f[6:12] + f[:6] + f[12:] for f in frames]


def checksum(data):
    words = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while words >> 16:
        words = (words & 0xFFFF) + (words >> 16)
    return words ^ 0xFFFF


def packet(proto, i, good):
    """An IPv4 packet whose checksums are right, or not."""
    data = bytes((i + k) & 0xFF for k in range(30 + i))
    if proto == 17:
        upper = struct.pack("!HHHH", 1000 + i, 9, 8 + len(data), 0) + data
        at = 6
    else:
        upper = struct.pack("!HHIIBBHHH", 1000 + i, 9, i, 0, 0x50, 0x10, 1000, 0, 0) + data
        at = 16
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(upper), i, 0, 64, proto, 0,
                     bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2]))
    pseudo = ip[12:20] + struct.pack("!BBH", 0, proto, len(upper)) + upper
    upper_sum = checksum(pseudo + bytes(len(pseudo) % 2)) if good else 0x1234 + i
    ip_sum = checksum(ip) if good else 0x4321 + i
    upper = upper[:at] + struct.pack("!H", upper_sum) + upper[at + 2:]
    ip = ip[:10] + struct.pack("!H", ip_sum) + ip[12:]
    head = bytes.fromhex("020000000000") + bytes.fromhex("02000000bb01") + b"\x08\x00"
    return head + ip + upper
