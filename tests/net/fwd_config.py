# SPDX-License-Identifier: BSD-3-Clause
"""haul-fwd's options about ports: jumbo frames, VLAN tags, what ports lack, wrong values."""
import select
import struct

import netns

import fwd

netns.enter()
tap = netns.Tap()
for a, b in ("v0", "v1"), ("w0", "w1"):
    netns.veth(a, b)
for end in "v1", "w1":
    netns.ip(f"link set {end} mtu 9000")
left, right = netns.Raw("v1"), netns.Raw("w1")
right.sock.setsockopt(263, 8, 1)  # SOL_PACKET, PACKET_AUXDATA: of VLAN tags
PORTS = "--port", "afpacket:v0", "--port", "afpacket:w0", "--carriers", "1"


def mtu(name):
    with open(f"/sys/class/net/{name}/mtu") as f:
        return int(f.read())


def receive():
    """The next frame, with its VLAN tag, which the kernel passes beside it; or None."""
    if not select.select([right.sock], [], [], 60)[0]:
        return None
    frame, more, _, address = right.sock.recvmsg(65536, 128)
    if address[2] == netns.PACKET_OUTGOING:
        return receive()
    status, _, _, _, _, tci, tpid = struct.unpack("IIIHHHH", more[0][2][:20])
    if status & 0x10:  # TP_STATUS_VLAN_VALID
        frame = frame[:12] + struct.pack("!HH", tpid, tci) + frame[12:]
    return frame


def forward(frames, *args):
    """What comes out at the other end, up to the marker that follows the frames."""
    marker = fwd.frame(77, 60)
    with fwd.Running(*PORTS, *args) as haul:
        netns.wait_for(haul.runs, "haul-fwd to run")
        during = mtu("v0"), mtu("w0")
        got = []
        if haul.process.poll() is None:
            for f in frames:
                try:
                    left.send(f)
                except OSError:  # longer than the interface's MTU
                    pass
            left.send(marker)
            while (f := receive()) not in (None, marker):
                got.append(f)
        r = haul.end()
    return got, during, r


long = [fwd.frame(i, size) for i, size in enumerate((60, 1514, 1515, 2048, 4096, 8192, 9014))]
got, during, r = forward(long)
tap.ok(r.rc == 0 and got == long[:2] and during == (1500, 1500),
       "without --mtu: frames up to 1,514 bytes", ([len(f) for f in got], r))
for option in ("--mtu", "9000"), ("--max-pkt-len", "9018"):
    for handler in "burst", "coroutine":
        got, during, r = forward(long, *option, "--handler", handler)
        tap.ok(r.rc == 0 and got == long and r.dropped() == 0,
               f"{' '.join(option)}, {handler}: jumbo frames pass whole",
               ([len(f) for f in got], r))
        tap.ok(during == (9000, 9000) and (mtu("v0"), mtu("w0")) == (1500, 1500),
               f"{' '.join(option)}: the interfaces' MTU while it runs", during)

plain = fwd.frame(3, 100)
tagged = plain[:12] + b"\x81\x00\x00\x07" + plain[12:]
got, _, r = forward([tagged, plain])
tap.ok(r.rc == 0 and got == [tagged, plain], "VLAN tags pass", (got, r))
got, _, r = forward([tagged, plain], "--enable-hw-vlan-strip")
tap.ok(r.rc == 0 and got == [plain, plain], "--enable-hw-vlan-strip takes them out", (got, r))
got, _, r = forward([tagged], "--rx-offloads", "0x1")
tap.ok(r.rc == 0 and got == [plain], "--rx-offloads 0x1 is the same", (got, r))

with fwd.Running(*PORTS, "--promiscuous", "off") as haul:
    netns.wait_for(haul.runs, "haul-fwd to run")
    off = netns.flags("v0") & 0x100
    haul.end()
tap.ok(not off, "--promiscuous off")

r = fwd.figures("--port", "null:", "--carriers", "1", "--rss-ip", "--rss-key", "ab" * 40,
                "--duration", "0.1")
tap.ok(r.rc == 0, "--rss-ip and --rss-key on a PMD with RSS", r)

LACKING = [  # arguments, a part of the line
    (["ring:", "--rss-ip"], "port 'ring:': its PMD net_ring has no RSS"),
    (["ring:", "--mtu", "70000"], "--mtu 70000: give a number from 68 to"),
    (["null:", "--rss-ip", "--rss-udp"], "one of --disable-rss, --rss-ip and --rss-udp"),
    (["null:", "--rss-key", "123"], "two hexadecimal digits"),
    (["null:", "--rss-key", "zz"], "two hexadecimal digits"),
    (["null:", "--rss-key", ""], "two hexadecimal digits"),
    (["null:", "--rss-key", "00" * 65], "two hexadecimal digits"),
    (["null:", "--enable-rx-cksum"], "no receive offload IPV4_CKSUM, UDP_CKSUM, TCP_CKSUM"),
    (["null:", "--enable-hw-vlan"], "no receive offload VLAN_STRIP"),
    (["null:", "--enable-lro"], "no receive offload TCP_LRO"),
    (["null:", "--tx-offloads", "0x2"], "no transmit offload IPV4_CKSUM"),
    (["null:", "--tx-offloads", "-1"], "a mask in hexadecimal"),
    (["null:", "--rx-offloads", "10000000000000000000"], "a mask in hexadecimal"),
    (["afpacket:v0", "--allmulticast", "on"], "no allmulticast mode"),
    (["null:", "--promiscuous", "yes"], "default|on|off"),
    (["null:", "--mtu", "67"], "--mtu 67: give a number from 68 to"),
    (["null:", "--mtu", "1500", "--max-pkt-len", "1518"], "give one of them"),
]
for args, holds in LACKING:
    r = fwd.run("--port", *args, "--carriers", "1", "--duration", "1")
    tap.ok(r.rc == 2 and r.err.count("\n") == 1 and holds in r.err and r.out == "",
           " ".join(args)[:70], r)
tap.done()
