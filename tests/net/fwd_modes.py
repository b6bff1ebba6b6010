# SPDX-License-Identifier: BSD-3-Clause
"""haul-fwd's modes that generate, hold back or answer: flowgen, txonly's options, noisy, icmpecho;
and service times."""
import os
import random
import re
import struct
import subprocess
import tempfile
import time

import netns

import fwd

COUNT = 1000

netns.enter()
tap = netns.Tap()
where = tempfile.TemporaryDirectory()
path = lambda name: os.path.join(where.name, name)
frames = [fwd.frame(i) for i in range(COUNT)]
fwd.write_pcap(path("in"), frames)
fwd.write_pcap(path("few"), frames[:100])
FEW = f"pcap:rx={path('few')},tx={path('out')}"
FILE = f"pcap:rx={path('in')},tx={path('out')}"


def one(*args, packets=COUNT, port=FILE):
    r = fwd.figures("--port", port, "--carriers", 1, "--packets", packets, *args)
    return r, fwd.read_pcap(path("out"))


def is_udp(frame, size):
    """True if the lengths and the checksum of IP are right."""
    return len(frame) == size and frame[12:15] == b"\x08\x00\x45" and frame[23] == 17 and \
        fwd.checksum(frame[14:34]) == 0 and \
        struct.unpack("!H", frame[16:18])[0] == size - 14 and \
        struct.unpack("!HH", frame[38:42]) == (size - 34, 0)


for turn, handler in enumerate(("burst", "coroutine")):
    # flowgen: addresses in turn, what arrives is dropped.
    for flows, clones in netns.share(((900, 0), (7, 0), (5, 3)), turn):
        r, out = one("--mode", "flowgen", "--flowgen-flows", flows, "--flowgen-clones", clones,
                     "--handler", handler, "--size", 100)
        first = struct.unpack("!I", bytes([10, 253, 0, 0]))[0]
        to = [struct.unpack("!I", f[30:34])[0] - first for f in out]
        expected = [i // (clones + 1) * (clones + 1) % flows for i in range(len(out))]
        if clones:  # a burst of 32 is a multiple of 4: clones do not cross bursts
            assert 32 % (clones + 1) == 0
        tap.ok(r.rc == 0 and len(out) > flows and to == expected and
               all(is_udp(f, 100) and f[26:30] == bytes([10, 254, 0, 0]) and
                   struct.unpack("!HH", f[34:38]) == (1000, 1001) for f in out) and
               r.port(0)["rx_packets"] == r.port(0)["dropped"]["consumed"] == COUNT,
               f"flowgen, {handler}: {flows} flows, {clones} clones",
               f"{r}{[a for a in zip(to, expected) if a[0] != a[1]][:5]}")

    # txonly: segments end up as one frame, sources vary.
    for sizes in netns.share(("42", "64,1,100", "10,20,3,9,500", "1,41", "2048,2048,500"), turn):
        total = sum(map(int, sizes.split(",")))
        r = fwd.figures("--port", f"pcap:tx={path('out')}", "--mode", "txonly", "--txpkts", sizes,
                        "--handler", handler, "--carriers", 1, "--duration", "0.05")
        out = fwd.read_pcap(path("out"))
        tap.ok(r.rc == 0 and out and all(is_udp(f, total) for f in out) and
               r.port(0)["tx_bytes"] == total * len(out), f"txonly, {handler}: --txpkts {sizes}", r)
    netns.ip("link set lo up")
    r = fwd.figures("--port", "afpacket:lo", "--mode", "rxonly", "--handler", handler, "--txpkts",
                    ",".join(["2048"] * 16), "--control", path("control"), "--tx-first", 64,
                    "--carriers", 1, "--duration", "0.2")
    tap.ok(r.rc == 0 and r.port(0)["tx_bytes"] == 64 * r.port(0)["tx_packets"] > 0,
           f"rxonly, {handler}: frames of --tx-first are not in segments", r)
    r = fwd.figures("--port", f"pcap:tx={path('out')}", "--mode", "txonly", "--txonly-multi-flow",
                    "--handler", handler, "--carriers", 1, "--duration", "0.05", "--flows", 1)
    out = fwd.read_pcap(path("out"))
    sources = [f[26:30] for f in out]
    tap.ok(r.rc == 0 and all(is_udp(f, 64) for f in out) and
           all(a == b for a, b in zip(sources, sources[256:])) and
           len(set(sources)) == min(256, len(out)), f"txonly, {handler}: --txonly-multi-flow", r)

    # noisy: in order, as many stay as the buffer holds; all leave after the flush time.
    for size in netns.share((1, 31, 33, 256, 2000), turn):
        r, out = one("--mode", "noisy", "--noisy-tx-sw-buffer-size", size, "--handler", handler)
        tap.ok(r.rc == 0 and r.err == "" and out == frames[:max(0, COUNT - size)],
               f"noisy, {handler}: {size} packets are held back", f"{len(out)} of {COUNT}\n{r}")
    with fwd.Running("--port", FILE, "--mode", "noisy", "--noisy-tx-sw-buffer-size", 2000,
                     "--noisy-tx-sw-buffer-flushtime", 10, "--handler", handler,
                     "--carriers", 1) as haul:
        size = 24 + sum(16 + len(f) for f in frames)
        netns.wait_for(lambda: os.path.exists(path("out")) and os.path.getsize(path("out")) == size
                       or haul.process.poll() is not None, "all to leave")
        r = haul.end()
    tap.ok(r.rc == 0 and fwd.read_pcap(path("out")) == frames,
           f"noisy, {handler}: all leave after the flush time", r)
    r, out = one("--mode", "noisy", "--noisy-lkup-memory", 1, "--noisy-lkup-num-reads", 3,
                 "--noisy-lkup-num-writes", 3, "--noisy-lkup-num-reads-writes", 3,
                 "--handler", handler)
    tap.ok(r.rc == 0 and out == frames, f"noisy, {handler}: with accesses to memory", r)
    for duration in 0.1, 1, 10:  # until each carrier had a CPU
        r = fwd.figures("--port", "null:", "--port", "null:", "--mode", "noisy", "--carriers", 2,
                        "--noisy-tx-sw-buffer-size", 100, "--handler", handler,
                        "--duration", duration)
        if all(c["rx_packets"] > 1000 for c in r.json["carriers"]):
            break
    tap.ok(r.rc == 0 and r.err == "" and r.total("rx_packets") - r.total("tx_packets") ==
           r.dropped() + 400, f"noisy, {handler}: each carrier and port holds its own", r)

    # Service times: what each packet takes at least; the packets are the same.
    for service, least in netns.share(
            (("1ms", 0.1), ("500us,exp", 0.01), ("1ms,bimodal:50:3", 0.04)), turn):
        began = time.monotonic()
        r, out = one("--service", service, "--handler", handler, packets=100, port=FEW)
        took = time.monotonic() - began
        tap.ok(r.rc == 0 and out == frames[:100] and took >= least,
               f"--service {service}, {handler}", f"{took} s\n{r}")
    r, out = one("--service-memory", 4096, "--service-table", 1, "--handler", handler)
    tap.ok(r.rc == 0 and out == frames, f"--service-memory, {handler}", r)
began = time.monotonic()
r, out = one("--service", "0.5s", "--service-sleep", "--handler", "coroutine")
took = time.monotonic() - began
tap.ok(r.rc == 0 and sorted(out) == sorted(frames) and 0.5 <= took < COUNT * 0.5,
       "--service-sleep: handlers sleep side by side", f"{took} s\n{r}")


def ping(*args):
    """Of several requests, ping waits for the last reply only for as long as the others took."""
    done = subprocess.run(["ping", "-c", "1", "-W", "60", *args], capture_output=True, text=True)
    return done.stdout + done.stderr


# icmpecho: the kernel's requests of all kinds; other packets are dropped.
for turn, handler in enumerate(("burst", "coroutine")):
    for kind in netns.share(("tap", "afpacket"), turn):
        if not netns.can_open(tap, kind, f"icmpecho, {handler}, {kind}"):
            continue
        if kind == "afpacket":
            netns.veth("v0", "v1")
        port, iface = ("tap:t0", "t0") if kind == "tap" else ("afpacket:v0", "v1")
        with fwd.Running("--port", port, "--mode", "icmpecho", "--handler", handler,
                         "--carriers", 1) as haul:
            netns.wait_for(lambda: haul.runs() and netns.exists(iface), iface)
            netns.wait_up(iface)
            netns.ip6(iface)
            netns.ip(f"addr add 10.5.0.1/16 dev {iface}")
            netns.ip(f"addr add fd05::1/64 dev {iface} nodad")
            raw = netns.Raw(iface)
            for f in frames[:50]:
                raw.send(f)
            raw.close()
            for to in "10.5.0.2", "10.5.7.7", "fd05::2", "fd05::77:1":
                said = "".join(ping("-s", "200", to) for _ in range(3))
                tap.ok(said.count(" 0% packet loss") == 3, f"icmpecho, {handler}, {kind}: {to}",
                       said)
            said = "".join(ping("-I", iface, "224.0.0.5") for _ in range(2))
            tap.ok("from 10.5.0.2" in said, f"icmpecho, {handler}, {kind}: a group", said)
            r = haul.end()
        tap.ok(r.rc == 0 and r.port(0)["dropped"]["unsupported"] >= 50 and
               r.port(0)["tx_packets"] >= 14, f"icmpecho, {handler}, {kind}: others are dropped", r)
        if kind == "afpacket":
            netns.ip("link del v0")



def echo(rng, wrong):
    """A random echo request, with a wrong bit perhaps, and the reply to it; None: none is due."""
    data = rng.randbytes(rng.choice((0, 1, 7, 8, 9, 18, rng.randrange(300), 1472)))
    icmp = b"\x08\0" + struct.pack("!H", 0) + rng.randbytes(4) + data
    padded = icmp + bytes(len(icmp) % 2)
    icmp = icmp[:2] + struct.pack("!H", fwd.checksum(padded)) + icmp[4:]
    ip = struct.pack("!BBHHHBBH", 0x45, rng.randrange(256), 20 + len(icmp), rng.randrange(65536),
                     rng.choice((0, 0x4000)), rng.choice((64, 64, 1, 63, 128, 255)), 1, 0) + \
        bytes([10, *rng.randbytes(3), 192, *rng.randbytes(3)])
    ip = ip[:10] + struct.pack("!H", fwd.checksum(ip)) + ip[12:]
    request = bytearray(rng.choice((b"\x02\0\0\0\0\1", b"\x10\x70\xfd\xb3\x4b\xdf")) +
                        b"\x02\0\0\0\0\2\x08\0" + ip + icmp)
    reply = bytearray(request)
    reply[0:6], reply[6:12] = request[6:12], request[0:6]
    reply[26:30], reply[30:34] = request[30:34], request[26:30]
    reply[22], reply[34] = 64, 0
    reply[24:26] = reply[36:38] = bytes(2)
    reply[24:26] = struct.pack("!H", fwd.checksum(bytes(reply[14:34])))
    padded = bytes(reply[34:]) + bytes(len(icmp) % 2)
    reply[36:38] = struct.pack("!H", fwd.checksum(padded))
    if wrong:
        request[rng.randrange(14, len(request))] ^= 1 << rng.randrange(8)
    return bytes(request) + bytes(max(60 - len(request), 0)), None if wrong else bytes(reply)


# icmpecho: each right request has the right reply, and one with a wrong bit has none.
seed = int(os.environ.get("HAUL_TEST_SEED", time.time_ns() % 2**32))
rng = random.Random(seed)
cases = [echo(rng, rng.random() < 0.3) for _ in range(COUNT)]
fwd.write_pcap(path("pings"), [request for request, _ in cases])
due = [reply for _, reply in cases if reply]
for handler in ("burst", "coroutine"):
    r, out = one("--mode", "icmpecho", "--handler", handler,
                 port=f"pcap:rx={path('pings')},tx={path('out')}")
    tap.ok(r.rc == 0 and out == due, f"icmpecho, {handler}: random requests, seed {seed}",
           f"{r}{[(a.hex(), b.hex()) for a, b in zip(out, due) if a != b][:2]}")

WRONG = [
    (["--mode", "txonly", "--txpkts", "64,"], "length of each segment"),
    (["--mode", "txonly", "--txpkts", "64,x"], "length of each segment"),
    (["--mode", "txonly", "--txpkts", "41"], "at least 42"),
    (["--mode", "txonly", "--txpkts", "64,2049"], "1 to 2048"),
    (["--mode", "txonly", "--txpkts", ",".join(["9"] * 17)], "more than 16"),
    (["--mode", "noisy", "--noisy-lkup-num-reads", "1"], "--noisy-lkup-memory"),
    (["--mode", "noisy", "--noisy-tx-sw-buffer-size", "1000000"], "--mbufs"),
    (["--service", "1parsec"], "--service 1parsec"),
    (["--service", "1us,normal"], "constant, exp or bimodal"),
    (["--service-sleep"], "--service TIME"),
    (["--service-sleep", "--service", "1us"], "--handler coroutine"),
]
for args, holds in WRONG:
    r = fwd.run("--port", "null:", *args)
    tap.ok(r.rc == 2 and r.err.count("\n") == 1 and holds in r.err and r.out == "",
           " ".join(args), r)
r = fwd.run("--port", "null:", "--carriers", 8, "--service-memory", 1, "--service-table", 65536)
tap.ok(r.rc == 1 and
       re.search(r"--service-table: 524288 MB of all carriers, and \d+ MB are free\n$", r.err),
       "--service-table of more memory than is free", r)
tap.done()
