# SPDX-License-Identifier: BSD-3-Clause
"""Guests that give a vhost port wrong descriptors, rings and messages. The program survives and
serves the next guest; when shared memory disappears, the program ends with a line that names the
port.

Usage: hostile_vhost.py HAUL-FWD
"""
import os
import random
import resource
import socket
import struct
import tempfile

import netns

import fwd
from vhost_guest import (DATA, GPA, HEADER, INDIRECT, NEXT, SET_FEATURES, SET_MEM_TABLE,
                         SET_VRING_ADDR, SET_VRING_NUM, SIZE, SLOTS, WRITE, Guest)

GOOD = 10


def out_of_region(guest):
    for i, address in enumerate([0, GPA - 1, GPA + SIZE, GPA + SIZE - 4, (1 << 64) - 64]):
        guest.describe(i, address, 64 + HEADER)
        guest.offer([i])


def lengths(guest):
    for i, length in enumerate([0, 1, HEADER - 1, HEADER, SIZE, 1 << 31, (1 << 32) - 1]):
        guest.describe(i, GPA + DATA, length)
        guest.offer([i])


def circle(guest):
    guest.describe(0, GPA + DATA, 64, NEXT, 0)
    guest.describe(1, GPA + DATA, 64, NEXT, 2)
    guest.describe(2, GPA + DATA, 64, NEXT, 1)
    guest.offer([0, 1, 2])


def long_chain(guest):
    for i in range(SLOTS):
        guest.describe(i, GPA + DATA, 2048, NEXT, (i + 1) % SLOTS)
    guest.describe(SLOTS - 1, GPA + DATA, 2048)
    guest.offer([0])


def successors(guest):
    for i, successor in enumerate([SLOTS, 0x7FFF, 0xFFFF]):
        guest.describe(i, GPA + DATA, 64, NEXT, successor)
        guest.offer([i])


def heads(guest):
    guest.offer([SLOTS, 0x8000, 0xFFFF])


def index_far_ahead(guest):
    guest.describe(0, GPA + DATA, 64)
    guest.offer([], by=0x7FFF)


def index_back(guest):
    guest.send(fwd.frame(0))
    guest.offer([], by=0xFFFF)


def indirect(guest):
    guest.describe(0, GPA + DATA, 1 << 20, INDIRECT)
    guest.describe(1, GPA + SIZE, 32, INDIRECT)
    guest.describe(2, GPA + DATA, 15, INDIRECT | NEXT, 2)
    guest.offer([0, 1, 2])


def writable(guest):
    guest.describe(0, GPA + DATA, 64, WRITE)
    guest.offer([0])


def receive_nowhere(guest):
    for i, (address, length) in enumerate([(0, 2048), (GPA + SIZE, 2048), (GPA + DATA, 1)]):
        guest.describe(i, address, length, WRITE, ring=0)
        guest.offer([i], ring=0)


def rings_out_of_region(guest):
    guest.say(SET_VRING_ADDR, struct.pack("<IIQQQQ", 1, 0, 0, GPA + SIZE, (1 << 64) - 2, 0))
    guest.send(fwd.frame(0))


def ring_of(guest, slots):
    guest.say(SET_VRING_NUM, struct.pack("<II", 1, slots))


def no_memory(guest):
    guest.say(SET_MEM_TABLE, struct.pack("<II", 0, 0))


def many_regions(guest):
    guest.say(SET_MEM_TABLE, struct.pack("<II", 0xFFFF, 0) + bytes(200), [guest.memory])


def large_region(guest):
    guest.say(SET_MEM_TABLE, struct.pack("<IIQQQQ", 1, 0, GPA, 1 << 40, GPA, 1 << 39),
              [guest.memory])


def no_descriptor(guest):
    guest.say(SET_MEM_TABLE, struct.pack("<IIQQQQ", 1, 0, GPA, SIZE, GPA, 0))


def long_message(guest):
    guest.say(SET_FEATURES, bytes(8), size=0xFFFFFFFF)


def noise(guest):
    lot = random.Random(9)
    for _ in range(200):
        try:
            guest.say(lot.randrange(50), lot.randbytes(lot.randrange(64)))
        except OSError:
            return


def short(guest):
    guest.sock.sendall(b"\x05\0\0\0\x01")


ATTACKS = {
    "addresses out of the region": out_of_region, "lengths": lengths,
    "a chain that is a circle": circle,
    "a chain of all descriptors": long_chain, "successors beyond the ring": successors,
    "heads beyond the ring": heads, "an index far ahead": index_far_ahead,
    "an index that goes back": index_back, "indirect tables": indirect,
    "a frame in writable memory": writable, "room for frames out of the region": receive_nowhere,
    "rings out of the region": rings_out_of_region,
    "a ring of 0": lambda guest: ring_of(guest, 0),
    "a ring of 2 to the 31st": lambda guest: ring_of(guest, 1 << 31),
    "a memory table of none": no_memory, "a memory table of too many": many_regions,
    "a memory table without a file": no_descriptor,
    "a message longer than it says": long_message, "messages at random": noise,
    "half a message": short,
}


def until_taken(haul, guest):
    """Sends good frames until the port has taken some; frames are lost while the port starts its
    rings."""
    def some():
        if guest.used() == 0 and guest.sent < SLOTS:
            guest.send(fwd.frame(guest.sent))
        return guest.used() > 0 or haul.process.poll() is not None
    netns.wait_for(some, "a frame to be taken")


def connect(haul, sock):
    """A correct guest."""
    try:
        return Guest(sock).set_up()
    except TimeoutError:
        netns.where_it_hangs(haul.process)
        print(*(f"# {line}" for line in haul.said().splitlines()[-30:]), sep="\n", flush=True)
        raise


def serves(haul, sock):
    """True if the next guest's frames are taken."""
    try:
        guest = connect(haul, sock)
    except ConnectionError:
        return False
    until_taken(haul, guest)
    begun = guest.used()
    for i in range(GOOD):
        guest.send(fwd.frame(i))
    netns.wait_for(lambda: guest.used() - begun >= GOOD or haul.process.poll() is not None,
                   "good frames to be taken")
    served = haul.process.poll() is None
    guest.close()
    return served


def survives(haul, sock, attack):
    guest = connect(haul, sock)
    until_taken(haul, guest)
    try:
        attack(guest)
        for _ in range(3):
            guest.send(fwd.frame(0))
        guest.sock.settimeout(0.2)  # an answer may come or not
        guest.sock.recv(64)
    except (OSError, socket.timeout):
        pass  # the port may close the connection
    guest.close()
    return serves(haul, sock)


def lives():
    """One program for all attacks, one by one."""
    with tempfile.TemporaryDirectory() as d:
        sock = os.path.join(d, "sock")
        # io: received packets go back into the guest's other ring.
        with fwd.Running("--port", f"vhost:{sock}", "--mode", "io", "--carriers", 1) as haul:
            netns.wait_for(lambda: os.path.exists(sock) and haul.runs(), "haul-fwd to run")
            for name, attack in ATTACKS.items():
                tap.ok(haul.process.poll() is None and survives(haul, sock, attack),
                       f"vhost: {name}", haul.said()[-2000:])
            r = haul.end()
    tap.ok(r.rc == 0, "vhost: every buffer is back at the stop", r)


def ends(name, attack):
    """Missing memory raises SIGBUS in the PMD: a line names the port."""
    with tempfile.TemporaryDirectory() as d:
        sock = os.path.join(d, "sock")
        spec = f"vhost:{sock}"
        with fwd.Running("--port", spec, "--mode", "rxonly", "--carriers", 1) as haul:
            netns.wait_for(lambda: os.path.exists(sock) and haul.runs(), "haul-fwd to run")
            guest = connect(haul, sock)
            until_taken(haul, guest)
            attack(guest)
            r = haul.wait()
    lines = [line for line in r.err.splitlines() if line.startswith("haul: ")]
    tap.ok(r.rc != 0 and len(lines) == 1 and
           lines[0].startswith(f"haul: port '{spec}': SIGBUS in its PMD (librte_vhost)"),
           f"vhost: {name}", r)


netns.enter()
tap = netns.Tap()
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
lives()
ends("memory that shrinks", lambda guest: os.ftruncate(guest.memory, 0))
ends("a region larger than its file", large_region)
tap.done()
