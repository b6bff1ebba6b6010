# SPDX-License-Identifier: BSD-3-Clause
"""The port probe (port_probe.c) as an object: a process that has EAL, and ports."""
import os
import struct
import subprocess


class Error(Exception):
    """The probe's refusal: a positive errno and haul's line."""

    def __init__(self, number, line):
        super().__init__(f"{number} {line}")
        self.number, self.line = number, line


class Ended(RuntimeError):
    """The probe ended by itself."""

    def __init__(self, status):
        super().__init__(f"the probe ended: {status}")
        self.status = status


class Port:
    def __init__(self, probe, number, facts, notice):
        self.probe, self.number, self.notice = probe, number, notice
        self.queues = int(facts["queues"])
        self.mac = bytes.fromhex(facts["mac"].replace(":", ""))
        self.ids = facts["ids"].split(",")
        self.nic = facts["nic"]

    def start(self):
        self.probe.ask(f"start {self.number}")
        return self

    def send(self, frame, q=0, n=1):
        """The number of frames taken, of n."""
        return int(self.probe.ask(f"send {self.number} {q} {frame.hex()} {n}"))

    def recv(self, n=1, seconds=60):
        """Up to n frames, each as (bytes, queue)."""
        frames = self.probe.ask(f"recv {self.number} {n} {int(seconds * 1000)}").split()
        return [(bytes.fromhex(f.split(".")[0]), int(f.split(".")[1])) for f in frames]

    def count(self, n, seconds=60):
        """The number of received frames, and the number per queue; stops at n."""
        total, *queues = map(int, self.probe.ask(
            f"count {self.number} {n} {int(seconds * 1000)}").split())
        return total, queues

    def do(self, verb, *args):
        """A command of port_probe_config.h; Error with haul's line."""
        return self.probe.ask(" ".join(map(str, (verb, self.number, *args))))

    def show(self, what):
        return self.do("show", what).split("\1")

    def fault(self):
        return self.probe.ask(f"fault {self.number}")

    def close(self):
        self.probe.ask(f"close {self.number}")


class Probe:
    def __init__(self, program, *args, mbufs=16384, mem_mb=0, eal=(), stderr=None, env=None,
                 under=()):
        """Error if EAL does not start. under: a command that runs the probe."""
        self.process = subprocess.Popen(
            [*under, program, "-n", str(mbufs), "-m", str(mem_mb), *args, "--", *eal], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr,
            env={**os.environ, **(env or {})})
        try:
            self.answer()
        except Error:
            self.process.wait()
            raise

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise Ended(self.process.wait())
        word, _, rest = line.rstrip("\n").partition(" ")
        if word == "error":
            number, _, text = rest.partition(" ")
            raise Error(int(number), text)
        if word != "ok":
            raise RuntimeError(f"not an answer: {line!r}")
        return rest

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def ask(self, line):
        self.tell(line)
        return self.answer()

    def open(self, spec, queues=1):
        """A port; Error with haul's line if it cannot be opened."""
        facts, _, notice = self.ask(f"open {queues} {spec}").partition(" notice=")
        number, *facts = facts.split()
        return Port(self, int(number), dict(f.split("=", 1) for f in facts), notice)

    def pool(self):
        """The free buffers in the pool, and all its buffers."""
        return tuple(map(int, self.ask("pool").split()))

    def is_whole(self):
        have, size = self.pool()
        return have == size

    def quit(self):
        """The exit status, after EAL has ended."""
        self.tell("quit")
        self.answer()
        return self.process.wait()

    def kill(self):
        self.process.kill()
        self.process.wait()


def frame(n=0, size=60):
    """An Ethernet frame that the kernel ignores, told from others by its number."""
    return b"\xff" * 6 + b"\x02\0\0\0\0\1\x88\xb5" + n.to_bytes(4, "big") + bytes(size - 18)


def flow(n, size=60):
    """A UDP packet of flow n, for ports that spread by flow."""
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, size - 14, 0, 0, 64, 17, 0,
                     bytes([10, 9, n >> 8, n & 255]), bytes([10, 9, 0, 1]))
    udp = struct.pack(">HHHH", 1024 + n % 60000, 9, size - 34, 0)
    return b"\xff" * 6 + b"\x02\0\0\0\0\1\x08\0" + ip + udp + bytes(size - 42)


def refused(probe, spec, queues=1):
    """The line with which a spec is refused; it must be a single line that names the spec."""
    try:
        probe.open(spec, queues)
    except Error as e:
        return e
    raise AssertionError(f"{spec} was opened")
