# SPDX-License-Identifier: BSD-3-Clause
"""A network of namespaces in which equal nodes announce an address to a router:

    client --- router --- switch --- node 1, node 2, ...

Each node has two cables to the switch: eth0 for the kernel and BIRD, eth1 for haul-dns. All of it
is gone with the last process in it."""
import contextlib
import ctypes
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SERVICE4, SERVICE6 = "192.0.2.1", "2001:db8:53::1"  # as in node.conf
NAME = "www.example.org"
HANG_AFTER = "600ms"
WITHDRAW = "500ms"  # longer than a route takes to go
TABLE = {"plain": 254, "resilient": 53}  # of the kernel, in which BIRD puts its routes


class Failed(Exception):
    pass


def enter():
    """Starts the program again, in namespaces of its own."""
    if "HAUL_ANYCAST" not in os.environ:
        os.environ["HAUL_ANYCAST"] = "1"
        for namespaces in ("-nm", "-rnm"):  # for root; for a user, mapped to root inside
            if subprocess.run(["unshare", namespaces, "true"], capture_output=True,
                              check=False).returncode == 0:
                os.execvp("unshare", ["unshare", namespaces, sys.executable, *sys.argv])
        raise Failed("network namespaces cannot be made here: run this as root")
    prepare()


def prepare():
    """Names of namespaces are of this mount namespace, and so of this program."""
    run("mount", "-t", "tmpfs", "none", "/run")
    os.mkdir("/run/netns")


def run(*command, ns=None):
    command = [str(c) for c in command]
    if ns:
        command = ["ip", "netns", "exec", ns, *command]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    if done.returncode:
        raise Failed(f"{' '.join(command)}: {done.stdout.strip()}")
    return done.stdout


def wait_for(condition, what, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise Failed(f"waited {seconds} s for {what}")
        time.sleep(0.01)


def die_with(parent):
    """In a child."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    if os.getppid() != parent:  # it has died before
        os.kill(os.getpid(), signal.SIGKILL)


def cable(ns, name, other_ns, other):
    """Two interfaces, both up. The kernel does not leave checksums to hardware, which there is
    none of: haul-dns would find them wrong."""
    run("ip", "link", "add", name, "netns", ns, "type", "veth", "peer", other, "netns", other_ns)
    for where, end in ((ns, name), (other_ns, other)):
        run("ethtool", "-K", end, "tx", "off", ns=where)
        run("ip", "-n", where, "link", "set", end, "up")


def settings(ns, **values):
    for name, value in values.items():
        with contextlib.suppress(FileNotFoundError):
            run("sysctl", "-q", f"net.{name.replace('__', '.')}={value}", ns=ns)


def address(ns, dev, *addresses):
    for a in addresses:
        run("ip", "-n", ns, "address", "add", a, "dev", dev, *(["nodad"] if ":" in a else []))


class Started:
    """A process in a namespace, with its lines on stderr."""

    def __init__(self, ns, log, *command, env=None, **popen):
        self.log = open(log, "ab")
        parent = os.getpid()
        self.process = subprocess.Popen(
            ["ip", "netns", "exec", ns, *map(str, command)], stderr=self.log,
            preexec_fn=lambda: die_with(parent), env={**os.environ, **(env or {})}, **popen)

    def said(self):
        with open(self.log.name, encoding="utf-8", errors="replace") as f:
            return f.read()

    def end(self, sig=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(sig)
            self.process.send_signal(signal.SIGCONT)
        self.process.wait()
        self.log.close()


class Node:
    """Number N: its kernel is 10.1.0.1N and fd01::1N, its haul-dns 10.1.0.2N and fd01::2N."""

    def __init__(self, lab, number):
        self.lab = lab
        self.number = number
        self.name = f"node{number}"
        self.haul4, self.haul6 = f"10.1.0.{20 + number}", f"fd01::{20 + number}"
        self.socket = f"{lab.folder}/{self.name}.ctl"
        run("ip", "netns", "add", self.name)
        for dev in ("eth0", "eth1"):
            cable(self.name, dev, "switch", f"{self.name}-{dev}")
            run("ip", "-n", "switch", "link", "set", f"{self.name}-{dev}", "master", "br0")
        # The kernel gets the packets for haul-dns, too, and must not answer them.
        settings(self.name, ipv4__conf__eth1__arp_ignore=8, ipv6__conf__eth1__disable_ipv6=1)
        kernel4 = f"10.1.0.{10 + number}"
        address(self.name, "eth0", f"{kernel4}/24", f"fd01::{10 + number}/64")
        conf = lab.write(f"{self.name}.conf", lab.read("node.conf").replace(
            "@KERNEL4@", kernel4).replace("@HAUL4@", self.haul4).replace("@HAUL6@", self.haul6))
        self.conf = conf
        self.bird = lab.bird(self.name, conf, self.socket)
        self.dns = None

    def start(self):
        """haul-dns, which announces itself."""
        command = [self.lab.binary, "--port", f"{self.lab.kind}:eth1", "--id", self.name,
                   "--address", f"{self.haul4}/24", "--address", f"{self.haul6}/64",
                   "--address", f"{SERVICE4}/32", "--address", f"{SERVICE6}/128",
                   "--route", "0.0.0.0/0=10.1.0.1", "--route", "::/0=fd01::1",
                   "--hosts", self.lab.hosts, "--upstream", "10.1.0.1",
                   "--poller", "block", "--carriers", "1", "--period", "0",
                   "--lost-port", "return", "--on-health", f"{HERE}/announce",
                   "--hang-after", HANG_AFTER, "--withdraw", WITHDRAW]
        self.dns = Started(self.name, f"{self.lab.folder}/{self.name}-dns.log", *command,
                           env={"BIRD_SOCKET": self.socket}, stdout=subprocess.DEVNULL)
        return self

    def restart_bird(self):
        """The new one has heard nothing: the health that was told last is told again."""
        os.remove(self.socket)
        self.bird = self.lab.bird(self.name, self.conf, self.socket)
        run("env", f"BIRD_SOCKET={self.socket}", f"{HERE}/announce", "serving", ns=self.name)

    def is_announced(self):
        return self.haul4 in self.lab.next_hops()

    def wait_announced(self):
        wait_for(lambda: self.is_announced() or self.dns.process.poll() is not None,
                 f"{self.name} to be announced")
        if self.dns.process.poll() is not None:
            raise Failed(f"{self.name}: haul-dns has ended\n{self.dns.said()}")

    def cables(self, state, *devs):
        for dev in devs or ("eth0", "eth1"):
            run("ip", "-n", "switch", "link", "set", f"{self.name}-{dev}", state)


class Lab:
    """All of it; use it in a with statement."""

    def __init__(self, binary, nodes=3, kind="afpacket", hashing="plain"):
        self.binary, self.kind, self.hashing = binary, kind, hashing
        self.nodes = []
        self.stack = contextlib.ExitStack()
        # In this program's own /run, which ends with it, whatever ends it.
        self.folder = tempfile.mkdtemp(prefix="anycast-", dir="/run")
        self.stack.callback(shutil.rmtree, self.folder, ignore_errors=True)
        self.hosts = self.write("hosts", f"198.51.100.1 {NAME}\n")
        self.changes = []  # of the route: times
        try:
            self.make(nodes)
        except BaseException:
            self.stack.close()
            raise

    def make(self, nodes):
        for ns in ("client", "router", "switch"):
            run("ip", "netns", "add", ns)
        run("ip", "-n", "switch", "link", "add", "br0", "up", "type", "bridge", "mcast_snooping", 0)
        cable("client", "eth0", "router", "eth0")
        cable("router", "eth1", "switch", "router")
        run("ip", "-n", "switch", "link", "set", "router", "master", "br0")
        settings("router", ipv4__ip_forward=1, ipv6__conf__all__forwarding=1,
                 ipv4__fib_multipath_hash_policy=1, ipv6__fib_multipath_hash_policy=1)
        address("client", "eth0", "10.0.0.2/24", "fd00::2/64")
        address("router", "eth0", "10.0.0.1/24", "fd00::1/64")
        address("router", "eth1", "10.1.0.1/24", "fd01::1/64")
        run("ip", "-n", "client", "route", "add", "default", "via", "10.0.0.1")
        run("ip", "-n", "client", "-6", "route", "add", "default", "via", "fd00::1")
        conf = self.write("router.conf", self.read("router.conf").replace(
            "@TABLE@", str(TABLE[self.hashing])))
        self.socket = f"{self.folder}/router.ctl"
        self.bird("router", conf, self.socket)
        if self.hashing == "resilient":
            self.start("router", "resilient.log", f"{HERE}/resilient", TABLE[self.hashing],
                       SERVICE4, SERVICE6)
        self.monitor = self.start("router", "monitor.log", "ip", "monitor", "route", "nexthop",
                                  stdout=subprocess.PIPE, text=True)
        threading.Thread(target=self.watch_route, daemon=True).start()
        self.nodes = [Node(self, i + 1) for i in range(nodes)]

    def __enter__(self):
        return self

    def __exit__(self, *error):
        for node in self.nodes:
            if node.dns:
                node.dns.end()
        self.stack.close()

    @staticmethod
    def read(name):
        with open(f"{HERE}/{name}", encoding="utf-8") as f:
            return f.read()

    def write(self, name, text):
        with open(f"{self.folder}/{name}", "w", encoding="utf-8") as f:
            f.write(text)
        return f.name

    def start(self, ns, log, *command, **popen):
        started = Started(ns, f"{self.folder}/{log}", *command, **popen)
        self.stack.callback(started.end)
        return started

    def bird(self, ns, conf, control):
        started = self.start(ns, f"{ns}-bird.log", "bird", "-f", "-c", conf, "-s", control)
        wait_for(lambda: "up and running" in run("sh", "-c", f"birdc -s {control} show status; :")
                 or started.process.poll() is not None, f"bird of {ns}")
        if started.process.poll() is not None:
            raise Failed(f"bird of {ns}: {started.said()}")
        return started

    def watch_route(self):
        for _ in self.monitor.process.stdout:
            self.changes.append(time.monotonic())

    def next_hops(self, destination=SERVICE4):
        """Addresses of the nodes to which the router sends."""
        version = "-6" if ":" in destination else "-4"
        # There may be no such table yet.
        said = run("sh", "-c", f"ip -n router {version} route show table {TABLE[self.hashing]} "
                   f"{destination} 2>/dev/null; :")
        return set(re.findall(r"via (\S+)", said))

    def answers(self, sources, version=4):
        """By which node each of the client's source ports is answered."""
        said = run(sys.executable, f"{HERE}/flows.py", SERVICE4 if version == 4 else SERVICE6,
                   sources, ns="client")
        return json.loads(said)

    def load(self, queries_per_second, seconds, version=4):
        return Load(self, queries_per_second, seconds, version)


class Load:
    """dnsperf, which says of each query how it went. A query that nobody has answered within a
    second is lost."""

    TIMEOUT = 1
    CLIENTS = 50  # each with its own source port, so that the router spreads them

    def __init__(self, lab, rate, seconds, version):
        queries = lab.write("queries", f"{NAME} A\n")
        self.lost = []  # when they were sent
        self.began = time.monotonic()
        self.perf = lab.start("client", "dnsperf.log", "stdbuf", "-oL", "dnsperf", "-v", "-s",
                              SERVICE4 if version == 4 else SERVICE6, "-d", queries,
                              "-Q", rate, "-l", seconds, "-t", self.TIMEOUT, "-c", self.CLIENTS,
                              "-q", 100 * rate, stdout=subprocess.PIPE, text=True)
        self.sums = {}
        self.reader = threading.Thread(target=self.follow)
        self.reader.start()

    def follow(self):
        for line in self.perf.process.stdout:
            if line.startswith("> T "):
                self.lost.append(time.monotonic() - self.TIMEOUT)
            else:
                found = re.match(r"\s+Queries (sent|completed|lost):\s+(\d+)", line)
                if found:
                    self.sums[found[1]] = int(found[2])

    def wait(self):
        self.reader.join()
        if self.perf.process.wait() != 0 or "lost" not in self.sums:
            raise Failed(f"dnsperf: {self.perf.said()}")
        return self
