# SPDX-License-Identifier: BSD-3-Clause
"""A hand-written guest of a vhost port: its memory, its two rings and its messages, right or wrong.

Virtio 1.0, split rings, no offloads, one queue pair; messages as in QEMU's vhost-user
specification. Ring 0 receives, ring 1 transmits, as the guest sees it.
"""
import array
import mmap
import os
import socket
import struct

SIZE = 1 << 20
SLOTS = 256
HEADER = 12  # virtio-net's header in front of each frame
DATA = 1 << 16
GPA = 1 << 30  # guest address of the memory's start

NEXT, WRITE, INDIRECT = 1, 2, 4  # flags of a descriptor

GET_FEATURES, SET_FEATURES, SET_OWNER, SET_MEM_TABLE = 1, 2, 3, 5
SET_VRING_NUM, SET_VRING_ADDR, SET_VRING_BASE = 8, 9, 10
SET_VRING_KICK, SET_VRING_CALL = 12, 13

VERSION_1 = 1 << 32


class Guest:
    def __init__(self, path):
        """Connected, without memory or rings."""
        self.memory = os.memfd_create("guest")
        os.ftruncate(self.memory, SIZE)
        self.map = mmap.mmap(self.memory, SIZE)
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(60)  # gives a test that hangs its message
        self.sock.connect(path)
        self.sent = 0
        self.kicks = [os.eventfd(0), os.eventfd(0)]
        self.calls = [os.eventfd(0), os.eventfd(0)]

    def close(self):
        self.sock.close()
        self.map.close()
        for fd in [self.memory, *self.kicks, *self.calls]:
            os.close(fd)

    def say(self, request, payload=b"", fds=(), size=None):
        head = struct.pack("<III", request, 1, len(payload) if size is None else size)
        self.sock.sendmsg([head + payload], [(socket.SOL_SOCKET, socket.SCM_RIGHTS,
                                              array.array("i", fds))] if fds else [])

    def ask(self, request):
        self.say(request)
        return struct.unpack("<IIIQ", self.sock.recv(20))[3]

    def set_up(self, region=SIZE, rings=(0, 1 << 14), slots=SLOTS):
        """Memory and both rings, as a correct guest sets them up."""
        offered = self.ask(GET_FEATURES)
        self.say(SET_FEATURES, struct.pack("<Q", offered & VERSION_1))
        self.say(SET_OWNER)
        self.say(SET_MEM_TABLE, struct.pack("<IIQQQQ", 1, 0, GPA, region, GPA, 0), [self.memory])
        for i, at in enumerate(rings):
            desc, avail, used = GPA + at, GPA + at + 0x1000, GPA + at + 0x2000
            self.say(SET_VRING_CALL, struct.pack("<Q", i), [self.calls[i]])
            self.say(SET_VRING_NUM, struct.pack("<II", i, slots))
            self.say(SET_VRING_BASE, struct.pack("<II", i, 0))
            self.say(SET_VRING_ADDR, struct.pack("<IIQQQQ", i, 0, desc, used, avail, 0))
            self.say(SET_VRING_KICK, struct.pack("<Q", i), [self.kicks[i]])
        self.ask(GET_FEATURES)  # earlier messages have been handled
        return self

    def describe(self, i, address, length, flags=0, successor=0, ring=1 << 14):
        struct.pack_into("<QIHH", self.map, ring + 16 * i, address, length, flags, successor)

    def offer(self, entries, ring=1 << 14, by=None):
        """Puts the heads of chains into the available ring and advances its index."""
        idx, = struct.unpack_from("<H", self.map, ring + 0x1002)
        for k, head in enumerate(entries):
            struct.pack_into("<H", self.map, ring + 0x1004 + 2 * ((idx + k) % SLOTS), head)
        idx += len(entries) if by is None else by
        struct.pack_into("<H", self.map, ring + 0x1002, idx & 0xFFFF)
        os.eventfd_write(self.kicks[1 if ring else 0], 1)

    def send(self, frame):
        """A frame in one descriptor."""
        i = self.sent % SLOTS
        at = DATA + i * 2048
        self.map[at:at + HEADER + len(frame)] = bytes(HEADER) + frame
        self.describe(i, GPA + at, HEADER + len(frame))
        self.offer([i])
        self.sent += 1

    def used(self, ring=1 << 14):
        """The number of chains that the port has returned."""
        return struct.unpack_from("<H", self.map, ring + 0x2002)[0]
