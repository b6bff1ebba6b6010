# SPDX-License-Identifier: BSD-3-Clause
"""haul-echo: with any input it continues to answer, counts the input, and ends cleanly.
HAUL_FRAMES: their number (for a soak)."""
import os
import random
import sys
import time

import netns
from echo import IP4, IP6, Echo, Ping, dropped, echo_request, peer

FRAMES = int(os.environ.get("HAUL_FRAMES", 5000))
TYPES = b"\x08\x00", b"\x86\xdd", b"\x08\x06", b"\x81\x00", b"\x88\xb5", b"\x00\x10"


def frames(rng, dst, src):
    """Noise, noise with a plausible head, mutated and truncated pings."""
    good = echo_request(dst, src)
    for _ in range(FRAMES):
        kind = rng.randrange(4)
        if kind == 0:
            yield rng.randbytes(rng.randrange(14, 1500))
        elif kind == 1:
            body = bytes([rng.choice((0x45, 0x4f, 0x60, rng.randrange(256)))])
            yield dst + src + rng.choice(TYPES) + body + rng.randbytes(rng.randrange(1400))
        elif kind == 2:
            frame = bytearray(good)
            for _ in range(rng.randrange(1, 4)):
                frame[rng.randrange(len(frame))] = rng.randrange(256)
            yield bytes(frame)
        else:
            yield good[:rng.randrange(14, len(good))]


def garbage(tap, binary, name, port, iface, carriers):
    seed = int(os.environ.get("HAUL_TEST_SEED", time.time_ns() % (1 << 32)))
    rng = random.Random(seed)
    print(f"# {name}: HAUL_TEST_SEED={seed}")
    with Echo(binary, "--port", port, "--carriers", carriers) as e:
        peer(iface)
        raw = netns.Raw(iface)
        for frame in frames(rng, e.mac(), netns.mac(iface)):
            try:
                raw.send(frame)
            except OSError:
                pass  # the interface's queue is full: a loss like any other
        raw.close()
        big = Ping(IP4, 1, 4000, "-W", "1")  # arrives in fragments
        tap.ok(big.received == 0, f"{name}: fragments are not answered", big.line)
        still = Ping(IP4, 5, 56, "-i", "0.05"), Ping(IP6, 5, 56, "-i", "0.05")
        tap.ok(all(p.lossless() for p in still), f"{name}: still answers",
               "\n".join(p.line for p in still))
        code, figures = e.stop()
        tap.ok(code == 0, f"{name}: clean end", e.stderr())
        counts = {why: dropped(figures, why) for why in ("malformed", "not_for_us", "unsupported")}
        print(f"# {name}: {counts}")
        tap.ok(all(counts.values()), f"{name}: each reason was counted", counts)


def main(binary):
    tap = netns.Tap()
    if netns.can_open(tap, "tap"):
        garbage(tap, binary, "tap", "tap:t0", "t0", 2)
    for kind in "afxdp", "afpacket":
        if not netns.can_open(tap, kind):
            continue
        netns.veth("v0", "v1", queues=2)
        garbage(tap, binary, kind, f"{kind}:v0", "v1", 2)
        netns.ip("link del v0")
    tap.done()


if __name__ == "__main__":
    netns.enter()
    main(sys.argv[1])
