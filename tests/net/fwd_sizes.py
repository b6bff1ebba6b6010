# SPDX-License-Identifier: BSD-3-Clause
"""haul-fwd: frames that a port cannot take, between frames that it can. The good frames behind them
come through, each other frame comes through complete or is counted, and the ledger is right."""
import os
import socket
import struct
import subprocess
import tempfile

import netns

import fwd
import prompt

SIZES = [0, 1, 13, 14, 15, 1515, 1518, 1519, 1522, 1523, 1600, 1800, 1900, 1921, 1981, 1982, 1983,
         2000, 2016, 2017, 2048, 2049, 4096, 9000, 16384, 32768, 65000]
BETWEEN = 5  # good ones
SNAPLEN = 16128  # the PMD's output to a file for a packet of several segments
PATIENCE = 60  # a sanitizer on a busy machine
UDP_SEGMENT = 103

netns.enter()
tap = netns.Tap()
tmp = tempfile.TemporaryDirectory()


def odd(size):
    """One frame of each size; length and type tell it from good frames."""
    head = b"\x02\x00\x00\x00\xcc\x00\x02\x00\x00\x00\xdd\x00\x88\xb6"
    return (head + bytes((size + 7 * k) & 0xff for k in range(size)))[:size]


def between(sizes):
    """Frames of these sizes with good frames before, between and behind them."""
    mixed, number = [], 0
    for size in [None, *sizes]:
        if size is not None:
            mixed.append(odd(size))
        for _ in range(BETWEEN):
            mixed.append(fwd.frame(number))
            number += 1
    return mixed


class Way:
    """Frames sent into one end, and the frames received at the other end so far."""

    def __init__(self, name, sizes=tuple(SIZES)):
        self.name, self.sizes = name, sizes
        self.sent = between(sizes)
        self.good = [f for f in self.sent if f[12:14] == b"\x88\xb5"]
        self.source = os.path.join(tmp.name, "in.pcap")
        fwd.write_pcap(self.source, self.sent)

    def judge(self, got, result, others=()):
        """got: frames that came out; result: of the program that sent them into the port."""
        odds = [odd(s) for s in self.sizes]
        good = [f for f in got if f in self.good]
        whole = [f for f in got if f in odds]
        broken = len(got) - len(good) - len(whole)
        why = {}
        for r in (result, *others):
            for p in r.json["ports"] if r.json else ():
                for reason, n in p["dropped"].items():
                    if n:
                        why[reason] = why.get(reason, 0) + n
        came = (f"{self.name:34} good {len(good):3} of {len(self.good):3}   other "
                f"{len(whole):2} of {len(odds):2} whole, {broken} broken   {why}   "
                f"whole: {','.join(str(len(f)) for f in whole)}")
        print(f"# {came}", flush=True)
        details = "\n".join(map(str, (came, *others, result)))
        tap.ok(sorted(good) == sorted(self.good), f"{self.name}: all good ones", details)
        tap.ok(broken == 0, f"{self.name}: what comes is whole", details)
        tap.ok(sum(why.values()) == len(odds) - len(whole), f"{self.name}: the others are counted",
               details)
        tap.ok(all(r.rc == 0 for r in (result, *others)), f"{self.name}: clean end", details)


def collect(wire, way):
    """Waits for the good frames and for all frames before the last good one."""
    got, missing = [], set(way.good)
    while missing and (frame := wire.recv(PATIENCE)) is not None:
        if frame[:1] == b"\x02":
            got.append(frame)
            missing.discard(frame)
    return got


def rest(wire):
    """Frames of other carriers' flows that came meanwhile."""
    while True:
        try:
            frame = wire.recv(0.1)  # all has been sent: what is there
        except OSError:
            continue  # printed once: the interface went down with the program
        if frame is None:
            return
        if frame[:1] == b"\x02":
            yield frame


def captured(path):
    """The frames of a capture file, restored to their length before the file cut them."""
    with open(path, "rb") as f:
        data = f.read()
    at, frames = 24, []
    while at < len(data):
        kept, size = struct.unpack_from("<II", data, at + 8)
        frame = data[at + 16:at + 16 + kept]
        if kept == SNAPLEN < size and frame == odd(size)[:SNAPLEN]:
            frame = odd(size)
        frames.append(frame)
        at += 16 + kept
    return frames


def until_written(path, way):
    """A capture file that is being written."""
    seen = 0

    def done():
        nonlocal seen
        if os.path.getsize(path) == seen:
            return False
        seen = os.path.getsize(path)
        with open(path, "rb") as f:
            written = f.read()
        return all(f in written for f in way.good)
    try:
        netns.wait_for(lambda: os.path.exists(path) and done(), "the good frames", PATIENCE)
    except TimeoutError:
        pass


def prepare_tap(name, mtu):
    netns.ip(f"tuntap add {name} mode tap multi_queue")
    netns.ip(f"link set {name} mtu {mtu}")
    netns.ip(f"link set {name} up")


def to_interface(name, spec, iface, mtu, *args):
    way = Way(f"to {name}")
    wire = netns.Raw(iface)
    with fwd.Running("--port", f"pcap:rx={way.source}", "--port", spec, *args) as haul:
        got = collect(wire, way)
        result = haul.end()
        way.judge([*got, *rest(wire)], result)
    wire.close()


def from_interface(name, spec, iface, mtu, *args):
    """The kernel sends frames up to its MTU; received frames go to a file."""
    way = Way(f"from {name}", [s for s in SIZES if 15 <= s <= mtu + 14])
    out = os.path.join(tmp.name, "out.pcap")
    wire = netns.Raw(iface)
    # One carrier: a file has one queue, and only a carrier with a queue of both ports receives.
    with fwd.Running("--port", spec, "--port", f"pcap:tx={out}", "--carriers", 1, *args) as haul:
        netns.wait_for(haul.runs, "haul-fwd to run")
        netns.ip(f"link set {iface} mtu {mtu}")  # the PMD resets a TAP's MTU
        netns.wait_up(iface)
        for frame in way.sent:
            wire.send(frame)
        until_written(out, way)
        result = haul.end()
    wire.close()
    way.judge(captured(out), result)
    os.unlink(out)


def to_file(name, spec, *args):
    """Frames returned by the port go to a file; without a spec, directly."""
    way = Way(name)
    out = os.path.join(tmp.name, "out.pcap")
    specs = ([f"pcap:rx={way.source},tx={out}", spec] if spec else
             [f"pcap:rx={way.source}", f"pcap:tx={out}"])
    with fwd.Running(*sum((["--port", s] for s in specs), []), *args) as haul:
        until_written(out, way)
        result = haul.end()
    way.judge(captured(out), result)
    os.unlink(out)


class Held(fwd.Running):
    """A haul-fwd that has its ports and forwards when it is told to."""

    def __init__(self, *args):
        self.path = os.path.join(tmp.name, "control")
        super().__init__(*args, "--interactive", "--control", self.path, options=["--json"],
                         stdin=subprocess.PIPE)

    def is_ready(self):
        return os.path.exists(self.path) or self.process.poll() is not None

    def start(self):
        prompt.Client(self.path, self).ask("start")


def to_peer(name, first, second, *args, back=False):
    """Through both ends of a wire between two programs; back: from the first to the second."""
    way = Way(name)
    out = os.path.join(tmp.name, "out.pcap")
    ends = [f"pcap:tx={out}", f"pcap:rx={way.source}"]
    if back:
        ends.reverse()
    # The first program makes the socket. Early frames wait or are counted; but virtio-user's PMD
    # throws away, at the end of its start, what it has received by then.
    held = back and second.startswith("virtio-user:")
    with (Held if held else fwd.Running)("--port", first, "--port", ends[0], *args) as a:
        netns.wait_for(a.is_ready if held else a.runs, "the first end", PATIENCE)
        with fwd.Running("--port", second, "--port", ends[1], *args) as b:
            if held:
                netns.wait_for(b.runs, "the second end", PATIENCE)
                a.start()
            until_written(out, way)
            results = [p.end() for p in (b, a)]
    if back:
        results.reverse()
    way.judge(captured(out), results[0], results[1:])
    os.unlink(out)


def all_kinds(turn, handler):
    # All wait for frames, and which CPUs are busy meanwhile is of no interest.
    how = "--handler", handler, "--poller", "sleep"
    ways = to_interface, from_interface
    for i, mtu in enumerate((1500, 9000)):
        for way in netns.share(ways, turn + i) if netns.can_open(tap, "tap") else ():
            prepare_tap("t0", mtu)
            way(f"tap mtu {mtu}, {handler}", "tap:t0", "t0", mtu, *how)
            netns.ip("link del t0")
        netns.veth("v0", "v1", mtu=mtu)
        for way in netns.share(ways, turn + i):
            way(f"afpacket mtu {mtu}, {handler}", "afpacket:v0", "v1", mtu, *how)
        netns.ip("link del v0")
    if netns.can_open(tap, "afxdp"):
        for i, mtu in enumerate((1500, 2030)):
            netns.veth("x0", "x1", mtu=mtu)
            for way in netns.share(ways, turn + i):
                way(f"afxdp mtu {mtu}, {handler}", "afxdp:x0", "x1", mtu, *how)
            netns.ip("link del x0")
    netns.veth("v0", "v1")
    to_interface(f"pcap of an interface, {handler}", "pcap:iface=v0", "v1", 1500, *how)
    netns.ip("link del v0")
    to_file(f"pcap file, {handler}", None, *how)
    to_file(f"ring, {handler}", "ring:", *how)
    sock = os.path.join(tmp.name, "s")
    for back in netns.share((False, True), turn):
        way = ("to server", "to client")[back]
        to_peer(f"memif {way}, {handler}", f"memif:role=server,socket={sock}",
                f"memif:role=client,socket={sock}", *how, back=back)
        way = ("to vhost", "to virtio-user")[back]
        to_peer(f"{way}, {handler}", f"vhost:{sock}", f"virtio-user:{sock}", *how, back=back)


def merged():
    """A datagram that its sender left to the NIC to segment, too large for a packet buffer."""
    netns.ip("link add v0 type veth peer name v1")
    for name in "v0", "v1":
        netns.ip(f"link set {name} up")
    netns.wait_up("v0")
    netns.ip("addr add 10.9.9.1/24 dev v1")
    netns.ip("neigh add 10.9.9.2 lladdr 02:00:00:00:00:02 dev v1")
    prepare_tap("t0", 1500)
    wire, source = netns.Raw("t0"), netns.Raw("v1")
    good = [fwd.frame(i) for i in range(20)]
    with fwd.Running("--port", "afpacket:v0", "--port", "tap:t0", "--carriers", 1, "--packets",
                     len(good) + 1) as haul:
        netns.wait_for(haul.runs, "haul-fwd to run")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, 1400)
            s.sendto(bytes(2800), ("10.9.9.2", 9))
        for frame in good:
            source.send(frame)
        got = set()
        while not got >= set(good) and (frame := wire.recv(PATIENCE)) is not None:
            got.add(frame)
        # The dropped one counts for --packets: else a file with such a frame would have no end.
        netns.wait_for(lambda: haul.process.poll() is not None, "the end after --packets")
        result = haul.end()
    dropped = {why: n for why, n in result.port(0)["dropped"].items() if n}
    tap.ok(got >= set(good) and dropped == {"rx_errors": 1} and result.rc == 0,
           "a merged datagram: dropped and counted, and what is behind it goes", result)
    wire.close()
    source.close()
    for name in "v0", "t0":
        netns.ip(f"link del {name}")


def to_null():
    way = Way("null")
    with fwd.Running("--port", f"pcap:rx={way.source}", "--port", "null:no-rx=1") as haul:
        netns.wait_for(haul.runs, "haul-fwd to run")
        result = haul.end()
    # With DPDK 26.07 the PMD of the file drops frames that do not fit in one buffer.
    too_long = result.port(0)["dropped"]["rx_errors"]
    tap.ok(result.port(1)["tx_packets"] == len(way.sent) - too_long >= len(way.good) and
           result.dropped() == 0, "null: takes all", result)


for turn_of, handler_of in enumerate(("burst", "coroutine")):
    all_kinds(turn_of, handler_of)
if netns.can_open(tap, "tap", "a merged datagram"):
    merged()
to_null()
tap.done()
