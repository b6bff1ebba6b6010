# SPDX-License-Identifier: BSD-3-Clause
"""Handlers wait for room in the transmit queue of a NIC that sends nothing, as its link takes no
frames; then the program ends, the link flaps, or the NIC is unplugged. Of QEMU's NICs only virtio's
waits for its link. For guest.py."""
import re
import time
import urllib.request

import netns
import fwd

from inside import is_out

FRAMES, AT_ONCE = 2500, 100
SERVICE = 12  # seconds that each handler sleeps: all frames are received, and the link is closed
FLAPS = 5
TRIES = 4  # on a machine so busy that the first handlers reply before the last frame is sent
METRICS = 9105  # a TCP port
ROOM = "room in transmit queue"


class TooSlow(Exception):
    """The machine is too busy for handlers to wait for room."""


def waiting(cause):
    """How many handlers wait for that."""
    with urllib.request.urlopen(f"http://127.0.0.1:{METRICS}/metrics") as f:
        found = re.search(rf'^haul_waiting_coroutines\{{cause="{cause}"\}} (\d+)',
                          f.read().decode(), re.M)
    return int(found[1]) if found else 0


def fill(haul, peer):
    """Frames for FRAMES handlers, which reply when the peer takes no frames any more: the kernel's
    receive queue, the NIC's transmit queue and haul's are full then, and handlers wait."""
    netns.ip(f"link set {peer} promisc on")  # what its device filters needs no room
    for _ in range(TRIES):
        netns.ip(f"link set {peer} up")
        raw = netns.Raw(peer)
        for at in range(0, FRAMES, AT_ONCE):
            for i in range(at, at + AT_ONCE):
                raw.send(fwd.frame(i, 100))
            time.sleep(0.02)  # a NIC whose queue is full drops what comes
        raw.close()
        netns.ip(f"link set {peer} down")
        haul.wait_for(lambda: not waiting("sleeping"), "handlers that reply")
        print(f"# {waiting(ROOM)} of {FRAMES} handlers wait for room")
        if waiting(ROOM):
            return
    raise TooSlow(f"{TRIES} times all handlers replied before {peer} was down")


def running(nic, poller, *more):
    return fwd.Running("--port", nic.port, "--mode", "macswap", "--port-topology", "loop",
                       "--handler", "coroutine", "--poller", poller, "--carriers", 2,
                       "--metrics", METRICS, "--service", f"{SERVICE}s", "--service-sleep", *more,
                       options=("--json", "--period", "1"))


def whole(r, why=None):
    """True if each packet was sent, or dropped for that reason."""
    port = r.json["ports"][0] if r.json else None
    return port and port["rx_packets"] == port["tx_packets"] + (r.dropped(why) if why else 0) and \
        r.dropped() == (r.dropped(why) if why else 0) and "packet buffers " not in r.err and \
        "ledger" not in r.err


def link_flaps(tap, host, name, nic, peer):
    with running(nic, "block") as haul:
        haul.wait_for(haul.runs, "haul-fwd to run")
        fill(haul, peer)
        for up in (False, True) * FLAPS:
            host.do("set_link", name=nic.id, up=up)
        netns.ip(f"link set {peer} up")
        raw = netns.Raw(peer)
        haul.wait_for(lambda: echoes(raw), "an echo")
        raw.close()
        r = haul.end()
    print(f"# {name}: {r.port(0)['rx_packets']} received, {r.port(0)['tx_packets']} sent")
    tap.ok(r.rc == 0 and whole(r), f"{name}: handlers wait for room, the link flaps: all send", r)


def echoes(raw):
    raw.send(fwd.frame(7, 100))
    return raw.recv(SERVICE + 1) is not None  # a look: others come back, too


def unplugged(tap, host, name, nic, peer):
    with running(nic, "sleep", "--port", "ring:") as haul:
        haul.wait_for(haul.runs, "haul-fwd to run")
        fill(haul, peer)
        host.do("device_del", id=nic.id)
        haul.wait_for(lambda: "the other ports go on" in haul.said(), "its line")
        netns.ip(f"link set {peer} up")
        netns.wait_for(lambda: is_out(host, nic), "vfio to let the NIC go")
        r = haul.end()
    refused = r.dropped("tx_refused")
    print(f"# {name}: {r.port(0)['rx_packets']} received, {r.port(0)['tx_packets']} sent, "
          f"{refused} refused")
    tap.ok(r.rc == 1 and refused > 0 and whole(r, "tx_refused"),
           f"{name}: handlers wait for room, the NIC is unplugged: the rest is refused", r)


def ends(tap, _host, name, nic, peer):
    with running(nic, "block") as haul:
        haul.wait_for(haul.runs, "haul-fwd to run")
        fill(haul, peer)
        r = haul.end()
        netns.ip(f"link set {peer} up")
    print(f"# {name}: {r.port(0)['rx_packets']} received, {r.port(0)['tx_packets']} sent, "
          f"{r.dropped('stopping')} when it stopped")
    tap.ok(r.rc == 0 and r.dropped("stopping") > 0 and whole(r, "stopping"),
           f"{name}: handlers wait for room, the program ends: the rest is dropped", r)
