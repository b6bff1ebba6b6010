# SPDX-License-Identifier: BSD-3-Clause
"""haul-fwd on real ports while slices are left behind: no packet is lost without a reason, none is
sent twice, each flow stays in order, and a new thread takes over the port's queue each time.

Usage: fwd_rescue.py HAUL_FWD
"""
import netns

import fwd

FLOWS, PACKETS, RATE = 8, 4000, "4k"
# One handler in fifty computes for 2 ms, the others for 20 us.
SLOW = ("--handler", "coroutine", "--service", "20us,bimodal:2:100", "--steal", "cluster",
        "--rescue", "200us")


def test(tap, port, poller, more):
    """The generator is at the other end of a veth pair."""
    netns.veth("v0", "v1")
    with fwd.Running("--port", port, "--mode", "macswap", "--carriers", 1, "--poller", poller,
                     *SLOW, *more) as server:
        netns.wait_for(server.runs, "haul-fwd")
        sent = fwd.figures("--port", "afpacket:v1", "--mode", "generate", "--rate", RATE,
                           "--packets", PACKETS, "--flows", FLOWS, "--carriers", 1, "--drain",
                           "20s", "--poller", "sleep", "--promiscuous", "on")
        served = server.end()
    netns.ip("link del v0")
    name = f"{port.split(':')[0]}, {poller}{' ' if more else ''}{' '.join(more)}"
    g = sent.json["generator"] if sent.json else {}
    tap.ok(served.rc == 0 and sum(c["rescues"] for c in served.json["carriers"]) > 0,
           f"{name}: slices are left behind", served)
    tap.ok(sent.rc == 0 and g["reordered"] == g["duplicated"] == 0,
           f"{name}: no packet comes twice, and flows stay in order", sent)
    at = served.port(0)
    tap.ok(at["rx_packets"] == at["tx_packets"] + served.dropped(),
           f"{name}: each packet is sent or has a reason", served)
    # What the kernel has no room for is not haul's.
    tap.ok(g["received"] <= at["tx_packets"] <= g["sent"] and g["received"] > 0,
           f"{name}: what is sent comes back", f"{sent}{served}")
    tap.ok("another thread serves carrier 0 meanwhile" in served.err,
           f"{name}: stderr tells of it", served)


def main():
    netns.enter()
    tap = netns.Tap()
    for port, poller, more in netns.some(
            ("afpacket:v0", "afxdp:v0"), ("spin", "block", "adaptive"),
            ((), ("--overload",), ("--order", "flow"))):
        test(tap, port, poller, more)
    tap.done()


main()
