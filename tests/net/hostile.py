# SPDX-License-Identifier: BSD-3-Clause
"""Peers that corrupt the memory they share with a port: the program ends with a line that names the
port.

Usage: hostile.py HAUL-FWD
"""
import os
import resource
import tempfile

import netns

import fwd
from memif_client import Memif


def lead_away(peer):
    peer.send(1, offset=0xFFF00000)


def shrink(peer):
    os.ftruncate(peer.memory, 0)


def memif(name, attack, signal_name, *ports):
    with tempfile.TemporaryDirectory() as d:
        sock = os.path.join(d, "sock")
        spec = f"memif:role=server,socket={sock}"
        specs = [a for port in ports for a in ("--port", port.replace("SOCK", sock))]
        with fwd.Running("--port", spec, *specs, "--mode", "rxonly", "--carriers", 1) as haul:
            netns.wait_for(lambda: os.path.exists(sock) and haul.runs(), "haul-fwd to run")
            peer = Memif(sock)
            netns.wait_for(lambda: haul.process.poll() is not None or peer.taken() or
                           peer.send(1), "a frame to be taken")
            attack(peer)
            r = haul.wait()
    # A sanitizer's report takes long enough for a line of the watchdog's.
    lines = [line for line in r.err.splitlines()
             if line.startswith("haul: ") and " has run for " not in line]
    tap.ok(r.rc != 0 and len(lines) == 1 and
           lines[0].startswith(f"haul: port '{spec}': {signal_name} in its PMD (librte_net_memif)")
           and "let only trusted processes connect" in lines[0], name, r)


netns.enter()
tap = netns.Tap()
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
memif("memif: an offset out of the region", lead_away, "SIGSEGV")
memif("memif: a region that shrinks", shrink, "SIGBUS")
memif("memif: of two, the one that is attacked", lead_away, "SIGSEGV",
      "memif:role=server,socket=SOCK,id=7")
memif("memif: of many", shrink, "SIGBUS", "memif:role=server,socket=SOCK,id=7", "null:",
      "memif:role=server,socket=SOCKx")
tap.done()
