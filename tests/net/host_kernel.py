# SPDX-License-Identifier: BSD-3-Clause
"""A host and a kernel as neighbours, over TAP and over AF_XDP on a veth pair: each goes through the
states of the other, addresses that move, duplicates, floods.

Usage: host_kernel.py HOST_PROBE [steals]
"""
import random
import socket
import struct
import subprocess
import sys

import netns
from asked import Asked

IP4, IP6 = "10.9.9.2", "fd09::2"  # the host's
MINE4, MINE6 = "10.9.9.1", "fd09::1"  # the kernel's
FLOOD = 3000 if netns.fewer() else 20000


class Host(Asked):
    def __init__(self, binary, *args, bursts=False):
        super().__init__(binary, "--reachable", "300", "--delay", "200", "--retrans", "200", *args,
                         bursts=bursts)

    def state(self, address):
        return self.says(f"look {address}").split()[0]

    def stats(self):
        words = self.says("stats").split()
        return dict(zip(words[::2], map(int, words[1::2])))


def text(mac):
    return mac.hex(":")


def entry(address, dev):
    """The kernel's entry: its state and link-layer address."""
    said = subprocess.run(["ip", "neigh", "show", address, "dev", dev], check=True,
                          capture_output=True, text=True).stdout.split()
    return (said[-1] if said else "NONE",
            said[said.index("lladdr") + 1] if "lladdr" in said else None)


def ping(address):
    return subprocess.run(["ping", "-c", "1", "-W", "5", "-n", address],
                          stdout=subprocess.DEVNULL).returncode == 0


def set_times(dev):
    """The kernel's states, in tenths of a second."""
    for version in "ipv4", "ipv6":
        for name, value in ("base_reachable_time_ms", 300), ("retrans_time_ms", 200), \
                ("delay_first_probe_time", 1), ("gc_stale_time", 60):
            with open(f"/proc/sys/net/{version}/neigh/{dev}/{name}", "w") as f:
                f.write(str(value))


def host_asks(t, name, host, dev, mine):
    """The kernel through the host's states."""
    mac = text(netns.mac(dev))
    t.ok(host.says(f"ask {mine} 10000") == f"has {mac}", f"{name}: the kernel's address")
    asked = host.stats()["asked"]
    netns.wait_for(lambda: host.state(mine) == "stale", "the neighbour to become stale")
    t.ok(host.says(f"send {mine} 9") == "sent", f"{name}: a stale neighbour is used")
    seen = set()

    def is_back():
        seen.add(host.state(mine))
        return host.stats()["asked"] > asked and "reachable" in seen

    netns.wait_for(is_back, "the kernel's answer to a question to it alone")
    t.ok("delay" in seen, f"{name}: delay, then a question, then reachable", seen)
    t.ok(host.stats()["failed"] == 0, f"{name}: none has failed")


def kernel_asks(t, name, dev, address):
    """The host through the kernel's states."""
    seen = []
    t.ok(ping(address), f"{name}: a ping is answered")

    def is_back():
        state = entry(address, dev)[0]
        if state == "STALE":
            ping(address)
        seen.append(state)
        return state == "REACHABLE" and "DELAY" in seen

    netns.wait_for(is_back, "the host's answer to the kernel's question")
    t.ok("FAILED" not in seen, f"{name}: delay, probe, reachable", set(seen))


def arp(operation, from_mac, from_ip, to_mac, to_ip, dst=b"\xff" * 6):
    return dst + from_mac + struct.pack("!HHHBBH", 0x0806, 1, 0x0800, 6, 4, operation) + \
        from_mac + socket.inet_aton(from_ip) + to_mac + socket.inet_aton(to_ip)


def moves(t, name, host, dev, wire):
    """The kernel gets another MAC address, and says so, or not."""
    t.ok(host.says(f"ask {MINE4} 10000").startswith("has"), f"{name}: a neighbour that will move")
    changed = host.stats()["changed"]
    wire.send(arp(2, b"\x02\x00\x00\x00\x00\x77", MINE4, b"\xff" * 6, MINE4))
    netns.wait_for(lambda: host.stats()["changed"] > changed, "an announcement to count")
    t.ok(True, f"{name}: an announcement of another MAC address counts")
    t.ok(host.says(f"send {MINE4} 9") == "sent", f"{name}: it is used")
    # It was a lie: nobody answers there, so all are asked, and the kernel answers.
    netns.wait_for(lambda: host.says(f"ask {MINE4} 10000") == f"has {text(netns.mac(dev))}",
                   "the right address to be found again")
    t.ok(True, f"{name}: a wrong one is found out")


def floods(t, name, host, wire):
    before = host.stats()
    rng = random.Random(7)
    known = host.state(MINE4)
    for i in range(FLOOD):
        mac = b"\x02" + rng.randbytes(5)
        ip = f"10.9.9.{rng.randrange(3, 255)}" if i % 2 else \
            ".".join(str(rng.randrange(1, 223)) for _ in range(4))
        wire.send(arp(rng.randrange(1, 3), mac, ip, b"\x00" * 6, IP4))
    # The queue of the interface is full for a while.
    netns.wait_for(lambda: ping(IP4), "an answer after the flood")
    after = host.stats()
    t.ok(after["neighbours"] <= 2, f"{name}: nobody has become a neighbour",
         (known, before, after))


def duplicates(t, name, host, dev, wire):
    count = host.stats()["duplicates"]
    ours = entry(IP4, dev)[1]
    for _ in range(3):
        wire.send(arp(1, b"\x02\x00\x00\x00\x00\x66", IP4, b"\x00" * 6, IP4))
    netns.wait_for(lambda: host.stats()["duplicates"] == count + 3, "duplicates to be counted")
    t.ok(ping(IP4) and entry(IP4, dev)[1] == ours, f"{name}: the address is still the host's")
    # The kernel's own detection of duplicates finds the host.
    with open(f"/proc/sys/net/ipv6/conf/{dev}/accept_dad", "w") as f:
        f.write("1")
    netns.ip(f"addr add {IP6}/64 dev {dev}")

    def said():
        return subprocess.run(["ip", "-6", "addr", "show", "dev", dev, "to", IP6], check=True,
                              capture_output=True, text=True).stdout

    netns.wait_for(lambda: "tentative" not in said() or "dadfailed" in said(), "the kernel's DAD")
    t.ok("dadfailed" in said(), f"{name}: the kernel finds that the address is in use", said())
    netns.ip(f"addr del {IP6}/64 dev {dev}")


def leaves(t, name, host, dev):
    netns.ip(f"addr del {MINE4}/24 dev {dev}")
    netns.wait_for(lambda: host.says(f"ask {MINE4} 10000") == "EHOSTUNREACH", "it to be gone")
    t.ok(host.state(MINE4) == "failed", f"{name}: a neighbour that has left has failed")
    netns.ip(f"addr add {MINE4}/24 dev {dev}")
    netns.wait_for(lambda: host.says(f"ask {MINE4} 10000").startswith("has"), "it to come back")
    t.ok(True, f"{name}: and is found when it is back")


def try_out(t, binary, name, port, dev, bursts, args=()):
    with Host(binary, "--port", port, "--carriers", "2", "--ip", f"{IP4}/24", "--ip6",
              f"{IP6}/64", *args, bursts=bursts) as host:
        netns.ip(f"link set {dev} up")
        netns.ip6(dev)
        netns.ip(f"addr add {MINE4}/24 dev {dev}")
        netns.ip(f"addr add {MINE6}/64 dev {dev} nodad")
        netns.wait_up(dev)
        set_times(dev)
        wire = netns.Raw(dev)
        for mine, address in (MINE4, IP4), (MINE6, IP6):
            host_asks(t, f"{name}, {mine}", host, dev, mine)
            kernel_asks(t, f"{name}, {address}", dev, address)
        moves(t, name, host, dev, wire)
        duplicates(t, name, host, dev, wire)
        leaves(t, name, host, dev)
        floods(t, name, host, wire)
        code, said = host.stop()
        t.ok(code == 0, f"{name}: the books are right at the end", said)


def takes_over(t, binary):
    """Addresses and routes of an interface, which is gone then."""
    with Host(binary, "--port", "tap:h1", "--carriers", "1") as host:
        netns.veth("d0", "d1")
        netns.ip6("d0")
        netns.ip("addr add 10.9.8.2/24 dev d0")
        netns.ip("addr add 127.9.0.1/32 dev d0")  # no host's
        netns.ip("addr add fd08::2/64 dev d0 nodad")
        netns.ip("route add default via 10.9.8.1 dev d0")
        netns.ip("route add 192.0.2.0/24 dev d0")
        netns.ip("route add 203.0.113.0/24 via 10.99.0.1 dev d0 onlink")  # out of reach
        netns.ip("-6 route add 2001:db8::/32 via fd08::1 dev d0")
        link_local = 1  # fe80::...
        t.ok(host.says("kernel d0").split()[0] == str(2 + link_local), "the kernel's addresses")
        t.ok(host.says("kernel d0").split()[0] == "0", "those that the host has are left")
        t.ok(host.says("kernel nosuch0").startswith("-19 "), "no such interface")
        netns.ip("link del d0")
        netns.ip("link set h1 up")
        netns.ip6("h1")
        netns.ip("addr add 10.9.8.1/24 dev h1")
        netns.ip("addr add 192.0.2.1/32 dev h1")
        netns.ip("addr add fd08::1/64 dev h1 nodad")
        netns.wait_up("h1")
        t.ok(ping("10.9.8.2") and ping("fd08::2"), "they answer")
        for to, by in ("198.18.0.1", "10.9.8.1"), ("192.0.2.1", "192.0.2.1"), \
                ("2001:db8::1", "fd08::1"), ("203.0.113.1", "10.9.8.1"):
            t.ok(host.says(f"send {to} 9") == "sent" and host.state(by) != "none",
                 f"the kernel's route to {to}")
        code, said = host.stop()
        t.ok(code == 0, "the books are right at the end", said)


def detects(t, binary):
    """The kernel has two of the addresses that the host would like to have."""
    tentative, valid, duplicate = "1", "2", "3"
    with Host(binary, "--port", "tap:h4", "--carriers", "1", "--detect") as host:
        netns.ip("link set h4 up")
        netns.ip6("h4")
        netns.ip(f"addr add {IP4}/24 dev h4")
        netns.ip(f"addr add {IP6}/64 dev h4 nodad")
        netns.wait_up("h4")
        wanted = {f"{IP4}/24": duplicate, f"{IP6}/64": duplicate, "10.9.9.3/24": valid,
                  "fd09::3/64": valid}
        for address in wanted:
            host.says(f"add {address}")

        def states():
            return {address: host.says(f"state {address.split('/')[0]}") for address in wanted}

        t.ok(states()["10.9.9.3/24"] == tentative, "addresses are checked")
        netns.wait_for(lambda: tentative not in states().values(), "all to be checked")
        t.ok(states() == wanted, "what the kernel has is a duplicate", states())
        t.ok(ping("10.9.9.3") and ping("fd09::3"), "what it has not is used")
        code, said = host.stop()
        t.ok(code == 0, "the books are right at the end", said)


def main(binary, *steals):
    netns.enter()
    t = netns.Tap()
    if netns.can_open(t, "tap"):
        try_out(t, binary, "TAP", "tap:h0", "h0", bursts=False)
        if steals:
            try_out(t, binary, "TAP, stolen", "tap:h2", "h2", bursts=False,
                    args=["--steal", "cluster"])
        takes_over(t, binary)
        detects(t, binary)
    if netns.can_open(t, "afxdp"):
        netns.veth("v0", "v1", queues=2)
        try_out(t, binary, "AF_XDP", "afxdp:v0", "v1", bursts=True)
    t.done()


main(*sys.argv[1:])
