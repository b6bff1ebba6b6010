# SPDX-License-Identifier: BSD-3-Clause
"""Route files of mode l3fwd: wrong lines are named, many routes are looked up rightly."""
import ipaddress
import os
import random
import struct
import tempfile
import time

import netns

import fwd

WRONG = [  # a line, a part of what is said
    ("10.0.0.0 0", "length"),
    ("10.0.0/8 0", "neither"),
    ("ten/8 0", "neither"),
    ("10.0.0.0/33 0", "0 to 32"),
    ("10.0.0.0/-1 0", "0 to 32"),
    ("10.0.0.0/ 0", "0 to 32"),
    ("2001:db8::/129 0", "0 to 128"),
    ("10.0.0.1/8 0", "bits beyond"),
    ("2001:db8::1/64 0", "bits beyond"),
    ("10.0.0.0/8", "port is missing"),
    ("10.0.0.0/8 x", "port is a number"),
    ("10.0.0.0/8 -0", "port is a number"),
    ("10.0.0.0/8 2", "no such port"),
    ("10.0.0.0/8 0 02:00:00:00:00", "MAC address"),
    ("10.0.0.0/8 0 ff:ff:ff:ff:ff:ff", "station"),
    ("10.0.0.0/8 0 00:00:00:00:00:00", "station"),
    ("10.0.0.0/8 0 02:00:00:00:00:01 1", "more than"),
]

netns.enter()
tap = netns.Tap()
where = tempfile.TemporaryDirectory()
path = lambda name: os.path.join(where.name, name)


def write(name, text):
    with open(path(name), "w", encoding="ascii") as f:
        f.write(text)


def run(*args):
    return fwd.figures("--port", "null:", "--port", "null:", "--mode", "l3fwd", "--duration",
                       "0.05", *args)


for line, holds in WRONG:
    write("r", f"# routes\n\n10.1.0.0/16 1 # good\n{line}\n")
    r = run("--routes", path("r"))
    tap.ok(r.rc == 2 and r.err.count("\n") == 1 and r.out == "" and
           r.err.startswith(f"haul-fwd: {path('r')}:4: ") and holds in r.err, line, r)
for text, name in ("# none\n", "a file without routes"), ("", "an empty file"):
    write("r", text)
    r = run("--routes", path("r"))
    tap.ok(r.rc == 2 and "has no route" in r.err, name, r)
r = run("--routes", path("nosuch"))
tap.ok(r.rc == 2 and "No such file" in r.err, "a file that does not exist", r)
r = run()
tap.ok(r.rc == 2 and "--routes FILE" in r.err, "no file", r)

# Many routes of all lengths, nested; to packets inside and outside of them, the route is what a
# search of the list finds.
seed = int(os.environ.get("HAUL_TEST_SEED", time.time_ns() % (1 << 32)))
print(f"# HAUL_TEST_SEED={seed}")
rng = random.Random(seed)
HOPS = 40
SOURCE = {4: ipaddress.ip_address("192.0.2.1"), 6: ipaddress.ip_address("2001:db8::1")}


def network(bits, base):
    length = rng.randrange(bits // 8, bits + 1)
    return ipaddress.ip_network((base ^ rng.getrandbits(bits - bits // 8), length), strict=False)


def random_routes():
    found = {}
    for bits, base in (32, 10 << 24), (128, 0xfd01 << 112):
        nets = [network(bits, base) for _ in range(300)]
        nets += [ipaddress.ip_network((int(n[rng.randrange(min(n.num_addresses, 1 << 40))]),
                                       rng.randrange(n.prefixlen, bits + 1)), strict=False)
                 for n in nets]
        found.update((n, rng.randrange(HOPS)) for n in nets)
    return found


def frame(number, to):
    if to.version == 4:
        head = bytearray(struct.pack("!BBHHHBBH4s4s", 0x45, 0, 28, number & 0xffff, 0, 64, 255, 0,
                                     SOURCE[4].packed, to.packed))
        head[10:12] = struct.pack("!H", fwd.checksum(head))
        ethertype = 0x0800
    else:
        head = struct.pack("!IHBB16s16s", 6 << 28, 8, 255, 64, SOURCE[6].packed, to.packed)
        ethertype = 0x86DD
    return struct.pack("!6s6sH", bytes(6), b"\2\0\0\0\0\1", ethertype) + bytes(head) + \
        struct.pack("!Q", number)


def best(routes, to):
    inside = [n for n in routes if n.version == to.version and to in n]
    return routes[max(inside, key=lambda n: n.prefixlen)] if inside else None


routes = random_routes()
write("many", "".join(f"{n} {hop % 2} 02:00:00:00:01:{hop:02x}\n" for n, hop in routes.items()))
targets = [n[rng.randrange(min(n.num_addresses, 1 << 40))] for n in routes]
targets += [ipaddress.ip_address(rng.getrandbits(31)) for _ in range(100)]
targets += [ipaddress.ip_address((0xfd01 << 112) + rng.getrandbits(112)) for _ in range(100)]
rng.shuffle(targets)
fwd.write_pcap(path("in"), [frame(i, to) for i, to in enumerate(targets)])
expected = {i: best(routes, to) for i, to in enumerate(targets)}
for handler in "burst", "coroutine":
    r = fwd.figures("--port", f"pcap:rx={path('in')},tx={path('out0')}",
                    "--port", f"pcap:tx={path('out1')}", "--mode", "l3fwd", "--handler", handler,
                    "--routes", path("many"), "--carriers", 1, "--packets", len(targets),
                    "--burst", 256)
    found = dict.fromkeys(range(len(targets)))
    for port in 0, 1:
        for f in fwd.read_pcap(path(f"out{port}")):
            number, = struct.unpack("!Q", f[-8:])
            found[number] = f[5] if f[5] % 2 == port else "the wrong port"
    wrong = [(str(targets[i]), found[i], expected[i]) for i in found if found[i] != expected[i]]
    none = sum(hop is None for hop in expected.values())
    tap.ok(r.rc == 0 and not wrong and r.port(0)["dropped"]["no_route"] == none > 0,
           f"{len(routes)} routes, {handler}: the longest prefix wins", f"{wrong[:5]}\n{r}")
tap.done()
