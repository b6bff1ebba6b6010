# SPDX-License-Identifier: BSD-3-Clause
"""Port specs that cannot work: each is refused with its line, and keeps no resources.

Usage: port_specs.py PROBE
"""
import errno
import os
import struct
import sys
import tempfile

import netns
import tap
from probe import Probe, refused

E = errno
LONG = "x" * 600
SPECS = [  # the spec, the error, a part of its line
    ("", E.EINVAL, "no such kind of port; there are tap: afxdp:"),
    ("nothing", E.EINVAL, "no such kind of port"),
    ("tun:t0", E.EINVAL, "no such kind of port"),
    ("TAP:t0", E.EINVAL, "no such kind of port"),
    ("crypto_null0", E.EINVAL, "no such kind of port"),
    (f"ring:{LONG}", E.EINVAL, "longer than 511 characters"),
    ("tap:", E.EINVAL, "nothing after 'tap:'; the form is tap:NAME"),
    ("tap:sixteencharacter", E.EINVAL, "at most 15 characters"),
    ("tap:a/b", E.EINVAL, "no slash, colon, percent sign or space"),
    ("tap:%d", E.EINVAL, "'%d' is no interface name"),
    ("tap:t0%d", E.EINVAL, "'t0%d' is no interface name"),
    ("tap:t0,t1", E.EINVAL, "'t1' is no option like key=value"),
    ("tap:t0,foo=1", E.EINVAL, "no option foo; tap:NAME[,mac=ADDR] takes mac and remote"),
    ("tap:t0,mac=1:2:3", E.EINVAL, "mac=1:2:3 is no address like 02:00:00:00:00:01"),
    ("tap:t0,mac=", E.EINVAL, "mac= has no value"),
    ("tap:t0,mac=02:00:00:00:00:01,mac=02:00:00:00:00:01", E.EINVAL, "mac is given twice"),
    ("tap:lo", E.EBUSY, "interface lo is in use; choose another name"),
    ("tap:dummy", E.EINVAL, "is no TAP with several queues; choose another name, or ip link del"),
    ("afxdp:", E.EINVAL, "nothing after 'afxdp:'"),
    ("afxdp:none", E.ENODEV, "there is no interface none; ip link shows"),
    ("afxdp:dummy", E.ENETDOWN, "interface dummy is down; ip link set dummy up"),
    ("afxdp:v0,start_queue=7", E.EINVAL, "interface v0 has no queue 7; its last is 1"),
    ("afxdp:v0,force_copy=2", E.EINVAL, "force_copy=2 is neither 0 nor 1"),
    ("afpacket:none", E.ENODEV, "there is no interface none"),
    ("afpacket:dummy", E.ENETDOWN, "interface dummy is down; ip link set dummy up"),
    ("afpacket:v0,framecnt=1", E.EINVAL, "framecnt=1 is no number from 2 to 65536"),
    ("afpacket:v0,framecnt=3", E.EINVAL, "framecnt=3 is no multiple of 2; give one from 2"),
    ("memif:", E.EINVAL, "role=server (makes the socket) or role=client (connects to it)"),
    ("memif:role=boss,socket=/m", E.EINVAL, "role=server (makes the socket)"),
    ("memif:role=server", E.EINVAL, "socket=/PATH is needed"),
    ("memif:role=server,socket=/none/m", E.ENOENT, "no socket can be made in /none"),
    ("memif:role=client,socket=/m,queues=2", E.EINVAL, "queues=2 for 1 carriers"),
    (f"vhost:/{'d' * 120}", E.ENAMETOOLONG, "has more than 107 characters"),
    ("vhost:DIR/file", E.EEXIST, "DIR/file exists and is no socket; choose another path"),
    ("vhost:DIR/v,queues=0", E.EINVAL, "queues=0 is no number from 1 to 128"),
    ("virtio-user:DIR/none", E.ENOENT, "nobody listens on DIR/none; start the other side first"),
    ("virtio-user:DIR/v,server=1", E.EINVAL, "no option server"),
    ("pcap:", E.EINVAL, "give rx=FILE, tx=FILE or both; or iface=INTERFACE"),
    ("pcap:rx=DIR/none", E.ENOENT, "DIR/none cannot be read: No such file"),
    ("pcap:rx=DIR/file", E.EINVAL, "DIR/file is no pcap file"),
    ("pcap:rx=DIR/short", E.EINVAL, "DIR/short is no pcap file"),
    ("pcap:rx=DIR/raw", E.EINVAL, "DIR/raw holds no Ethernet frames, but link type 101"),
    ("pcap:rx=DIR/raw_be", E.EINVAL, "DIR/raw_be holds no Ethernet frames, but link type 113"),
    ("pcap:rx=DIR/empty,infinite_rx=1", E.EINVAL, "DIR/empty holds no packet that infinite_rx=1"),
    ("pcap:rx=DIR/bad,infinite_rx=1", E.EINVAL, "packet 1 of DIR/bad is damaged or cut off"),
    ("pcap:rx=DIR/bad_be,infinite_rx=1", E.EINVAL, "packet 3 of DIR/bad_be is damaged"),
    ("pcap:rx=DIR/cut,infinite_rx=1", E.EINVAL, "packet 2 of DIR/cut is damaged or cut off"),
    ("pcap:rx=DIR/cut_head,infinite_rx=1", E.EINVAL, "packet 2 of DIR/cut_head is damaged"),
    ("pcap:rx=DIR/long,infinite_rx=1", E.EINVAL, "packet 2 of DIR/long has 2049 bytes; infinite"),
    ("pcap:tx=/none/f", E.ENOENT, "/none/f cannot be written: No such file"),
    ("pcap:iface=lo:", E.ENODEV, "there is no interface lo:"),
    ("pcap:iface=none", E.ENODEV, "there is no interface none"),
    ("pcap:iface=v0,rx=DIR/file", E.EINVAL, "give rx=FILE, tx=FILE or both"),
    ("null:64", E.EINVAL, "'64' is no option like key=value"),
    ("null:size=9000", E.EINVAL, "size=9000 is no number from 60 to 2048"),
    ("null:size=+64", E.EINVAL, "size=+64 is no number"),
    ("ring:r,size=3", E.EINVAL, "no option size; ring:[NAME] takes none"),
    ("empty:t0", E.EINVAL, "'t0' is no option like key=value; the form is empty:"),
    ("empty:queues=0", E.EINVAL, "queues=0 is no number from 1 to 65535"),
    ("pci:", E.EINVAL, "nothing after 'pci:'"),
    ("pci:here", E.EINVAL, "'here' is no PCI address like 0000:03:00.0"),
    ("pci:0000:ff:1f.7", E.ENODEV, "there is no such PCI device; lspci -D"),
    ("net_nothing0", E.ENODEV, "DPDK has no driver of that name"),
    ("net_null0,size=large", E.EINVAL, "the driver refused it without a message"),
    ("net_tap0,iface=this/that", E.EIO, "TAP invalid remote interface name (this/that)"),
]

TRIED = "tap:dummy", "afxdp:v0,start_queue=7"  # found wrong when the port is made


def write_captures(directory):
    def write(name, order, link, *packets, snaplen=65535, end=None):
        with open(os.path.join(directory, name), "wb") as f:
            f.write((struct.pack(order + "IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, snaplen, link) +
                     b"".join(struct.pack(order + "IIII", 0, 0, n, n) + bytes(min(n, 9999))
                              for n in packets))[:end])
    write("short", "<", 1, end=23)
    write("raw", "<", 101)
    write("raw_be", ">", 113)
    write("empty", "<", 1)
    write("bad", "<", 1, 1 << 31, 60)
    write("bad_be", ">", 1, 60, 61, (1 << 18) + 1)
    write("cut", "<", 1, 60, 60, end=-1)
    write("cut_head", "<", 1, 60, 60, end=-61)
    write("long", "<", 1, 2048, 2049)
    write("good", "<", 1, 2048, 60)
    write("good_be", ">", 1, 0, 3000, snaplen=1000)


def twice(probe, d):
    """A device with a port is refused to a second port, of any kind and by any name."""
    netns.ip("link property add dev v0 altname cable")
    netns.ip("link set lo up")
    pairs = [("afpacket:v0", "afpacket:v0"), ("afpacket:v0", "afpacket:cable"),
             ("afpacket:v0", "pcap:iface=v0"), ("pcap:iface=lo", "pcap:iface=lo"),
             ("afpacket:v0", "net_af_packet7,iface=cable"),
             ("net_af_packet7,iface=cable", "eth_af_packet8,iface=v0"),
             ("afpacket:v0", "net_pcap7,rx_iface=lo,tx_iface=v0"),
             ("net_pcap7,rx_iface_in=lo,tx_iface=cable", "afpacket:v0"),
             ("net_pcap7,rx_iface_in=cable", "net_pcap8,rx_iface=v0"),
             (f"pcap:tx={d}/tx", f"net_pcap7,tx_pcap={d}/tx"),
             (f"net_pcap7,tx_pcap={d}/tx", f"net_pcap8,tx_pcap={d}/tx"),
             (f"vhost:{d}/vh", f"net_vhost7,iface={d}/vh"),
             (f"net_vhost7,iface={d}/vh", f"vhost:{d}/vh"),
             (f"net_vhost7,iface={d}/vh", f"net_vhost8,iface={d}/vh,client=0")]
    if netns.can_open(t, "tap", "tap: twice"):
        pairs += [("tap:t1", "tap:t1"), ("tap:t1", "net_tap7,iface=t1"),
                  ("tap:t1", "afpacket:t1"), ("net_tap7,iface=t1", "tap:t1"),
                  ("tap:t1", "net_tun7,iface=t1"),
                  ("afpacket:v0", "net_tap7,iface=t1,remote=cable")]
    if netns.can_open(t, "afxdp", "afxdp: twice"):
        pairs += [("afxdp:v0", "afxdp:v0"), ("afxdp:v0", "afpacket:v0"),
                  ("afxdp:v0", "pcap:iface=v0"), ("afpacket:v0", "afxdp:v0"),
                  ("afxdp:v0", "net_af_xdp7,iface=v0"), ("net_af_xdp7,iface=v0", "afxdp:v0"),
                  ("afxdp:v0", "net_af_xdp7,iface=cable,start_queue=1")]
    for first, second in pairs:
        port = probe.open(first).start()
        e = refused(probe, second)
        fault = port.fault()
        t.ok(e.number == E.EBUSY and f"port '{first}' of this program is on" in e.line and
             not fault, f"{second} beside {first}".replace(d, "DIR"), (e, fault))
        port.close()


netns.enter()
netns.veth("v0", "v1", queues=2)
netns.ip("link add dummy type veth peer name other")
t = tap.Tap()
with tempfile.TemporaryDirectory() as directory:
    with open(os.path.join(directory, "file"), "w") as f:
        f.write("not a capture")
    write_captures(directory)
    probe = Probe(sys.argv[1])
    for spec, number, text in SPECS:
        spec, text = spec.replace("DIR", directory), text.replace("DIR", directory)
        if spec in TRIED and not netns.can_open(t, spec.partition(":")[0], spec):
            continue
        e = refused(probe, spec)
        t.ok(e.number == number and e.line.startswith(f"port '{spec[:511]}': ") and text in e.line,
             spec.replace(directory, "DIR").replace(LONG, "xxx...") or "(empty)", e)
    t.ok(probe.is_whole(), "the pool is whole", probe.pool())
    for spec in ("memif:secret=hunter2,role=boss", "memif:role=boss,secret=hunter2,id=1",
                 "net_memif0,role=boss,secret=hunter2,id=1"):
        e = refused(probe, spec)
        t.ok(e.line.startswith(f"port '{spec.replace('hunter2', '***')}': ") and
             "hunter2" not in e.line, f"{spec}: the secret is not shown", e)
    for name in "good", "good_be":
        port = probe.open(f"pcap:rx={directory}/{name},infinite_rx=1").start()
        t.ok(port.count(100)[0] == 100, f"pcap:rx=DIR/{name},infinite_rx=1")
        port.close()
    # a refused spec does not block a right one
    twice(probe, directory)
    port = probe.open("afpacket:v0").start()
    t.ok(port.send(b"\xff" * 60) == 1, "a port opens after all that")
    port.close()
    t.ok(probe.is_whole() and probe.quit() == 0, "and closes")
t.done()
