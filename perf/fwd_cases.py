# SPDX-License-Identifier: BSD-3-Clause
"""The cases of perf/fwd: each mode that haul-fwd and dpdk-testpmd both have, over each kind of port
that can carry it, on one and on two CPUs."""

import collections
import contextlib
import fnmatch
import os
import socket
import struct
import subprocess
import tempfile

import forwarders as fwd

FLOWS = 64


class Mode:
    """way: "both": what comes back to the generator counts; "in": what the forwarder receives;
    "out": what it sends, to a sink. pings: it answers only ICMP echo requests. reads: haul-fwd
    counts the bytes of packets in this mode, unless it is told not to."""

    def __init__(self, name, what, way="both", pings=False, reads=True, heavy=False, testpmd=(),
                 haul=()):
        self.name = name
        self.what = what
        self.way = way
        self.pings = pings
        self.reads = reads
        self.heavy = heavy  # many instructions per packet: fewer packets are counted
        self.options = {"testpmd": list(testpmd), "haul": list(haul)}


MODES = {mode.name: mode for mode in [
    Mode("io", "frames sent unchanged", reads=False),
    Mode("mac", "frames sent with new addresses"),
    Mode("macswap", "frames sent with their addresses exchanged"),
    Mode("rxonly", "frames received and dropped", way="in"),
    Mode("txonly", "frames made and sent", way="out"),
    Mode("flowgen", "frames made and sent, received ones dropped", way="out"),
    Mode("csum", "frames sent with new checksums", heavy=True),
    Mode("icmpecho", "ICMP echo requests answered", pings=True, heavy=True),
    Mode("5tswap", "frames sent with addresses and ports exchanged", heavy=True),
    # testpmd takes the number of cache lines for the number of bytes, and so writes to the first
    # 64th of its memory; its compiler may leave out reads, as their values are not used.
    Mode("noisy", "frames sent after 2 writes to 1 MiB of memory", reads=False, heavy=True,
         testpmd=["--noisy-lkup-memory=64", "--noisy-lkup-num-writes=2"],
         haul=["--noisy-lkup-memory", "1", "--noisy-lkup-num-writes", "2"]),
]}

# testpmd, haul: the forwarder's ports; peer: the vdevs of a generator or sink; queues: of each port
# of testpmd; prefix: of all commands.
Place = collections.namedtuple("Place", "testpmd haul peer queues prefix", defaults=[[]])


class Ports:
    """A kind of port, opened anew for each run. Without a peer the ports feed themselves."""

    name = ""
    says = ""
    modes = ()
    fed = False  # by a generator
    tx_first = False
    counted = 200000  # packets of the shorter run under callgrind

    def __init__(self, carriers):
        self.carriers = carriers

    def missing(self):
        """The reason why it cannot be opened here, or None."""

    @contextlib.contextmanager
    def place(self, mode):
        yield Place(self.vdevs(), self.vdevs(), [], self.carriers)

    def vdevs(self):
        raise NotImplementedError


class Null(Ports):
    name = "null"
    says = "between two null ports"
    modes = ("io", "mac", "macswap", "rxonly", "txonly", "flowgen", "noisy")

    def vdevs(self):
        return ["net_null0", "net_null1"]


class Ring(Ports):
    name = "ring"
    says = "between two ring ports, a burst in each queue"
    modes = ("io", "mac", "macswap", "flowgen", "csum", "5tswap", "noisy")
    tx_first = True
    counted = 1000000

    def vdevs(self):
        return ["net_ring0", "net_ring1"]


class Pcap(Ports):
    """Null ports return frames of zeros. These return a file's frames again and again, from
    memory, and drop what is sent."""

    name = "pcap"
    says = "between two pcap ports that repeat a file"
    modes = ("rxonly", "csum", "icmpecho", "5tswap")

    @contextlib.contextmanager
    def place(self, mode):
        with tempfile.TemporaryDirectory(prefix="haul-perf-") as folder:
            files = write_frames(folder, mode.pings)
            vdevs = [repeating(i, files, self.carriers) for i in range(2)]
            yield Place(vdevs, vdevs, [], self.carriers)


class Memif(Ports):
    name = "memif"
    says = "over memif, with testpmd at the other end"
    modes = tuple(MODES)
    fed = True

    @contextlib.contextmanager
    def place(self, mode):
        with tempfile.TemporaryDirectory(prefix="haul-perf-") as folder:
            path = os.path.join(folder, "memif.sock")
            ends = [f"net_memif0,role={role},socket={path},socket-abstract=no"
                    for role in ("server", "client")]
            more = [repeating(0, write_frames(folder, True), self.carriers)] if mode.pings else []
            yield Place(ends[:1], ends[:1], ends[1:] + more, self.carriers)


class AfXdp(Ports):
    """testpmd has a port for each queue, since its PMD opens several queues only where the driver
    tells their number; haul does the same inside of a port."""

    name = "afxdp"
    says = "over AF_XDP on veth, with testpmd at the other end"
    modes = tuple(MODES)
    fed = True

    def missing(self):
        if os.geteuid() != 0:
            return "AF_XDP and network namespaces need root"
        return None

    @contextlib.contextmanager
    def place(self, mode):
        name = f"haul-perf-{os.getpid()}"
        inside = ["ip", "netns", "exec", name]
        queues = f"numrxqueues {self.carriers} numtxqueues {self.carriers}".split()
        run(["ip", "netns", "add", name])
        try:
            run(["ip", "-n", name, "link", "add", "v0", *queues, "type", "veth", "peer", "name",
                 "v1", *queues])
            for end in ("v0", "v1"):
                run(inside + ["sysctl", "-q", f"net.ipv6.conf.{end}.disable_ipv6=1"])
                run(inside + ["ethtool", "-K", end, "tx", "off", "tso", "off", "gso", "off",
                              "gro", "off"])
                run(["ip", "-n", name, "link", "set", end, "up"])
            # ip netns exec gives each command a /sys of its own.
            shell = ["sh", "-c", 'mount -t bpf bpf /sys/fs/bpf && exec "$@"', "sh"]
            with tempfile.TemporaryDirectory(prefix="haul-perf-") as folder:
                ours, theirs = self.vdevs_on("v0"), self.vdevs_on("v1")
                if mode.pings:
                    files = write_frames(folder, True)
                    theirs = [vdev for i, one in enumerate(theirs)
                              for vdev in (one, repeating(i, files, 1))]
                yield Place(ours, ours if self.carriers == 1 else ["afxdp:v0"], theirs, 1,
                            inside + shell)
        finally:
            run(["ip", "netns", "del", name])

    def vdevs_on(self, interface):
        return [f"net_af_xdp{i},iface={interface},start_queue={i},busy_budget=0"
                for i in range(self.carriers)]


class Case:
    """One question to all sides: a mode, a kind of port, a number of carriers."""

    def __init__(self, ports, mode):
        self.ports = ports
        self.mode = mode
        self.carriers = ports.carriers
        self.name = f"fwd/{ports.name}/{mode.name}/{ports.carriers}"
        cpus = "one CPU" if self.carriers == 1 else f"{self.carriers} CPUs"
        self.question = f"{mode.name} {ports.says}, {cpus}: {mode.what}"

    def matches(self, patterns):
        """True if a pattern (as in a shell) matches the name or successive parts of it: csum,
        null/io, afxdp/*/1."""
        parts = self.name.split("/")
        for pattern in patterns:
            wanted = pattern.split("/")
            for i in range(len(parts) - len(wanted) + 1):
                if all(map(fnmatch.fnmatchcase, parts[i:], wanted)):
                    return True
        return False

    def peer(self, vdevs):
        """The mode of the other end, and the indexes of its ports that face the forwarder."""
        if self.mode.pings:
            return "io", range(0, len(vdevs), 2)
        return {"both": "flowgen", "in": "txonly", "out": "rxonly"}[self.mode.way], \
            range(len(vdevs))


CASES = [Case(kind(carriers), MODES[mode]) for carriers in (1, 2)
         for kind in (Null, Ring, Pcap, Memif, AfXdp) for mode in kind.modes]


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise fwd.Failed(f"{' '.join(command)}: {done.stdout.strip()}")


def repeating(index, path, queues):
    return f"net_pcap{index}" + f",rx_pcap={path}" * queues + ",infinite_rx=1"


def write_frames(folder, pings):
    """A capture file of 60-byte frames, a flow each: ICMP echo requests, or UDP with checksums."""
    path = os.path.join(folder, "frames.pcap")
    with open(path, "wb") as out:
        out.write(struct.pack("=IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for flow in range(FLOWS):
            frame = ping(flow) if pings else datagram(flow)
            out.write(struct.pack("=IIII", flow, 0, len(frame), len(frame)) + frame)
    return path


def checksum(data):
    words = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while words >> 16:
        words = (words & 0xFFFF) + (words >> 16)
    return words ^ 0xFFFF


def with_checksum(data, at):
    return data[:at] + struct.pack("!H", checksum(data)) + data[at + 2:]


SOURCE, DESTINATION = socket.inet_aton("198.18.0.1"), socket.inet_aton("198.18.0.2")


def ipv4(protocol, payload):
    header = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(payload), 0, 0, 64, protocol, 0)
    return (bytes.fromhex("020000000002" "020000000001" "0800") +
            with_checksum(header + SOURCE + DESTINATION, 10) + payload)


def datagram(flow):
    udp = struct.pack("!HHHH", 1024 + flow, 9, 26, 0) + bytes(18)
    pseudo = SOURCE + DESTINATION + struct.pack("!HH", socket.IPPROTO_UDP, len(udp))
    return ipv4(socket.IPPROTO_UDP, with_checksum(pseudo + udp, len(pseudo) + 6)[len(pseudo):])


def ping(flow):
    return ipv4(socket.IPPROTO_ICMP,
                with_checksum(struct.pack("!BBHHH", 8, 0, 0, 1, flow) + bytes(18), 2))
