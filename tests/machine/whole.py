# SPDX-License-Identifier: BSD-3-Clause
"""Runs in the emulated machine, started by nics.py --whole: the tests of suite net that can use any
port, and some more, on pairs of NICs of each kind. The first NIC of a pair is on a link of its own
with one interface of the kernel, the second with another. TAP on stdout.
HAUL_STEPS: names of STEPS, if not all. HAUL_REQUESTS: how many requests wake a poller that blocks.
HAUL_FLAPS: how often a link goes down and up.
Usage: whole.py HAUL-FWD HAUL-ECHO FRAG-ECHO HAUL-COMPARE HAUL-DOCTOR PAIR...
PAIR: KIND,QUEUES,NIC,PEER,NIC,PEER with the numbers of NICs and of peers."""
import contextlib
import json
import os
import random
import re
import socket
import subprocess
import sys
import tempfile
import traceback

from inside import NO_INTERRUPTS, Host, Nic, answers_once, idle, is_out

import netns
import echo_ping
import echo_udp
import frag_echo
import fwd
import fwd_lost
import fwd_move
import wait_requests
from echo import IP4, IP6, MINE4, MINE6, Echo, Failed, peer
from prompt import Client
from wait import POLLERS, Given

FWD, ECHO, FRAG_ECHO, COMPARE, DOCTOR = sys.argv[1:6]
SEED = random.randrange(1 << 32)
FRAMES = [60, 61, 64, 128, 511, 512, 1024, 1513, 1514]
JUMBO = 9000
NIC_CHECKS = ("driver", "device", "binding", "iommu", "vfio", "memory", "node", "pmd", "queues",
              "rings", "interrupts", "irqs", "command")
# QEMU's lose a sent frame whose buffer crosses the end of a page, as one of some 800 in huge pages
# does if addresses of the device are virtual.
NO_GATHER = "vmxnet3", "e1000e"
FLAPS = int(os.environ.get("HAUL_FLAPS", 1000))  # of a link
WAKES = int(os.environ.get("HAUL_REQUESTS", 10000))


class Pair:
    def __init__(self, text):
        self.kind, *numbers = text.split(",")
        self.queues, a, peer_a, b, peer_b = map(int, numbers)
        self.nics = Nic(a), Nic(b)
        self.peers = f"peer{peer_a}", f"peer{peer_b}"
        self.name = self.kind + (f" with {self.queues} queues" if self.queues > 1 else "")
        self.waits = self.kind not in NO_INTERRUPTS
        self.pollers = [p for p in POLLERS if self.waits or p in ("spin", "sleep")]
        self.how = ("burst", "spin"), ("coroutine", "block" if self.waits else "sleep")

    def given(self):
        return Given(self.name, self.nics[0].port, self.peers[0])

    def ports(self):
        return ["--port", self.nics[0].port, "--port", self.nics[1].port]


@contextlib.contextmanager
def addresses(name):
    """The kernel's side has addresses meanwhile; it sends nothing by itself otherwise."""
    peer(name)
    try:
        yield
    finally:
        with open(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6", "w") as f:
            f.write("1")
        netns.ip(f"addr flush dev {name}")
        netns.ip(f"neigh flush dev {name}")


def requests(tap, _host, pair):
    """No wake-up is lost."""
    with addresses(pair.peers[0]):
        for poller in pair.pollers:
            wait_requests.one(tap, ECHO, pair.given(), poller, 1,
                              WAKES if poller == "block" else WAKES // 10, SEED)
        if pair.queues > 1:
            wait_requests.one(tap, ECHO, pair.given(), pair.how[1][1], pair.queues, WAKES // 10,
                              SEED)


def is_idle(tap, _host, pair):
    for poller in set(pair.pollers) & {"block", "adaptive"}:
        with addresses(pair.peers[0]), pair.given() as link, \
                Echo(ECHO, "--port", link.port, "--carriers", 2, "--poller", poller) as e:
            link.up(e)
            idle(tap, f"{pair.name}, {poller}", e)
            code, _ = e.stop()
            tap.ok(code == 0, f"{pair.name}, {poller}, idle: clean end", e.stderr())


def pings(tap, _host, pair):
    with addresses(pair.peers[0]), pair.given() as link, \
            Echo(ECHO, "--port", link.port, "--carriers", 2, "--poller", pair.how[1][1]) as e:
        echo_ping.check(tap, pair.name, e, 100)


def datagrams(tap, _host, pair):
    """Of all sizes, and those of many flows."""
    with addresses(pair.peers[0]), pair.given() as link, \
            Echo(ECHO, "--port", link.port, "--carriers", 2, "--poller", pair.how[1][1]) as e:
        echo_udp.sizes(tap, f"{pair.name}, IPv4", socket.AF_INET, IP4, MINE4, 1472)
        echo_udp.sizes(tap, f"{pair.name}, IPv6", socket.AF_INET6, IP6, MINE6, 1452)
        echo_udp.flows(tap, pair.name)
        echo_udp.vlan(tap, pair.name, e, link.iface)
        code, figures = e.stop()
        shares = [c["rx_packets"] for c in figures["carriers"]] if figures else None
        print(f"# {pair.name}: packets of each carrier: {shares}")
        tap.ok(code == 0, f"{pair.name}, datagrams: clean end", e.stderr())
        # QEMU's vmxnet3 receives on its first queue only.
        tap.ok(shares and (all(shares) or pair.kind == "vmxnet3"),
               f"{pair.name}: each carrier has its share", shares)


def fragments(tap, _host, pair):
    with addresses(pair.peers[0]), pair.given() as link, \
            Echo(FRAG_ECHO, "--port", link.port, "--carriers", 1) as e:
        frag_echo.all_sizes(tap, e, link.iface, f"{pair.name}, ", 500)


def crosses(tap, name, pair, frames, edit):
    """Frames both ways, one after the other; each arrives as edit makes it: edit(frames, from,
    to), with the numbers of the ports."""
    ends = [netns.Raw(p) for p in pair.peers]
    for i in 0, 1:
        got = []
        for frame in frames:
            ends[i].send(frame)
            got.append(ends[1 - i].recv(20))
            if got[-1] is None:
                break
        tap.ok(got == edit(frames, i, 1 - i), f"{name}, {'there' if i == 0 else 'back'}",
               [(len(f), g and g.hex()[:60], g and len(g)) for f, g in zip(frames, got)])
    for end in ends:
        end.close()


def macs(haul):
    found = re.findall(r"^MAC address: (\S+)", haul.ask("show port info all"), re.M)
    return [bytes.fromhex(mac.replace(":", "")) for mac in found]


def to_of(port):
    """Where haul-fwd sends frames of that port, unless it is told."""
    return bytes((2, 0, 0, 0, 0, port))


def forward(tap, _host, pair):
    """Modes and MTUs by the prompt, one after the other."""
    for handler, poller in pair.how:
        name = f"{pair.name}, {handler}, {poller}"
        with tempfile.TemporaryDirectory() as d:
            control = os.path.join(d, "control")
            with fwd.Running(*pair.ports(), "--carriers", 2, "--handler", handler, "--poller",
                             poller, "--mtu", JUMBO, "--control", control,
                             options=("--json", "--period", "1")) as haul:
                haul.wait_for(haul.runs, "haul-fwd to run")
                ask = Client(control, haul)
                commands(tap, name, pair, ask)
                r = haul.end()
        # icmpecho drops what is no request.
        tap.ok(r.rc == 0 and r.dropped() == r.dropped("not_for_us") + r.dropped("unsupported"),
               f"{name}: nothing is lost at the end", r)


def commands(tap, name, pair, client):
    mac, frames = macs(client), [fwd.frame(i, size) for i, size in enumerate(FRAMES)]
    def mode(which):
        return "".join(map(client.ask, ("stop", f"set fwd {which}", "start")))

    crosses(tap, f"{name}, io", pair, frames, lambda f, *_: f)
    large = [fwd.frame(i, size) for i, size in enumerate((1515, 4096, JUMBO + 14))]
    for mtu in JUMBO, 1500:
        for peer_name in pair.peers:
            netns.ip(f"link set {peer_name} mtu {mtu}")
        if mtu == JUMBO:
            crosses(tap, f"{name}, jumbo frames", pair, large, lambda f, *_: f)
    if pair.waits:
        said = client.ask("set poller block").strip()
        tap.ok(said == "" if "block" in name else "interrupts are off" in said,
               f"{name}, set poller block: {said or 'done'}")
    mode("mac")
    crosses(tap, f"{name}, mac", pair, frames, lambda f, a, b: fwd.macs(mac[b], f, to_of(b)))
    mode("macswap")
    crosses(tap, f"{name}, macswap", pair, frames, lambda f, *_: fwd.swapped(f))
    said = [client.ask(line) for line in ("stop", "port stop all", "port config mtu 0 1500",
                                          "port start all", "set fwd io", "start")]
    crosses(tap, f"{name}, after port stop and start", pair, frames, lambda f, *_: f)
    print(f"# {name}: {said[1:4]}")
    checksums(tap, name, pair, client)
    mode("icmpecho")
    with addresses(pair.peers[0]):
        answers = [subprocess.run(["ping", "-c", "3", "-i", "0.01", "-W", "20", to],
                                  capture_output=True, text=True).stdout
                   for to in ("10.9.9.77", "fd09::77")]
        tap.ok(all(" 0% packet loss" in a for a in answers), f"{name}, icmpecho", answers)


def checksums(tap, name, pair, client):
    """By haul-fwd, and by the device as far as it says that it can."""
    can, mac = client.ask("show port 1 tx_offload capabilities"), macs(client)
    for how in "sw", "hw":
        client.ask("stop")
        layers = [layer for layer, word in (("ip", "IPV4"), ("udp", "UDP"), ("tcp", "TCP"))
                  if how == "sw" or f"{word}_CKSUM" in can]
        said = "".join(client.ask(f"csum set {layer} {how} {port}")
                       for port in (0, 1) for layer in layers)
        client.ask("set fwd csum")
        client.ask("start")
        packets = [(proto, i) for i in range(10) for proto in (17, 6)]
        good = [fwd.packet(*p, True) for p in packets]
        crosses(tap, f"{name}, csum, {how} ({' '.join(layers) or 'none'})", pair,
                [fwd.packet(*p, p[1] % 2 == 0) for p in packets],
                lambda _, a, b: fwd.macs(mac[b], good, to_of(b)))
        if how == "hw":
            print(f"# {name}: {can.split('Per Port', 1)[-1].strip()!r}; {said.count(' is hw')}")


def moves(tap, _host, pair):
    """Queues, buckets and pollers change at random while packets flow."""
    for handler in "burst", "coroutine":
        # Interrupts are turned on for a port that begins with a poller that waits.
        how = handler, pair.how[1][1]
        args = [nic.port for nic in pair.nics], *pair.peers, how
        if pair.queues >= fwd_move.CARRIERS:
            # QEMU empties the transmit queues of a virtio NIC in any order: what carriers have
            # passed to two of them within a moment may change places.
            late = fwd_move.MOVES // 50 if pair.kind == "virtio" else 0
            fwd_move.check(tap, pair.name, *args, queues=pair.queues, pollers=pair.pollers,
                           late=late)
        fwd_move.check(tap, pair.name, *args, "--spread", "all", buckets=True,
                       pollers=pair.pollers)


def compare(tap, _host, pair):
    """haul-compare on a link that is given: its generator sends by the kernel."""
    with tempfile.TemporaryDirectory() as d:
        done = subprocess.run(
            [COMPARE, "--port", f"afpacket:{pair.peers[0]}", "--port", pair.nics[0].port,
             "--pollers", "spin,sleep:50,block", "--loads", "500,2k", "--arrivals", "poisson",
             "--minutes", "0.5", "--disturbed", "keep", "--out", d],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        report = None
        with contextlib.suppress(OSError), open(f"{d}/report.json") as f:
            report = json.load(f)
    for point in report["points"] if report else ():
        print(f"# {pair.name}, haul-compare: {point['poller']}, {point['offered_pps']:.0f} pps: "
              f"p50 {point['p50_ns'] / 1000:.0f} us, p99 {point['p99_ns'] / 1000:.0f} us, "
              f"{100 * point['cpu_share']:.0f} % of a CPU, lost {point['lost']} of {point['sent']}")
    tap.ok(done.returncode == 0 and report and report["complete"], f"{pair.name}: haul-compare",
           done.stdout)
    pollers = {point["poller"] for point in report["points"]} if report else set()
    tap.ok(pollers == {"spin", "sleep:50"} | ({"block"} if pair.waits else set()),
           f"{pair.name}: haul-compare, what each poller does here", pollers)


def doctor(tap, _host, pair):
    """What haul-doctor says of the NIC is what the other steps found."""
    def ask(carriers):
        done = subprocess.run([DOCTOR, "--json", "--port", pair.nics[0].port, "--carriers",
                               str(carriers)], stdout=subprocess.PIPE, text=True)
        findings = json.loads(done.stdout)["findings"]
        found = {f["check"]: f for f in findings if f["port"] == pair.nics[0].port}
        print(*(f"# {pair.name}, {carriers} carriers: {name}: {f['status']}: {f['says']} -> "
                f"{f['todo']}" for name, f in found.items()), sep="\n")
        return found

    one, more = ask(1), ask(4)
    tap.ok(set(one) == set(more) == set(NIC_CHECKS), f"{pair.name}, haul-doctor: all checks",
           set(one) ^ set(NIC_CHECKS))
    tap.ok(all(one[c]["status"] == "ok" for c in ("device", "binding", "iommu", "vfio", "memory",
                                                  "pmd", "queues")),
           f"{pair.name}, haul-doctor: one carrier has what it needs", one)
    tap.ok((more["queues"]["status"] == "ok") == (pair.queues >= 4),
           f"{pair.name}, haul-doctor: queues for 4 carriers", more)
    tap.ok((one["interrupts"]["status"] == "ok") == pair.waits,
           f"{pair.name}, haul-doctor: interrupts", one)
    for found in one, more:
        command = found["command"]["todo"].split()
        done = subprocess.run([FWD, *command[1:], "--duration", "1"], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        tap.ok(command[0] == "haul-fwd" and done.returncode == 0,
               f"{pair.name}, haul-doctor: its command runs: {' '.join(command)}", done.stdout)


def answers(raw, frame):
    """True if the frame comes back; those of earlier looks may, too."""
    raw.send(frame)
    return raw.recv(1) is not None  # a look: the frame may be lost


def flaps(tap, host, pair):
    """The first NIC's link goes down and up while handlers sleep and send; the second NIC loses
    nothing meanwhile, and the first one echoes again."""
    name, frames = f"{pair.name}, {FLAPS} flaps", len(fwd_lost.FRAMES)
    first, second = (netns.Raw(p) for p in pair.peers)
    with fwd.Running(*pair.ports(), *fwd_lost.ECHO, "--handler", "coroutine", "--poller",
                     pair.how[1][1], "--carriers", 2, "--service", "2ms", "--service-sleep",
                     options=("--json", "--period", "1")) as haul:
        haul.wait_for(haul.runs, "haul-fwd to run")
        load, good = fwd_lost.Load(first), []
        load.start()
        for i in range(FLAPS):
            for up in False, True:
                host.do("set_link", name=pair.nics[0].id, up=up)
            if i % 50 == 0:
                good.append(fwd_lost.echoes(second))
        load.goes = False
        load.join()
        netns.wait_for(lambda: answers(first, fwd_lost.FRAMES[0]), "the first NIC to echo")
        good.append(fwd_lost.echoes(second))
        r = haul.end()
    for raw in first, second:
        raw.close()
    port = r.json["ports"][1] if r.json else {}
    print(f"# {name}: the first NIC received {r.json and r.json['ports'][0]['rx_packets']}")
    tap.ok(all(good) and port and port["rx_packets"] == port["tx_packets"] == len(good) * frames,
           f"{name}: nothing of the other NIC is lost", good)
    tap.ok(r.rc == 0 and "lost" not in r.err, f"{name}: clean end, all buffers back", r)


def unplugged(tap, host, pair):
    """The first NIC goes while it receives and its handlers sleep and send; the second one echoes
    before and after."""
    def pull():
        host.do("device_del", id=pair.nics[0].id)

    fwd_lost.lost_under_load(tap, f"{pair.name} is unplugged", [n.port for n in pair.nics],
                             pair.peers, (*pair.how[1], "off"), pull, "--service", "2ms",
                             "--service-sleep")
    netns.wait_for(lambda: is_out(host, pair.nics[0]), "vfio to let the NIC go")


# The last one takes the NIC away.
STEPS = {"forward": forward, "pings": pings, "datagrams": datagrams, "fragments": fragments,
         "idle": is_idle, "moves": moves, "compare": compare, "doctor": doctor,
         "requests": requests, "flaps": flaps, "unplugged": unplugged}


def main():
    tap, host = netns.Tap(), Host()
    # An emulated CPU is slow, and the host may be busy.
    netns.wait_for.__defaults__ = Echo.wait.__defaults__ = (600,)
    pairs = [Pair(text) for text in sys.argv[6:]]
    for name in {name for pair in pairs for name in pair.peers}:
        netns.ip(f"link set {name} promisc on")
    steps = os.environ.get("HAUL_STEPS", " ".join(STEPS)).split()
    for pair in pairs:
        os.environ["HAUL_EAL"] = "--iova-mode=pa" if pair.kind in NO_GATHER else ""
        for step in steps:
            try:
                STEPS[step](tap, host, pair)
            except (Failed, OSError, RuntimeError, subprocess.SubprocessError):
                tap.ok(False, f"{pair.name}, {step}: no exception", traceback.format_exc())
    tap.done()


if __name__ == "__main__":
    main()
