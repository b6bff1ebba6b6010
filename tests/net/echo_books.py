# SPDX-License-Identifier: BSD-3-Clause
"""haul-echo: the ledger of losses. Packets that the kernel drops in front of a port count as
missed; packets for other hosts do not count as lost; a reply that the port cannot send is refused,
and the replies behind it go out."""
import re
import signal
import struct
import subprocess
import sys

import netns
from echo import IP4, Echo, Ping, cksum, dropped, echo_request, peer

BURST = 5000  # more than a TAP's queue or a socket's ring holds


def udp4(dst, src, dport, more=False):
    udp = struct.pack(">HHHH", 5353, dport, 20, 0) + bytes(12)
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(udp), 1, more << 13, 1, 17, 0) + src + dst
    return ip[:10] + cksum(ip) + ip[12:] + udp


def icmp6(dst, kind, body, hop_by_hop=False):
    """A message from fe80::1, with a checksum; hop_by_hop: with a router alert."""
    src = b"\xfe\x80" + bytes(13) + b"\x01"
    msg = struct.pack(">BBH", kind, 0, 0) + body
    pseudo = src + dst + struct.pack(">II", len(msg), 58)
    msg = msg[:2] + cksum(pseudo + msg) + msg[4:]
    options = b"\x3a\x00\x05\x02\x00\x00\x01\x00" if hop_by_hop else b""
    return struct.pack(">IHBB", 6 << 28, len(options) + len(msg), 0 if options else 58,
                       1 if options else 255) + src + dst + options + msg


def multicast(src):
    """Traffic that every network has, beside the program's."""
    def frame(dst, kind, payload):
        return bytes.fromhex(dst) + src + bytes.fromhex(kind) + payload.ljust(46, b"\0")

    routers, reports = (b"\xff\x02" + bytes(13) + bytes([n]) for n in (0x02, 0x16))
    mdns = b"\xff\x02" + bytes(13) + b"\xfb"
    return {
        "router solicitation": frame("333300000002", "86dd", icmp6(routers, 133, bytes(4))),
        "MLD report": frame("333300000016", "86dd", icmp6(
            reports, 143, struct.pack(">HHBBH", 0, 1, 4, 0, 0) + mdns, True)),
        "mDNS": frame("01005e0000fb", "0800", udp4(bytes([224, 0, 0, 251]), bytes([10, 9, 9, 1]),
                                                  5353)),
        "DHCP": frame("ffffffffffff", "0800", udp4(b"\xff" * 4, bytes(4), 67)),
        "LLDP": frame("0180c200000e", "88cc", bytes.fromhex("020704") + src + bytes(20)),
        "STP": frame("0180c2000000", "0026", bytes.fromhex("424203000002023c") + bytes(30)),
        "a fragment to a group": frame("01005e0000fb", "0800", udp4(
            bytes([224, 0, 0, 251]), bytes([10, 9, 9, 1]), 5353, more=True)),
    }


def others(tap, binary):
    with Echo(binary, "--port", "tap:t0", "--carriers", 1) as e:
        netns.wait_up("t0")
        wire = netns.Raw("t0")
        frames = multicast(netns.mac("t0"))
        for frame in frames.values():
            wire.send(frame)
        peer("t0")
        alive = Ping(IP4, 3, 56, "-i", "0.05")
        code, figures = e.stop()
        why = {w: n for w, n in figures["ports"][0]["dropped"].items() if n}
        # The kernel's own packets come on top.
        tap.ok(code == 0 and alive.lossless() and set(why) == {"not_for_us"} and
               why["not_for_us"] >= len(frames), f"not for us: {', '.join(frames)}", why)


def table(tap, binary):
    """The same in the table for people: the losses stand behind the last figure."""
    with subprocess.Popen(
            [binary, "--port", "tap:t0", "--carriers", "1", "--ip", f"{IP4}/24", "--period", "0"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as p:
        while " ready: " not in p.stderr.readline():
            pass
        netns.wait_up("t0")
        peer("t0")
        alive = Ping(IP4, 3, 56, "-i", "0.05")
        wire = netns.Raw("t0")
        for frame in multicast(netns.mac("t0")).values():
            wire.send(frame)
        still = Ping(IP4, 3, 56, "-i", "0.05")
        p.send_signal(signal.SIGINT)
        out = p.stdout.read()
    row = re.search(r"^  port 0  tap:t0(?: +\d+){4}\n +not for us (\d+)(.*)$", out, re.M)
    tap.ok(alive.lossless() and still.lossless() and row and int(row[1]) >= 7 and
           row[2].strip() == "" and "lost" not in out, "and not shown as lost", out)


def missed(tap, binary, name, spec, wire_on):
    """The program is stopped while more packets arrive than the kernel queues for it."""
    with Echo(binary, "--port", spec, "--carriers", 1) as e:
        netns.wait_up(wire_on)
        wire = netns.Raw(wire_on)
        request = echo_request(b"\x02" + bytes(4) + b"\x77", netns.mac(wire_on))
        e.process.send_signal(signal.SIGSTOP)
        sent = 0
        for _ in range(BURST):
            try:
                wire.send(request)
                sent += 1
            except OSError:
                sent += 1  # ENOBUFS: dropped by the interface, and counted there
        e.process.send_signal(signal.SIGCONT)
        wire.close()
        peer(wire_on)
        alive = Ping(IP4, 3, 56, "-i", "0.05")
        code, figures = e.stop()
        port = figures["ports"][0]
        print(f"# {name}: {sent} sent, {port['rx_packets']} received, {port['dropped']}")
        tap.ok(code == 0 and alive.received > 0 and port["dropped"]["rx_missed"] > 0 and
               port["rx_packets"] + port["dropped"]["rx_missed"] >= sent,
               f"{name}: what the kernel dropped is missed",
               f"{sent} sent, {alive.line}: {code}: {port}\n{e.stderr()}")


def too_long(tap, binary):
    """Replies longer than the TAP's MTU."""
    with Echo(binary, "--port", "tap:t0", "--carriers", 1, "--poller", "block") as e:
        peer("t0")
        netns.ip("link set t0 mtu 2000")
        long = Ping(IP4, 3, 1600, "-i", "0.05", "-W", "1")
        short = Ping(IP4, 5, 56, "-i", "0.05")
        code, figures = e.stop()
        print(f"# tap: {long.what}: {long.line}; {short.what}: {short.line}")
        tap.ok(long.received == 0 and dropped(figures, "tx_refused") == long.sent,
               "replies that are too long are refused, and counted", figures)
        tap.ok(code == 0 and short.lossless(), "those behind them go", short.line)


def main(binary):
    tap = netns.Tap()
    if netns.can_open(tap, "tap"):
        others(tap, binary)
        table(tap, binary)
        missed(tap, binary, "tap", "tap:t0", "t0")
        too_long(tap, binary)
    netns.veth("v0", "v1")
    missed(tap, binary, "afpacket", "afpacket:v0", "v1")
    netns.ip("link del v0")
    tap.done()


if __name__ == "__main__":
    netns.enter()
    main(sys.argv[1])
