# SPDX-License-Identifier: BSD-3-Clause
"""Peers that corrupt the memory they share with a port: the program ends with a line that names the
port.

Usage: hostile.py HAUL-FWD
"""
import array
import mmap
import os
import resource
import socket
import struct
import tempfile

import netns

import fwd

SIZE = 1 << 20
RING_SLOTS = 1 << 8
RING_BYTES = 128 + 16 * RING_SLOTS  # memif's: head, tail, descriptors, each in its own cache line
DATA = 1 << 16


class Memif:
    """A hand-written memif client: one region with a ring each way."""

    def __init__(self, path):
        self.memory = os.memfd_create("region")
        os.ftruncate(self.memory, SIZE)
        self.map = mmap.mmap(self.memory, SIZE)
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.sock.settimeout(20)
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
        assert kind in (1, 7), f"no ACK but message {kind}"

    def send(self, n, offset=DATA, length=64):
        """n more frames, from that offset of the region."""
        head, = struct.unpack_from("<H", self.map, 6)
        for i in range(head, head + n):
            struct.pack_into("<HHIII", self.map, 128 + 16 * (i % RING_SLOTS), 0, 0, length,
                             offset, 0)
        struct.pack_into("<H", self.map, 6, head + n & 0xFFFF)

    def taken(self):
        return struct.unpack_from("<H", self.map, 64)[0]


def lead_away(peer):
    peer.send(1, offset=0xFFF00000)


def shrink(peer):
    os.ftruncate(peer.memory, 0)


def memif(name, attack, signal_name, *ports):
    with tempfile.TemporaryDirectory() as d:
        sock = os.path.join(d, "sock")
        spec = f"memif:role=server,socket={sock}"
        specs = [a for port in ports for a in ("--port", port.replace("SOCK", sock))]
        with fwd.Running("--port", spec, *specs, "--mode", "rxonly", "--carriers", 1) as haul:
            netns.wait_for(lambda: os.path.exists(sock) and haul.runs(), "haul-fwd to run")
            peer = Memif(sock)
            netns.wait_for(lambda: haul.process.poll() is not None or peer.taken() or
                           peer.send(1), "a frame to be taken")
            attack(peer)
            r = haul.wait()
    lines = [line for line in r.err.splitlines() if line.startswith("haul: ")]
    tap.ok(r.rc != 0 and len(lines) == 1 and
           lines[0].startswith(f"haul: port '{spec}': {signal_name} in its PMD (librte_net_memif)")
           and "let only trusted processes connect" in lines[0], name, r)


netns.enter()
tap = netns.Tap()
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
memif("memif: an offset out of the region", lead_away, "SIGSEGV")
memif("memif: a region that shrinks", shrink, "SIGBUS")
memif("memif: of two, the one that is attacked", lead_away, "SIGSEGV",
      "memif:role=server,socket=SOCK,id=7")
memif("memif: of many", shrink, "SIGBUS", "memif:role=server,socket=SOCK,id=7", "null:",
      "memif:role=server,socket=SOCKx")
tap.done()
