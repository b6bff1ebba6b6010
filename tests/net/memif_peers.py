# SPDX-License-Identifier: BSD-3-Clause
"""memif peers that go while haul-fwd polls the memory shared with them. The PMD unmaps it on
another thread, which here has the same CPU, and so often comes amid a burst call.

Usage: memif_peers.py HAUL-FWD
"""
import os
import tempfile

import netns

import fwd
from memif_client import Memif, Refused

ROUNDS = int(os.environ.get("HAUL_PEERS", 300))
CPU = min(os.sched_getaffinity(0))

netns.enter()
tap = netns.Tap()


def connected(path, server):
    """A new peer, as soon as the server has done with the last one; None: the server has ended."""
    found = []

    def connects():
        try:
            found.append(Memif(path))
        except (Refused, ConnectionError):
            pass
        return found or server.poll() is not None

    netns.wait_for(connects, "a connection", 60)
    return found[0] if found else None


def peers(handler):
    with tempfile.TemporaryDirectory() as d:
        sock = os.path.join(d, "s")
        with fwd.Running("--port", f"memif:role=server,socket={sock}", "--mode", "macswap",
                         "--handler", handler, "--carriers", 1,
                         preexec_fn=lambda: os.sched_setaffinity(0, {CPU})) as haul:
            netns.wait_for(lambda: os.path.exists(sock) and haul.runs(), "haul-fwd to run")
            done = 0
            while done < ROUNDS and (peer := connected(sock, haul.process)):
                peer.offer()
                peer.send(200)
                if done % 2:
                    netns.wait_for(lambda: peer.taken() or haul.process.poll() is not None,
                                   "frames to be taken")
                peer.close()
                done += 1
            r = haul.end() if haul.process.poll() is None else haul.wait()
    tap.ok(r.rc == 0 and r.json and done == ROUNDS and r.total("rx_packets") > 0 and
           r.total("rx_packets") == r.total("tx_packets") + r.dropped(),
           f"{handler}: {ROUNDS} peers go amid traffic", f"after {done}: {r}")


for handler in "burst", "coroutine":
    peers(handler)
tap.done()
