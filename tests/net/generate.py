# SPDX-License-Identifier: BSD-3-Clause
"""haul-fwd's generator: the frames that it sends, their times, the counts of its receiver."""
import math
import os
import socket
import struct
import tempfile
import time

import netns

import fwd
import generate_frames as frames


def generate(*args, port="ring:", carriers=1):
    return fwd.figures("--port", port, "--mode", "generate", "--carriers", carriers,
                       "--drain", "30s", *args)


def to_file(d, *args):
    """The result, and the frames that it wrote to a capture file."""
    path = f"{d}/out.pcap"
    r = generate(*args, port=f"pcap:tx={path}")
    return r, [frames.decode(f) for f in fwd.read_pcap(path)]


def test_frames(tap, d):
    """--drain is long only where packets return."""
    for ip, l4, vlan in netns.some((4, 6), ("udp", "tcp", "icmp"), (None, 5)):
        args = ["--rate", "100k/10ms", "--ip", ip, "--l4", l4, "--flows", 3, "--drain", 0]
        args += ["--vlan", vlan] if vlan else []
        r, got = to_file(d, *args)
        name = f"IPv{ip}, {l4}, VLAN {vlan}"
        least = max(60, 14 + 4 * bool(vlan) + (20 if ip == 4 else 40) +
                    (20 if l4 == "tcp" else 8) + frames.SIZE)
        ends = ("198.18.0.1", "198.18.0.2") if ip == 4 else ("2001:2::1", "2001:2::2")
        tap.ok(len(got) == 1000 and all(
            f.sums_right and (f.vlan, f.version, f.l4, f.src, f.dst, f.dport, f.size) ==
            (vlan, ip, l4, *ends, None if l4 == "icmp" else 9, least) for f in got),
            f"{name}: headers and checksums", f"{r}{got[:2]}")
        tap.ok([(f.stamp.flow, f.stamp.sequence, f.sport) for f in got] ==
               [(i % 3, i // 3, 1024 + i % 3) for i in range(1000)],
               f"{name}: flows in turn, sequences complete", got[:5])
        tap.ok(all(f.stamp.intended - got[0].stamp.intended == 10000 * i
                   for i, f in enumerate(got)), f"{name}: intended times", got[:5])
        tap.ok(r.json and r.json["generator"]["sent"] == 1000 ==
               r.json["generator"]["due"], f"{name}: figures", r)


def test_addresses_and_sizes(tap, d):
    r, got = to_file(d, "--rate", "100k/3ms", "--tx-ip", "10.0.0.1,10.9.8.7", "--tx-udp", "5000,53",
                     "--sizes", "64,1000,1518", "--drain", 0)
    tap.ok([f.size for f in got] == 100 * [64, 1000, 1518] and all(
        f.sums_right and (f.src, f.dst, f.dport) == ("10.0.0.1", "10.9.8.7", 53) and
        f.sport == 5000 + f.stamp.flow for f in got), "addresses, ports and sizes of one's own", r)
    r, got = to_file(d, "--rate", "100k/12ms", "--sizes", "imix", "--ip", 6, "--drain", 0)
    sizes = [f.size for f in got]
    tap.ok([sizes.count(n) for n in (80, 590, 1514)] == [700, 400, 100] and
           all(f.sums_right for f in got), "imix, with room for headers and stamp", r)
    r, got = to_file(d, "--rate", "100k/20ms", "--sizes", "100-109", "--drain", 0)
    again = to_file(d, "--rate", "100k/20ms", "--sizes", "100-109", "--drain", 0)[1]
    sizes = [f.size for f in got]
    tap.ok(len(sizes) == 2000 and all(150 < sizes.count(n) < 250 for n in range(100, 110)),
           "random sizes are spread evenly", [sizes.count(n) for n in range(100, 110)])
    tap.ok(sizes == [f.size for f in again], "a seed gives the same sizes again")


def test_flood(tap, d):
    """As fast as possible: frames of a burst are written at once."""
    for sizes, fits in ("60", lambda size, i: size == 60), \
            ("61,900", lambda size, i: size == (61, 900)[i % 2]), \
            ("70-79", lambda size, i: 70 <= size <= 79):
        path = f"{d}/flood.pcap"
        r = generate("--rate", "max", "--flows", 3, "--sizes", sizes, "--packets", 300,
                     "--drain", 0, port=f"pcap:tx={path}")
        got = [frames.decode(f) for f in fwd.read_pcap(path)[:300]]
        tap.ok(len(got) == 300 and all(f.sums_right and fits(f.size, i)
                                       for i, f in enumerate(got)),
               f"--rate max, sizes {sizes}: sizes and checksums", f"{r}{got[:3]}")
        tap.ok([(f.stamp.flow, f.stamp.sequence, f.sport) for f in got] ==
               [(i % 3, i // 3, 1024 + i % 3) for i in range(300)],
               f"--rate max, sizes {sizes}: flows in turn, sequences complete", got[:5])
        times = [f.stamp.intended for f in got]
        tap.ok(times == sorted(times) and len(set(times)) > 1 and
               all(f.stamp.late == 0 for f in got),
               f"--rate max, sizes {sizes}: packets are due when they are sent", got[:5])


def distance(gaps, mean):
    """Kolmogorov and Smirnov's, from the exponential distribution."""
    gaps = sorted(gaps)
    n = len(gaps)
    return max(max(f - i / n, (i + 1) / n - f)
               for i, f in ((i, 1 - math.exp(-g / mean)) for i, g in enumerate(gaps)))


def test_times(tap, d):
    at = {}
    for seed in 1, 1, 2:
        got = to_file(d, "--rate", "50k/100ms", "--arrivals", "poisson", "--seed", seed,
                      "--drain", 0)[1]
        times = [f.stamp.intended for f in got]
        gaps = [b - a for a, b in zip(times, times[1:])]
        tap.ok(seed not in at or at[seed] == gaps, f"Poisson, seed {seed}: the same gaps again")
        at[seed] = gaps
        far = distance(gaps, 20000)
        # Of true samples 1 in 100 is above this; a seed has one result.
        tap.ok(len(gaps) > 4500 and far < 1.63 / math.sqrt(len(gaps)),
               f"Poisson, seed {seed}: gaps of sent packets are exponential", f"{len(gaps)} {far}")
    tap.ok(at[1] != at[2], "another seed gives other gaps")
    got = to_file(d, "--rate", "10k/100ms", "--arrivals", "burst:8", "--drain", 0)[1]
    times = [f.stamp.intended - got[0].stamp.intended for f in got]
    tap.ok(times == [i // 8 * 800000 for i in range(1000)], "bursts are due at once", times[:20])
    got = to_file(d, "--rate", "1k/100ms,0/100ms,2k-4k/100ms", "--drain", 0)[1]
    times = [f.stamp.intended - got[0].stamp.intended for f in got]
    tap.ok(len(times) == 400 and times[99] == 99e6 and 199e6 < times[100] < 201e6 and
           248e6 < times[100 + 125] < 252e6, "steps, a pause, a ramp", f"{len(times)} {times}")
    # What was due is sent, however late; the rate of intended times does not depend on the machine.
    r = generate("--rate", "20k", "--duration", "1")
    g = r.json["generator"]
    tap.ok(abs(g["due"] / g["seconds"] / 20000 - 1) < 0.001 and g["sent"] == g["due"],
           "the rate is kept within 0.1 %", r)


def is_whole(r, sent=None, others=False):
    """others: the kernel at the other end sends packets of its own, too (of IPv6)."""
    g = r.json["generator"]
    return (r.rc == 0 and g["sent"] == g["received"] == g["from_intended"]["count"] ==
            g["from_sending"]["count"] > 0 and g["lost"] == g["reordered"] == g["duplicated"] ==
            g["foreign"] == 0 and (others or g["unstamped"] == 0) and
            (sent is None or g["sent"] == sent) and
            g["from_intended"]["p50_ns"] <= g["from_intended"]["p99_ns"] <=
            g["from_intended"]["max_ns"] and not g["worst_flows"])


def test_loops(tap):
    for carriers, flows, more in netns.some((1, 2), (1, 64), ([], ["--port", "ring:"])):
        r = generate("--rate", "20k/100ms", "--flows", flows, *more, carriers=carriers)
        tap.ok(is_whole(r, 2000), f"{carriers} carriers, {flows} flows, {1 + len(more) // 2} "
               "ports: each packet returns", r)
    r = generate("--closed-loop", 3, "--duration", "0.2")
    g = r.json["generator"]
    tap.ok(r.rc == 0 and g["sent"] == g["received"] > 0 and g["late"]["count"] == 0,
           "a closed loop", r)
    r = generate("--rate", "max", "--duration", "0.2")
    tap.ok(r.rc == 0 and r.json["generator"]["received"] > 0 and
           r.json["generator"]["lost"] == r.total("tx_packets") * 0 + sum(
               p["dropped"]["tx_full"] for p in r.json["ports"]), "as fast as possible", r)
    r = generate("--rate", "10k", "--packets", 500)
    tap.ok(is_whole(r) and r.json["generator"]["sent"] >= 500, "--packets counts sent packets", r)
    with fwd.Running("--port", "ring:", "--mode", "generate", "--rate", "10k", "--carriers", 1,
                     options=("--period", "0.05")) as haul:
        netns.wait_for(lambda: b"generator sent " in os.pread(haul.out.fileno(), 1 << 20, 0),
                       "a report")
        r = haul.end()
    tap.ok(r.rc == 0 and "from intended time" in r.out and "generator late by" in r.out and
           all(len(line) <= 80 for line in r.out.splitlines()), "SIGINT: the final report", r)


def test_kernel(tap):
    """The kernel checks checksums, and passes on what it finds right."""
    netns.veth("v0", "v1")
    netns.ip6("v1")
    netns.ip("addr add 198.18.0.2/24 dev v1")
    netns.ip("addr add 2001:2::2/64 dev v1 nodad")
    peer = "0," + ":".join(f"{b:02x}" for b in netns.mac("v1"))
    for ip, family, source in (4, socket.AF_INET, "198.18.0.1"), (6, socket.AF_INET6, "2001:2::1"):
        with socket.socket(family, socket.SOCK_DGRAM) as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
            s.bind(("", 9))
            s.settimeout(60)
            r = generate("--rate", "2k/100ms", "--ip", ip, "--eth-peer", peer, "--drain", "0",
                         port="afpacket:v0")
            try:
                got = [frames.stamp_of(s.recv(2048)) for _ in range(200)]
            except TimeoutError:
                got = []
            tap.ok(len(got) == 200 and {x.flow for x in got} == set(range(64)),
                   f"a UDP socket receives all datagrams, IPv{ip}", f"{len(got)}\n{r}")
        netns.ip(f"neigh add {source} dev v1 lladdr 02:00:00:00:00:01")
        r = generate("--rate", "2k/100ms", "--ip", ip, "--l4", "icmp", "--eth-peer", peer,
                     "--promiscuous", "on", port="afpacket:v0")
        tap.ok(is_whole(r, 200, others=True), f"the kernel answers all pings, IPv{ip}", r)
    netns.ip("link del v0")


def test_reflector(tap):
    """A reflector on a veth loses, swaps and repeats known packets."""
    netns.veth("v0", "v1")
    wire = netns.Raw("v1")
    lost = {(0, 5), (1, 7), (1, 8), (1, 9), (3, 0), (2, 74)}
    swapped = {(0, 20), (2, 30), (2, 40)}  # arrive after their successor
    repeated = {(3, 10): 1, (3, 11): 2}
    held = {}
    with fwd.Running("--port", "afpacket:v0", "--mode", "generate", "--rate", "2k/150ms,0/100h,1",
                     "--flows", 4, "--carriers", 1, "--drain", 0) as haul:
        for _ in range(300):
            f = wire.recv()
            if f is None:
                break
            stamp = frames.decode(f).stamp
            key = stamp.flow, stamp.sequence
            if key in swapped:
                held[stamp.flow] = f
            elif key not in lost:
                for _ in range(1 + repeated.get(key, 0)):
                    wire.send(f)
                if stamp.flow in held:
                    wire.send(held.pop(stamp.flow))
        netns.wait_for(lambda: " received 294 " in haul.said(), "all packets to be counted")
        r = haul.end()
    wire.close()
    netns.ip("link del v0")
    g = r.json["generator"] if r.json else {}
    tap.ok(r.rc == 0 and (g["sent"], g["received"], g["lost"], g["reordered"], g["duplicated"]) ==
           (300, 294, 6, 3, 3), "lost, reordered and duplicated packets are counted", r)
    tap.ok([(f["flow"], f["sent"], f["lost"], f["reordered"], f["duplicated"])
            for f in sorted(g["worst_flows"], key=lambda f: f["flow"])] ==
           [(0, 75, 1, 1, 0), (1, 75, 3, 0, 0), (2, 75, 1, 2, 0), (3, 75, 1, 0, 3)],
           "of each flow", r)


def test_stall(tap):
    """A reflector that stops for 0.3 s delays 300 of 1,000 packets, by up to 0.3 s."""
    netns.veth("v0", "v1")
    wire = netns.Raw("v1")
    with fwd.Running("--port", "afpacket:v0", "--mode", "generate", "--rate", "1k/1s",
                     "--carriers", 1, "--drain", "60s") as haul:
        for i in range(1000):
            f = wire.recv()
            if f is None:
                break
            if i == 300:
                time.sleep(0.3)  # the stall that is measured
            wire.send(f)
        r = haul.wait()
    wire.close()
    netns.ip("link del v0")
    tap.ok(is_whole(r, 1000) and r.json["generator"]["from_intended"]["p90_ns"] > 100e6,
           "a receiver that stops shows in the percentiles", r)


def test_receiver(tap):
    """A receiver without a generator."""
    netns.veth("v0", "v1")
    wire = netns.Raw("v1")
    order = [0, 1, 2, 4, 3, 5, 5, 6, 9, 8, 8]  # 7 is lost
    with fwd.Running("--port", "afpacket:v0", "--mode", "generate", "--rate", 0, "--carriers", 1,
                     "--poller", "block", "--packets", 13 + len(order)) as haul:
        netns.wait_for(haul.runs, "haul-fwd")
        now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        for n in order:
            wire.send(frames.encode(65535, n, intended=now - 5000000, late=2000000))
        wire.send(frames.encode(1, 0, intended=now - 5000000, late=2000000))
        wire.send(frames.encode(1, 0, run=2))  # of a third generator
        wire.send(b"\xff" * 60)
        wire.send(frames.encode(1, 1)[:59])  # the end of its stamp is cut off
        for cut in range(14, 23):
            wire.send(frames.encode(1, 1)[:cut])
        r = haul.wait()
    wire.close()
    netns.ip("link del v0")
    g = r.json["generator"] if r.json else {}
    tap.ok(r.rc == 0 and (g["foreign"], g["foreign_lost"], g["reordered"], g["duplicated"]) ==
           (10, 1, 2, 2) and g["sent"] == 0, "a receiver alone counts", r)
    tap.ok(g["from_intended"]["p50_ns"] >= 5e6 and g["from_sending"]["p50_ns"] >= 3e6 and
           g["from_intended"]["count"] == 10,
           "latencies from the intended and from the actual time", r)


def test_memif(tap, d):
    spec = f"socket={d}/memif"
    with fwd.Running("--port", f"memif:role=server,{spec}", "--mode", "macswap", "--carriers", 1) \
            as server:
        netns.wait_for(server.runs, "the server")
        r = generate("--rate", "0/500ms,2k/200ms", "--drain", "2s",
                     port=f"memif:role=client,{spec}")
        g = r.json["generator"] if r.json else {}
        tap.ok(r.rc == 0 and g["sent"] == 400 == g["received"] + g["lost"] and
               g["received"] > 0 and g["duplicated"] == 0,
               "packets return from a second program over memif", r)
        r = server.end()
        tap.ok(r.rc == 0, "the second program outlives the first", r)


def write_timed(path, timed):
    with open(path, "wb") as f:
        f.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1))  # in ns
        for at, frame in timed:
            f.write(struct.pack("<IIII", 1000 + at // 10**9, at % 10**9, len(frame), len(frame)) +
                    frame)


def times_of(path):
    with open(path, "rb") as f:
        data = f.read()
    times, at = [], 24
    scale = 1 if data[:4] == b"\x4d\x3c\xb2\xa1" else 1000
    while at < len(data):
        s, part, size = struct.unpack_from("<III", data, at)
        times.append(s * 10**9 + part * scale)
        at += 16 + size
    return times


def test_replay(tap, d):
    timed = [(i * i * 1000000, fwd.frame(i)) for i in range(15)]  # ends after 196 ms
    sent = [f for _, f in timed]
    write_timed(f"{d}/in.pcap", timed)
    out = f"{d}/out.pcap"

    def replay(*args):
        r = generate("--replay", f"{d}/in.pcap", *args, port=f"pcap:tx={out}")
        return r, fwd.read_pcap(out), times_of(out)

    r, got, times = replay("--loops", 2)
    tap.ok(r.rc == 0 and got == 2 * sent, "a file is sent again, byte for byte", r)

    def keeps_times(r, times, due):
        """None is early; the machine decides how late they are, the first one too."""
        late = r.json["generator"]["late"]["max_ns"] + 1000000
        return all(at - times[0] > d - late for at, d in zip(times, due)) and \
            times[-1] - times[0] < due[-1] + late

    due = [at for at, _ in timed]
    tap.ok(keeps_times(r, times, due + [at + 210000000 for at in due]), "at its times",
           f"{r}{times}")
    r, got, times = replay("--loops", 1, "--replay-speed", 0.5)
    tap.ok(r.rc == 0 and got == sent and keeps_times(r, times, [2 * at for at in due]),
           "at half the speed", f"{r}{times}")
    r, got, _ = replay("--loops", 20, "--rate", "10k")
    tap.ok(r.rc == 0 and got == 20 * sent and r.json["generator"]["due"] == 300, "at a rate", r)
    r, got, _ = replay("--rate", "10k/10ms")
    tap.ok(r.rc == 0 and got == (7 * sent)[:100], "until the end of the rate", r)


WRONG = [  # arguments, a part of the line
    (["--rate", "fast"], "1k-1M/10s"),
    (["--rate", "1k,2k"], "a time"),
    (["--rate", ""], "--rate"),
    (["--arrivals", "normal"], "poisson"),
    (["--arrivals", "burst:0"], "burst:N"),
    (["--sizes", "59"], "60 to 1518"),
    (["--sizes", "60", "--ip", "6", "--vlan", "7"], "84 to 1518"),
    (["--sizes", "64,x"], "64,512"),
    (["--ip", "5"], "4|6"),
    (["--vlan", "4095"], "4094"),
    (["--l4", "sctp"], "udp|tcp|icmp"),
    (["--tx-ip", "10.0.0.1"], "two IPv4 addresses"),
    (["--tx-ip", "10.0.0.1,10.0.0.2,10.0.0.3"], "two IPv4 addresses"),
    (["--tx-ip", "10.0.0.1,::1"], "two IPv4 addresses"),
    (["--tx-ip", "10.0.0.1,10.0.0.2", "--ip", "6"], "two IPv6 addresses"),
    (["--tx-udp", "1024"], "two ports"),
    (["--tx-udp", "1024,65536"], "two ports"),
    (["--tx-udp", "65500,9", "--flows", "64"], "65535"),
    (["--closed-loop", "1", "--rate", "1k"], "--rate"),
    (["--closed-loop", "1", "--carriers", "2"], "--carriers 1"),
    (["--flows", "64512", "--port", "ring:"], "65536"),
    (["--loops", "2"], "--replay"),
    (["--replay-speed", "2"], "--replay"),
    (["--handler", "coroutine"], "--handler coroutine"),
    (["--tx-first", "1"], "--tx-first"),
    (["--poller", "block"], "source"),
    (["--replay", "/nonexistent"], "/nonexistent"),
    (["--replay", "/dev/null"], "/dev/null"),
]


def test_wrong(tap, d):
    bad = {"cut": struct.pack("<IHHiIIIIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1, 1, 0, 60, 100),
           "empty": struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1),
           "raw": struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101),
           "part": struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1) + b"\1" * 7}
    cases = list(WRONG)
    for name, part in ("cut", "100 bytes"), ("empty", "no frames"), ("raw", "not Ethernet"), \
            ("part", "truncated"):
        with open(f"{d}/{name}", "wb") as f:
            f.write(bad[name] + (b"\0" * 60 if name == "cut" else b""))
        cases.append((["--replay", f"{d}/{name}"], part))
    for args, part in cases:
        more = [] if "--carriers" in args else ["--carriers", 1]
        r = fwd.run("--port", "null:", "--mode", "generate", "--duration", "0.01", *args, *more)
        tap.ok(r.rc == 2 and not r.out and r.err.count("\n") == 1 and part in r.err,
               f"refused: {' '.join(args)}"[:70], r)


def main():
    netns.enter()
    tap = netns.Tap()
    with tempfile.TemporaryDirectory() as d:
        test_frames(tap, d)
        test_addresses_and_sizes(tap, d)
        test_flood(tap, d)
        test_times(tap, d)
        test_replay(tap, d)
        test_wrong(tap, d)
        test_memif(tap, d)
    test_loops(tap)
    test_kernel(tap)
    test_reflector(tap)
    test_stall(tap)
    test_receiver(tap)
    tap.done()


main()
