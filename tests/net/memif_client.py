# SPDX-License-Identifier: BSD-3-Clause
"""A memif client in Python, which can do what a PMD would not."""
import array
import mmap
import os
import socket
import struct

SIZE = 1 << 20
RING_SLOTS = 1 << 8
RING_BYTES = 128 + 16 * RING_SLOTS  # memif's: head, tail, descriptors, each in its own cache line
DATA = 1 << 16


class Refused(Exception):
    """The server has another peer, still."""


class Memif:
    """A hand-written memif client: one region with a ring each way."""

    def __init__(self, path):
        self.memory = os.memfd_create("region")
        os.ftruncate(self.memory, SIZE)
        self.map = mmap.mmap(self.memory, SIZE)
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.sock.settimeout(60)
        self.sock.connect(path)
        self.events = [os.eventfd(0), os.eventfd(0)]
        self.sock.recv(256)  # HELLO
        self.say("HHIB24s32s", 3, 0x200, 0, 0, b"", b"hostile")
        self.say("HHQ", 4, 0, SIZE, fd=self.memory)
        for flag, at in (1, 0), (0, RING_BYTES):
            self.map[at:at + 8] = struct.pack("<IHH", 0x3E31F20, 1, 0)
            self.say("HHHHIBH", 5, flag, 0, 0, at, 8, 0, fd=self.events[flag])
        self.say("H32s", 6, b"hostile")

    def say(self, form, *fields, fd=None):
        message = struct.pack("<" + form, *fields).ljust(128, b"\0")
        fds = [] if fd is None else [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))]
        self.sock.sendmsg([message], fds)
        kind, = struct.unpack_from("<H", self.sock.recv(256))
        if kind not in (1, 7):
            raise Refused(f"no ACK but message {kind}")

    def send(self, n, offset=DATA, length=64):
        """n more frames, from that offset of the region."""
        head, = struct.unpack_from("<H", self.map, 6)
        for i in range(head, head + n):
            struct.pack_into("<HHIII", self.map, 128 + 16 * (i % RING_SLOTS), 0, 0, length,
                             offset, 0)
        struct.pack_into("<H", self.map, 6, head + n & 0xFFFF)

    def taken(self):
        return struct.unpack_from("<H", self.map, 64)[0]

    def offer(self, length=2048):
        """Buffers for a ring full of frames from the server."""
        for i in range(RING_SLOTS):
            struct.pack_into("<HHIII", self.map, RING_BYTES + 128 + 16 * i, 0, 0, length,
                             DATA + length * i, 0)
        struct.pack_into("<H", self.map, RING_BYTES + 6, RING_SLOTS)

    def close(self):
        self.sock.close()
        self.map.close()
        for fd in self.memory, *self.events:
            os.close(fd)
