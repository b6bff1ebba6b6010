# SPDX-License-Identifier: BSD-3-Clause
"""The cost of waiting, the ports that cannot be waited on, and the end of programs that wait."""
import os
import signal
import subprocess
import sys
import tempfile
import time

import netns
from echo import Echo
from fwd import Running, figures, run
from wait import Link, ask, cpu_seconds

ECHO = sys.argv[2]
QUIET = 2  # seconds
KINDS = "tap", "afxdp", "afpacket"


def refused(tap, directory):
    pcap = os.path.join(directory, "in.pcap")
    with open(pcap, "wb") as f:
        f.write(bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000"))
    for spec in ("null:", "ring:", f"memif:role=server,socket={directory}/m", f"pcap:rx={pcap}"):
        for poller in "block", "adaptive:20":
            r = run("--port", spec, "--poller", poller, "--duration", 5)
            lines = [l for l in r.err.splitlines() if "note:" not in l]
            tap.ok(r.rc == 2 and len(lines) == 1 and spec in lines[0] and "sleep" in lines[0]
                   and "spin" in lines[0] and poller.split(":")[0] in lines[0],
                   f"{spec} refuses {poller}", r)
    netns.veth("v0", "v1")
    r = run("--port", "afpacket:v0", "--mode", "txonly", "--poller", "block", "--duration", 5)
    netns.ip("link del v0")
    tap.ok(r.rc == 2 and "sleep" in r.err, "who only sends refuses block", r)
    for poller in ("hover", "sleep:0", "sleep:", "sleep:1ms", "adaptive:99999999", "block:5", "",
                   "pause:0", "pause:51", "pause:1us", "paus"):
        r = run("--port", "null:", "--poller", poller)
        tap.ok(r.rc == 2 and len(r.err.splitlines()) == 1 and f"'{poller}'" in r.err,
               f"--poller {poller!r}: wrong arguments", r)


def pauses(tap):
    """Policies that need a CPU instruction: refused without it, else accepted, and packets flow."""
    with open("/proc/cpuinfo") as f:
        has = "waitpkg" in f.read().split()
    for poller in "pause", "pause:50":
        for spec in "ring:", "null:no-rx=1":
            r = figures("--port", spec, "--carriers", 1, "--poller", poller, "--duration", 0.5,
                        "--tx-first", 1)
            if has:
                c = r.json["carriers"][0] if r.json else {}
                tap.ok(r.rc == 0 and (c["sleeps"] > 0 if "null" in spec
                                      else r.total("rx_packets") > 0), f"{spec} {poller}", r)
                continue
            lines = [l for l in r.err.splitlines() if "note:" not in l]
            tap.ok(r.rc == 2 and len(lines) == 1 and spec in lines[0] and "pause" in lines[0]
                   and "spin" in lines[0] and "sleep" in lines[0] and "CPU" in lines[0],
                   f"{spec} {poller}: refused on this CPU", r)


def quiet(tap, kind, poller):
    """Blocked: about one wait a second at most, and hardly any CPU time."""
    with Link(kind) as link, \
            Echo(ECHO, "--port", link.port, "--carriers", 2, "--poller", poller) as e:
        link.up(e)
        ask(20)
        before, began = cpu_seconds(e.process.pid), time.monotonic()
        time.sleep(QUIET)  # the time whose cost is measured
        share = (cpu_seconds(e.process.pid) - before) / (time.monotonic() - began)
        code, done = e.stop(signal.SIGTERM)
        took = time.monotonic() - began
        print(f"# {kind}, {poller}: {100 * share:.2f} % of a core when idle")
        # The kernel counts in hundredths of a second; the bound is 0.5 %.
        tap.ok(share < 0.02, f"{kind}, {poller}: idle costs nothing", share)
        sleeps = sum(c["sleeps"] for c in done["carriers"])
        tap.ok(code == 0 and sleeps < 20 * 4 + 20 * took,
               f"{kind}, {poller}: few waits, clean end", done)


def traced(args, seconds, directory):
    """The system calls of the carriers of a running program, for so long at least; and the time."""
    with Running(*args) as r:
        netns.wait_for(r.runs, "haul-fwd to run")
        threads = netns.carriers(r.process.pid)
        out = os.path.join(directory, "calls")
        strace = subprocess.Popen(["strace", "-f", "-o", out, "-p", str(r.process.pid)],
                                  stderr=subprocess.DEVNULL)
        began, reports = time.monotonic(), r.said().count(" s\n")
        time.sleep(seconds)  # calls are counted by the time
        netns.wait_for(lambda: r.said().count(" s\n") > reports + 1 and os.path.exists(out) and
                       os.path.getsize(out) > 0, "reports, and strace to see them")
        strace.send_signal(signal.SIGINT)
        strace.wait()
        took = time.monotonic() - began
        result = r.end()
    with open(out) as f:
        rows = [line.split(None, 1) for line in f]
    others = sum(tid not in threads for tid, _ in rows)
    made = [call.strip() for tid, call in rows if tid in threads]
    return result, len(threads), others, made, took


def system_calls(tap, directory):
    for spec in "null:", "ring:":
        result, threads, others, made, _ = traced(
            ["--port", spec, "--port", spec, "--carriers", 1, "--tx-first", 1], 1, directory)
        packets = result.total("rx_packets")
        print(f"# {spec}, spin, 1 s: {made}; {packets} packets; others {others} calls")
        tap.ok(threads == 1 and others > 0 and packets > 0 and not made,
               f"{spec} spinning makes no system call", made)
    if not netns.can_open(tap, "afxdp", "afxdp blocked"):
        return
    netns.veth("v0", "v1")
    result, threads, others, made, took = traced(
        ["--port", "afxdp:v0", "--carriers", 1, "--poller", "block"], 3, directory)
    print(f"# afxdp, block, idle, 3 s: {made}")
    tap.ok(threads == 1 and others > 0 and result.rc == 0 and len(made) < 5 * took,
           "afxdp blocked: few system calls", made)
    netns.ip("link del v0")


def deleted(tap, kind, how):
    """The interface disappears while the poller waits for it: a line, an end, no busy loop."""
    with Link(kind) as link, \
            Echo(ECHO, "--port", link.port, "--carriers", 2, "--poller", "block") as e:
        link.up(e)
        answered = ask(20)
        netns.ip(f"link {how[0]} {link.deleted} {how[1]}".strip())
        code, done = e.wait()
        lines = [l for l in e.stderr().splitlines() if link.port in l and "ready" not in l]
        sleeps = sum(c["sleeps"] for c in done["carriers"]) if done else -1
        print(f"# {lines}")
        tap.ok(answered == 20 and code == 1 and lines and done,
               f"{kind}: {' '.join(how).strip()}: says so and ends", e.stderr())
        tap.ok(0 < sleeps < 1000, f"{kind}: {' '.join(how).strip()}: no busy loop", sleeps)


def bounded(tap):
    """Sleeps are no longer than the fill time of the queues."""
    r = figures("--port", "tap:t0", "--carriers", 1, "--poller", "sleep:100000",
            "--packet-rate", 1000000, "--duration", 0.5)
    # 20 if they were as long as asked; 500 as long as a queue takes to fill, on idle CPUs.
    tap.ok(r.rc == 0 and r.json["carriers"][0]["sleeps"] > 60, "sleeps end before a queue "
           "overflows", r)
    r = figures("--port", "tap:t0", "--carriers", 1, "--poller", "sleep:100000",
            "--duration", 0.5)
    tap.ok(r.rc == 0 and 0 < r.json["carriers"][0]["sleeps"] < 60
           and "may lose packets" not in r.err, "no rate: as long as asked", r)
    r = figures("--port", "tap:t0", "--carriers", 1, "--poller", "sleep",
            "--packet-rate", 1000000000, "--duration", 0.2)
    tap.ok(r.rc == 0 and r.err.count("may lose packets") == 1, "no safe bound: one notice", r)


def main():
    tap = netns.Tap()
    with tempfile.TemporaryDirectory(prefix="haul") as directory:
        refused(tap, directory)
        pauses(tap)
        for kind in KINDS:
            if netns.can_open(tap, kind):
                quiet(tap, kind, "block")
        quiet(tap, "afpacket", "adaptive:100")
        system_calls(tap, directory)
    if netns.can_open(tap, "tap", "bounded sleeps"):
        bounded(tap)
    for kind in KINDS:
        if netns.can_open(tap, kind, f"{kind} deleted"):
            deleted(tap, kind, ("del", ""))
            deleted(tap, kind, ("set", "down"))
    tap.done()


if __name__ == "__main__":
    netns.enter()
    main()
