# SPDX-License-Identifier: BSD-3-Clause
"""What a port of haul-fwd keeps when it gets another device, by "port attach": its configuration,
as far as the device has it, and its figures."""
import contextlib
import json
import os
import re
import signal
import tempfile

import netns

import fwd
from prompt import Client

FRAMES = [fwd.frame(i, 100) for i in range(200)]


@contextlib.contextmanager
def echoing(*args):
    """haul-fwd with a port on t0 that echoes, and its prompt."""
    with tempfile.TemporaryDirectory() as d:
        control = os.path.join(d, "control")
        with fwd.Running("--port", "afpacket:t0", "--port", "null:no-rx=1", "--mode", "macswap",
                         "--port-topology", "loop", "--carriers", 1, "--control", control,
                         *args) as haul:
            netns.wait_for(haul.runs, "haul-fwd to run")
            yield haul, Client(control, haul)


def again(client, spec):
    """Another device for port 0."""
    return client.ask("port detach 0") + client.ask(f"port attach 0 {spec}")


def offloads(client):
    """Of port 0: VLANs stripped, checksums of UDP by the device, and who computes these."""
    return tuple(re.search(right, client.ask(line)) is not None for line, right in (
        ("show port 0 rx_offload configuration", "VLAN_STRIP"),
        ("show port 0 tx_offload configuration", "UDP_CKSUM"),
        ("csum show 0", "UDP .* is hw")))


def test_lacks(tap):
    """What a device lacks is left out, in one line, and comes back with a device that has it."""
    with echoing() as (haul, client):
        said = [client.ask(line) for line in ("stop", "vlan set strip on 0", "set fwd csum",
                                              "start")]
        found = [offloads(client)]
        said.append(again(client, "tap:t5"))
        said += [client.ask(line) for line in ("stop", "csum set udp hw 0", "start")]
        found.append(offloads(client))
        lines = []
        for spec in "ring:", "tap:t5", "afpacket:t0":
            lines.append(again(client, spec))
            found.append(offloads(client))
        raw = netns.Raw("t1")
        got = fwd.exchange([fwd.packet(17, 1, False)], raw, raw, 1)
        for line in "stop", "vlan set strip off 0", "csum set udp sw 0", "port detach 0":
            client.ask(line)
        lines.append(again(client, "null:no-rx=1"))
        client.ask("port config 0 rss udp")
        lines.append(again(client, "ring:"))
        r = haul.end(signal.SIGTERM)
    tap.ok(found == [(True, False, False), (False, True, True), (False, False, False),
                     (False, True, True), (True, False, False)] and r.rc == 0,
           "a device that lacks an offload is attached without it", (found, said, lines, r))
    tap.ok([f[12:] for f in got] == [fwd.packet(17, 1, True)[12:]],
           "a checksum that the device does not compute is right", got)
    tap.ok([line.strip().splitlines()[2:] for line in lines] == [
        ["port 'ring:': without receive offload VLAN_STRIP, which this device lacks; "
         "without transmit offload UDP_CKSUM, which this device lacks"],
        ["port 'tap:t5': without receive offload VLAN_STRIP, which this device lacks"],
        ["port 'afpacket:t0': without transmit offload UDP_CKSUM, which this device lacks"],
        [], ["port 'ring:': without RSS, which this device lacks"]],
           "what is left out is said in one line", lines)


def test_mtu(tap):
    """An MTU that a device does not take is left out, too."""
    with echoing("--mtu", 4000) as (haul, client):
        said = []
        for spec in "tap:t5", "afpacket:t0":
            said += [again(client, spec), client.ask("show port info 0")]
        r = haul.end(signal.SIGTERM)
    # The TAP takes it since DPDK 26.07.
    left_out = "without the MTU 4000, which this device does not take" in said[0]
    tap.ok(("MTU: 1500" if left_out else "MTU: 4000") in said[1] and "without" not in said[2] and
           "MTU: 4000" in said[3] and r.rc == 0, "a device that does not take an MTU", (said, r))


def figures(client, haul):
    """Of port 0: packets and bytes in the PMD's counters, and those of its only carrier."""
    x = dict(re.findall(r"(\w+): (\d+)", client.ask("show port xstats 0")))
    told = json.loads(client.ask("show json"))
    carrier = told["ports"][0]["queues"][0]
    return [int(x.get(name, 0)) for name in ("rx_good_packets", "rx_good_bytes", "rx_q0_bytes",
                                             "tx_q0_bytes")] + \
        [carrier[name] for name in ("rx_packets", "rx_bytes", "tx_bytes")]


def settled(client, haul):
    """The figures once what has come back is counted as sent: afpacket's PMD does that later."""
    def look():
        found = figures(client, haul)
        return found if found[2] == found[3] and found[5] == found[6] else None
    return netns.wait_for(look, "the bytes that were sent")


def test_figures(tap):
    """Packets and bytes go on over devices, of the port, its queue and its carrier; those that are
    cleared while it has no device begin at 0."""
    with echoing("--count-bytes", "off") as (haul, client):
        raw = netns.Raw("t1")
        found = []
        for spec in "", "afpacket:t0", "null:no-rx=1", "afpacket:t0":
            if spec:
                again(client, spec)
            if not spec.startswith("null"):
                fwd.exchange(FRAMES, raw, raw, 16)
            found.append(settled(client, haul))
        client.ask("port detach 0")
        client.ask("clear port xstats 0")
        client.ask("port attach 0 afpacket:t0")
        fwd.exchange(FRAMES, raw, raw, 16)
        cleared = settled(client, haul)
        r = haul.end(signal.SIGTERM)
    n = len(FRAMES)
    size = sum(len(f) for f in FRAMES)
    whole = [n, size, size, size, n, size, size]
    tap.ok(found[0] == whole and found[1] == [2 * x for x in whole] and
           found[3] == [3 * x for x in whole] and found[2][4:] == found[1][4:],
           "figures go on over devices", (found, whole))
    tap.ok(cleared == whole[:4] + [4 * x for x in whole[4:]], "cleared ones begin at 0",
           (cleared, whole))


def main():
    tap = netns.Tap()
    netns.veth("t0", "t1")
    test_lacks(tap)
    test_mtu(tap)
    test_figures(tap)
    tap.done()


if __name__ == "__main__":
    netns.enter()
    main()
