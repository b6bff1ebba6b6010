# SPDX-License-Identifier: BSD-3-Clause
"""haul-fwd with more receive queues than carriers, and carriers in the words of testpmd."""
import os

import netns

import fwd

FLOWS = 400
AT_ONCE = 100  # below the capacity of a queue

netns.enter()
tap = netns.Tap()
cpus = sorted(os.sched_getaffinity(0))


def flow(n):
    """A UDP packet of flow n, without a checksum."""
    head = bytes([0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17, 0, 0, 10, 9, n >> 8, n & 255, 10, 9, 0, 1])
    total = fwd.checksum(head)
    head = head[:10] + (total ^ 0xFFFF).to_bytes(2, "big") + head[12:]
    udp = (1024 + n).to_bytes(2, "big") + b"\0\x09\0\x1a\0\0"
    macs = bytes.fromhex("020000000001020000000002")
    return macs + b"\x08\0" + head + udp + n.to_bytes(18, "big")


flows = [flow(n) for n in range(FLOWS)]


def queues(r, port=0):
    """Packets received by queue, and the carrier of each."""
    got, carriers = {}, {}
    for part in r.port(port)["queues"]:
        for q in part["rx_queues"]:
            got[q["queue"]] = q["rx_packets"]
            carriers[q["queue"]] = part["carrier"]
    return got, carriers


def check_echo(name, r, back, want):
    got, carriers = queues(r)
    tap.ok(r.rc == 0 and sorted(back) == sorted(fwd.swapped(flows)) and r.dropped() == 0,
           f"{name}: all flows come back", (len(back), r))
    tap.ok(sum(got.values()) == FLOWS == r.port(0)["rx_packets"] and
           len([n for n in got.values() if n > 0]) > 1, f"{name}: over several queues", (got, r))
    tap.ok(carriers == want, f"{name}: the carriers of the queues", carriers)


FOUR_ON_TWO = {0: 0, 1: 1, 2: 0, 3: 1}
FOUR_ON_ONE = {0: 0, 1: 0, 2: 0, 3: 0}
netns.veth("v0", "v1")
wire = netns.Raw("v1")
for carriers, want in (1, FOUR_ON_ONE), (2, FOUR_ON_TWO):
    for how in ("burst", "spin"), ("coroutine", "spin"), ("burst", "block"), ("coroutine", "block"):
        name = f"4 queues on {carriers}, {how[0]}, {how[1]}"
        args = "--rxq", 4, "--nb-cores", carriers, "--mode", "macswap", "--handler", how[0], \
            "--poller", how[1]
        with fwd.Running("--port", "afpacket:v0", *args) as haul:
            netns.wait_for(haul.runs, "haul-fwd to run")
            back = fwd.exchange(flows, wire, wire, AT_ONCE)
            r = haul.end()
        check_echo(f"afpacket, {name}", r, back, want)
        if how[1] == "spin" and netns.can_open(tap, "tap", name):
            with fwd.Running("--port", "tap:t0", *args) as haul:
                netns.wait_for(lambda: haul.runs() and netns.exists("t0"), "t0")
                netns.wait_up("t0")
                end = netns.Raw("t0")
                back = fwd.exchange(flows, end, end, AT_ONCE)
                end.close()
                r = haul.end()
            check_echo(f"tap, {name}", r, back, want)

with fwd.Running("--port", "afpacket:v0", "--rxq", 3, "--carriers", 2, "--mode", "macswap",
                 "--txq", 2) as haul:
    netns.wait_for(haul.runs, "haul-fwd to run")
    back = fwd.exchange(flows, wire, wire, AT_ONCE)
    r = haul.end()
check_echo("afpacket, 3 queues on 2", r, back, {0: 0, 1: 1, 2: 0})

if netns.can_open(tap, "afxdp", "4 devices on 2 carriers"):
    netns.veth("x0", "x1", queues=4)
    end = netns.Raw("x1")
    with fwd.Running("--port", "afxdp:x0", "--rxq", 4, "--carriers", 2, "--mode", "macswap",
                     "--mbufs", 32768) as haul:
        netns.wait_for(haul.runs, "haul-fwd to run")
        back = fwd.exchange(flows, end, end, AT_ONCE)
        r = haul.end()
    got, carriers = queues(r)
    tap.ok(r.rc == 0 and sorted(back) == sorted(fwd.swapped(flows)) and
           carriers == FOUR_ON_TWO, "afxdp: 4 devices on 2 carriers", (len(back), got, r))
    end.close()

for args, want in ((["--rxq", "4", "--carriers", "2"], FOUR_ON_TWO),
                   (["--rxq", "4", "--carriers", "1", "--handler", "coroutine"], FOUR_ON_ONE),
                   (["--rxq", "5", "--nb-cores", "2", "--poller", "sleep"], None)):
    r = fwd.figures("--port", "null:", "--port", "null:", *args, "--duration", "0.3")
    got, carriers = queues(r, 1)
    tap.ok(r.rc == 0 and all(got.values()) and sum(got.values()) == r.port(1)["rx_packets"] and
           (want is None or carriers == want), f"null, {' '.join(args)}: each queue receives",
           (got, carriers, r))
    total = sum(c["rx_packets"] for c in r.json["carriers"])
    tap.ok(total == r.total("rx_packets"), f"null, {' '.join(args)}: the sums agree", r)
r = fwd.figures("--port", "null:", "--rxq", 4, "--carriers", 1, "--capture", "/dev/null",
                "--capture-direction", "rx", "--duration", "0.3")
tap.ok(r.rc == 0 and r.json["capture"]["captured"] + r.json["capture"]["dropped"] ==
       r.total("rx_packets") > 0, "a capture has the frames of all queues", r)
text = fwd.run("--port", "null:", "--rxq", "4", "--carriers", "2", "--duration", "0.3")
tap.ok(text.rc == 0 and "queues 0, 2" in text.out and "queues 1, 3" in text.out,
       "the report names the queues of a carrier", text)

# Carriers as testpmd users type them.
first, last = cpus[0], cpus[-1]
for args, want in ((["-l", f"{first},{last}"], [last]), (["-l", f"{last}"], [last]),
                   (["--lcores", f"0@{last},1@{first}"], [first]),
                   (["--lcores", f"1@{first},0@{last}"], [first]),
                   (["-l", f"{first},{last}", "--nb-cores", "1"], [last])):
    r = fwd.figures("--port", "null:", *args, "--duration", "0.1")
    tap.ok(r.rc == 0 and [c["cpu"] for c in r.json["carriers"]] == want, " ".join(args), r)

WRONG = [  # arguments, a part of the line
    (["null:", "--rxq", "0"], "--rxq 0: give a number from 1 to 1024"),
    (["null:", "--txq", "0"], "--txq 0: give a number from 1 to 1024"),
    (["null:", "--rxq", "2", "--txq", "3"], "queues come in pairs; give --rxq 3 too"),
    (["null:", "--rxq", "2", "--txq", "1", "--carriers", "2"],
     "--txq 1: 2 carriers send, each on a queue of its own; give --txq 2, or --carriers 1"),
    (["ring:", "--rxq", "17", "--carriers", "1"], "and 17 are asked for"),
    (["null:", "--nb-cores", "0"], "--nb-cores 0: give a number from 1"),
    (["null:", "--nb-cores", "1", "--carriers", "1"], "both choose the carriers"),
    (["null:", "-l", "x"], "--lcores x: give CPUs such as 0-2,4"),
    (["null:", "-l", "0,"], "give CPUs"),
    (["null:", "-l", ""], "give CPUs"),
    (["null:", "-l", "3-1"], "give CPUs"),
    (["null:", "--lcores", "(0-3)@1"], "so there are no groups"),
    (["null:", "--lcores", "0@"], "no groups"),
    (["null:", "-l", "0,1", "--nb-cores", "2"], "has 1 CPUs besides"),
    (["null:", "-l", "0,9999"], "haul-fwd: --lcores '9999-9999': there is no CPU 9999"),
    (["null:", "-l", "9999"], "haul-fwd: --lcores '9999-9999': there is no CPU 9999"),
    (["null:", "-l", "0-1", "--carriers", "2"], "--lcores and --carriers both choose the carriers"),
    (["null:", "-l", "0,1", "--near", "lo"], "--lcores and --near both choose the CPUs"),
    (["null:", "--carriers", "0-0", "--near", "lo"], "--carriers and --near both choose the CPUs"),
]
for args, holds in WRONG:
    r = fwd.run("--port", *args, "--duration", "1")
    tap.ok(r.rc == 2 and r.err.count("\n") == 1 and holds in r.err and r.out == "",
           " ".join(args), r)
tap.done()
