# SPDX-License-Identifier: BSD-3-Clause
"""haul-fwd: every mode that reads frames takes any frames: truncated and contradicting headers,
chains of extension headers, runts, frames in several segments. No crash, the books add up, and all
packet buffers come back (haul_io_free() checks that). HAUL_FRAMES: their number (for a soak)."""
import os
import random
import struct
import tempfile
import time

import netns

import fwd

COUNT = int(os.environ.get("HAUL_FRAMES", 4000))
MODES = ["io", "mac", "macswap", "5tswap", "csum", "icmpecho", "l3fwd", "rxonly", "noisy"]
HELD = 64  # by noisy
MACS = b"\x02\0\0\0\0\1\x02\0\0\0\0\2"
TAGS = (b"\x81\0\0\7", b"\x88\xa8\0\7")
UPPER = (6, 17, 132, 1, 58, 0, 43, 44, 60, 59, 4, 41)
EXTENSIONS = (0, 43, 44, 60)


def upper(rng, proto):
    body = bytearray(rng.randbytes(rng.choice((0, 1, 3, 4, 7, 8, 12, 19, 20, 40, 1000))))
    if proto == 17 and len(body) >= 8 and rng.random() < .7:
        body[4:6] = struct.pack("!H", rng.choice((0, 7, 8, len(body), len(body) + 1, 65535)))
    return bytes(body)


def ip4(rng):
    proto = rng.choice(UPPER)
    words = rng.choice((5, 5, 5, 6, 15, 4, 0))
    body = rng.randbytes(max(0, words * 4 - 20)) + upper(rng, proto)
    total = rng.choice((20 + len(body),) * 4 + (0, 19, words * 4, 21 + len(body), 65535))
    fragment = rng.choice((0, 0, 0x4000, 0x2000, 0x2001, 0x1fff))
    head = bytearray(struct.pack("!BBHHHBBH4s4s", rng.choice((4,) * 9 + (6,)) << 4 | words, 0,
                                 total, 1, fragment, rng.choice((0, 1, 2, 64, 255)), proto, 0,
                                 b"\x0a\0\0" + rng.randbytes(1),
                                 rng.choice((b"\x0a\1\1\1", rng.randbytes(4)))))
    if rng.random() < .8 and len(body) % 2 == 0 and words >= 5:
        options = bytes(head) + body[:words * 4 - 20]
        head[10:12] = struct.pack("!H", fwd.checksum(options))
    return b"\x08\0", bytes(head) + body


def ip6(rng):
    chain = [rng.choice(EXTENSIONS) for _ in range(rng.choice((0, 0, 1, 3, 9, 150)))]
    proto = rng.choice(UPPER)
    body = b""
    for i, kind in enumerate(chain):
        after = chain[i + 1] if i + 1 < len(chain) else proto
        length = 0 if kind == 44 else rng.choice((0, 0, 1, 30, 255))
        body += bytes([after, length]) + rng.randbytes(6 + 8 * length)[:rng.choice((8, 14, 2046))]
    body = (body + upper(rng, proto))[:9000]
    head = struct.pack("!IHBB16s16s", rng.choice((6,) * 9 + (5,)) << 28,
                       rng.choice((len(body),) * 4 + (0, len(body) + 1, 65535)),
                       (chain + [proto])[0], rng.choice((0, 1, 64)),
                       rng.choice((b"\xfe\x80", b"\x20\1")) + rng.randbytes(14),
                       rng.choice((b"\xff\2", b"\xfd\1", b"\x20\1")) + bytes(13) + b"\1")
    return b"\x86\xdd", head + body


def any_frame(rng):
    kind = rng.randrange(8)
    if kind == 0:
        return rng.randbytes(rng.choice((1, 5, 12, 13, 14, 15, 17, 18, 60, 1514, 5000)))
    ethertype, packet = rng.choice((ip4, ip6))(rng)
    if kind == 1:
        ethertype, packet = b"\x08\x06", rng.randbytes(rng.choice((0, 5, 27, 28, 46)))
    tags = b"".join(rng.choice(TAGS) for _ in range(rng.choice((0, 0, 0, 1, 2, 4, 5, 300))))
    frame = MACS + tags + ethertype + packet
    if kind == 2:
        frame = frame[:rng.randrange(1, len(frame) + 1)]
    if kind == 3:  # more than a buffer holds, so that it takes several segments
        frame += rng.randbytes(rng.randrange(2000, 8000))
    return frame[:9000]


def books(r, held):
    """True if each packet was sent, or dropped, or was held back until the end."""
    p = r.port(0)
    return p["rx_packets"] + p["dropped"]["rx_errors"] >= COUNT and \
        p["rx_packets"] == p["tx_packets"] + held + sum(
            n for why, n in p["dropped"].items() if why not in ("rx_missed", "rx_nombuf",
                                                               "rx_errors", "tx_errors"))


def unexpected(err):
    """The lines of stderr, but those of the watchdog: tables are freed slowly under sanitizers."""
    return [line for line in err.splitlines() if " without a wait or haul_maybe_" not in line]


netns.enter()
tap = netns.Tap()
seed = int(os.environ.get("HAUL_TEST_SEED", time.time_ns() % (1 << 32)))
print(f"# HAUL_TEST_SEED={seed}")
rng = random.Random(seed)
with tempfile.TemporaryDirectory() as d:
    fwd.write_pcap(f"{d}/in", [any_frame(rng) for _ in range(COUNT)])
    with open(f"{d}/routes", "w", encoding="ascii") as f:
        f.write("0.0.0.0/0 0\n10.0.0.0/8 0 02:00:00:00:00:99\n::/0 0\n")
    for mode in MODES:
        for handler in "burst", "coroutine":
            more = {"l3fwd": ("--routes", f"{d}/routes"),
                    "noisy": ("--noisy-tx-sw-buffer-size", HELD)}.get(mode, ())
            r = fwd.figures("--port", f"pcap:rx={d}/in,tx={d}/out", "--mode", mode, "--handler",
                            handler, "--carriers", 1, "--packets", COUNT, *more)
            whole = r.rc == 0 and not unexpected(r.err) and \
                books(r, HELD if mode == "noisy" else 0)
            tap.ok(whole, f"{mode}, {handler}", r)
tap.done()
