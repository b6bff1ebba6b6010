#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""haul-doctor in a private network: it reports what is wrong, and its advice helps.

doctor.py PATH-OF-HAUL-DOCTOR
"""
import ctypes
import json
import platform
import re
import struct
import subprocess
import sys

import netns

CHECKS = {
    "binding", "quota", "cache", "smt", "governor", "isolation", "clock", "timer-slack",
    "membarrier", "hypervisor", "memory", "huge-pages", "hugetlbfs", "guards", "mappings",
    "memlock", "privileges", "namespaces", "tun", "af-packet", "af-xdp", "bpffs", "version",
    "plugins", "drivers",
    # the cost of each poller kind
    "spin", "pause", "sleep", "block", "adaptive",
    # the poller kinds for each port kind
    "tap", "afxdp", "afpacket", "memif", "vhost", "virtio-user", "pcap", "ring", "null", "pci",
}
IFACE_CHECKS = {"link", "mtu", "queues", "offloads", "xdp"}
LINE = re.compile(r"^  (ok     |note   |problem)  (\S+) +\S")

doctor = sys.argv[1]
tap = netns.Tap()


def run(*args):
    return subprocess.run([doctor, *args], capture_output=True, text=True)


def ask(*args):
    """The exit code and the object of --json."""
    r = run("--json", *args)
    return r.returncode, json.loads(r.stdout)


def find(report, check, iface=None):
    found = [f for f in report["findings"] if f["check"] == check and f["interface"] == iface]
    return found[0] if len(found) == 1 else None


def do(finding):
    """Runs the advice, as a reader would copy it."""
    subprocess.run(finding["todo"], shell=True, check=True, stdout=subprocess.DEVNULL)


def test_json():
    code, report = ask()
    counts = {s: sum(f["status"] == s for f in report["findings"])
              for s in ("ok", "note", "problem")}
    names = {f["check"] for f in report["findings"] if f["interface"] is None}
    tap.ok(names == CHECKS, "each check has one finding", names ^ CHECKS)
    tap.ok(sum(counts.values()) == len(report["findings"]), "no other status")
    tap.ok(counts["problem"] == report["problems"] and counts["note"] == report["notes"],
           "the counts are right", counts)
    tap.ok(code == (1 if counts["problem"] else 0), "exit code follows from problems", code)
    tap.ok(all(f["says"] for f in report["findings"]), "each finding says something")
    tap.ok(all("\n" not in f["says"] + f["todo"] for f in report["findings"]), "in one line each")
    ids = [c["id"] for c in report["plan"]["carriers"]]
    tap.ok(ids == list(range(len(ids))) and ids, "the plan has carriers", ids)


def test_costs():
    _, report = ask()
    costs = report["costs"]
    numbers = ("round_ns", "late_1us_ns", "late_50us_ns", "wake_p50_ns", "wake_p90_ns", "waker_ns",
               "wait_cpu_ns")
    if "epoll_pwait2" in find(report, "sleep")["says"]:
        numbers = numbers[:1]
    tap.ok(all(costs[n] > 0 for n in numbers), "each cost is measured", costs)
    tap.ok(costs.get("wake_p50_ns", 0) <= costs.get("wake_p90_ns", 0), "quantiles in order", costs)
    cpus = [c["cpu"] for c in report["plan"]["carriers"]]
    tap.ok(costs["cpu"] == cpus[0] and costs["waker_cpu"] in cpus[1:2] + [-1],
           "on CPUs of the plan", costs)
    with open("/proc/cpuinfo") as f:
        has = "waitpkg" in f.read().split()
    tap.ok(costs["has_pause"] == has
           and ("pause" in find(report, "tap")["says"]) == has, "pause as the CPU has it", costs)
    _, report = ask("--machine", "core:4 pu:1")
    tap.ok(report["costs"] is None, "another machine's costs are not measured", report["costs"])
    again = ask()[1]["costs"]
    tap.ok(again != costs, "measured anew each time", again)


def test_text():
    r = run()
    lines = r.stdout.splitlines()
    wide = [s for s in lines if len(s) > 80 and "->" not in s]
    tap.ok(not wide, "80 columns suffice", "\n".join(wide))
    findings = [s for s in lines if LINE.match(s)]
    columns = {len(re.match(r"  \S+ +\S+ +", s)[0]) for s in findings}
    tap.ok(columns == {25}, "texts stand below each other", columns)
    _, report = ask()
    tap.ok(len(findings) == len(report["findings"]), "text and JSON have the same findings")
    tap.ok("\033" not in r.stdout, "no colours in a file")


def healed(name, check, iface, spoil):
    """spoil makes the finding a problem of a requested interface, its todo repairs it again."""
    code, report = ask("--iface", iface)
    tap.ok(find(report, check, iface)["status"] == "ok", f"{name}: ok before", report)
    spoil()
    code, report = ask("--iface", iface)
    finding = find(report, check, iface)
    tap.ok(finding["status"] == "problem" and code == 1, f"{name}: a problem", finding)
    _, report = ask()
    tap.ok(find(report, check, iface)["status"] != "problem", f"{name}: none if not asked for")
    do(finding)
    code, report = ask("--iface", iface)
    tap.ok(find(report, check, iface)["status"] == "ok", f"{name}: healed by advice", report)


def test_interface():
    for end in "v0", "v1":
        for feature in "tx", "tso", "gso", "gro":
            # Segmentation wants checksums, so tx goes on with both.
            on = f"tx on {feature} on" if feature in ("tso", "gso") else f"{feature} on"
            healed(f"{feature} on at {end}", "offloads", "v0",
                   lambda end=end, on=on: do({"todo": f"ethtool -K {end} {on}"}))
    healed("tso on at both ends", "offloads", "v0", lambda: do(
        {"todo": "ethtool -K v0 tx on tso on; ethtool -K v1 tx on tso on"}))
    healed("mtu", "mtu", "v0", lambda: netns.ip("link set v0 mtu 9000"))
    healed("down", "link", "v0", lambda: netns.ip("link set v0 down"))
    healed("other end down", "link", "v0", lambda: netns.ip("link set v1 down"))
    _, report = ask("--iface", "v0", "--iface", "v1")
    ifaces = [f["interface"] for f in report["findings"] if f["check"] == "link"]
    tap.ok(ifaces == ["v0", "v1"], "those asked for, and no others", ifaces)
    names = {f["check"] for f in report["findings"] if f["interface"] == "v1"}
    tap.ok(names == IFACE_CHECKS, "each check has a finding of it", names ^ IFACE_CHECKS)


def test_queues():
    for carriers, status, todo in ((1, "note", "ethtool -L v0 rx 1"), (2, "ok", ""),
                                   (3, "note", "--carriers 2")):
        _, report = ask("--iface", "v0", "--carriers", str(carriers))
        finding = find(report, "queues", "v0")
        tap.ok(finding["status"] == status and finding["todo"] == todo,
               f"two queues for {carriers} carriers", finding)
    _, report = ask("--iface", "v0", "--carriers", "1")
    do(find(report, "queues", "v0"))
    _, report = ask("--iface", "v0", "--carriers", "1")
    tap.ok(find(report, "queues", "v0")["status"] == "ok", "one queue for one carrier")
    do({"todo": "ethtool -L v0 rx 2"})


def bpf(cmd, attr):
    libc = ctypes.CDLL(None, use_errno=True)
    number = {"x86_64": 321, "aarch64": 280}[platform.machine()]
    buf = ctypes.create_string_buffer(attr, 128)
    fd = libc.syscall(number, cmd, buf, len(buf))
    if fd < 0:
        raise OSError(ctypes.get_errno(), "bpf")
    return fd


def test_xdp():
    """A program that passes every packet (r0 = 2; exit), pinned, so that ip can attach it."""
    path = ctypes.create_string_buffer(b"/sys/fs/bpf/haul-doctor")
    code = ctypes.create_string_buffer(struct.pack("<BBhi", 0xb7, 0, 0, 2) +
                                       struct.pack("<BBhi", 0x95, 0, 0, 0))
    licence = ctypes.create_string_buffer(b"BSD")
    try:
        fd = bpf(5, struct.pack("=IIQQ", 6, 2, ctypes.addressof(code), ctypes.addressof(licence)))
        bpf(6, struct.pack("=QI", ctypes.addressof(path), fd))
    except (OSError, KeyError) as e:
        return tap.skip("xdp", f"no XDP program here: {e}")
    healed("xdp program", "xdp", "v0",
           lambda: netns.ip("link set dev v0 xdp pinned /sys/fs/bpf/haul-doctor"))


def test_no_such_interface():
    code, report = ask("--iface", "haul-none")
    names = {f["check"] for f in report["findings"] if f["interface"] == "haul-none"}
    tap.ok(code == 1 and find(report, "link", "haul-none")["status"] == "problem",
           "an interface that is not there")
    tap.ok(names == {"link"}, "and nothing more is said of it", names)
    tap.ok(find(report, "link", "haul-none")["todo"] != "", "but what to do")


def test_bpffs():
    _, report = ask()
    if find(report, "bpffs")["status"] != "ok":
        return tap.skip("bpffs", "not mounted here")
    subprocess.run(["umount", "/sys/fs/bpf"], check=True)
    _, report = ask()
    finding = find(report, "bpffs")
    tap.ok(finding["status"] == "note", "bpffs: a note when it is not mounted", finding)
    do(finding)
    _, report = ask()
    tap.ok(find(report, "bpffs")["status"] == "ok", "bpffs: healed by its own advice")


def test_what_if():
    code, report = ask("--machine", "pack:2 l3:4 core:8 pu:2")
    tap.ok(code == 0 and report["findings"] == [], "another machine is not checked")
    tap.ok(len(report["plan"]["carriers"]) == 64 and report["plan"]["clusters"] == 8,
           "but planned for")
    _, report = ask("--machine", "pack:2 l3:4 core:8 pu:2", "--smt")
    tap.ok(len(report["plan"]["carriers"]) == 128, "with SMT siblings")
    _, report = ask("--machine", "pack:2 l3:4 core:8 pu:2", "--cpus", "5,3", "--carriers", "3")
    tap.ok([c["cpu"] for c in report["plan"]["carriers"]] == [5, 3, -1], "on CPUs of its own")
    tap.ok("float" in report["plan"]["notice"], "with a notice")
    _, report = ask("--carriers", "1000")
    finding = find(report, "binding")
    tap.ok(finding["status"] == "note" and "float" in finding["says"], "too many carriers", finding)


def test_wrong_arguments():
    for args in (["--carriers", "x"], ["--carriers", "0"], ["--carriers", "1025"], ["--carriers"],
                 ["--bogus"], ["stray"], ["--cpus", "0,0"], ["--cpus", "65000"], ["--cpus", "1-"],
                 ["--machine", "core:x"], ["--machine", "/none.xml"], ["--near", "haul-none"],
                 ["--cpus", "0", "--near", "lo"], ["--json=1"], ["--iface"]):
        r = run(*args)
        tap.ok(r.returncode == 2 and not r.stdout and r.stderr.count("\n") == 1 and
               r.stderr.startswith("haul-doctor: "), f"wrong: {' '.join(args)}", r)


def test_help():
    r = run("--help")
    tap.ok(r.returncode == 0 and not r.stderr and "--machine" in r.stdout, "--help")
    with open("/dev/full", "w") as full:
        r = subprocess.run([doctor], stdout=full, stderr=subprocess.PIPE, text=True)
    tap.ok(r.returncode == 1 and r.stderr.count("\n") == 1, "a full disk is told", r)


netns.enter()
netns.veth("v0", "v1", queues=2)
test_json()
test_costs()
test_text()
test_interface()
test_queues()
test_xdp()
test_no_such_interface()
test_bpffs()
test_what_if()
test_wrong_arguments()
test_help()
tap.done()
