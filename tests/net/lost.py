# SPDX-License-Identifier: BSD-3-Clause
"""Packets that the kernel drops in front of a port: each is counted, once. For each kind of port
with an interface of the kernel's, more packets are sent than it queues: while the program stands
still, and while its pollers sleep too long. Then sent == received + missed, exactly.

Usage: lost.py HAUL_FWD LOSSY_NIC
"""
import errno
import os
import re
import signal
import sys
import tempfile

import fwd
import netns
from probe import flow
from prompt import Client, blocks

SENT = 20000  # more than any of them queues
SLEEPY = ("--poller", "sleep:20000")
# Of AF_XDP: the kernel lacks buffers, which the PMD counts; a short ring is full before, which it
# does not count.
CASES = [("tap", ()), ("afpacket", ()), ("afxdp", ()), ("afxdp", ("--rxd", 512)), ("pcap", ())]

tap = netns.Tap()


class Bed:
    """A port, and the interface whose packets it gets: "tap:t0" and "t0"."""

    def __init__(self, kind, carriers):
        self.veth = kind != "tap"
        self.wire = "v1" if self.veth else "t0"
        self.spec = f"{kind}:{'iface=' * (kind == 'pcap')}{'v0' if self.veth else 't0'}"
        if self.veth:
            netns.veth("v0", "v1", queues=carriers)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.veth:
            netns.ip("link del v0")


class Run(fwd.Running):
    """haul-fwd that counts what it receives, with a control socket."""

    def __init__(self, *args, **popen):
        self.folder = tempfile.TemporaryDirectory()
        control = os.path.join(self.folder.name, "control")
        super().__init__("--mode", "rxonly", "--control", control, *args, **popen)
        self.wait_for(self.runs, "haul-fwd to run")
        self.client = Client(control, self)

    def seen(self):
        """Packets received and missed."""
        port = self.client.json()["ports"][0]
        return port["rx_packets"], port["dropped"]["rx_missed"]

    def is_still(self):
        with open(f"/proc/{self.process.pid}/stat") as f:
            return f.read().rpartition(")")[2].split()[0] == "T"

    def reported(self):
        """What the reports have as missed."""
        return sum(map(int, re.findall(r"rx_missed (\d+)", self.said())))


def send(wire, n):
    """Sends n packets of many flows. Returns how many went: the kernel refuses one on a full
    queue, unless it counts it as dropped."""
    sock, sent = netns.Raw(wire), 0
    frames = [flow(i) for i in range(251)]
    for i in range(n):
        try:
            sock.send(frames[i % len(frames)])
            sent += 1
        except OSError as e:
            if e.errno != errno.ENOBUFS:
                raise
    sock.close()
    return sent


def settled(run, sent):
    """Waits until each is received or missed; a wrong sum is for the caller to tell."""
    try:
        netns.wait_for(lambda: sum(run.seen()) >= sent, "all packets to be counted")
        netns.wait_for(lambda: run.reported() >= run.seen()[1], "a report")
    except TimeoutError as e:
        print("#", e)


def overflow(kind, carriers, args, stands):
    with Bed(kind, carriers) as bed, \
            Run("--port", bed.spec, "--carriers", carriers, *args) as run:
        netns.wait_up(bed.wire)
        if stands:
            run.process.send_signal(signal.SIGSTOP)
            netns.wait_for(run.is_still, "haul-fwd to stand still")
        sent = send(bed.wire, SENT)
        run.process.send_signal(signal.SIGCONT)
        settled(run, sent)
        reported = run.reported()
        shown = blocks(run.client.ask("show port stats 0"), "NIC statistics for port")[0]
        r = run.end()
    port = r.port(0)
    got, missed = port["rx_packets"], port["dropped"]["rx_missed"]
    what = " ".join(map(str, (bed.spec, f"{carriers} carriers", *args)))
    print(f"# {what}: sent {sent}, received {got}, missed {missed}")
    tap.ok(r.rc == 0 and sent == got + missed and (missed > 0 or not stands),
           f"{what}: sent == received + missed", r)
    tap.ok(shown["RX-packets"] == got and shown["RX-missed"] == missed == reported,
           "the same by testpmd's command, and in the reports", f"{shown}, {reported}: {r}")


def earlier(how):
    """A TAP that others have used before: only what this program has missed is counted, also after
    the interface has gone."""
    netns.ip("tuntap add t0 mode tap multi_queue")
    netns.ip("link set t0 up")
    for n in SENT, 2 * SENT:
        with Run("--port", "tap:t0", "--carriers", 1) as run:
            netns.wait_up("t0")
            run.process.send_signal(signal.SIGSTOP)
            netns.wait_for(run.is_still, "haul-fwd to stand still")
            sent = send("t0", n)
            run.process.send_signal(signal.SIGCONT)
            settled(run, sent)
            counted = run.seen()
            if n > SENT:
                netns.ip(how)
            r = run.end() if n == SENT else run.wait()
        port = r.port(0)
        end = port["rx_packets"], port["dropped"]["rx_missed"]
        print(f"# {sent} sent, {counted} counted; at the end {end}")
        tap.ok(sum(counted) == sent and counted == end and counted[1] > 0,
               "of a TAP: sent == received + missed" if n == SENT else
               f"in a second run, too, after ip {how}", r)
    netns.ip("link del " + how.split()[-1])


def nic(kind, lossy):
    """A NIC that drops packets before its interface's sockets would get them."""
    with Bed(kind, 1) as bed, tempfile.NamedTemporaryFile() as dropped:
        dropped.truncate(1000)
        env = {**os.environ, "LD_PRELOAD": lossy, "HAUL_NIC_MISSED": dropped.name,
               "ASAN_OPTIONS": "verify_asan_link_order=0:" + os.environ.get("ASAN_OPTIONS", "")}
        with Run("--port", bed.spec, "--carriers", 1, env=env) as run:
            before = run.seen()
            sent = send(bed.wire, 10)
            dropped.truncate(1007)
            settled(run, sent + 7)
            r = run.end()
    port = r.port(0)
    tap.ok(before == (0, 0) and port["rx_packets"] == 10 and port["dropped"]["rx_missed"] == 7,
           f"{bed.spec}: what the NIC dropped since the start is missed", r)


def main(lossy):
    netns.enter()
    for (kind, args), carriers, stands in netns.some(CASES, [1, 2], [True, False]):
        if (kind, carriers) == ("pcap", 2):  # it has one queue
            continue
        if netns.can_open(tap, kind):
            overflow(kind, carriers, args + SLEEPY * (not stands), stands)
    if netns.can_open(tap, "tap"):
        earlier("link set t0 name t1")
    for kind in "afpacket", "afxdp", "pcap":
        if netns.can_open(tap, kind):
            nic(kind, lossy)
    tap.done()


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[2]))
