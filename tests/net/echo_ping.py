# SPDX-License-Identifier: BSD-3-Clause
"""haul-echo: floods of pings from the kernel, over TAP, AF_XDP and AF_PACKET, lose nothing, and all
packets are back in the pool at the end."""
import sys

import netns
from echo import IP4, IP6, Echo, Ping, dropped, flood, peer, replies, resolve

COUNT = 300 if netns.fewer() else 1000
SIZES4 = 56, 512, 1472
SIZES6 = 56, 1452


def check(tap, name, e, count=COUNT):
    """Floods; ends e, which also checks that the pool is complete."""
    more4, more6 = resolve(IP4), resolve(IP6)
    pings = [flood(IP4, count, size) for size in SIZES4] + \
            [flood(IP6, count, size) for size in SIZES6]
    code, figures = e.stop()
    for p in pings:
        print(f"# {name}: {p.what}: {p.line}")
    tap.ok(all(p.lossless() for p in pings), f"{name}: no ping lost",
           "\n".join(p.line for p in pings))
    if not tap.ok(code == 0 and figures, f"{name}: clean end", f"exit code {code}: {e.stderr()}"):
        return
    tap.ok(0 <= replies(figures, "icmp") - len(SIZES4) * count <= more4
           and 0 <= replies(figures, "icmp6") - len(SIZES6) * count <= more6
           and replies(figures, "arp") >= 1 and replies(figures, "nd") >= 1,
           f"{name}: replies counted by protocol", figures)
    lost = {why for why in ("malformed", "tx_full", "no_coroutine", "stopping")
            if dropped(figures, why)}
    tap.ok(not lost, f"{name}: none of them dropped", figures)


def two_ports(tap, binary):
    """Each port has its own address, and ignores the address of the other port."""
    with Echo(binary, "--port", "tap:t0", "--port", "tap:t1", "--ip", "10.9.8.2/24", "--ip6",
              "fd08::2/64", "--carriers", 2) as e:
        peer("t0")
        netns.ip6("t1")
        netns.ip("addr add 10.9.8.1/24 dev t1")
        netns.ip("addr add fd08::1/64 dev t1 nodad")
        hosts = IP4, "10.9.8.2", IP6, "fd08::2"
        more = max(resolve(a) for a in hosts)
        pings = [flood(a, 200, 56) for a in hosts]
        netns.ip(f"route add {IP4}/32 dev t1")
        wrong = Ping(IP4, 1, 56, "-W", "1")
        code, figures = e.stop()
        tap.ok(all(p.lossless() for p in pings), "two ports: no ping lost",
               "\n".join(p.line for p in pings))
        tap.ok(wrong.received == 0, "two ports: neither answers for the other", wrong.line)
        tap.ok(code == 0 and figures and
               all(p["tx_packets"] >= 400 for p in figures["ports"])
               and all(0 <= replies(figures, proto) - 400 <= 2 * more
                       for proto in ("icmp", "icmp6")),
               "two ports: each sent its replies", f"{code} {figures}")


def main(binary):
    tap = netns.Tap()
    for carriers in (1, 2, 4) if netns.can_open(tap, "tap") else ():
        with Echo(binary, "--port", "tap:t0", "--carriers", carriers) as e:
            peer("t0")
            # More carriers than CPUs take turns in spinning: the test is only slower.
            check(tap, f"tap, {carriers} carriers", e, COUNT if carriers < 4 else COUNT // 4)
    for kind in "afxdp", "afpacket":
        for carriers in (1, 2) if netns.can_open(tap, kind) else ():
            netns.veth("v0", "v1", queues=carriers)
            with Echo(binary, "--port", f"{kind}:v0", "--carriers", carriers) as e:
                peer("v1")
                check(tap, f"{kind}, {carriers} carriers", e)
            netns.ip("link del v0")
    if netns.can_open(tap, "tap", "two ports"):
        two_ports(tap, binary)
    tap.done()


if __name__ == "__main__":
    netns.enter()
    main(sys.argv[1])
