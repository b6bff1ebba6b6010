# SPDX-License-Identifier: BSD-3-Clause
"""haul-fwd and dpdk-testpmd at the two ends of a memif and of a veth pair, in both roles: packets
go round, and in the end both have the same figures."""
import struct
import tempfile

import fwd
import netns
from testpmd import BURST, Testpmd, need

CIRCLING = 8 * BURST  # packets: fewer than any queue holds
ROUNDS = 4000  # packets until the mode is changed
FLOOD = 50000
PINGS = 200
SIZE = 60  # bytes of a frame of testpmd's
MARKER = 200  # of the last ones of a flood

need()
netns.enter()
tap = netns.Tap()


def end(what, haul, peer, same):
    """Ends both. same(haul's result): the figures agree. memif needs this order: a peer that still
    uses the memory of one that has gone crashes."""
    result = haul.end() if haul.process.poll() is None else haul.wait()
    rc = peer.quit()
    tap.ok(result.rc == 0 and result.json and rc == 0, f"{what}: both end cleanly",
           f"{result}\ntestpmd's exit code {rc}: {peer}")
    tap.ok(result.json and same(result), f"{what}: the same figures", f"{peer}\n{result}")


def whole(result):
    """True if what haul-fwd received it sent or dropped."""
    return result.total("rx_packets") == result.total("tx_packets") + result.dropped()


def stays(reached):
    """testpmd reads its counters one after the other: only what stays is believed."""
    seen = []

    def look(n):
        before, seen[:] = list(seen), [n]
        return before == seen and reached(n)
    return look


def circle(what, ours, theirs, mode, *more):
    """testpmd sends some packets that both send back again and again."""
    with fwd.Running("--port", ours, "--mode", mode, "--carriers", 1, *more) as haul:
        netns.wait_for(haul.runs, "haul-fwd to run")
        with Testpmd(theirs) as peer:
            begin(peer, "macswap", CIRCLING)
            peer.wait_for(lambda n: n.rx >= ROUNDS, "packets to come back")
            peer.stop()
            peer.start("rxonly")
            last = peer.wait_for(stays(lambda n: n.rx == n.tx), "all packets to come back")
            peer.stop()
            end(what, haul, peer, lambda result: whole(result) and result.dropped() == 0 and
                result.total("rx_packets") == last.tx and result.total("tx_packets") == last.rx)


def begin(peer, mode, packets, were_sent=None):
    """Sends packets as soon as the other end has room; until then testpmd drops them. were_sent(its
    counters): they are among what it has sent."""
    while True:
        before = peer.count().tx
        peer.start(mode, f"tx_first {packets // BURST}")
        now = peer.count()
        if were_sent(now) if were_sent else now.tx > before:
            return
        peer.stop()


def circle_from_here(what, ours, theirs):
    """haul-fwd sends the first packets, valid UDP, for modes of testpmd's that look into them."""
    with Testpmd(theirs) as peer:
        with fwd.Running("--port", ours, "--mode", "io", "--tx-first", CIRCLING // BURST,
                         "--burst", BURST, "--carriers", 1) as haul:
            netns.wait_for(haul.runs, "haul-fwd to run")
            for mode in "5tswap", "csum", "macswap":
                before = peer.count().rx
                peer.start(mode)
                peer.wait_for(lambda n: n.rx >= before + ROUNDS, f"packets in mode {mode}")
                peer.stop()
            peer.start("rxonly")
            last = peer.wait_for(stays(lambda n: n.rx == n.tx + CIRCLING),
                                 "all packets to come back")
            peer.stop()
            end(what, haul, peer, lambda result: result.dropped() == 0 and
                result.total("rx_packets") == last.tx and result.total("tx_packets") == last.rx)


def flood(what, ours, theirs, handler):
    """More packets than haul-fwd may get rid of. Longer ones, which cannot overtake them, tell that
    the rest has come back or was dropped."""
    def markers(packets, size):
        return (size - SIZE * packets) // (MARKER - SIZE)

    def back(n):
        return markers(n.rx, n.rx_bytes) == markers(n.tx, n.tx_bytes)

    with fwd.Running("--port", ours, "--mode", "macswap", "--handler", handler,
                     "--carriers", 1) as haul:
        netns.wait_for(haul.runs, "haul-fwd to run")
        with Testpmd(theirs) as peer:
            peer.start("flowgen")
            peer.wait_for(lambda n: n.tx >= FLOOD, "a flood")
            peer.stop()
            peer.say(f"set txpkts {MARKER}", "show fwd stats all")
            begin(peer, "rxonly", BURST, lambda n: markers(n.tx, n.tx_bytes) > 0)
            last = peer.wait_for(stays(back), "the last packets to come back")
            peer.stop()
            end(what, haul, peer, lambda result: whole(result) and
                result.total("rx_packets") == last.tx and result.total("tx_packets") == last.rx)


def receive(what, ours, theirs):
    """haul-fwd ends by itself once it has received all."""
    with fwd.Running("--port", ours, "--mode", "rxonly", "--packets", CIRCLING,
                     "--carriers", 1) as haul:
        netns.wait_for(haul.runs, "haul-fwd to run")
        with Testpmd(theirs) as peer:
            peer.start("rxonly", f"tx_first {CIRCLING // BURST}")
            haul.wait()
            sent = peer.count().tx
            peer.stop()
            end(what, haul, peer, lambda result: result.dropped() == 0 and sent == CIRCLING and
                result.total("rx_packets") == sent and result.total("tx_packets") == 0)


def ping(i, kind=8):
    """An ICMP echo request, or the reply to it."""
    icmp = struct.pack("!BBHHH", kind, 0, 0, 7, i) + bytes(range(i % 100))
    icmp += bytes(len(icmp) % 2)
    icmp = icmp[:2] + struct.pack("!H", fwd.checksum(icmp)) + icmp[4:]
    ours, theirs = bytes.fromhex("0200000000aa"), bytes.fromhex("0200000000bb")
    addresses = bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])
    if kind == 0:
        ours, theirs, addresses = theirs, ours, addresses[::-1]
    ip = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(icmp), i, 0, 64, 1, 0) + b"".join(addresses)
    ip = ip[:10] + struct.pack("!H", fwd.checksum(ip)) + ip[12:]
    return theirs + ours + b"\x08\0" + ip + icmp


def replies(what, ours, theirs, handler):
    """testpmd sends a file of requests and writes the replies to another."""
    with tempfile.TemporaryDirectory() as d:
        fwd.write_pcap(f"{d}/requests", [ping(i) for i in range(PINGS)])
        with fwd.Running("--port", ours, "--mode", "icmpecho", "--handler", handler,
                         "--carriers", 1) as haul:
            netns.wait_for(haul.runs, "haul-fwd to run")
            with Testpmd(theirs, f"net_pcap0,rx_pcap={d}/requests,tx_pcap={d}/replies") as peer:
                peer.start("io")
                peer.wait_for(lambda n: n.rx == PINGS, "all replies")
                peer.stop()
                end(what, haul, peer, lambda result: result.dropped() == 0 and
                    result.total("rx_packets") == result.total("tx_packets") == PINGS)
        got = fwd.read_pcap(f"{d}/replies")
        expected = [ping(i, 0) for i in range(PINGS)]
        tap.ok(sorted(got) == sorted(expected), f"{what}: the replies are right",
               "\n".join([f"{len(got)} came; wrong ones:",
                          *(f.hex() for f in got if f not in expected),
                          "missing:", *(f.hex() for f in expected if f not in got)]))


for handler in netns.share(("burst", "coroutine"), 1):
    with tempfile.TemporaryDirectory() as d:
        flood(f"memif, testpmd floods, {handler}", f"memif:role=server,socket={d}/m",
              f"net_memif0,role=client,socket={d}/m,socket-abstract=no", handler)
with tempfile.TemporaryDirectory() as d:
    circle_from_here("memif, testpmd is the server", f"memif:role=client,socket={d}/m",
                     f"net_memif0,role=server,socket={d}/m,socket-abstract=no")

for kind, vdev in ("afpacket", "net_af_packet0"), ("afxdp", "net_af_xdp0"):
    if not netns.can_open(tap, kind):
        continue
    theirs = f"{vdev},iface=v1"
    netns.veth("v0", "v1")
    circle(f"{kind}, packets of testpmd", f"{kind}:v0", theirs, "io")
    circle_from_here(f"{kind}, packets of haul-fwd", f"{kind}:v0", theirs)
    receive(f"{kind}, rxonly", f"{kind}:v0", theirs)
    replies(f"{kind}, icmpecho", f"{kind}:v0", theirs, "burst")
    netns.ip("link del v0")
tap.done()
