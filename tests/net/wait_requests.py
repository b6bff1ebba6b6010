# SPDX-License-Identifier: BSD-3-Clause
"""No wakeup is lost: requests one at a time at random gaps, over each kind of port that can be
waited on, under each kind of poller; each is answered. HAUL_REQUESTS: their number (for a soak)."""
import random
import subprocess
import sys

import netns
from echo import Echo, replies
from wait import LOST, POLLERS, REQUESTS, Link, ask


def show_loss(seed):
    """Where a request or its answer went, while both ends still run: the counters of the interface
    and of UDP, the neighbours; and if a further request is answered, so that only one was lost."""
    for command in (["ip", "-s", "-s", "link"], ["ip", "neighbour"],
                    ["grep", "^Udp", "/proc/net/snmp"], ["cat", "/proc/net/softnet_stat"]):
        said = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        print("".join(f"# {line}\n" for line in said.stdout.splitlines()), end="")
    print(f"# one more request: {ask(1, seed=seed)} answered", flush=True)


def one(tap, binary, made, poller, carriers, requests, seed, queues=None):
    """made: a Link, or one that is Given. queues: with fewer queues than carriers, one carrier
    feeds another."""
    what = f"{made.kind}, {poller}, {carriers} carriers" + (f", queues: {queues}" if queues else "")
    with made as link, Echo(binary, "--port", link.port, "--carriers", carriers,
                            "--poller", poller) as e:
        link.up(e)
        answered = ask(requests, seed=seed)
        tap.ok(answered == requests, f"{what}: {requests} requests answered",
               f"{answered} answered, then none for {LOST} s (seed {seed})")
        if answered != requests:
            show_loss(seed)
        code, figures = e.stop()
        if answered != requests:
            print(f"# {figures}")
        sleeps = sum(c["sleeps"] for c in figures["carriers"]) if figures else 0
        print(f"# {what}: {answered} of {requests}; {sleeps} sleeps; wake to handler p50 "
              f"{figures and figures['wake_p50_ns']} p99 {figures and figures['wake_p99_ns']} ns")
        tap.ok(code == 0 and figures and figures["poller"] == poller
               and replies(figures, "udp") >= answered, f"{what}: clean end", e.stderr())
        if queues:
            tap.ok(figures and all(c["rx_packets"] for c in figures["carriers"]),
                   f"{what}: each carrier had its share", figures)
        tap.ok((sleeps == 0) == (poller == "spin"), f"{what}: it does what it is called", figures)


def main(binary):
    tap = netns.Tap()
    seed = random.randrange(1 << 32)
    print(f"# seed {seed}")
    for kind in "tap", "afxdp", "afpacket":
        if not netns.can_open(tap, kind):
            continue
        for poller in POLLERS:
            one(tap, binary, Link(kind, 2), poller, 2, REQUESTS, seed)
        for poller in POLLERS:
            one(tap, binary, Link(kind, 5), poller, 5, max(REQUESTS // 10, 1), seed)
    # A socket for each queue of the interface.
    for poller in POLLERS if netns.can_open(tap, "afxdp", "one queue") else ():
        one(tap, binary, Link("afxdp", 1), poller, 2, REQUESTS, seed, queues=1)
    tap.done()


if __name__ == "__main__":
    netns.enter()
    main(sys.argv[1])
