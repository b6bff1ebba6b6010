# SPDX-License-Identifier: BSD-3-Clause
"""Commands of haul-fwd's prompt: capture, tx_vlan, checksums by the device; what a wrong line is
told; the terminal after a second SIGINT; names of testpmd's options."""
import json
import os
import re
import signal
import socket
import struct
import tempfile
import termios

import fwd
import netns
import pcapng
from prompt import PROMPT, Client, Terminal, file_of, script, typed

netns.enter()
tap = netns.Tap()

NULL = ["--port", "null:", "--port", "null:", "--carriers", "1"]
RING = ["--port", "ring:", "--carriers", "1"]
WRONG = [
    ("set burst abc", '"abc": give a number, tx after "set burst"'),
    ("set burst", 'incomplete: give a number, tx after "set burst"'),
    ("set fwd nothing", '"nothing": give io|mac|'),
    ("show port foo 0", '"foo": give info|stats|xstats, summary, PORT after "show port"'),
    ("start now", '"now": give tx_first after "start"'),
    ("stop it", '"it": nothing follows "stop"'),
    ("  vlan  set strip maybe 0", '"maybe": give on|off after "vlan  set strip"'),
    ("csum set ip 0 # a comment", '"0": give hw|sw after "csum set ip"'),
]


def test_wrong_words():
    with tempfile.TemporaryDirectory() as d:
        r = script(d, "\n".join(line for line, _ in WRONG) + "\nbogus\nquit\n", *NULL)
    for line, said in WRONG:
        tap.ok(f"Bad arguments: {said}" in r.out or f"Bad arguments: the command is {said}"
               in r.out, f"{line.strip()}: the word that is wrong", r)
    tap.ok(r.rc == 2 and "bogus\nCommand not found\n" in r.out, "no command", r)
    with Terminal(*NULL, "-i") as t:
        t.wait_for(PROMPT)
        t.type("set burst abc\r")
        said = t.wait_for(PROMPT)
        tap.ok('Bad arguments: "abc": give a number' in said and said.count("Bad") == 1,
               "on a terminal", said)
        t.type("?")
        said = t.wait_for("tx_vlan")
        tap.ok("set" in said, "help lists commands", said)


def test_stealing():
    lines = "set stealing off\nset stealing on\nset stealing cluster\nquit\n"
    with tempfile.TemporaryDirectory() as d:
        steals = script(d, lines, *NULL[:-1], 2, "--steal", "global")
        stays = script(d, lines, *NULL)
    tap.ok("do not steal" not in steals.out and "give on|off after" in steals.out,
           "stealing is turned off and on", steals)
    tap.ok(stays.out.count("carriers do not steal: start the program with --steal") == 2,
           "set stealing without --steal", stays)


def test_refused_poller():
    with tempfile.TemporaryDirectory() as d:
        r = script(d, "start\nset poller block\nstop\nstart\nstop\nquit\n", *NULL)
    refused = r.out.partition("set poller block\n")[2].partition("\n")[0]
    tap.ok("null" in refused and r.out.count("packet forwarding - ports=2") == 2,
           "a poller that the ports do not have is not kept for the next start", r)


def test_retries():
    with tempfile.TemporaryDirectory() as d:
        r = script(d, "set burst tx delay 4294967296 retry 1\n"
                   "set burst tx delay 1 retry 4294967296\n"
                   "set burst tx delay 0 retry 4294967295\nset fwd io retry\nstart tx_first\n"
                   "stop\nset fwd mac retry\nset fwd mac\nstart\nstop\nquit\n", *RING)
    tap.ok(r.rc == 2 and r.out.count("At most 4294967295") == 2 and
           r.out.count("packet forwarding with retry - ports") == 1 and
           "TX retry num: 4294967295, delay between TX retries: 0us" in r.out and
           "mac packet forwarding - ports" in r.out, "set fwd MODE retry, and its limits", r)


def test_queues_of_vdevs():
    """Of started devices, whose PMDs drain, or would die of, queues that they have not set up."""
    with tempfile.TemporaryDirectory() as d:
        r = script(d, "start tx_first\nstop\nport config all rxq 4\nstart\nstop\n"
                   "port config all rxq 1\nport config all rxq 99\nstart\nstop\nquit\n",
                   "--port", "net_tap0,iface=q0", "--port", "net_ring0", "--carriers", 1)
    tap.ok(r.rc == 2 and r.out.count("packet forwarding - ports=2") == 3 and
           re.search("net_tap0.*: 99 queues: it has 1 to ", r.out),
           "port config all rxq on started rings and TAPs", r)


def test_recording():
    with tempfile.TemporaryDirectory() as d:
        r = script(d, "set record-burst-stats on\nset record-core-cycles on\nstart tx_first\n"
                   "show port xstats 0\nset xstats-hide-zero on\nshow port stats 0\nstop\n"
                   "set record-burst-stats off\nset record-core-cycles off\n"
                   "start\nstop\nshow port xstats 0\nquit\n", *RING, "--display-xstats",
                   "tx_good_packets,none,rx_q0_packets", "--burst", 8)
    # Each poll finds the burst, or nothing.
    lines = re.findall(r"RX-bursts : (\d+) \[(\d+)% of 0 pkts(?: \+ (\d+)% of 8 pkts)?\]", r.out)
    cycles = re.findall(r"CPU cycles/packet=[\d.]+ \(busy cycles=(\d+) / total io packets=(\d+)\)",
                        r.out)
    tap.ok(r.rc == 0 and len(lines) == 1 and int(lines[0][0]) > 0 and len(cycles) == 1 and
           int(cycles[0][0]) > 0, "set record-burst-stats, set record-core-cycles", r)
    shown = re.findall(r"^  (\w+) +\d+ +\d+$", r.out, re.M)
    tap.ok(shown == ["tx_good_packets", "rx_q0_packets"], "--display-xstats", f"{shown} {r}")
    tap.ok("rx_errors: 0" in r.out.partition("hide-zero")[0] and
           "rx_errors: 0" not in r.out.partition("hide-zero")[2], "set xstats-hide-zero", r)
    # Each poll of a null port finds a burst; queues that came later are counted, too.
    with tempfile.TemporaryDirectory() as d:
        r = script(d, "set record-burst-stats on\nset portlist 0\nstart\nstop\n"
                   "port config all rxq 3\n" + 5 * "start\nstop\n" + "quit\n",
                   *NULL)
    later = r.out.partition("rxq 3")[2]
    counts = [(int(packets), int(polls)) for packets, polls in re.findall(
        r"for port 0 .*\n  RX-packets: (\d+)[^+]*?RX-bursts : (\d+)", later)]
    tap.ok(any(packets > 0 for packets, _ in counts) and
           all(packets == 32 * polls for packets, polls in counts),
           "record-burst-stats after port config all rxq", f"{counts} {r}")


def test_stopped_ports():
    rc, out = typed("start\nport start 0\nport start 1\nstart\nstop\nquit\n", *NULL,
                    "--disable-device-start")
    tap.ok(rc == 0 and "Not all ports were started: give port start 0 first" in out and
           out.count("packet forwarding - ports=2") == 1, "--disable-device-start", out)


def test_segments():
    """Frames of some of the segments, at random: all lengths appear."""
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "sent")
        r = script(d, "set fwd txonly\nset txpkts 20,30,64\nset txsplit rand\n"
                   f"capture start {path}\nstart\nstop\ncapture stop\nset txpkts 0,64\n"
                   "set txpkts 20,21\nquit\n", "--port", f"pcap:tx={d}/out", "--carriers", 1)
        frames = pcapng.read(path).all if os.path.exists(path) else []
    sizes = {f.len for f in frames}
    tap.ok("a segment has 1 to 2048 bytes" in r.out and "a frame has at least 42" in r.out and
           sizes and sizes <= {50, 114}, "set txpkts with segments, set txsplit rand",
           f"{sizes} {r}")


def test_absent():
    """What testpmd has, and haul-fwd not, gets a reason."""
    lines = ["tso set 800 0", "set port 0 gro on", "show port 0 fec_mode", "read reg 0 0",
             "set bonding mode 1 0", "add port meter policy 0 1", "port config all txpt 4",
             "set fwd shared_rxq", "show port info 0 representor", "bpf-unload rx 0 0"]
    with tempfile.TemporaryDirectory() as d:
        r = script(d, "\n".join(lines) + "\nadd port\nquit\n", *NULL)
    tap.ok(r.out.count("haul-fwd lacks this command of dpdk-testpmd: ") == len(lines) and
           "Command not found" in r.out, "commands that are not there", r)


def test_quit():
    rc, out = typed("quit\n", *NULL)
    tap.ok(rc == 0 and out.count(PROMPT) == 1, "a pipe: no prompt after quit", out)
    with tempfile.TemporaryDirectory() as d:
        r = script(d, "quit\n", *NULL)
        tap.ok(r.rc == 0 and r.out.count(PROMPT) == 1, "a file: no prompt after quit", r)
    with Terminal(*NULL, "-i") as t:
        t.wait_for(PROMPT)
        t.type("quit\r")
        rc = t.end()
        tap.ok(rc == 0 and PROMPT not in t.text, "a terminal: no prompt after quit", t.text)


def test_second_interrupt():
    """A handler that does not end: one signal has the program wait for it, a second one does not.
    They differ, since two equal ones may arrive as one."""
    with Terminal(*NULL, "-i", "-a", "--service", "100s") as t:
        t.wait_for(PROMPT)
        raw = termios.tcgetattr(t.slave)
        t.type("\x03")
        t.process.send_signal(signal.SIGTERM)
        rc = t.end()
        tap.ok(rc in (-signal.SIGINT, -signal.SIGTERM), "a second signal ends it at once",
               f"{rc} {t.text}")
        tap.ok(raw != t.modes and termios.tcgetattr(t.slave) == t.modes,
               "the terminal is as before a second signal")
    with Terminal(*NULL, "-i", "-a") as t:
        t.wait_for(PROMPT)
        t.process.send_signal(signal.SIGQUIT)
        rc = t.end()
        tap.ok(rc == -signal.SIGQUIT and termios.tcgetattr(t.slave) == t.modes,
               "the terminal is as before SIGQUIT", f"{rc} {t.text}")


def test_capture():
    with tempfile.TemporaryDirectory() as d:
        one, two = os.path.join(d, "one"), os.path.join(d, "two")
        r = script(d, f"start tx_first\ncapture start {one}\nstop\ncapture stop\n"
                   f"capture start {two}\nstart tx_first\nstop\ncapture stop\nquit\n", *RING)
        found = [pcapng.read(path) if os.path.exists(path) else None for path in (one, two)]
        wrong = script(d, f"capture stop\ncapture start {one}\ncapture start {two}\n"
                       f"capture stop\ncapture start {d}/no/such\ncapture start -\n", *RING)
    captured = [int(line.split()[1]) for line in r.out.splitlines() if line.startswith("Captured ")]
    tap.ok(len(captured) == 2 and all(n > 0 for n in captured)
           and captured == [f and len(f.all) for f in found], "capture start, capture stop",
           f"{captured} {r}")
    total = json.loads(r.out[r.out.rindex("\n{"):])["capture"]
    tap.ok(r.rc == 0 and total["captured"] == sum(captured) and total["files"] == 2,
           "the sums of both captures", f"{total} {r}")
    for said in ("is being captured to; stop that first", "nothing is being captured",
                 "No such file", "only --capture writes to stdout"):
        tap.ok(said in wrong.out, f"capture: {said}", wrong)


def test_runs():
    """What is set is for the next run; reports are those of the run."""
    for lines in "set fwd generate\n", "start\nset fwd generate\nshow json\nstop\n":
        rc, out = typed(lines + "quit\n", *NULL)
        tap.ok(rc == 0 and "needs --mode generate at the start" in out and "total of" in out,
               "set fwd generate in a program that is no generator", out)
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "control")
        with fwd.Running(*NULL, "--control", path) as haul:
            netns.wait_for(haul.runs, "haul-fwd to run")
            said = [Client(path, haul).ask(line) for line in ("set fwd generate", "set fwd l3fwd",
                                                        "set handler coroutine", "show json")]
            r = haul.end()
        tap.ok(r.rc == 0 and "generate" in said[0] and "needs --routes" in said[1]
               and json.loads(said[3])["handler"] == "burst" == r.json["handler"]
               and r.json["mode"] == "io" and not os.path.exists(path),
               "the same through --control, with reports in between", f"{said}\n{r}")
        r = script(d, "start\nset fwd io\nset rate 1k\nset handler coroutine\nstop\nset rate 7k\n"
                   "quit\n", "--mode", "generate", "--rate", "max", "--port", "ring:",
                   "--carriers", 1, "--drain", 0)
        sent = json.loads(r.out[r.out.rindex("\n{"):])
        tap.ok(r.rc == 2 and "has no other mode" in r.out and "no coroutines" in r.out
               and sent["mode"] == "generate" and "generator" in sent,
               "a generator has no other mode, and reports", r)
        r = script(d, "start\nset burst 0\n", *NULL)
        tap.ok(r.rc == 2 and "commands:2: failed" in r.err and r.json is None
               and '"ports": [' in r.out, "a wrong line ends a program that has run: it reports", r)
        r = script(d, "set fwd rxonly\nquit\nset fwd nothing\n", *NULL)
        tap.ok(r.rc == 0 and "nothing" not in r.out, "a file: nothing runs after quit", r)
    rc, out = typed("quit\nset fwd nothing\nstart\n", *NULL)
    tap.ok(rc == 0 and "nothing" not in out, "a pipe: nothing runs after quit", out)


def test_figures():
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "control")
        with fwd.Running(*NULL, "--control", path) as haul:
            netns.wait_for(haul.runs, "haul-fwd to run")
            client = Client(path, haul)
            client.ask("set burst 1")
            config = client.ask("show config rxtx")
            before = client.json()["carriers"][0]
            netns.wait_for(lambda: client.json()["carriers"][0]["polls"] > before["polls"] + 10000,
                           "polls")
            after = client.json()["carriers"][0]
            client.ask("stop")
            burst = client.json()["ports"][0]
            client.ask("set handler coroutine")
            client.ask("start")
            netns.wait_for(lambda: client.json()["ports"][0]["rx_packets"] > burst["rx_packets"],
                           "packets")
            r = haul.end()
        polls, packets = (after[key] - before[key] for key in ("polls", "rx_packets"))
        tap.ok("packets/burst=1 " in config and polls * 0.9 < packets < polls * 1.1,
               "set burst is in effect at once, as in testpmd", f"{packets} of {polls} polls")
        # A null port counts bytes itself since DPDK 25.07, and haul in coroutines.
        port = r.json["ports"][0]
        tap.ok(port["bytes_known"] == burst["bytes_known"] and
               (not port["bytes_known"] or port["rx_bytes"] == 64 * port["rx_packets"]),
               "bytes are unknown if those of one run are", f"{burst}\n{port}")
        r = fwd.run(*NULL, "--period", 0, "--cmdline-file",
                    file_of(d, "start\nstop\nset handler coroutine\nstart\nstop\nquit\n"))
        row = re.search(r"^  port 0  null: +(\d+) +(\S+) ", r.out, re.M)
        tap.ok(row and row[2] in ("-", str(64 * int(row[1]))), "the same in the table", r)
    r = fwd.run(*NULL, "--json", "--period", 0, "--packets", 1, "--handler", "coroutine",
                "--service", "300ms", "--service-sleep")
    tap.ok(r.rc == 0 and r.json["seconds"] >= 0.3 and r.json["ports"][0]["tx_packets"] > 0,
           "the time of the report has that in which handlers end", r)


def test_link():
    """An interface that a command sets down is not lost."""
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "control")
        with fwd.Running("--port", "tap:l0", "--carriers", 1, "--control", path) as haul:
            netns.wait_for(haul.runs, "haul-fwd to run")
            client = Client(path, haul)
            for line in ("set link-down port 0", "show port info 0", "stop", "port stop all",
                         "show port info 0", "port start all", "start", "set link-down port 0",
                         "set link-up port 0"):
                client.ask(line)
            alive = client.json()["ports"][0]["spec"] == "tap:l0"
            netns.ip("link set l0 down")
            r = haul.wait()
    tap.ok(alive and r.rc == 1 and "the interface l0 went down" in r.err,
           "set link-down and port stop, and then a lost interface", r)


class Tagged(netns.Raw):
    """Frames with the tags that the kernel took from them: (VLAN or None, frame)."""

    def __init__(self, name):
        super().__init__(name)
        self.sock.setsockopt(263, 8, 1)  # SOL_PACKET, PACKET_AUXDATA

    def recv_tagged(self):
        self.sock.settimeout(60)
        while True:
            frame, control, _, addr = self.sock.recvmsg(65536, 64)
            if addr[2] == netns.PACKET_OUTGOING:
                continue
            status, _, _, _, _, tci, _ = struct.unpack("IIIHHHH", control[0][2])
            return (tci if status & 1 << 4 else None), frame  # TP_STATUS_VLAN_VALID


def exchange_tagged(raw, start):
    """The VLANs of 20 frames that come back."""
    sent = [fwd.frame(start + i, 60) for i in range(20)]
    for frame in sent:
        raw.send(frame)
    found = [raw.recv_tagged() for _ in sent]
    return {vlan for vlan, _ in found}, [frame for _, frame in found] == fwd.swapped(sent)


def test_vlan():
    netns.veth("v0", "v1")
    raw = Tagged("v1")
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "control")
        with fwd.Running("--port", "afpacket:v0", "--mode", "macswap", "--carriers", 1,
                         "--control", path) as haul:
            netns.wait_for(haul.runs, "haul-fwd to run")
            client = Client(path, haul)
            said = client.ask("tx_vlan set 0 7")
            tap.ok("give stop first" in said, "tx_vlan while packets are forwarded", said)
            tap.ok(exchange_tagged(raw, 0) == ({None}, True), "no tag")
            for handler in "burst", "coroutine":
                client.ask("stop")
                said = client.ask("tx_vlan set 0 7") + client.ask(f"set handler {handler}")
                client.ask("start")
                found = exchange_tagged(raw, 20)
                tap.ok(found == ({7}, True), f"tx_vlan set, {handler}", f"{found} {said}")
            client.ask("stop")
            said = client.ask("tx_vlan set 0 4096")
            tap.ok("must be < 4096" in said, "no such VLAN", said)
            said = client.ask("tx_vlan set 1 7")
            tap.ok("Invalid port 1" in said, "no such port", said)
            said = client.ask("tx_vlan reset 0")
            client.ask("start")
            found = exchange_tagged(raw, 40)
            tap.ok(found == ({None}, True), "tx_vlan reset", f"{found} {said}")
            client.ask("stop")
            client.ask("tx_vlan set 0 9")
            client.ask("set fwd txonly")
            for handler in "burst", "coroutine":
                client.ask(f"set handler {handler}")
                client.ask("start")
                while raw.recv_tagged()[0] != 9:
                    pass
                client.ask("stop")
                while raw.recv(0.2):  # what is under way
                    pass
                tap.ok(True, f"txonly, {handler}: tagged")
            r = haul.end()
        tap.ok(r.rc == 0 and r.json, "the end", r)
    raw.close()
    netns.ip("link del v0")
    with tempfile.TemporaryDirectory() as d:
        r = script(d, "tx_vlan set all 7\nquit\n", *NULL)
        tap.ok(r.rc == 2 and "vlan insert is not supported by port 0" in r.out,
               "a PMD without the offload", r)


def test_checksums_by_device():
    """tap's PMD has the offloads; afpacket's, memif's, ring's and null's have none."""
    if not netns.can_open(tap, "tap", "checksums by the device"):
        return
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "control")
        with fwd.Running("--port", "tap:t0", "--mode", "csum", "--csum-keep-macs", "--carriers", 1,
                         "--control", path) as haul:
            netns.wait_for(haul.runs, "haul-fwd to run")
            netns.ip("link set t0 up")
            netns.wait_up("t0")
            client = Client(path, haul)
            for how in "sw", "hw":
                client.ask("stop")
                said = "".join(client.ask(f"csum set {layer} {how} 0")
                               for layer in ("ip", "udp", "tcp"))
                client.ask("start")
                netns.wait_up("t0")  # the PMD has started anew
                raw = netns.Raw("t0")
                tap.ok(said.count(f"is {how}") >= 3, f"csum set ... {how}", said)
                for name, proto in ("UDP", 17), ("TCP", 6):
                    for i in range(10):
                        raw.send(fwd.packet(proto, i, i % 2 == 0))
                    came = [raw.recv() for _ in range(10)]
                    want = [fwd.packet(proto, i, True) for i in range(10)]
                    tap.ok(came == want, f"{name} checksums, {how}",
                           "\n".join(f"{c and c.hex()}\n{w.hex()}" for c, w in zip(came, want)))
                raw.close()
            r = haul.end()
        tap.ok(r.rc == 0 and r.json, "the end", r)
        r = script(d, "csum set ip hw all\ncsum show 0\nquit\n", *NULL)
        tap.ok(r.rc == 2 and "IPV4_CKSUM" in r.out
               and "\nIP checksum offload is sw" in r.out, "a PMD without the offload", r)


def test_names():
    r = fwd.run(*NULL, "--forward-mode=macswap", "--stats-period", 0, "--total-num-mbufs=8192",
                "--packets", 1000, "--json")
    tap.ok(r.rc == 0 and r.json["mode"] == "macswap", "options by their names in testpmd", r)
    for args, hint in ((["--portmask=0x8"], "--portmask 0x8: there is no such port"),
                       (["--vdev=net_null0"], "--vdev: give --port SPEC"),
                       (["--"], "--: leave it out"),
                       (["-n", "4"], "-n: leave it out"),
                       (["--latencystats"], "--latencystats: give --times")):
        r = fwd.run(*NULL, *args)
        tap.ok(r.rc == 2 and f"haul-fwd: {hint}" in r.err and r.err.count("\n") == 1,
               f"{args[0]}: what to do instead", r)
    r = fwd.run(*NULL, "--stats-periods", 1)
    tap.ok(r.rc == 2 and "there is no such option" in r.err, "no option", r)


for test in (test_wrong_words, test_stealing, test_refused_poller, test_retries,
             test_queues_of_vdevs, test_recording,
             test_stopped_ports, test_segments, test_absent, test_quit,
             test_second_interrupt, test_runs,
             test_figures, test_link, test_capture, test_vlan, test_names,
             test_checksums_by_device):
    test()
tap.done()
