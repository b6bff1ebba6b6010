# SPDX-License-Identifier: BSD-3-Clause
"""The prompt of haul-fwd: on a terminal, from a file, through a socket; stop and start under
traffic; the same script for dpdk-testpmd and for haul-fwd."""
import json
import os
import re
import resource
import shutil
import socket
import stat
import subprocess
import tempfile
import termios
import threading
import time

import fwd
import netns
from prompt import PROMPT, Client, Terminal, blocks, file_of, script, typed

netns.enter()
tap = netns.Tap()

NULL = ["--port", "null:", "--port", "null:", "--carriers", "1"]
CYCLES = 40  # of each kind of port


def test_file():
    with tempfile.TemporaryDirectory() as d:
        r = script(d, "show config fwd\nstart\nshow fwd stats all\nstop\nquit\n", *NULL)
        tap.ok(r.rc == 0 and "io packet forwarding - ports=2 - cores=1" in r.out
               and len(blocks(r.out)) == 4 and "Done." in r.out, "a file of commands", r)
        r = script(d, "# a comment\n\nset fwd rxonly\n", *NULL, "--packets", 1000)
        tap.ok(r.rc == 0 and '"mode": "rxonly"' in r.out, "after the file it forwards", r)
        wrong = "start\nstart\nbogus\nset burst abc\nset burst 9999\nset fwd nothing\n" \
            "show port info 9\nset eth-peer 5 02:00:00:00:00:01\nstop\nstop\n"
        r = script(d, wrong, *NULL)
        failed = re.findall(r"commands:(\d+): failed", r.err)
        tap.ok(r.rc == 2 and failed == ["2", "3", "4", "5", "6", "7", "8", "10"],
               "wrong lines have file and number, and the exit code is 2", r)
        for said in ("Packet forwarding already started", "Command not found", "Bad arguments",
                     "9999 > 512 (maximum packet per burst)  ignored", "Invalid port 9",
                     "there is no port 5", "Packet forwarding not started"):
            tap.ok(said in r.out, f"a wrong line: {said}", r)
        r = script(d, "set verbose 1\nset fwd rxonly\nstart tx_first\n", "--port", "ring:",
                   "--carriers", 1, "--duration", "0.5")
        lines = re.findall(r"^  src=\S+ - dst=\S+ - pool=\S+ - type=0x0800 - length=64 - nb_segs=1 "
                           r"- sw ptype: L2_ETHER L3_IPV4 L4_UDP +- l2_len=14 - l3_len=20 "
                           r"- l4_len=8 "
                           r"- Receive queue=0x0\n  ol_flags: ", r.out, re.M)
        tap.ok(r.rc == 0 and len(lines) == 32 and "port 0/queue 0: received" in r.out,
               "set verbose 1: a line for each packet", r)
        r = fwd.run(*NULL, "--cmdline-file", os.path.join(d, "none"))
        tap.ok(r.rc == 2 and "No such file" in r.err, "no such file", r)
        r = fwd.run(*NULL, "--auto-start")
        tap.ok(r.rc == 2 and "--interactive" in r.err, "--auto-start alone", r)


def printing_into(path, into, *args):
    """A run whose stdout or stderr is appended to a file: exit code, the size of the file, stderr
    or what the file has. A program that reads on and on is ended at 1 MB."""
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
    with open(path, "a") as f:
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, into: f}
        r = subprocess.run([fwd.FWD, *netns.settings(args), *args], stdin=subprocess.DEVNULL,
                           text=True, timeout=120, preexec_fn=limit, **pipes)
    with open(path) as f:
        text = f.read()
    return r.returncode, netns.said(text if into == "stderr" else r.stderr), text


def test_own_output():
    """A file that the program prints to would grow by each line that is read from it."""
    with tempfile.TemporaryDirectory() as d:
        for option, more, text in (("--cmdline-file", [], "show config fwd\n"),
                                   ("--routes", ["--mode", "l3fwd"], "# none\n")):
            for into in "stdout", "stderr":
                path = file_of(d, text)
                rc, err, now = printing_into(path, into, *NULL, "--duration", "0.1", "--period",
                                             "0", *more, option, path)
                why = f"{path}: {into} of this program goes to it; give another file"
                tap.ok(rc == 2 and why in err and len(now) < len(text) + 500,
                       f"{option} that {into} goes to is refused", f"{rc} {err[:2000]}")
        rc, err, _ = printing_into("/dev/null", "stdout", *NULL, "--duration", "0.1",
                                   "--cmdline-file", "/dev/null")
        tap.ok(rc == 0, "/dev/null is both", f"{rc} {err}")


def test_pipe():
    rc, out = typed("start\nshow fwd stats all\n", *NULL)
    tap.ok(rc == 0 and PROMPT + "start" in out and "total of" in out and len(blocks(out)) == 2,
           "a pipe: it echoes, and its end quits", out)
    rc, out = typed("", *NULL)
    tap.ok(rc == 0 and "packet forwarding" not in out, "an empty pipe", out)
    rc, out = typed("stop\n", *NULL, "-a")
    tap.ok(rc == 0 and len(blocks(out)) == 2, "--auto-start: it forwards at once", out)
    rc, out = typed("bogus\nquit\n", *NULL)
    tap.ok(rc == 0 and "Command not found" in out, "a wrong command is no end", out)
    rc, out = typed("help\nhelp all\nhelp ports\n", *NULL)
    brief, everything, ports = re.split("help (?:all|ports)\n", out)
    tap.ok(rc == 0 and all(f"\n{c}" in everything for c in ("start", "show fwd stats all",
                                                            "set burst N")) and
           "\nset burst N" not in brief and "    help ports " in brief and
           "\nport start|stop PORT\n" in ports and "\nset burst N" not in ports,
           "help lists sections, and their commands", out)


def test_terminal():
    with Terminal(*NULL, "-i") as t:
        t.wait_for(PROMPT)
        t.type("show conf\tfw\t\r")
        said = t.wait_for("TX P=0")
        tap.ok("show config fwd" in said, "TAB completes", said)
        t.wait_for(PROMPT)
        t.type("set fwd macs\t\r")
        said = t.wait_for("mode")
        tap.ok("Set macswap packet forwarding mode" in said, "TAB completes a mode", said)
        t.wait_for(PROMPT)
        t.type("\x1b[A\x1b[A\r")
        said = t.wait_for("TX P=0")
        tap.ok("show config fwd" in said, "history", said)
        t.type("start\r")
        t.wait_for("TX P=0")
        t.type("\x04")
        rc = t.end()
        tap.ok(rc == 0 and "total of" in t.text, "Ctrl-D quits", f"{rc} {t.text}")
        tap.ok(termios.tcgetattr(t.slave) == t.modes, "the terminal is as before")
    with Terminal(*NULL, "-i", "-a") as t:
        t.wait_for(PROMPT)
        t.type("show fwd stats all\r")
        t.wait_for("Accumulated")
        t.type("\x03")
        rc = t.end()
        tap.ok(rc == 0 and "total of" in t.text, "Ctrl-C ends with statistics", f"{rc} {t.text}")
        tap.ok(termios.tcgetattr(t.slave) == t.modes, "the terminal is as before Ctrl-C")


def test_socket():
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "control")
        args = ["--port", "ring:", "--carriers", "1", "--control", path]
        stale = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        stale.bind(path)
        stale.close()
        with fwd.Running(*args) as haul:
            netns.wait_for(haul.runs, "haul-fwd to run")
            mode = os.stat(path)
            tap.ok(stat.S_ISSOCK(mode.st_mode) and stat.S_IMODE(mode.st_mode) == 0o600,
                   "in place of a stale socket, for its user only", oct(mode.st_mode))
            r = fwd.run(*args)
            tap.ok(r.rc == 2 and "another program listens" in r.err, "a second listener", r)
            one, two = Client(path, haul), Client(path, haul)
            said = one.ask("stop")
            tap.ok("Done." in said and "not started" in two.ask("stop"), "two clients", said)
            said = two.ask("start tx_first 2")
            tap.ok("io packet forwarding" in said, "start tx_first", said)
            netns.wait_for(lambda: blocks(one.ask("show fwd stats all"))[0]["RX-packets"] > 1000,
                           "packets")
            said = one.ask("stop")
            b = blocks(said)[0]
            tap.ok(b["TX-packets"] == b["RX-packets"] + 64 and b["TX-dropped"] == 0,
                   "tx_first, and statistics from the start on", said)
            two.sock.sendall(b"sto")
            two.sock.close()
            said = one.ask("x" * 100000)
            tap.ok("too long" in said and "not found" in one.ask("y"), "a line too long", said)
            one.sock.sendall(b"show config fwd\nshow config cores\r\nquit\n")
            said = one.answer() + one.answer() + one.answer()
            tap.ok("TX P=0" in said and "lcores: " in said, "several lines at once", said)
            r = haul.wait()
        tap.ok(r.rc == 0 and r.json and not os.path.exists(path),
               "quit ends it; no socket remains", r)
        with open(path, "w"):
            pass
        r = fwd.run(*args)
        tap.ok(r.rc == 2 and "no socket" in r.err and os.path.isfile(path),
               "a file is left alone", r)
        r = fwd.run(*args[:-1], os.path.join(d, "none", "control"))
        tap.ok(r.rc == 2 and "cannot listen" in r.err, "no such directory", r)


def cycle(what, args, path, *more, first=0):
    """Stops and starts under traffic; in the end no packet is missing. first: it sends so many
    of its own."""
    with fwd.Running(*args, "--mode", "macswap", "--carriers", 1, "--control", path, *more) as haul:
        netns.wait_for(haul.runs, "haul-fwd to run")
        client = Client(path, haul)
        moved = 0
        for i in range(CYCLES):
            before = moved
            netns.wait_for(lambda: blocks(client.ask("show fwd stats all"))[-1]["RX-packets"] > 0,
                           "packets")
            said = client.ask("stop")
            moved += blocks(said, "Accumulated")[0]["RX-packets"]
            if moved == before or "Done." not in said:
                tap.ok(False, f"{what}: stop {i}", said)
            client.ask(f"set handler {('burst', 'coroutine')[i % 2]}")
            client.ask("start")
        r = haul.end()
    tap.ok(r.rc == 0 and r.json and r.port(0)["rx_packets"] >= moved > 0
           and r.total("rx_packets") + first == r.total("tx_packets") + r.dropped(),
           f"{what}: {CYCLES} stops and starts, and no packet is missing", f"{moved}\n{r}")


class Sender:
    """Frames into an interface until the end."""

    def __init__(self, name):
        self.raw = netns.Raw(name)
        self.stops = False
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        i = 0
        while not self.stops:
            for _ in range(8):
                try:
                    self.raw.send(fwd.frame(i, 60))
                except OSError:
                    pass
                i += 1
            time.sleep(0.001)  # leaves the program some of the CPU

    def end(self):
        self.stops = True
        self.thread.join()
        self.raw.close()


def test_cycles():
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "control")
        for kind in "afpacket", "afxdp":
            if not netns.can_open(tap, kind):
                continue
            netns.veth("v0", "v1")
            sender = Sender("v1")
            cycle(kind, ["--port", f"{kind}:v0"], path)
            sender.end()
            netns.ip("link del v0")
        if netns.can_open(tap, "tap"):
            with fwd.Running("--port", "tap:t0", "--mode", "macswap", "--carriers", 1, "--control",
                             path) as haul:
                netns.wait_for(haul.runs, "haul-fwd to run")
                netns.ip("link set t0 up")
                sender = Sender("t0")
                client = Client(path, haul)
                for _ in range(CYCLES):
                    netns.wait_for(lambda: blocks(client.ask("show fwd stats all"))[0]["RX-packets"]
                                   > 0, "packets")
                    client.ask("stop")
                    client.ask("start")
                r = haul.end()
                sender.end()
            tap.ok(r.rc == 0 and r.json and r.total("rx_packets") ==
                   r.total("tx_packets") + r.dropped() > 0, f"tap: {CYCLES} stops and starts", r)
        memif = os.path.join(d, "m")
        with fwd.Running("--port", f"memif:role=server,socket={memif}", "--carriers", 1, "--poller",
                         "sleep", "--mode", "macswap", "--tx-first", 2) as peer:
            netns.wait_for(peer.runs, "the peer to run")
            cycle("memif", ["--port", f"memif:role=client,socket={memif}"], path, "--poller",
                  "sleep", "--tx-first", 2, first=64)
            tap.ok(peer.end().rc == 0, "memif: the peer")


# From DPDK's testpmd user guide, as far as they need no NIC.
SCRIPTS = {
    "rx and tx": "set fwd io\nshow config fwd\nshow port info 0\nstart tx_first\n"
                 "show port stats all\nshow fwd stats all\nstop\n"
                 "clear port stats all\nshow port stats all\nquit\n",
    "configuration": "show port summary all\nset fwd rxonly\nset burst 16\nset promisc all on\n"
                     "set allmulti 0 on\nset eth-peer 0 02:00:00:00:00:77\nshow config rxtx\n"
                     "start\nstop\nport stop all\nport start all\nshow port xstats 0\n"
                     "clear port xstats 0\nquit\n",
}
FIELDS = ("Forward statistics for port 0", "Accumulated forward statistics for all ports",
          "NIC statistics for port 0", "RX-packets:", "RX-missed:", "RX-bytes:", "RX-errors:",
          "RX-nombuf:", "TX-packets:", "TX-errors:", "TX-bytes:", "RX-dropped:", "TX-total:",
          "Infos for port 0", "NIC extended statistics for port 0", "MAC address:",
          "Promiscuous mode:", "packet forwarding", "packet forwarding mode", "Done.")


def test_scripts():
    if not shutil.which("dpdk-testpmd"):
        tap.skip("scripts of testpmd", "dpdk-testpmd is not installed (Debian: dpdk-dev)")
        return
    cpus = ",".join(map(str, sorted(os.sched_getaffinity(0))))
    for name, text in SCRIPTS.items():
        with tempfile.TemporaryDirectory() as d:
            path = file_of(d, text)
            theirs = subprocess.run(
                ["dpdk-testpmd", "--lcores", f"(0,1)@({cpus})", "--no-pci", "--no-huge", "-m",
                 "128", "--no-shconf", "--no-telemetry", f"--file-prefix=haul-test-{os.getpid()}",
                 "--vdev=net_ring0", "--vdev=net_ring1", "--", "-i", "--nb-cores=1",
                 "--total-num-mbufs=8192", "--no-lsc-interrupt", "--disable-link-check",
                 f"--cmdline-file={path}"],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                text=True, errors="replace", timeout=120)
            ours = fwd.run("--port", "ring:", "--port", "ring:", "--carriers", 1, "--cmdline-file",
                           path, "-i")
            lacks = [f for f in FIELDS if f in theirs.stdout and f not in ours.out]
            has = [f for f in FIELDS if f in theirs.stdout]
            tap.ok(ours.rc == 0 and "failed" not in ours.err, f"a script of testpmd: {name}", ours)
            tap.ok(has and not lacks, f"the same fields: {name}",
                   f"{lacks}\n{theirs.stdout}\n{ours.out}")


for test in (test_file, test_own_output, test_pipe, test_terminal, test_socket, test_scripts,
             test_cycles):
    test()
tap.done()
