# SPDX-License-Identifier: BSD-3-Clause
"""Random lines for haul-fwd's prompt: all commands that "help" lists, with right and wrong words,
in programs with random ports, modes and options; from a file, a pipe, or two clients of --control.

Among them are ports that are configured and get another device, which may lack what is set, or
which another port has by another name. Each program must end with the exit code that its lines
deserve, refuse a wrong line by one line, report each run that was started, keep its books, and
leave no socket.

Usage: fwd_random.py HAUL-FWD [SEED PROGRAMS]    (HAUL_STRESS_SECONDS: as long as that; HAUL_FEWER:
8 programs in place of 24)
"""
import json
import os
import random
import re
import sys
import tempfile
import time

import fwd
import netns
from prompt import PROMPT, Client, blocks, file_of, typed

LINES = 60  # of a program
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(1 << 32)
PROGRAMS = int(sys.argv[3]) if len(sys.argv) > 3 else \
    8 if "HAUL_FEWER" in os.environ else 24
SECONDS = float(os.environ.get("HAUL_STRESS_SECONDS", 0))

MODES = ["io", "mac", "macswap", "5tswap", "csum", "icmpecho", "l3fwd", "rxonly", "noisy",
         "flowgen", "txonly", "generate"]
SOURCES = {"flowgen", "txonly"}
PORTS = [["null:", "null:"], ["ring:"], ["ring:", "ring:"], ["null:"], ["ring:", "null:", "null:"],
         ["tap:r0"], ["tap:r0", "null:"], ["empty:", "ring:"],
         ["afpacket:v0", "null:", "empty:"]]
# For "port attach": devices that lack what others have, that another port has under another name,
# that have another number of queues, and none.
SPECS = ["ring:", "null:", "null:no-rx=1", "tap:r0", "tap:r1", "net_tap7,iface=r0", "net_ring7",
         "afpacket:v0", "afpacket:v1", "net_af_packet7,iface=v0", "net_pcap7,rx_iface=v1",
         "pcap:tx={d}/f1", "afpacket:none", "virtio-user:{d}/none", "empty:", "bogus:", "net_no0"]
NUMBERS = ["0", "1", "2", "7", "64", "512", "513", "4095", "4096", "65535", "65536", "1048577",
           "4294967296", "18446744073709551615", "18446744073709551616", "-1", "abc", "0x10", "",
           "1", "2", "3", "4"]
KINDS = ["spin", "sleep:50", "pause:1", "block", "adaptive", "constant", "poisson", "burst:8",
         "bogus", "sleep:x"]
RATES = ["0", "1k", "200k", "max", "1k-100k/100ms", "10k/10ms,0/10ms", "bogus", "-1"]
WORDS = {
    "N": NUMBERS,
    "MODE": MODES + ["nothing"],
    "PORT": ["0", "1", "all", "all", "2", "99", "-1", "x"],
    "KIND": KINDS,
    "PPS": RATES,
    "SPEC": SPECS,
    "MAC": ["02:00:00:00:00:09", "01:00:5e:00:00:01", "bogus", "02:00"],
    "NAME": ["ip", "udp", "none", "bogus", "vlan_strip", "mbuf_fast_free"],
    "WORD": ["1", "cluster"],
    "TYPE": ["no.such", "["],  # DPDK's lines would be among ours
    "SPEED": ["auto", "10", "1000", "7", "x"],
    "SIZES": ["64", "64,64", "1518", "100,0", "1,1,64", "60000", "x", ","],
    "ENTRIES": ["(0,0)", "(0,1),(1,0)", "(0,", "(99999,0)", "x"],
    "KEY": ["6d5a" * 20, "00", "6d5", "xyz"],
    "PORTS": ["0", "1,0", "0-2", "0,0", "1", "9", "x", "0-"],
    "CPUS": ["0", "0,1", "1", "99", "x", "0,"],
    "MASK": ["1", "3", "0", "ffffffff", "0xx"],
    "RULE...": ["ingress pattern eth / end actions drop / end",
                "ingress pattern eth / ipv4 src is 1.2.3.4 / udp dst is 53 / end "
                "actions queue index 0 / end",
                "priority 1 ingress pattern eth / ipv6 / end actions rss queues 0 end / end",
                "pattern vlan vid is 5 / end actions mark id 5 / count / end",
                "ingress pattern eth srcc is 1 / end", "pattern", "egress"],
    "RULES...": ["rule 0", "rule 0 rule 1", "rule 4294967296", "rule", "x"],
    "GROUPS...": ["group 0", "group 0 group 1", "group"],
    "SWITCH": ["on", "0", "maybe"],
    "HEADERS...": ["eth / ipv4 dst is 1.2.3.4 / udp / vxlan vni is 7 / end_set", "eth", "mark /"],
    "DEVICE": ["all", "net_null_haul0", "none"],
    "FILE": ["{d}/f0", "{d}/f1", "{d}/no/such", "-", "/dev/full"],
}
OFTEN = ["start", "start", "start tx_first", "stop", "stop", "set fwd MODE", "set fwd MODE",
         "port config all rxq|txq N", "port config all rxq N", "set portlist PORTS", "set nbport N",
         "port PORT rxq|txq 0 start|stop", "port PORT rxq|txq N deferred_start on|off",
         "set handler burst|coroutine", "port detach PORT", "port attach PORT",
         "port attach PORT SPEC", "port attach PORT SPEC", "show port xstats PORT",
         "csum set ip|udp hw PORT", "vlan set strip on PORT", "set nbcore N", "set burst N",
         "show json", "show fwd stats all"]
# Packets, after "set verbose", also those of the run that the end stops.
SHOWN = r"port \d+/queue \d+: (?:received|sent) \d+ packets\n|  (?:src=|ol_flags: ).*\n|" \
    r"  and \d+ more\n"
# What the program prints before it knows that a command fails.
# Of packets, while a command runs; and what testpmd says before or after the line of a failure.
VERBOSE = re.compile(r"port \d+/queue \d+: |  src=|  ol_flags: |Configuring Port |"
                     r"Port \d+: [0-9A-F:]{17}$|"
                     r"Port \d+: VLAN-filtering|rx_vlan_\w+_set|error desc: |Parse tunnel is|"
                     r"[\w-]+ checksum offload is (hw|sw)$|Checking link|"
                     r"Configuration of RSS hash|Set link (up|down) fail|Error during |"
                     r"The valid ports array|Port \d+ modified RSS|Invalid [RT]x queue_id")
PROGRESS = ("Stopping ports...", "Telling cores", "Waiting for lcores",
            "Closing ports...", "Resetting ports...", "The reta size of port")


def forms():
    """The forms of all commands."""
    rc, out = typed("help all\n", "--port", "null:", "--carriers", 1)
    found = re.findall(r"^([a-z][^\n]*)\n    [A-Z1]", out, re.M)
    return [form for form in found if form != "quit" and not form.startswith("help")]


class Program:
    """A random command line, and random lines for its prompt."""

    def __init__(self, seed, all_forms, d):
        self.r = random.Random(seed)
        self.forms, self.d = all_forms, d
        self.ports = self.pick(PORTS)
        self.mode = self.pick(MODES)
        self.args = ["--carriers", self.pick([1, 1, 2]), "--mode", self.mode]
        for spec in self.ports:
            self.args += ["--port", spec]
        self.add_options()
        self.lines = [self.line() for _ in range(LINES - 30)]
        for _ in range(5):
            at = self.r.randrange(len(self.lines))
            self.lines[at:at] = self.change()
        if self.r.random() < 0.5:
            self.lines.insert(self.r.randrange(LINES), "quit")

    def pick(self, of):
        return self.r.choice(of)

    def add_options(self):
        if self.mode == "generate":
            self.args += ["--drain", "5ms", *self.pick([
                [], ["--rate", "100k"], ["--rate", "max"], ["--rate", "0"],
                ["--rate", "50k", "--arrivals", "poisson", "--sizes", "64,512"]])]
        elif self.r.random() < 0.4:
            self.args += ["--handler", "coroutine"]
        if self.mode == "l3fwd" or self.r.random() < 0.3 and self.mode != "generate":
            path = os.path.join(self.d, "routes")
            with open(path, "w") as f:
                f.write("198.18.0.0/15 0\n2001:2::/48 0\n")
            self.args += ["--routes", path]
        if self.r.random() < 0.2:
            self.args += ["--capture", os.path.join(self.d, "capture")]
        if self.r.random() < 0.2 and "--handler" in self.args:
            self.args += ["--steal", "global"]
        if self.r.random() < 0.2 and self.mode != "txonly" and self.mode != "generate":
            self.args += ["--service", "2us"]

    def word(self, form):
        if form in WORDS:
            return self.pick(WORDS[form]).format(d=self.d)
        return self.pick(form.split("|"))

    def line(self):
        form = self.pick(OFTEN if self.r.random() < 0.5 else self.forms)
        words = [self.word(word) for word in form.split()]
        odd = self.r.random()
        if odd < 0.03:
            words.pop()
        elif odd < 0.06:
            words.append("more")
        elif odd < 0.09:
            words[self.r.randrange(len(words))] = self.pick(["", "\x01", "é", "x" * 200, "#", "?;"])
        return " ".join(words)

    def change(self):
        """A port that is configured, and gets another device."""
        n = self.r.randrange(len(self.ports))
        lines = ["stop", self.pick(["vlan set strip on PORT", "csum set udp hw PORT",
                                    "port config PORT rss udp", "port config mtu PORT 1400"]),
                 "start", "port detach PORT", f"port attach PORT {self.word('SPEC')}",
                 "show port xstats PORT"]
        return [line.replace("PORT", str(n)) for line in lines]

    def text(self):
        return "\n".join(self.lines) + "\n"


def check_answer(line, said, failed):
    """What is wrong with the answer to a line, or ""."""
    said = [one for one in said.splitlines()
            if one.strip() and not one.startswith(PROGRESS) and not VERBOSE.match(one)]
    if failed and not said:
        return f"it fails in silence: {line!r}"
    if failed and len(said) > 1 and "all" not in line.split():
        return f"it fails with {len(said)} lines: {line!r}: {said}"
    return ""


class Ports:
    """What ports have, as far as answers tell."""

    def __init__(self, specs):
        self.specs = dict(enumerate(specs))  # of those that have a device
        self.last = dict(self.specs)
        self.counted = {}

    def see(self, line, said):
        """What is wrong with the answer to a line, or ""."""
        words = line.split()
        for n, how in re.findall(r"^Port (\d+) is (at|de)tached$", said, re.M):
            spec = words[-1]
            self.specs.pop(int(n), None)
            if how == "at":
                if re.match(r"net_|\w+:", spec):
                    self.last[int(n)] = spec
                self.specs[int(n)] = self.last[int(n)]
        for n in re.findall(r"^Port (\d+) is closed$", said, re.M):
            self.specs.pop(int(n), None)
        if words[:2] == ["port", "reset"] and "Done" not in said:  # some may be closed now
            self.specs = {}
        on = re.findall(r"\b(r0|r1|v0|v1|f1)\b", " ".join(self.specs.values()))
        if len(on) != len(set(on)):
            return f"two ports on one device: {self.specs}"
        if words[:2] == ["port", "attach"] and re.search("its PMD .* (offload|RSS)", said):
            return f"what a device lacks keeps it out: {said}"
        if "clear port" in line:
            self.counted = {}
        _, *shown = re.split(r"NIC extended statistics for port (\d+)", said)
        for n, text in zip(shown[::2], shown[1::2]):
            for name, value in re.findall(r"^([rt]x_\w*(?:packets|bytes)): (\d+)$", text, re.M):
                if int(value) < self.counted.get((n, name), 0):
                    return f"{name} of port {n} was {self.counted[n, name]}: {said}"
                self.counted[n, name] = int(value)
        return ""


def check_books(of, figures):
    """The packets of all ports: none may appear or vanish."""
    rx, tx = of.total("rx_packets"), of.total("tx_packets")
    dropped = sum(n for p in figures["ports"] for why, n in p["dropped"].items()
                  if not why.startswith("rx_"))
    own = tx + dropped - rx
    if of.said_mode == "generate":
        c = figures["counters"]
        if rx != c["received"] + c["duplicated"] + c["foreign"] + c["unstamped"]:
            return f"received {rx}, and counted as {c}"
        lost = sum(p["dropped"][why] for p in figures["ports"]
                   for why in ("tx_full", "tx_refused", "stopping", "tx_errors"))
        return "" if c["sent"] == tx + lost else f"sent {c['sent']}, {tx} and {lost} dropped"
    if own < 0 or own > 0 and not of.generated:
        return f"received {rx}, sent {tx}, dropped {dropped}"
    return ""


class End:
    """A program that has ended."""

    def __init__(self, program, rc, out, err, failed):
        self.p, self.rc, self.out, self.err, self.failed = program, rc, out, err, failed
        self.generated = any("tx_first" in line or line.split()[2:] and
                             line.split()[2] in SOURCES for line in program.lines)
        self.generated |= program.mode in SOURCES
        self.figures = None
        last = None
        for last in re.finditer(rf"^(?:{PROMPT})?(?=\{{\n)", out, re.M):
            pass
        if last:
            self.figures, _ = json.JSONDecoder().raw_decode(out, last.end())
        self.said_mode = self.figures and self.figures.get("mode")

    def total(self, key):
        return sum(p[key] for p in self.figures["ports"])

    def starts(self):
        return len(re.findall(r"^\w+ packet forwarding(?: with retry)? - ports=", self.out,
                              re.M)) - \
            self.out.count("show config fwd\n")

    def wrong(self):
        """What is wrong, or ""."""
        rest = [line for line in self.err.splitlines()
                if not re.match(r"haul-fwd: (note: |\S+/commands:\d+: failed: )", line)]
        expected = (2,) if self.failed else (0,)
        if any("/dev/full" in line or "capture ends" in line for line in [*rest, *self.p.lines]):
            expected += (1,)
            rest = [line for line in rest if "No space left" not in line]
        if self.rc not in expected:
            return f"exit {self.rc} and not {expected}: {rest}"
        if rest:
            return f"lines on stderr: {rest}"
        if not self.figures:
            return "no figures at the end" if not self.failed or self.starts() > 0 else ""
        return check_books(self, self.figures)


def by_file(p):
    r = fwd.run(*p.args, "--cmdline-file", file_of(p.d, p.text()), "--json", "--period", 0,
                "--duration", "1ms")
    failed = [int(n) for n in re.findall(r"commands:(\d+): failed", r.err)]
    end = End(p, r.rc, r.out, r.err, failed)
    answers = r.out.partition(PROMPT)[2].split("\n" + PROMPT)
    received, runs, ports = 0, False, Ports(p.ports)
    for n, line in enumerate(p.lines[:len(answers)], 1):
        echo, _, said = answers[n - 1].partition("\n")
        wrong = "" if echo == line else f"the echo of {line!r} is {echo!r}"
        wrong = wrong or check_answer(line, said, n in failed) or ports.see(line, said)
        if wrong:
            return end, wrong
        if line.split()[:1] == ["start"] and n not in failed:
            runs = True
        if line.split()[:1] == ["stop"] and n not in failed:
            runs = False
            sums = blocks(said, "Accumulated forward statistics")
            if len(sums) != 1 or not said.endswith("\nDone."):
                return end, f"line {n}: no report at a stop: {said}"
            received += sums[0]["RX-packets"]
        if line == "quit" and not runs and "clear fwd" not in p.text() and end.figures and \
                received != end.total("rx_packets"):
            return end, f"the runs received {received}, and all {end.total('rx_packets')}"
        if line == "quit":
            break
    return end, end.wrong()


def by_pipe(p):
    rc, out = typed(p.text(), *p.args, "--json")
    end = End(p, rc, out, "", [])  # its stderr is among the lines
    if rc not in (0, 1):
        return end, f"exit {rc}"
    if not re.search(rf"^{PROMPT}(quit\n)?(haul-fwd: .*\n|{SHOWN})*\{{\n", out, re.M):
        return end, "more than the figures follows quit or the end of input"
    return end, end.wrong()


def by_clients(p):
    path = os.path.join(p.d, "control")
    with fwd.Running(*p.args, "--control", path, options=("--json", "--period", "0")) as haul:
        netns.wait_for(lambda: os.path.exists(path) or haul.process.poll() is not None,
                       "haul-fwd to listen")
        clients, ports = [Client(path, haul), Client(path, haul)], Ports(p.ports)
        for line in p.lines:
            try:
                said = p.pick(clients).ask(line)
            except OSError:
                break
            if said.endswith("(end)"):
                break
            wrong = ports.see(line, said)
            if wrong:
                return End(p, 0, "", "", []), f"{line}: {wrong}"
            if line == "show json" and not said.startswith("{"):
                return End(p, 0, "", "", []), f"show json: {said}"
        r = haul.wait() if "quit" in p.lines else haul.end()
        end = End(p, r.rc, r.out, r.err, [])
        return end, end.wrong() or (f"{path} is left" if os.path.exists(path) else "")


def run(seed, all_forms):
    with tempfile.TemporaryDirectory() as d:
        p = Program(seed, all_forms, d)
        how = random.Random(seed).choice([by_file, by_file, by_pipe, by_clients])
        os.chdir(d)  # a word may be the name of a file
        end, wrong = how(p)
        os.chdir("/")
        named = {"commands", "routes", "capture", "f0", "f1", *p.text().split()}
        left = [name for name in os.listdir(d) if name not in named]
        if not wrong and left:
            wrong = f"left: {left}"
    tap.ok(not wrong, f"seed {seed}: {how.__name__[3:]}, mode {p.mode}",
           f"{wrong}\n{p.args}\n{end.err}\n{end.out[-20000:]}" if wrong else "")


fwd.FWD = os.path.abspath(fwd.FWD)
netns.enter()
netns.veth("v0", "v1")
tap = netns.Tap()
found = forms()
tap.ok(len(found) > 40, "the commands are found", found)
until = time.monotonic() + SECONDS
done = 0
while done < PROGRAMS or time.monotonic() < until:
    run(SEED + done, found)
    done += 1
tap.done()
