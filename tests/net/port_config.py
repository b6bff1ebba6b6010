# SPDX-License-Identifier: BSD-3-Clause
"""Ports configured while they are open, and what their PMDs tell, on real PMDs and interfaces.

Usage: port_config.py PROBE
"""
import os
import subprocess
import sys
import tempfile

import netns
import tap
from probe import Error, Probe, frame

PROMISC, ALLMULTI, UP = 0x100, 0x200, 1  # IFF_ flags
KEY = bytes(range(40))
VLAN_STRIP, IPV4_CKSUM = 0x1, 0x2  # RTE_ETH_RX_OFFLOAD_

t = tap.Tap()
program = os.path.abspath(sys.argv[1])
netns.enter()
netns.veth("v0", "v1")


def mtu(name):
    with open(f"/sys/class/net/{name}/mtu") as f:
        return int(f.read())


def refused(port, *what):
    """The line with which a change is refused, which must be one that names the port; or None."""
    try:
        port.do(*what)
    except Error as e:
        return e
    return None


def check_refused(port, number, part, *what):
    e = refused(port, *what)
    t.ok(e and e.number == number and part in e.line and e.line.startswith("port '"),
         f"refused: {' '.join(map(str, what))}", e)


def fields(lines):
    return [line.split(":")[0] for line in lines if ":" in line]


def values(lines):
    return dict(line.split(": ", 1) for line in lines if ": " in line)


def configures_afpacket(probe):
    port = probe.open("afpacket:v0", 2)
    port.do("mtu", 1400)
    t.ok(mtu("v0") == 1400 and values(port.show("info"))["MTU"] == "1400",
         "afpacket: the interface has the MTU", mtu("v0"))
    check_refused(port, 22, "start with --mtu 9000", "mtu", 9000)
    port.start()
    t.ok(netns.flags("v0") & PROMISC, "afpacket: promiscuous by default")
    port.do("promisc", 0)
    off = netns.flags("v0") & PROMISC
    shown = values(port.show("info"))["Promiscuous mode"]
    port.do("promisc", 1)
    t.ok(not off and shown == "disabled" and netns.flags("v0") & PROMISC,
         "afpacket: promiscuous off and on again", shown)
    check_refused(port, 95, "no allmulticast mode", "allmulti", 1)
    check_refused(port, 95, "its PMD net_af_packet has no receive offload IPV4_CKSUM",
                  "offloads", f"{IPV4_CKSUM:x}", 0)
    check_refused(port, 95, "no flow control", "fc")
    check_refused(port, 95, "no RSS", "rss", "ip")
    port.close()
    t.ok(mtu("v0") == 1500 and not netns.flags("v0") & PROMISC,
         "afpacket: the interface is as before", mtu("v0"))
    shows_kernels_mtu(probe, "afpacket", "v0")


def shows_kernels_mtu(probe, kind, name):
    for n, shown in (1400, "1400"), (9000, "1500"):
        netns.ip(f"link set {name} mtu {n}")
        port = probe.open(f"{kind}:{name}", 1)
        t.ok(values(port.show("info"))["MTU"] == shown,
             f"{kind}: the interface's MTU of {n} is one of {shown}", port.show("info"))
        port.close()
    netns.ip(f"link set {name} mtu 1500")


def strips_vlans(probe):
    """The same frame, with and without the offload, and with it again after a stop."""
    wire = netns.Raw("v1")
    port = probe.open("afpacket:v0").start()
    tagged = frame(5)[:12] + b"\x81\x00\x00\x07" + frame(5)[12:]
    for offload in 0, VLAN_STRIP, 0, VLAN_STRIP:
        port.do("offloads", f"{offload:x}", 0)
        wire.send(tagged)
        got = [f for f, _ in port.recv()]
        used = port.show("rx-used")[1].strip()
        t.ok(got == [frame(5) if offload else tagged] and
             used == ("Port : VLAN_STRIP" if offload else "Port :"),
             f"afpacket: a VLAN tag, strip {'on' if offload else 'off'}", (got, used))
    port.do("stop")
    port.start()
    wire.send(tagged)
    t.ok([f for f, _ in port.recv()] == [frame(5)], "afpacket: the same after stop and start")
    check_refused(port, 95, "turn on the receive offload VLAN_FILTER", "vlan", 7)
    port.close()
    wire.close()


def tells_xstats(probe):
    wire = netns.Raw("v1")
    port = probe.open("afpacket:v0", 2).start()
    for n in range(20):
        wire.send(frame(n, 100))
    total, _ = port.count(20)
    for n in range(7):
        port.send(frame(n, 80), n % 2)
        wire.recv()
    x = {k: int(v) for k, v in values(port.show("xstats")).items()}
    t.ok(total == 20 and x["rx_good_packets"] == 20 and x["rx_good_bytes"] == 2000 and
         x["tx_good_packets"] == 7 and x["tx_good_bytes"] == 560, "xstats are the traffic", x)
    t.ok(x["rx_q0_packets"] + x["rx_q1_packets"] == 20 and x["tx_q0_packets"] == 4 and
         x["tx_q1_packets"] == 3, "xstats of queues are their traffic", x)
    stats = " ".join(port.show("stats")).split()
    t.ok(stats[stats.index("RX-packets:") + 1] == "20" and
         stats[stats.index("TX-bytes:") + 1] == "560", "show port stats", stats)
    port.do("reset")
    x = {k: int(v) for k, v in values(port.show("xstats")).items()}
    t.ok(not any(x.values()), "after a reset all are 0", x)
    wire.send(frame(1, 100))
    port.recv()
    x = {k: int(v) for k, v in values(port.show("xstats")).items()}
    stats = " ".join(port.show("stats")).split()
    t.ok(x["rx_good_packets"] == 1 and x["rx_good_bytes"] == 100 and
         stats[stats.index("RX-packets:") + 1] == "1", "and then count again", (x, stats))
    port.close()
    wire.close()


def several_devices(probe):
    """A port of afxdp has a device for each queue."""
    if not netns.can_open(t, "afxdp", "several devices"):
        return
    netns.veth("x0", "x1", queues=2)
    wire = netns.Raw("x1")
    port = probe.open("afxdp:x0", 2).start()
    port.send(frame(1), 0)
    port.send(frame(2), 1)
    port.send(frame(3), 1)
    for _ in range(3):
        wire.recv()
    x = {k: int(v) for k, v in values(port.show("xstats")).items()}
    info = values(port.show("info"))
    t.ok(x["tx_good_packets"] == 3 and x["tx_q0_packets"] == 1 and x["tx_q1_packets"] == 2,
         "two devices: sums, and queues under the port's numbers", x)
    t.ok(info["Number of devices"] == "2" and info["Current number of RX queues"] == "2",
         "two devices: one port in show port info", info)
    port.do("mtu", 1300)
    t.ok(mtu("x0") == 1300, "two devices: one MTU", mtu("x0"))
    port.close()
    t.ok(mtu("x0") == 1500, "two devices: the interface is as before", mtu("x0"))
    shows_kernels_mtu(probe, "afxdp", "x0")
    wire.close()
    netns.ip("link del x0")


def configures_tap(probe):
    if not netns.can_open(t, "tap"):
        return
    port = probe.open("tap:t0", 2).start()
    port.do("mtu", 1400)
    t.ok(mtu("t0") == 1400, "tap: the interface has the MTU", mtu("t0"))
    port.do("allmulti", 1)
    on = netns.flags("t0") & ALLMULTI
    port.do("allmulti", 0)
    t.ok(on and not netns.flags("t0") & ALLMULTI, "tap: allmulticast on and off")
    port.do("link", 0)
    down = not netns.flags("t0") & UP
    port.do("link", 1)
    t.ok(down and netns.flags("t0") & UP, "tap: the link down and up")
    port.do("offloads", f"{IPV4_CKSUM:x}", 0)
    has = port.show("rx-has")
    t.ok("IPV4_CKSUM" in has[1] and port.show("rx-used")[1] == "  Port : IPV4_CKSUM",
         "tap: an offload, among those that it has", has)
    # Its PMD has RSS, and does not tell how it is set.
    before = port.show("rss")
    port.do("rss", "ip")
    after = port.show("rss")
    t.ok(before[0] == "RSS disabled" and after[0] == "RSS functions:" and "ipv4" in after[1] and
         "does not tell" in "".join(after), "tap: RSS as it was set", (before, after))
    netns.wait_up("t0")
    wire = netns.Raw("t0")
    port.send(frame(3))
    t.ok(wire.recv() == frame(3), "tap: it sends after all that")
    wire.send(frame(4))
    got = port.recv()
    t.ok([f for f, _ in got] == [frame(4)], "tap: and receives", got)
    wire.close()
    port.close()


def configures_rss(probe):
    port = probe.open("null:").start()
    port.do("rss", "ip", KEY.hex())
    lines = port.show("rss")
    t.ok("RSS functions:" in lines and lines[lines.index("RSS key:") + 1] == KEY.hex().upper(),
         "null: RSS functions and key as set", lines)
    port.do("rss", "none")
    t.ok(port.show("rss")[0].startswith(("RSS disabled", "dev_info did not")), "null: without RSS",
         port.show("rss"))
    check_refused(port, 22, "its RSS key has 40 bytes, and 3 are given", "rss", "ip", "010203") \
        if "Hash key size in bytes: 40" in port.show("info") else None
    port.close()
    port = probe.open("ring:").start()
    check_refused(port, 95, "its PMD net_ring has no RSS", "rss", "udp")
    check_refused(port, 95, "its PMD net_ring has no MTU", "mtu", 1400)
    t.ok("no flow control" in port.show("fc")[0], "ring: show flow_ctrl says so", port.show("fc"))
    port.send(frame(), n=10)
    port.do("stop")
    port.start()
    port.send(frame(), n=3)
    t.ok(port.count(3)[0] == 3, "ring: it sends again after a stop")
    port.close()
    t.ok(probe.is_whole(), "ring: packets in it at a stop are freed", probe.pool())


def takes_chains():
    """True if memif's PMD is one that takes frames in several buffers of a ring."""
    version = subprocess.run(["pkg-config", "--modversion", "libdpdk"], check=True, text=True,
                             stdout=subprocess.PIPE).stdout
    return int(version.split(".")[0]) < 23


def configures_shared_memory(probe, folder):
    server = probe.open(f"memif:role=server,socket={folder}/m,bsize=16384")
    server.do("mtu", 9000)
    t.ok(values(server.show("info"))["MTU"] == "9000", "memif: any MTU that fits a ring")
    server.close()
    server = probe.open(f"memif:role=server,socket={folder}/m")
    if takes_chains():
        server.do("mtu", 9000)
        t.ok(values(server.show("info"))["MTU"] == "9000", "memif: frames in several buffers")
    else:
        check_refused(server, 22, "use a larger bsize", "mtu", 9000)
    server.close()
    host = probe.open(f"vhost:{folder}/v").start()
    check_refused(host, 95, "no MTU", "mtu", 1400)
    # A process of its own, and killed: its PMD may panic in the interrupt thread when it is closed.
    other = Probe(program, mem_mb=128)
    guest = other.open(f"virtio-user:{folder}/v").start()
    guest.do("mtu", 1400)
    t.ok(values(guest.show("info"))["MTU"] == "1400", "virtio-user: an MTU")
    check_refused(guest, 95, "no promiscuous mode", "promisc", 1)
    check_refused(guest, 95, "no flow control", "fc")
    other.kill()
    host.close()


# The fields of testpmd's "show port info", in its order.
INFO = """MAC address/Device name/Driver name/Firmware-version/Devargs/Connect to socket
memory allocation on the socket/Link status/Link speed/Link duplex/Autoneg status/MTU
Promiscuous mode/Allmulticast mode/Maximum number of MAC addresses
Maximum number of MAC addresses of hash filtering/VLAN offload/Minimum size of RX buffer
Maximum configurable length of RX packet/Maximum configurable size of LRO aggregated packet
Current number of RX queues/Max possible RX queues/Max possible number of RXDs per queue
Min possible number of RXDs per queue/RXDs number alignment/Current number of TX queues
Max possible TX queues/Max possible number of TXDs per queue
Min possible number of TXDs per queue/TXDs number alignment/Max segment number per packet
Max segment number per MTU/TSO/Device capabilities""".replace("MTU/TSO", "MTU TSO") \
    .replace("\n", "/").split("/")


def tells_info(probe):
    port = probe.open("afpacket:v0", 2).start()
    lines = port.show("info")
    have = [f.replace("MTU/TSO", "MTU TSO") for f in fields(lines)]
    t.ok("Infos for port 7 " in lines[1] and [f for f in have if f in INFO] == INFO,
         "show port info: testpmd's fields in its order", lines)
    v = values(lines)
    t.ok(v["MAC address"] == netns.mac("v0").hex(":").upper() and
         v["Driver name"] == "net_af_packet" and v["Current number of RX queues"] == "2" and
         v["MTU"] == "1500" and v["Link status"] == "up" and v["Port spec"] == "afpacket:v0",
         "show port info: the values", v)
    port.close()


probe = Probe(program, mem_mb=128)
configures_afpacket(probe)
strips_vlans(probe)
tells_xstats(probe)
several_devices(probe)
configures_tap(probe)
configures_rss(probe)
with tempfile.TemporaryDirectory() as d:
    configures_shared_memory(probe, d)
tells_info(probe)
t.ok(probe.is_whole(), "the pool is whole", probe.pool())
t.ok(probe.quit() == 0, "EAL ends")
t.done()
