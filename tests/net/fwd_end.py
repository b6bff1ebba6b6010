# SPDX-License-Identifier: BSD-3-Clause
"""The end of haul-fwd: by a signal, under traffic, after an interface has gone. It never hangs, and
always prints its figures; its ledger and its pool are right."""
import os
import shutil
import signal
import subprocess
import tempfile

import netns

import fwd

netns.enter()
tap = netns.Tap()

for turn, handler in enumerate(("burst", "coroutine")):
    for sig in netns.share((signal.SIGINT, signal.SIGTERM), turn):
        with fwd.Running("--port", "null:", "--handler", handler) as haul:
            netns.wait_for(haul.runs, "haul-fwd to run")
            r = haul.end(sig)
        tap.ok(r.rc == 0 and r.json and r.total("rx_packets") == r.total("tx_packets") > 0,
               f"{sig.name}, {handler}: figures and exit 0", r)

    # Also before the pollers run.
    with fwd.Running("--port", "null:", "--handler", handler) as haul:
        netns.wait_for(haul.takes_signals, "signals to be taken")
        r = haul.end()
    tap.ok(r.rc == 0 and r.json, f"SIGINT at the start, {handler}", r)

    # Packets circulate in a ring without end, also during the end.
    with fwd.Running("--port", "ring:", "--port", "ring:", "--tx-first", 8, "--handler", handler,
                     "--carriers", 2) as haul:
        netns.wait_for(haul.runs, "haul-fwd to run")
        r = haul.end()
    tap.ok(r.rc == 0 and r.json and r.dropped() == 0 and r.total("rx_packets") > 0,
           f"ended under traffic, ring, {handler}", r)

    # A transmit queue without a receiver: the remaining packets are dropped and counted.
    with fwd.Running("--port", "ring:", "--mode", "txonly", "--handler", handler,
                     "--carriers", 1) as haul:
        netns.wait_for(haul.runs, "haul-fwd to run")
        r = haul.end()
    tap.ok(r.rc == 0 and r.json and r.total("tx_packets") > 0, f"ended when full, {handler}", r)

    for kind in "tap", "afpacket", "afxdp":
        if not netns.can_open(tap, kind, f"{kind} deleted, {handler}"):
            continue
        if kind != "tap":
            netns.veth("t0", "t1")
        with fwd.Running("--port", f"{kind}:t0", "--port", "null:", "--handler", handler,
                         "--carriers", 1, "--lost-port", "end") as haul:
            netns.wait_for(lambda: haul.runs() and netns.exists("t0"), "haul-fwd to run")
            netns.ip("link del t0")
            r = haul.wait()
        # Handlers that wait to send on it are cancelled, which a note tells.
        lines = [line for line in r.err.splitlines()
                 if line.startswith("haul-fwd:") and "note:" not in line]
        tap.ok(r.rc == 1 and r.json and len(lines) == 1 and f"{kind}:t0" in lines[0] and
               "gone" in lines[0], f"{kind} deleted, {handler}: a line, figures, exit 1", r)

# While another program's packets are under way.
testpmd = shutil.which("dpdk-testpmd")
for handler in netns.share(("burst", "coroutine"), 1):
    name = f"ended under traffic, memif, {handler}"
    if not testpmd:
        tap.skip(name, "dpdk-testpmd is not installed")
        continue
    with tempfile.TemporaryDirectory() as d:
        sock = os.path.join(d, "memif.sock")
        with fwd.Running("--port", f"memif:role=server,socket={sock}", "--mode", "macswap",
                         "--handler", handler, "--carriers", 1) as haul:
            netns.wait_for(lambda: os.path.exists(sock) or haul.process.poll() is not None,
                           "the socket")
            # Without a statistics period it would end with its stdin.
            gen = subprocess.Popen(
                [testpmd, "--lcores", "0@0-1,1@0-1", "--no-pci", "--no-huge", "-m", "256",
                 "--no-shconf", "--no-telemetry",
                 f"--vdev=net_memif0,role=client,socket={sock},socket-abstract=no", "--",
                 "--total-num-mbufs=16384", "--forward-mode=flowgen", "--no-lsc-interrupt", "-a",
                 "--stats-period", "1"],
                stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                netns.wait_for(lambda: " kpps" in haul.said() or " Mpps" in haul.said() or
                               haul.process.poll() is not None, "traffic", 60)
                r = haul.end()
            finally:
                gen.kill()
                gen.wait()
                gen.stdin.close()
        p = r.json and r.port(0)
        tap.ok(r.rc == 0 and p and p["rx_packets"] > 0 and
               p["rx_packets"] == p["tx_packets"] + r.dropped(), name, r)
tap.done()
