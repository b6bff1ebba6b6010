# SPDX-License-Identifier: BSD-3-Clause
"""Odd values for every option of every program: one line, exit code 1 or 2, at once.

Options of a kind share a parser, so each option gets some of the values, and the next option
others; all of them in a soak (tests/run --soak).

Usage: odd_args.py PROGRAM...
"""
import os
import re
import resource
import subprocess
import sys

import netns

ODD = ["", "-1", "+1", "0x10", "1e99", "1 2", "1\n2", "\x1b[31m", "%s%n", "é", b"\xff", "x" * 5000,
       "9" * 5000]
BASE = {"haul-fwd": ["--port", "null:"], "haul-echo": ["--port", "null:"], "haul-doctor": [],
        "haul-dns": ["--port", "null:", "--address", "10.9.9.2/24", "--upstream", "10.9.9.1",
                     "--duration", "0.1"],
        "haul-http": ["--duration", "0.1"], "haul-top": []}
SOAKS = float(os.environ.get("HAUL_STRESS_SECONDS", 0)) >= 1
EACH = len(ODD) if SOAKS else 4  # values for an option
# A name that does not exist is a finding, not an error; or the file would be made.
TAKES_ANY = {"--iface", "--eal", "--control", "--hist", "--capture", "--record-load", "--trace",
             "--record"}
RIGHT = {("--allow", ""), ("--capture-filter", ""), ("--rss-key", "1e99")}
MORE = {
    "haul-fwd": [
        ["--port=null:", "--port"], ["--port="], ["--port", " null:"], ["--"], ["-"], [""],
        ["--help=x"], ["--version=1"], ["--json="], ["--port", "null:", "more"],
        ["--port", "null:", "--carriers", "0-0-0"], ["--port", "null:", "--carriers", "1-0"],
        ["--port", "null:", "--carriers", "0-4294967296"],
        ["--port", "null:", "--poller", "pause:1:2"], ["--port", "null:", "--poller", "block:5"],
        ["--port", "null:", "--eth-peer", "99999999999999999999,02:00:00:00:00:01"],
        ["--port", "null:,"], ["--port", "null:="], ["--port", "\u202enull:"],
        ["--port", "net_null0;ls"], ["--port", "net_" + "n" * 300], ["--port", "x" * 100000],
        ["--port", "memif:role=server,socket=/dev/full"], ["--port", "memif:role=server,socket=/"],
        ["--port", "memif:role=server,socket=/proc/m"], ["--port", "vhost:/"],
        ["--port", "vhost:/proc/x"], ["--port", "virtio-user:/dev/null"],
        ["--port", "pcap:rx=/dev/zero"], ["--port", "pcap:rx=/proc/self/mem"],
        ["--port", "pcap:tx=/proc/none"], ["--port", "pci:../../x"], ["--" + "x" * 100000],
    ],
    "haul-echo": [
        ["--port", "null:", "--ip", ip] for ip in (
            "10.0.0.1", "10.0.0.1/33", "10.0.0.1/-1", "10.0.0.1/", "/24", "10.0.0.1/24/24",
            "010.0.0.1/24", "1,10.0.0.1/24")] + [
        ["--port", "null:", "--ip6", ip] for ip in (
            "fd09::2", "fd09::2/129", "fd09::2%lo/64", "1:2:3:4:5:6:7:8:9/64")],
    "haul-dns": [
        ["--port", "null:", "--upstream", "10.0.0.1", *more] for more in (
            [], ["--address", "10.0.0.1"], ["--address", "10.0.0.1/24@1"],
            ["--address", "10.0.0.1/24@"], ["--address", "kernel@0"], ["--address", "kernel"],
            ["--address", "fd00::1/129"], ["--address", "255.255.255.255/8"],
            ["--address", "10.0.0.2/24", "--address", "10.0.0.2/24"])] + [
        ["--port", "null:", "--address", "10.0.0.2/24", *more] for more in (
            [], ["--upstream", "10.0.0.1:0"], ["--upstream", "10.0.0.1:65536"],
            ["--upstream", "[fd00::1"], ["--upstream", "dns.example"],
            ["--upstreams", "/dev/null"], ["--upstreams", "/dev/zero"], ["--upstreams", "/"],
            *(["--upstream", "10.0.0.1", *wrong] for wrong in (
                ["--route", "0.0.0.0/0"], ["--route", "0.0.0.0/0=10.1.0.1"],
                ["--route", "=10.0.0.1"], ["--route", "0.0.0.0/0="], ["--route", "0=0@0"],
                ["--allow", "10.0.0.1/8"], ["--allow", "10.0.0.0/8 10.0.0.0/8"],
                ["--acl", "/dev/zero"], ["--acl", "/none"], ["--hosts", "/none"],
                ["--hosts", "/dev/zero"], ["--hosts", "/proc/self/status"],
                ["--tcp", "127.0.0.1:65536"], ["--tcp", "h:53"], ["--slip", "2"],
                ["--connections", "5"], ["--stale", "0", "--patience", "1s"])))],
    "haul-http": [
        ["--listen", a] for a in (
            "127.0.0.1", "127.0.0.1:", ":80", "127.0.0.1:65536", "[::1]:80", "h:80", "127.1:80",
            "127.0.0.1:80:80", "203.0.113.1:80")] + [
        ["--backend", a] for a in ("127.0.0.1", "localhost:80")] + [
        ["--root", f] for f in ("/none", "/dev/null")] + [
        ["--accept", "all"], ["--wait", "poll"], ["--connections", "0"], ["--json=1"], ["more"]],
    "haul-top": [
        [], ["--json"], ["--once", "--list"], ["--list", "--duration", "1"], ["--replay", "/none"],
        ["--replay", "/dev/zero", "--once"], ["--replay", "/", "--once", "--json"],
        ["--replay", "/none", "--pid", "1"], ["--replay", "/none", "--record", "/none"],
        ["--record", "/", "--once"], ["--record", "/none/none"], ["--view", "help"],
        ["--socket", "/dev/null", "--once"], ["--socket", "x" * 200, "--once"],
        ["--socket", "", "--once"], ["--name", "", "--once"], ["--pid", "4294967296", "--once"],
        ["more"]],
    "haul-doctor": [
        ["--machine", m] for m in (
            "/dev/zero", "/dev/null", "/", "pu:100000", "core:999999999", "pack:-1", "bogus:3")] + [
        ["--smt=1"], ["--carriers", "5", "--machine", "core:2"],
        ["--carriers", "7-7", "--machine", "core:2"], ["--near", "eth0", "--machine", "core:2"]],
}


def options(program):
    """The names of the options that take a value."""
    shown = subprocess.run([program, "--help"], capture_output=True, text=True).stdout
    return re.findall(r"^  (--[a-z0-9-]+) [A-Z0-9a-z|]+", shown.partition("Port specs")[0], re.M)


def odd_for(i):
    """The values for option number i."""
    return [ODD[(EACH * i + k) % len(ODD)] for k in range(EACH)]


def check(program, args):
    """"" or the error."""
    name = os.path.basename(program)
    try:
        r = subprocess.run([program, *args], stdin=subprocess.DEVNULL, capture_output=True,
                           timeout=60)
    except subprocess.TimeoutExpired:
        return "it does not end"
    line = netns.said(r.stderr.decode(errors="surrogateescape")).encode(
        errors="surrogateescape")[:-1]
    if r.returncode not in (1, 2) or r.stdout:
        return f"exit {r.returncode} {r.stderr} {r.stdout[:100]}"
    if not line.startswith(f"{name}: ".encode()) or len(line) > 1500 or \
            any(c < 32 or c == 127 for c in line):
        return f"not one plain line: {r.stderr}"
    return ""


def shown(args):
    # (that character would end the name of a test)
    return " ".join(ascii(a)[:40] for a in args)


netns.enter()
tap = netns.Tap()
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
for path in sys.argv[1:]:
    program = os.path.basename(path)
    lines = [[*BASE[program], o, v] for i, o in enumerate(options(path)) if o not in TAKES_ANY
             for v in odd_for(i)
             if (o != "--machine" or "1" not in ascii(v)) and (o, v) not in RIGHT]
    tap.ok(len(lines) > 10, f"{program}: its options are found", lines)
    for args in lines + MORE[program]:
        wrong = check(path, args)
        tap.ok(not wrong, f"{program} {shown(args)}", wrong)
tap.done()
