# SPDX-License-Identifier: BSD-3-Clause
"""What haul-compare reports is true: packets and losses are those of the kernel's counters of the
interface, and no latency is less than by the kernel's time stamps."""
import json
import socket
import struct
import subprocess
import tempfile
import threading
import time

import netns

from haul_compare import Compare

# A machine that takes the CPU away for longer than the generator waits for its last packets: again.
TRIES = 4
STAMP = 42  # its offset behind Ethernet, IPv4 and UDP; apps/haul-fwd/stamp.h
SCM_TIMESTAMPNS, SO_RCVBUFFORCE = 35, 33
AGE_MAX = (1 << 40) - 1
BUCKET = 1.04  # of haul's histograms, and some rounding


def counters():
    """(sent, received) of the generator's and of the measured end."""
    out = subprocess.run(["ip", "-s", "-j", "link"], stdout=subprocess.PIPE, check=True).stdout
    found = {link["ifname"]: link["stats64"] for link in json.loads(out)}
    return {name: (found[name]["tx"]["packets"], found[name]["rx"]["packets"])
            for name in ("v0", "v1")}


def realtime_offset():
    """What is to be added to CLOCK_REALTIME for CLOCK_MONOTONIC: the closest of several
    readings."""
    def read():
        before = time.monotonic_ns()
        real = time.time_ns()
        after = time.monotonic_ns()
        return after - before, (before + after) // 2 - real
    return min(read() for _ in range(200))[1]


class Stamps:
    """The generator's packets by their intended times: those that arrive on v1, and those that are
    back on v0, with the kernel's time stamps. (DPDK's AF_PACKET bypasses listeners when it
    sends.)"""

    def __init__(self):
        self.sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW,
                                  socket.htons(netns.ETH_P_ALL))
        for option in socket.SO_RCVBUF, SO_RCVBUFFORCE:
            try:
                self.sock.setsockopt(socket.SOL_SOCKET, option, 64 << 20)
            except PermissionError:
                pass  # a user's is limited by net.core.rmem_max
        self.sock.setsockopt(socket.SOL_SOCKET, SCM_TIMESTAMPNS, 1)
        self.sock.settimeout(0.2)  # between looks at self.ends
        self.sent, self.returned = [], []  # intended time; (intended time, age at the kernel)
        self.ends = False
        self.thread = threading.Thread(target=self.listen)
        self.thread.start()

    def listen(self):
        offset = realtime_offset()
        while True:
            try:
                frame, notes, _, address = self.sock.recvmsg(2048, 64)
            except TimeoutError:
                if self.ends:
                    return
                continue
            if len(frame) < STAMP + 18 or frame[STAMP:STAMP + 2] != b"\x68\xf5" or not notes:
                continue
            seconds, ns = struct.unpack("qq", notes[0][2][:16])
            intended = int.from_bytes(frame[STAMP + 8:STAMP + 13], "big")
            if address[2] == netns.PACKET_OUTGOING:
                continue
            if address[0] == "v1":
                self.sent.append(intended)
            else:
                at = seconds * 1000000000 + ns + offset
                age = (at - intended) & AGE_MAX
                # Clocks of two CPUs may differ by more than a packet's way.
                self.returned.append((intended, age if age < AGE_MAX / 2 else 0))

    def close(self):
        """False: it has missed some."""
        self.ends = True
        self.thread.join()
        lost = struct.unpack("II", self.sock.getsockopt(263, 6, 8))[1]  # PACKET_STATISTICS
        self.sock.close()
        return lost == 0


def compare(d, *args, far="v1", pollers="sleep:50,sleep:200", runs=2, listens=False):
    """Compares one load over a cable. Returns the runs, what the counters grew by during these,
    and what a listener saw."""
    stamps = None
    with Compare(f"{d}/out", "--minutes", "0.2", "--arrivals", "constant", "--runs", runs,
                 "--disturbed", "keep",
                 "--pollers", pollers, "--port", "afpacket:v0", "--port", f"afpacket:{far}",
                 *args) as c:
        # Before that the highest rate is looked for.
        c.wait_for(f"idle: {pollers.rpartition(',')[2]}")
        before = counters()
        if listens:
            stamps = Stamps()
        c.wait()
        after = counters()
        report = c.report()
        if stamps and not stamps.close():
            report = None
    if not report or not report["complete"]:
        return None, str(c), None
    if not listens and (report["steps"] or report["neighbours"]):
        return None, "there was time for more packets than those of runs", None
    grown = {name: (after[name][0] - before[name][0], after[name][1] - before[name][1])
             for name in before}
    return report["points"], grown, stamps


def sum_of(points, *names):
    total = 0
    for run in (run for point in points for run in point["runs"]):
        for name in names[:-1]:
            run = run[name]
        total += run[names[-1]]
    return total


def test_counts(tap, d):
    """At one load the measured end handles all packets; the other is more than it can. Its ring is
    short, so that it is done with them soon."""
    for _ in range(TRIES):
        points, grown, _ = compare(d, "--loads", "1k,20k", "--service", "100us",
                                   far="v1,framecnt=64")
        if points and sum_of(points, "received") == grown["v0"][1]:
            break
    if not tap.ok(points, "counts: a report", grown):
        return
    sent, received = sum_of(points, "sent"), sum_of(points, "received")
    figures = f"{sent} sent, {received} received; counters (sent, received) {grown}"
    tap.ok(grown["v0"] == (sent, received), "counts: packets are those of the interface", figures)
    lost = sum_of(points, "lost") - sum_of(points, "lost_by", "generator")
    by = {who: sum_of(points, "lost_by", who) for who in ("generator", "subject", "link")}
    tap.ok(lost == grown["v0"][0] - grown["v0"][1] == by["subject"] + by["link"] > 0,
           "counts: losses are those of the interface's counters",
           f"{figures}, {lost} lost, by {by}")
    # What arrived at the measured end and did not leave it is its loss; the cable loses nothing.
    tap.ok(by["link"] == 0 and by["subject"] == grown["v1"][1] - grown["v1"][0],
           "counts: by whom", f"{figures}, by {by}")


def split(stamps, runs):
    """What the listener saw of each run: the ages of its packets at the kernel."""
    ages = dict(stamps.returned)
    at = 0
    for run in runs:
        part = stamps.sent[at:at + run["sent"]]
        at += run["sent"]
        yield run, sorted(ages[t] for t in part if t in ages)


def test_latencies(tap, d):
    parts = []
    for _ in range(TRIES):
        points, grown, stamps = compare(d, "--loads", "4k", pollers="sleep:50", runs=1,
                                        listens=True)
        parts = list(split(stamps, points[0]["runs"])) if points else []
        if parts and all(len(ages) == run["received"] > 0 for run, ages in parts):
            break
    if not tap.ok(parts and all(len(ages) == run["received"] > 0 for run, ages in parts),
                  "latencies: a listener sees each packet", f"{grown}"):
        return
    good, said = 0, []
    for run, ages in parts:
        kernel = {"p50_ns": ages[(len(ages) - 1) // 2], "p99_ns": ages[int(0.99 * len(ages)) - 1],
                  "max_ns": ages[-1]}
        good += all(run[key] * BUCKET >= value for key, value in kernel.items())
        said.append({key: (run[key], value) for key, value in kernel.items()})
    tap.ok(good == len(parts), "latencies: none is less than until the kernel's time stamp", said)
    for one in said:
        print("# p50, p99 by haul-compare, until the kernel's time stamp: {} {}, {} {} ns".format(
            *one["p50_ns"], *one["p99_ns"]))


def main():
    netns.enter()
    tap = netns.Tap()
    netns.veth("v0", "v1")
    with tempfile.TemporaryDirectory() as d:
        test_counts(tap, d)
        test_latencies(tap, d)
    tap.done()


main()
