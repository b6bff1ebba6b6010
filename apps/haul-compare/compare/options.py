# SPDX-License-Identifier: BSD-3-Clause
"""The command line: one table, from which parsing and --help follow."""
import re
import textwrap

LINKS = "tap", "veth", "afxdp", "memif"
ADAPTIVE_US = 20, 100
SLEEP_US = 50
LOADS = 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0
ARRIVALS = "poisson", "constant", "burst:32"
PEERS = "kernel-epoll", "dpdk-interrupt"
KINDS = "spin", "pause", "adaptive", "sleep", "block"
UNITS = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9}


class Usage(Exception):
    """Wrong arguments, in one line."""


def fraction(text):
    """0.5 or 50% as 0.5."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(%?)", text)
    value = float(found[1]) / (100 if found[2] else 1) if found else 0
    if not 0 < value <= 1:
        raise ValueError("give shares of the maximum from 0.001 to 1, such as 0.1,0.5 or 10%,50%")
    return value


def rate(text):
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([kMG]?)", text)
    if not found or float(found[1]) <= 0:
        raise ValueError("give packets per second, such as 50k or 1.5M")
    return float(found[1]) * UNITS[found[2]]


def load(text):
    """A share of the maximum, or a rate, which is more than 1."""
    try:
        return fraction(text)
    except ValueError:
        if rate(text) < 10:
            raise
        return rate(text)


def number(least, most):
    def read(text):
        if not re.fullmatch(r"\d+(\.\d+)?", text) or not least <= float(text) <= most:
            raise ValueError(f"give a number from {least:g} to {most:g}")
        return float(text)
    return read


def whole(least, most):
    def read(text):
        value = number(least, most)(text)
        if value != int(value):
            raise ValueError(f"give a whole number from {least} to {most}")
        return int(value)
    return read


def words(read):
    def read_all(text):
        found = [read(part) for part in text.split(",") if part]
        if not found:
            raise ValueError("give at least one")
        return list(dict.fromkeys(found))
    return read_all


def choice(*names):
    def read(text):
        if text not in names:
            raise ValueError(f"give {', '.join(names[:-1])} or {names[-1]}")
        return text
    return read


def poller(text):
    kind = text.partition(":")[0]
    if text not in PEERS and (kind not in KINDS or
                              not re.fullmatch(r"[a-z]+(:[1-9]\d{0,6})?", text)):
        raise ValueError(f"{text}: give pollers of haul-fwd --poller, such as spin,adaptive:20,"
                         f"block, or {' or '.join(PEERS)}")
    return text


def arrival(text):
    if not re.fullmatch(r"poisson|constant|burst(:[1-9]\d{0,4})?", text):
        raise ValueError(f"{text}: give constant, poisson or burst:N")
    return text


def cpu_list(text):
    found = [int(part) for part in text.split(",")] if re.fullmatch(r"\d+,\d+", text) else []
    if not found:
        raise ValueError("give two CPUs, such as 0,1")
    return found


def anything(text):
    return text


# name, value, how it is read, default, help
TABLE = [
    ("link", "tap|veth|afxdp|memif", choice(*LINKS), None,
     "the link between generator and measured program, which is made for this purpose:\n"
     "tap: a TAP interface, with the generator on the kernel's side;\n"
     "veth: a pair of kernel interfaces;\n"
     "afxdp: the same by AF_XDP; needs root;\n"
     "memif: shared memory (default: the first of these that works here)"),
    ("port", "SPEC", None, [],
     "instead of --link: twice, for the two ends of a link of yours, first the generator's;\n"
     "specs are those of haul-fwd --help"),
    ("pollers", "LIST", words(poller), None,
     "pollers of haul-fwd --poller with their times, and programs to compare with:\n"
     "kernel-epoll, a program on kernel sockets; dpdk-interrupt, one that sleeps as DPDK's\n"
     "l3fwd-power does (default: spin,pause,adaptive:20,adaptive:100,sleep:50,block,\n"
     "kernel-epoll,dpdk-interrupt, as far as link and CPU have them)"),
    ("loads", "LIST", words(load), list(LOADS),
     "loads: shares of the highest rate without loss, which is measured first, or rates:\n"
     "1%,50%, 0.01,0.5 or 10k,200k (default: 1%,10%,25%,50%,75%,90%,100%)"),
    ("arrivals", "LIST", words(arrival), list(ARRIVALS),
     "gaps between packets: poisson, constant, burst:N; the first kind at all loads, others\n"
     "at those next to 10% and 50% (default: poisson,constant,burst:32)"),
    ("service", "TIME", anything, None,
     "keep the CPU busy for that long with each packet: TIME[,DISTRIBUTION] of\n"
     "haul-fwd --service (default: none)"),
    ("handler", "burst|coroutine", choice("burst", "coroutine"), "burst",
     "handle packets by a function call per burst, or by a coroutine per packet\n"
     "(default: burst)"),
    ("sizes", "LIST", anything, None,
     "lengths of frames, without FCS, as haul-fwd --sizes (default: the shortest)"),
    ("flows", "N", whole(1, 64512), 16, "number of UDP flows (default: 16)"),
    ("load", "FILE", anything, None,
     "take rates, gaps, lengths and flows from a program of yours: a file of\n"
     "haul-fwd --record-load"),
    ("minutes", "N", number(0.2, 24 * 60), 8.0,
     "time for everything (default: 8)"),
    ("runs", "N", whole(1, 1000), 9,
     "runs of each poller at each load, interleaved (default: 9)"),
    ("target", "GOAL", anything, None,
     "advise for p99=TIME, such as p99=100us: the least CPU within it;\n"
     "or for cpu=SHARE, such as cpu=20%, at most 100%: the lowest p99 within it"),
    ("disturbed", "end|keep", choice("end", "keep"), "end",
     "if other programs disturb all runs, the first 20 at least: end without a report, or go on\n"
     "and report figures that decide nothing (default: end)"),
    ("cpus", "A,B", cpu_list, None,
     "CPUs of the generator and of the measured program (default: chosen)"),
    ("seed", "N", whole(0, 2**32), 1,
     "of random gaps and of the order of runs (default: 1)"),
    ("out", "DIR", anything, "haul-compare.report",
     "folder for report.html, report.json, report.csv and report.txt; it is made if need be\n"
     "(default: haul-compare.report)"),
    ("remake", "FILE", anything, None,
     "measure nothing; write the report of a report.json anew, with --out and --target"),
    ("programs", "DIR", anything, None,
     "folder of haul-fwd (default: that of haul-compare, then PATH)"),
]

EXITS = """\
Exit codes: 0: success; 1: failure at run time; 2: wrong arguments;
130: interrupted, after a report of what was measured."""

PURPOSE = """\
Compares haul's pollers under a load: latency, loss, CPU, wake-ups, and what
other programs on the CPU lose. Says which poller to take, in a report with
plots. Needs neither privileges nor a NIC."""

EXAMPLES = """\
  haul-compare
      compare all pollers in eight minutes; see haul-compare.report/report.html
  haul-compare --minutes 2 --pollers spin,adaptive:20,block --loads 10%,50%
      a first impression
  haul-compare --service 2us,exp --target p99=100us
      for handlers of 2 us: the poller with the least CPU whose p99 is below 100 us
  haul-compare --link afxdp --arrivals burst:64
      over AF_XDP, as root, packets in bursts
  haul-compare --port pci:0000:01:00.0 --port pci:0000:01:00.1
      between two ports of a NIC that a cable connects
  haul-compare --remake haul-compare.report/report.json --target cpu=20%
      the same figures, another question"""


WIDTH, INDENT = 80, 26
ITEM = re.compile(r"[a-z]+: ")  # of a list within a text


def described(text):
    """The lines of an option's text."""
    lines = []
    for line in text.split("\n"):
        if lines and not ITEM.match(line):
            lines[-1] += " " + line
        else:
            lines.append(line)
    return [part for line in lines for part in textwrap.wrap(
        line, WIDTH - INDENT, break_long_words=False, break_on_hyphens=False)]


def shown(flags, text):
    """An option in --help."""
    first, *more = described(text)
    left = f"  {flags}"
    lines = [left, " " * INDENT + first] if len(left) > INDENT - 2 else [
        f"{left:{INDENT}}{first}"]
    return lines + [" " * INDENT + line for line in more]


def usage():
    lines = ["Usage: haul-compare [OPTION...]", PURPOSE, "", "Options:"]
    for name, value, _, _, text in TABLE:
        lines += shown(f"--{name} {value}", text)
    lines += shown("-h, --help", "print this help and exit")
    lines += shown("--version", "print the version and exit")
    return "\n".join([*lines, "", EXITS, "", "Examples:", EXAMPLES])


class Options:
    """Values by name; asked is what the command line gave."""

    def __init__(self, arguments):
        self.asked = set()
        self.shows = None  # "help" or "version"
        for name, _, _, default, _ in TABLE:
            setattr(self, name, list(default) if isinstance(default, list) else default)
        rest = list(arguments)
        while rest and not self.shows:
            self.take(rest)
        if not self.shows:
            self.check()

    def take(self, rest):
        word = rest.pop(0)
        if word in ("-h", "--help", "--version"):
            self.shows = "version" if word == "--version" else "help"
            return
        name, equals, value = word.partition("=")
        entry = next((e for e in TABLE if f"--{e[0]}" == name), None)
        if not entry:
            raise Usage(f"{word}: unknown; see --help")
        if not equals:
            if not rest:
                raise Usage(f"{name}: give {entry[1]}; see --help")
            value = rest.pop(0)
        self.asked.add(entry[0])
        if entry[2] is None:
            self.port.append(value)
            return
        try:
            setattr(self, entry[0], entry[2](value))
        except ValueError as e:
            raise Usage(f"{name} {value}: {e}") from None

    def check(self):
        if self.port and len(self.port) != 2:
            raise Usage("--port: give it twice, for the two ends of a link: first the generator's")
        if self.port and self.link:
            raise Usage("--port: --link makes the link itself; give one of the two")
        if self.load and self.asked & {"loads", "arrivals", "sizes", "flows"}:
            raise Usage("--load: the file tells loads, arrivals, sizes and flows; leave those out")
        if self.remake and self.asked - {"remake", "out", "target"}:
            raise Usage("--remake: measures nothing, and takes only --out and --target")
