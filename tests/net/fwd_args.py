# SPDX-License-Identifier: BSD-3-Clause
"""Wrong command lines: exit code 2, one line on stderr that says what to do, nothing on stdout."""
import tempfile

import netns

import fwd

WRONG = [  # arguments, a part of the line
    ([], "--port"),
    (["--port"], "--port SPEC"),
    (["null:"], "options begin with --"),
    (["--port", "nul:"], "nul:"),
    (["--port", "null"], "null"),
    (["--prot", "null:"], "--prot"),
    (["--port", "tap:"], "tap:NAME"),
    (["--port", "tap:a-name-longer-than-15"], "tap:"),
    (["--port", "afpacket:nosuch0"], "nosuch0"),
    (["--port", "pcap:rx=/nonexistent/in.pcap"], "/nonexistent/in.pcap"),
    (["--port", "null:size=x"], "size"),
    (["--port", "null:", "--mode", "forward"], "io|mac|macswap|5tswap|"),
    (["--port", "null:", "--handler", "thread"], "burst|coroutine"),
    (["--port", "null:", "--burst", "0"], "1 to 512"),
    (["--port", "null:", "--burst", "513"], "1 to 512"),
    (["--port", "null:", "--burst", "-1"], "1 to 512"),
    (["--port", "null:", "--burst", "32x"], "1 to 512"),
    (["--port", "null:", "--burst", "99999999999999999999999"], "1 to 512"),
    (["--port", "null:", "--carriers", "0"], "--carriers"),
    (["--port", "null:", "--carriers", "1025"], "--carriers"),
    (["--port", "null:", "--carriers", "zero"], "zero"),
    (["--port", "null:", "--carriers", "0,9999"], "9999"),
    (["--port", "null:", "--carriers", ""], "--carriers"),
    (["--port", "null:", "--duration", "soon"], "1.5s or 2min"),
    (["--port", "null:", "--duration", "-1"], "1.5s or 2min"),
    (["--port", "null:", "--duration", "1m"], "1.5s or 2min"),
    (["--port", "null:", "--period", "1e30"], "1.5s or 2min"),
    (["--port", "null:", "--rxd", "0"], "1 to 32768"),
    (["--port", "null:", "--txd", "65536"], "1 to 32768"),
    (["--port", "null:", "--mbufs", "7"], "512 to"),
    (["--port", "null:", "--mp-alloc", "anon"], "packed|native"),
    (["--port", "null:", "--count-bytes", "yes"], "auto|on|off"),
    (["--port", "null:", "--stack-size", "100"], "4096 to 2088960"),
    (["--port", "null:", "--stack-size", "2088961"], "4096 to 2088960"),
    (["--port", "null:", "--size", "1519"], "64 to 1518"),
    (["--port", "null:", "--flows", "0"], "1 to 64512"),
    (["--port", "null:", "--mode", "mac", "--eth-peer", "0"], "MAC address"),
    (["--port", "null:", "--mode", "mac", "--eth-peer", "1,02:00:00:00:00:01"],
     "no port 1: 1 given"),
    (["--port", "null:", "--mode", "mac", "--eth-peer", "0,02:00:00:00:00"], "MAC address"),
    (["--port", "null:", "--eth-link-speed", "fast"], "Mbit/s"),
    (["--port", "null:", "--json=yes"], "no value"),
    (["--port", "null:"] * 33, "33 ports"),
    (["--port", "null:", "--eal", "--no-such-option"], "DPDK"),
]

netns.enter()
tap = netns.Tap()
for args, holds in WRONG:
    r = fwd.run(*args)
    # Since DPDK 25.11 EAL ends the program by itself, with status 234.
    by_eal = r.rc == 234 and "--eal" in args
    tap.ok((r.rc == 2 or by_eal) and r.err.count("\n") == 1 and r.err.startswith("haul-fwd: ") and
           holds in r.err and r.out == "", " ".join(args[:8]) or "no argument", r)

r = fwd.run("--help")
shown = [o for o in ("--port", "--mode", "--handler", "--carriers", "--burst", "--rxd", "--txd",
                     "--duration", "--period", "--json", "--stack-size", "--mbufs", "--eal",
                     "--size", "--flows") if f"  {o}" in r.out]
tap.ok(r.rc == 0 and r.err == "" and len(shown) == 15 and "default: 32" in r.out and
       "Examples:" in r.out, "--help names options, defaults and examples", r)
kinds = ("tap:", "afxdp:", "afpacket:", "memif:", "vhost:", "virtio-user:", "pcap:", "ring:",
         "null:", "pci:", "net_")
tap.ok(all(f"\n  {kind}" in r.out for kind in kinds), "--help explains each kind of port", r)
r = fwd.run("--port", "null:", "--burst", "4", "--help")
tap.ok(r.rc == 0 and "maximum of packets per poll (default: 32)" in r.out,
       "--help anywhere shows defaults, not what was given", r)
with tempfile.TemporaryDirectory() as d:
    r = fwd.figures("--port", f"memif:role=server,socket={d}/m,secret=hunter2", "--duration", "0.1",
                    "--verbose")
    tap.ok(r.rc == 0 and r.json["ports"][0]["spec"].endswith(",secret=***") and
           "hunter2" not in r.out + r.err, "a secret is not shown", r)
for layout in "packed", "native":
    r = fwd.figures("--port", "null:", "--mp-alloc", layout, "--mtu", 3000, "--packets", 1000)
    tap.ok(r.rc == 0 and r.total("rx_packets") >= 1000, f"--mp-alloc {layout}", r)
r = fwd.run("--version")
tap.ok(r.rc == 0 and r.out.startswith("haul-fwd ") and r.out.count("\n") == 1, "--version", r)
tap.done()
