#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""haul-doctor in a private network: it reports what is wrong, and its advice helps.

doctor.py PATH-OF-HAUL-DOCTOR
"""
import ctypes
import glob
import json
import os
import platform
import re
import resource
import socket
import struct
import subprocess
import sys
import tempfile

import netns

CHECKS = {
    "binding", "quota", "cache", "smt", "governor", "isolation", "clock", "timer-slack",
    "membarrier", "hypervisor", "memory", "huge-pages", "hugetlbfs", "guards", "mappings",
    "memlock", "privileges", "namespaces", "tun", "af-packet", "af-xdp", "bpffs", "version",
    "plugins", "drivers",
    # the cost of each poller kind
    "spin", "pause", "sleep", "block", "adaptive",
    # the poller kinds for each port kind
    "tap", "afxdp", "afpacket", "memif", "vhost", "virtio-user", "pcap", "ring", "null", "empty",
    "pci",
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
    for carriers, status, todo in ((1, "note", "ethtool -L v0 rx 1 tx 1"), (2, "ok", ""),
                                   (3, "note", "--carriers 2")):
        _, report = ask("--iface", "v0", "--carriers", str(carriers))
        finding = find(report, "queues", "v0")
        tap.ok(finding["status"] == status and finding["todo"] == todo,
               f"two queues for {carriers} carriers", finding)
    _, report = ask("--iface", "v0", "--carriers", "1")
    do(find(report, "queues", "v0"))
    _, report = ask("--iface", "v0", "--carriers", "1")
    tap.ok(find(report, "queues", "v0")["status"] == "ok", "one queue for one carrier")
    do({"todo": "ethtool -L v0 rx 2 tx 2"})


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
    r = run("--machine", "core:2", "--port", "null:")
    tap.ok(r.returncode == 2 and r.stderr.count("\n") == 1 and "--port has no effect" in r.stderr,
           "nor are its ports", r)
    _, report = ask("--machine", "pack:2 l3:4 core:8 pu:2", "--smt")
    tap.ok(len(report["plan"]["carriers"]) == 128, "with SMT siblings")
    _, report = ask("--machine", "pack:2 l3:4 core:8 pu:2", "--carriers", "5,3")
    tap.ok([c["cpu"] for c in report["plan"]["carriers"]] == [5, 3], "on CPUs of its own")
    _, report = ask("--carriers", "1000")
    finding = find(report, "binding")
    tap.ok(finding["status"] == "note" and "float" in finding["says"], "too many carriers", finding)


def test_wrong_arguments():
    for args in (["--carriers", "x"], ["--carriers", "0"], ["--carriers", "1025"], ["--carriers"],
                 ["--bogus"], ["stray"], ["--carriers", "0,0"],
                 ["--carriers", "65000-65000"], ["--carriers", "1-"],
                 ["--machine", "core:x"], ["--machine", "/none.xml"], ["--near", "haul-none"],
                 ["--carriers", "0-0", "--near", "lo"], ["--json=1"], ["--iface"]):
        r = run(*args)
        tap.ok(r.returncode == 2 and not r.stdout and r.stderr.count("\n") == 1 and
               r.stderr.startswith("haul-doctor: "), f"wrong: {' '.join(args)}", r)


def test_help():
    r = run("--help")
    tap.ok(r.returncode == 0 and not r.stderr and "--machine" in r.stdout, "--help")
    with open("/dev/full", "w") as full:
        r = subprocess.run([doctor], stdout=full, stderr=subprocess.PIPE, text=True)
    tap.ok(r.returncode == 1 and r.stderr.count("\n") == 1, "a full disk is told", r)


def ask_ports(*specs, **options):
    """The exit code, and for each spec its findings by the names of their checks."""
    args = [a for spec in specs for a in ("--port", spec)]
    r = subprocess.run([doctor, "--json", *args], capture_output=True, text=True, **options)
    found = json.loads(r.stdout)["findings"]
    return r.returncode, [{f["check"]: f for f in found if f["port"] == spec} for spec in specs]


def say(*wanted, **options):
    """Each of wanted is a spec, a check, its status, and a part of what it says. Returns the
    findings. A problem has a remedy, and fails the whole."""
    code, ports = ask_ports(*dict.fromkeys(w[0] for w in wanted), **options)
    by_spec = dict(zip(dict.fromkeys(w[0] for w in wanted), ports))
    found = []
    for spec, check, status, part in wanted:
        f = by_spec[spec].get(check, {"status": "none", "says": "", "todo": ""})
        tap.ok(f["status"] == status and part in f["says"] and
               (status != "problem" or code == 1 and f["todo"]),
               f"{spec}: {check}: {status} {part}", f)
        found.append(f)
    return found


def says(spec, check, status, part="", **options):
    return say((spec, check, status, part), **options)[0]


def without(capability, memlock=None):
    """For a child that is root without it."""
    libc = ctypes.CDLL(None, use_errno=True)

    def drop():
        if libc.prctl(24, capability, 0, 0, 0) < 0:  # PR_CAPBSET_DROP
            raise OSError(ctypes.get_errno(), "prctl")
        if memlock:
            resource.setrlimit(resource.RLIMIT_MEMLOCK, (memlock, memlock))
    return drop


def test_port_kinds():
    """Each kind that --help lists can be asked about, and so can a driver of DPDK."""
    shown = run("--help").stdout.partition("Port specs")[2].partition("\n\n")[0]
    kinds = re.findall(r"^  ([\w-]+):", shown, re.M)
    tap.ok(set(kinds) <= CHECKS and len(kinds) > 8, "the kinds of ports", kinds)
    missing = find(ask()[1], "drivers")["says"].partition("missing for")[2].split()
    say(*((kind, "driver", "problem" if f"{kind}:" in missing else "ok", "") for kind in kinds))
    _, report = ask("--port", "tap", "--port", "null:", "--port", "net_null7")
    ports = [f["port"] for f in report["findings"] if f["check"] == "driver"]
    tap.ok(ports == ["tap", "null:", "net_null7"], "several", ports)
    tap.ok(not any(f["interface"] for f in report["findings"]), "and no interfaces unasked")
    code, found = ask_ports("null:", "ring:x")
    tap.ok([set(f) for f in found] == [{"driver"}] * 2, "null and ring need their driver only")
    tap.ok(code == ask()[0], "and have no problems of their own")
    say(("net_nothing0", "driver", "note", "net_nothing"),
        ("net_nothing0,nosuch=1", "driver", "note", "net_nothing"),
        ("net_null0,nosuch=1", "arguments", "problem", "net_null takes no nosuch="),
        ("net_null0,size=64,copy=1,no-rx=0,nosuch", "arguments", "problem", "nosuch="))
    for spec in "net_null0,size=64,copy=1,no-rx=0", "net_tap0,iface=t0,mac=fixed,remote=lo":
        found = ask_ports(spec)[1]
        tap.ok("arguments" not in found[0], f"{spec}: the driver's own arguments", found)
    text = run("--port", "tap:t0", "--port", "null:").stdout
    tap.ok("\nPort tap:t0\n" in text and "\nPort null:\n" in text, "as text", text)
    for spec in "", "bogus", "bogus:", "tap:a/b", "tap:t0,foo=1", "null:size=1", \
            "tap:" + "x" * 600, "afpacket:lo,framecnt=3":
        r = run("--port", spec)
        tap.ok(r.returncode == 2 and not r.stdout and r.stderr.count("\n") == 1 and
               "port '" in r.stderr, f"wrong: {spec[:20]}", r)


def test_no_plugins():
    """The remedy for one plugin is of the same kind as that for all."""
    place = find(ask()[1], "plugins")["says"].removeprefix("in ")
    if not os.path.isdir(place):
        tap.skip("no plugins", "DPDK is linked into the program")
        return
    with tempfile.TemporaryDirectory() as empty:
        subprocess.run(["mount", "--bind", empty, place], check=True)
        _, report = ask("--port", "tap")
        subprocess.run(["umount", place], check=True)
    wanted = find(report, "plugins")["todo"], find(report, "driver")["todo"]
    of_debian = [re.search("apt install librte-", todo) is not None for todo in wanted]
    tap.ok(of_debian == [place.startswith("/usr/lib/")] * 2, "packages of Debian's DPDK only",
           wanted)
    tap.ok(find(report, "driver")["says"] == f"there is no plugin net_tap in {place}",
           "where a plugin was looked for", find(report, "driver"))


def test_port_tap():
    if find(ask()[1], "tun")["status"] != "ok":
        return tap.skip("tap ports", "no /dev/net/tun here")
    netns.ip("tuntap add dev one mode tap")
    netns.ip("tuntap add dev many mode tap multi_queue")
    say(("tap", "tun", "ok", ""), ("tap:t0", "name", "ok", "t0 is free"),
        ("tap:v0", "name", "problem", "v0 that is no TAP"),
        ("net_tap0,iface=v0", "name", "problem", "v0 that is no TAP"),
        ("tap:one", "name", "problem", "no TAP with several queues"),
        ("tap:many", "name", "ok", "that no program uses"))


def test_port_interfaces():
    ports = "afpacket:v0", "afxdp:v0"

    def both(check, *statuses):
        """The remedies of both kinds help."""
        found = say(*((port, check, status, "") for port, status in zip(ports, statuses)))
        for f in found:
            do(f)
        netns.wait_up("v0")
        say(*((port, check, "ok", "") for port in ports))

    for check in "link", "mtu", "offloads":
        say(*((port, check, "ok", "") for port in ports))
    netns.ip("link set v0 down")
    both("link", "problem", "problem")
    netns.ip("link set v0 mtu 9000")
    both("mtu", "note", "problem")
    do({"todo": "ethtool -K v1 tx on tso on"})
    both("offloads", "note", "problem")
    netns.ip("link set v0 mtu 1900")
    say((ports[0], "mtu", "ok", "1900"), (ports[1], "mtu", "note", "more than 1778"),
        (ports[1], "mode", "ok", "veth"), ("pcap:iface=v0", "link", "ok", "veth"),
        *((f"{kind}haul-none", "link", "problem", "no such interface")
          for kind in ("afpacket:", "afxdp:", "pcap:iface=")))
    netns.ip("link set v0 mtu 1500")


def test_port_privileges():
    if find(ask()[1], "af-xdp")["status"] != "ok":
        return tap.skip("capabilities of afxdp", "no AF_XDP here")
    says("afxdp", "capabilities", "ok")
    for capability, name, specs in (
            (12, "NET_ADMIN", ("tap", "afpacket", "afxdp")),
            (13, "NET_RAW", ("afpacket", "afxdp", "pcap:iface=v0")), (21, "SYS_ADMIN", ("afxdp",))):
        for f in say(*((spec, "capabilities", "problem", "CAP_" + name) for spec in specs),
                     preexec_fn=without(capability)):
            tap.ok(f"--cap-add={name}" in f["todo"], "and the remedy", f)
    says("afpacket", "af-packet", "problem", preexec_fn=without(13))
    says("afxdp", "memlock", "ok", preexec_fn=without(12, 65536))
    says("afxdp", "memlock", "problem", "64 KiB", preexec_fn=without(14, 65536))
    # A capability of a user namespace that does not own the network is none.
    if subprocess.run(["unshare", "-r", "true"], stderr=subprocess.DEVNULL).returncode:
        return tap.skip("root of another user namespace", "not allowed here")
    r = subprocess.run(["unshare", "-r", doctor, "--json", "--port", "tap"], capture_output=True,
                       text=True)
    f = next(f for f in json.loads(r.stdout)["findings"] if f["check"] == "capabilities")
    tap.ok(f["status"] == "problem" and "unshare -rn" in f["todo"],
           "root of another user namespace", f)


def test_port_sockets(directory):
    d = directory
    with open(f"{d}/file", "w"):
        pass
    for spec in "vhost:%s", "memif:role=server,socket=%s":
        missing = spec % f"{d}/{spec[0]}/s"
        do(say((missing, "socket", "problem", "No such file"),
               (spec % f"{d}/s", "socket", "ok", "can be made"),
               (spec % f"{d}/{'x' * 120}", "socket", "problem", "more than 107 characters"),
               (spec % f"{d}/file", "socket", "problem", "is no socket"))[0])
        says(missing, "socket", "ok")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"{d}/s")
    listener.listen()
    clients = f"virtio-user:{d}/s", f"memif:role=client,socket={d}/s"
    servers = f"vhost:{d}/s", f"memif:role=server,socket={d}/s"
    say((f"vhost:{d}/s,client=1", "socket", "ok", "a program listens"),
        *((spec, "socket", "ok", "a program listens") for spec in clients),
        *((spec, "socket", "problem", "another program listens") for spec in servers))
    listener.close()
    say((f"vhost:{d}/t,client=1", "socket", "ok", "waits"),
        ("memif:role=boss,socket=/m", "socket", "problem", "role="),
        ("virtio-user:/dev/vhost-net", "socket", "problem", "is no socket"),
        (f"net_virtio_user0,path={d}/t", "vhost-net", "problem", "no program listens"),
        *((spec, "socket", "problem", "no program listens") for spec in clients),
        *((spec, "socket", "ok", "left by a program") for spec in servers))
    found = ask_ports("memif", "vhost", "virtio-user")[1]
    tap.ok([set(f) for f in found] == [{"driver"}] * 3, "no path, nothing about one", found)
    found = ask_ports("net_virtio_user0,path=/dev/vhost-net")[1][0]
    tap.ok({"vhost-net", "tun", "capabilities"} <= set(found) and
           (found["vhost-net"]["status"] == "ok") == os.path.exists("/dev/vhost-net") or
           os.geteuid() != 0, "vhost of the kernel", found)
    spec = f"memif:role=server,socket={d}/m,secret=hunter2"
    for text in run("--port", spec).stdout, run("--json", "--port", spec).stdout:
        tap.ok("hunter2" not in text and "secret=***" in text, "a secret is not shown", text)


def test_port_files(directory):
    for name, order, link in (("good", "<", 1), ("swapped", ">", 1), ("raw", "<", 101)):
        with open(f"{directory}/{name}", "wb") as f:
            f.write(struct.pack(order + "IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, link))
    os.mkfifo(f"{directory}/fifo")
    d = directory
    say((f"pcap:rx={d}/good", "rx", "ok", "Ethernet"), (f"pcap:rx={d}/swapped", "rx", "ok", ""),
        (f"pcap:rx={d}/none", "rx", "problem", "No such file"),
        (f"pcap:rx={d}/raw", "rx", "problem", "link type 101"),
        (f"pcap:rx={d}/fifo", "rx", "problem", "no pcap file"),
        (f"pcap:rx={d}/file", "rx", "problem", "no pcap file"),
        (f"pcap:tx={d}/new", "tx", "ok", "can be written"),
        (f"pcap:tx={d}/good", "tx", "ok", "overwritten"),
        (f"pcap:tx={d}/none/new", "tx", "problem", "cannot be written"))
    tap.ok(not os.path.exists(f"{directory}/new") and os.path.getsize(f"{directory}/good") == 24,
           "nothing is made or changed")


def test_port_pci():
    say(("pci:ffff:ff:1f.7", "device", "problem", "no PCI device ffff:ff:1f.7"),
        ("pci:../../x", "device", "problem", "no PCI device"))
    tap.ok({"iommu", "vfio", "memory"} <= set(ask_ports("pci")[1][0]), "of the machine")
    for path in glob.glob("/sys/bus/pci/devices/*")[:8]:
        with open(path + "/class") as f:
            network = f.read().startswith("0x02")
        address = os.path.basename(path)
        says(f"pci:{address}", "device", "ok" if network else "problem")
        if network and address.startswith("0000:"):
            says(f"pci:{address[5:]}", "device", "ok", address)


def fake_nic(folder, address, driver, node):
    """A device as the kernel shows it, without the device."""
    device = f"{folder}/{address}"
    os.makedirs(f"{device}/net/eth7" if driver != "vfio-pci" else device)
    os.symlink(f"../../drivers/{driver}", f"{device}/driver")
    if driver != "none":
        os.symlink("../../../kernel/iommu_groups/4321", f"{device}/iommu_group")
    for name, text in ("class", "0x020000"), ("numa_node", str(node)):
        with open(f"{device}/{name}", "w") as f:
            f.write(text + "\n")


def test_fake_nics():
    folder = "/sys/bus/pci/devices"
    if not os.path.isdir(folder) or not netns.mount("tmpfs", folder):
        tap.skip("NICs of the kernel, of vfio, and far away", "nothing can be mounted there")
        return
    fake_nic(folder, "0000:01:00.0", "ixgbe", 7)
    fake_nic(folder, "0000:02:00.0", "vfio-pci", -1)
    found = say(("pci:01:00.0", "device", "ok", "0000:01:00.0"),
                ("pci:01:00.0", "binding", "problem", "interface eth7"),
                ("pci:0000:02:00.0", "binding", "ok", "vfio-pci"),
                ("pci:0000:02:00.0", "vfio", "problem", "/dev/vfio/4321"),
                ("pci:0000:02:00.0", "node", "ok", "no NUMA node"))
    tap.ok("dpdk-devbind.py -b vfio-pci 0000:01:00.0" in found[1]["todo"], "how to bind it", found)
    _, (kernels, vfios) = ask_ports("pci:01:00.0", "pci:0000:02:00.0")
    tap.ok(kernels["node"]["status"] == "ok" or "--near 0000:01:00.0" in kernels["node"]["todo"],
           "a far node", kernels)
    tap.ok(all("pmd" not in f and f["irqs"]["status"] in ("ok", "note") and
               (f["irqs"]["status"] == "ok") == (f["irqs"]["todo"] == "")
               for f in (kernels, vfios)), "NICs that no PMD can have are not opened", vfios)
    fake_nic(folder, "0000:03:00.0", "none", -1)
    if netns.mount("tmpfs", "/sys/module"):
        says("pci:0000:03:00.0", "iommu", "problem", "none: turn it on")
        os.mkdir("/sys/module/vfio")
        says("pci:0000:03:00.0", "iommu", "problem", "CONFIG_VFIO_NOIOMMU")
        netns.unmount("/sys/module")
    netns.unmount(folder)


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
test_port_kinds()
test_no_plugins()
test_port_tap()
test_port_interfaces()
test_port_privileges()
with tempfile.TemporaryDirectory() as temporary:
    test_port_sockets(temporary)
    test_port_files(temporary)
test_port_pci()
test_fake_nics()
tap.done()
