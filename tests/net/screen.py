# SPDX-License-Identifier: BSD-3-Clause
"""Reports in place on a terminal: what they show, keys, sizes, and that the terminal is as before
after every end. Usage: screen.py HAUL_FWD APP_STAGES"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile

import netns

sys.path.append("/usr/lib/python3/dist-packages")  # where Debian has pyte, for any python3
from terminal import ENTER, LEAVE, Terminal  # noqa: E402

import fwd  # noqa: E402

FWD, STAGES = sys.argv[1:3]
# A sanitizer would take the signal for its own.
os.environ["ASAN_OPTIONS"] = "handle_segv=0:" + os.environ.get("ASAN_OPTIONS", "")
RING = ["--port", "ring:", "--carriers", "1", "--poller", "sleep"]
VIEWS = {"o": "overview", "p": "ports", "c": "carriers", "l": "latency", "d": "drops", "h": "help"}
PACKETS = 997


def running(*args, program=FWD, period="0.1", **options):
    """A terminal with the screen of a program on it."""
    t = Terminal([program, *args, "--period", period], **options)
    t.until(lambda: "s   poller" in t.row(0) and not t.shows("measuring") or "ended" in t.said,
            "the screen")
    return t


def test_figures(tap, directory):
    path = os.path.join(directory, "in.pcap")
    fwd.write_pcap(path, [fwd.frame(i, 100) for i in range(PACKETS)])
    with running("--port", f"pcap:rx={path},tx=/dev/null", "--carriers", "1") as t:
        t.type("p")

        def figures():
            rate = r"[\d.]+(?: [kM])?"
            row = re.match(rf" 0 pcap:\S+ +{rate} +(\d+) +{rate} +(\d+) ", t.row(3))
            return row and [int(n) for n in row.groups()]

        t.until(lambda: figures() == [PACKETS] * 2, "the packets of a file")
        tap.ok(True, "packets received and sent are those of the file")
        tap.ok(t.row(3).split()[-1] == "0", "none is lost", t)
        t.type("r")
        t.until(lambda: "reset" in t.row(0) and figures() == [0, 0], "figures since the reset")
        tap.ok(True, "r counts from then on")
        t.type("q")
        code, after = t.ends()
        total = re.search(r"^  port 0 .*\n? +(\d+) +(\d+) +(\d+) +(\d+)$", after, re.M)
        tap.ok(code == 0 and total and total.groups() ==
               (str(PACKETS), str(PACKETS * 100)) * 2, "the totals are printed after it", t)


def test_keys(tap):
    with running(*RING) as t:
        for key, name in [*VIEWS.items(), *zip("12345?", VIEWS.values())]:
            t.type(key)
            t.until(lambda: t.row(0).startswith(f" haul-fwd: {name} "), f"view {name}")
            tap.ok(t.fits(80, 24) and "space" in t.row(23), f"{key} shows {name}", t)
        t.type("\t")
        t.until(lambda: ": overview " in t.row(0), "the view after the last")
        t.type("\t")
        t.until(lambda: ": ports " in t.row(0), "the next view")
        t.type("x\x1b[Zé\x1b[1;5Ad")
        t.until(lambda: ": ports " not in t.row(0), "a view")
        tap.ok(": drops " in t.row(0), "other keys do nothing", t)
        t.type(" ")
        t.until(lambda: "FROZEN" in t.row(0), "a frozen screen")
        frozen = t.rows()
        t.frame()
        tap.ok(t.rows() == frozen, "frozen figures stay", t)
        t.type(" ")
        t.until(lambda: "FROZEN" not in t.row(0) and t.rows() != frozen, "new figures")
        tap.ok(True, "space again goes on")


def test_many(tap):
    """More ports and carriers than there are rows and CPUs."""
    ports = ["--port", "ring:"] * 12
    with running(*ports, "--carriers", "8", "--poller", "sleep", period="0.3") as t:
        t.until(lambda: "of 23" in t.row(0), "the number of lines")
        tap.ok(t.fits(80, 24) and "lines 1-20 of" in t.row(0), "12 ports and 8 carriers fit", t)
        t.type("\x1b[6~")
        t.until(lambda: "4-23 of" in t.row(0), "the last lines")
        tap.ok(re.match(r"  7 (floats|cpu) ", t.row(21)), "PgDn shows the last carrier", t)
        t.type("k\x1b[A")
        t.until(lambda: "2-21 of" in t.row(0), "the lines before")
        tap.ok(re.match(r" 0 ring:", t.row(2)), "and up the first port", t)
        t.type("p")
        t.until(lambda: "of 109" in t.row(0), "ports with their queues")
        tap.ok(t.fits(80, 24), "and their queues", t)
        t.size(80, 40)
        t.until(lambda: "1-36 of" in t.row(0), "more rows")
        tap.ok(t.fits(80, 40), "a larger terminal shows more", t)
        for columns, rows in (40, 10), (20, 5), (20, 4), (3, 1), (80, 24):
            erased = t.raw.count(b"\x1b[2J")
            t.size(columns, rows)
            t.until(lambda: t.raw.count(b"\x1b[2J") > erased, "a frame of this size")
            t.frame()
            tap.ok(t.fits(columns, rows), f"{columns} columns and {rows} rows", t)
        t.type("q")
        code, after = t.ends()
        tap.ok(code == 0 and "total of" in after and max(map(len, after.split("\n"))) <= 80,
               "the totals fit into 80 columns", t)


def test_ends(tap):
    orderly = (("q", 0), ("\x03", 0), (signal.SIGTERM, 0), (signal.SIGHUP, 0))
    for how, expected in orderly:
        with running(*RING) as t:
            t.type(how) if isinstance(how, str) else t.kill(how)
            code, after = t.ends()
            tap.ok(code == expected and t.is_restored() and "total of" in after,
                   f"restored after {how!r}", t)
    for how in "\x1c", signal.SIGSEGV, signal.SIGABRT, signal.SIGUSR2:
        with running(*RING) as t:
            t.type(how) if isinstance(how, str) else t.kill(how)
            code, after = t.ends()
            tap.ok(code == -(signal.SIGQUIT if isinstance(how, str) else how) and
                   t.is_restored() and t.raw.count(LEAVE) == 1, f"restored after {how!r}", t)
    with running(*RING, "--duration", "0.5") as t:
        code, after = t.ends()
        tap.ok(code == 0 and t.is_restored() and "total of" in after, "restored after --duration",
               t)
    netns.veth("s0", "s1")
    with running("--port", "afpacket:s0", "--carriers", "1") as t:
        netns.ip("link del s0")
        code, after = t.ends()
        said = [line for line in after.split("\n") if line.startswith("haul-fwd: ")]
        tap.ok(code == 1 and t.is_restored() and len(said) == 1 and "s0" in said[0] and
               after.index(said[0]) < after.index("total of"), "restored after an error, which is "
               "printed", t)


def test_messages(tap):
    with running("--port", "ring:", "--carriers", "1", program=STAGES) as t:
        t.until(lambda: t.row(22).startswith("hook report 1  ("), "a message on the screen")
        tap.ok(t.fits(80, 24) and t.row(22).endswith(" at the end)") and not t.row(21),
               "a message has its row", t)
        t.type("q")
        code, after = t.ends()
        tap.ok(code == 0 and after.index("hook report 1\n") < after.index("total of"),
               "messages are printed after the screen", t)
    # On a carrier it happens while the main thread shows the screen: not always at the same place.
    for where in ["misuse"] + 5 * ["misuse on a carrier"]:
        port = "null:" if "carrier" in where else "ring:"
        with Terminal([STAGES, "--port", port, "--carriers", "1", "--fail", where,
                       "--period", "0.05"]) as t:
            code, after = t.ends()
            tap.ok(code == -signal.SIGABRT and t.is_restored() and ENTER in t.raw and
                   "haul: haul_io_get_stats(): there is no port 99" in after,
                   f"restored after an abort, whose line is printed: {where}", t)


DEADLOCK = """\
haul: deadlock: 2 coroutines wait for each other in a cycle, each for the next one, and the last \
for the first:
  carrier 0: port 0 queue 0 0x7fc8220000c0, waiting for mutex 0x556f98e92080, held by port 0 \
queue 0 0x7fc822000240, for 0.308 s
    haul_mutex_lock+0x76 (libhaul.so.0.1)
    p2_cross+0x1207
  carrier 0: port 0 queue 0 0x7fc822000240, waiting for mutex 0x556f98e920a0, held by port 0 \
queue 0 0x7fc8220000c0, for 0.312 s
    haul_mutex_lock+0x76 (libhaul.so.0.1)
\tp2_cross+0x129b
"""
BLOCKED = """\
haul: coroutine "pace" 0x7fad904000c0 keeps carrier 0 waiting in the kernel (read), for 20 ms \
so far, and nothing else runs there: let a plain thread make the call and wake the coroutine by \
haul_event_set(), at read+0x4c (libc.so.6) < p5_read+0x11f4
"""


class Telling:
    """A program that tells what is appended to a file, on a screen of this size."""

    def __init__(self, directory, columns=80, rows=24):
        self.file = open(os.path.join(directory, f"{columns}x{rows}"), "w", encoding="utf-8")
        self.terminal = Terminal(
            [STAGES, "--port", "ring:", "--carriers", "1", "--period", "0.1", "--tell",
             self.file.name], columns=columns, rows=rows)
        self.terminal.until(lambda: b"measuring" in self.terminal.raw, "a frame")

    def __enter__(self):
        return self.terminal.__enter__(), self.tell

    def __exit__(self, *error):
        self.file.close()
        return self.terminal.__exit__(*error)

    def tell(self, text):
        self.file.write(text)
        self.file.flush()
        for _ in range(2):
            self.terminal.frame()


def test_long_messages(tap, directory):
    """The newest message from its first line on, over some rows, and what there is more."""
    cases = (
            (80, 24, [("deadlock: 2 coroutines", "for 0.308 s ... 5 more lines at the end"),
                      ("haul: coroutine ", "p5_read+0x11f4  (1 earlier message at the end)")]),
            (100, 24, [("deadlock: 2 coroutines", "for 0.308 s ... 5 more lines at the end"),
                       ("haul: coroutine ", "p5_read+0x11f4  (1 earlier message at the end)")]),
            (220, 24, [("deadlock: 2 coroutines", "p2_cross+0x1207 ... 3 more lines at the end"),
                       ("haul: coroutine ", "p5_read+0x11f4  (1 earlier message at the end)")]),
            (80, 12, [("deadlock: 2 coroutines", "first: ... 6 more lines at the end"),
                      ("haul: coroutine ", " ... more, 1 earlier message at the end")]),
            (80, 6, [("deadlock: 2 coroutines", " ... 6 more lines at the end"),
                     ("haul: coroutine ", " ... more, 1 earlier message at the end")]),
            (20, 5, [("haul: deadlock: ...", " ..."), ("haul: coroutine", " ...")]))
    # Of sizes in which the same is cut off, a short run takes one.
    for columns, rows, shown in cases[:1] + cases[2:4] + cases[5:] if netns.fewer() else cases:
        with Telling(directory, columns, rows) as (t, tell):
            for text, (first, last) in zip((DEADLOCK, BLOCKED), shown):
                tell(text)
                message = t.rows()[-1 - min(4, max(1, rows // 5)):-1]
                tap.ok(t.fits(columns, rows) and first in "".join(message) and
                       message[-1].endswith(last) and "?" not in "".join(message),
                       f"{columns} columns, {rows} rows: {last}", t)
            tell("short\n")
            expected = "short  (2 earlier messages at the end)" if columns >= 80 else "short"
            tap.ok(t.row(rows - 2) == expected, f"{columns} columns, {rows} rows: a short message",
                   t)
            t.kill(signal.SIGUSR1)
            t.until(lambda: t.shows("haul: coroutines"), "the head of a dump")
            tap.ok(t.fits(columns, rows), f"{columns} columns, {rows} rows: a dump's head", t)
            t.type("q")
            code, after = t.ends()
            tap.ok(code == 0 and DEADLOCK + BLOCKED + "short\nhaul: coroutines that" in after,
                   "all of it follows the screen", t)


def test_many_messages(tap, directory):
    """Of long messages and of many, the begin and the end follow the screen."""
    dumps = [f"haul: dump {i}:\n" + "".join(f"  coroutine {i}.{k}\n" for k in range(n))
             for i, n in enumerate((60000, 10, 200000, 50000))]
    chatter = "".join(f"chatter {i}\n" for i in range(100000))
    told = dumps[0], chatter + dumps[1], dumps[2], dumps[3]
    with Telling(directory) as (t, tell):
        for text in told:
            tell(text)
        t.until(lambda: t.shows("haul: dump 3:"), "the head of a dump")
        more = re.search(r" (\d+) more lines", t.row(22))
        t.type("q")
        code, after = t.ends()
    kept, total = after.split("total of")
    lines, left_out = kept.splitlines(), re.findall(r"^  \.\.\. (\d+) lines left", kept, re.M)
    lines = lines[:lines.index("hook carrier_ends 0")] if "hook carrier_ends 0" in lines else lines
    tap.ok(code == 0 and len(kept) < 2 << 20 and
           len(lines) - len(left_out) + sum(map(int, left_out)) == "".join(told).count("\n"),
           "what is left out is counted", (len(kept), len(lines), left_out))
    ends = ["haul: dump 0:", "  coroutine 0.0", "chatter 99999"]
    ends += [text for i, n in ((1, 10), (2, 200000), (3, 50000))
             for text in (f"haul: dump {i}:", f"  coroutine {i}.0", f"  coroutine {i}.{n - 1}")]
    missing = [line for line in ends if line not in lines]
    tap.ok(not missing and len(left_out) == 3, "each long message keeps its begin and its end, "
           "and all of them together theirs", (missing, left_out))
    tap.ok(more and int(more[1]) + 4 == len(lines) - lines.index("haul: dump 3:") - 1,
           "the screen counts what will follow", (more, lines[-5:]))


def test_stops(tap):
    with running(*RING) as t:
        for how in "\x1a", signal.SIGTSTP:
            already = t.said.count("stopped")
            t.type(how) if isinstance(how, str) else t.kill(how)
            t.until(lambda: t.said.count("stopped") > already, "the stop")
            tap.ok(t.is_restored(), f"restored while stopped by {how!r}", t)
            t.continues()
            t.until(lambda: t.raw.count(ENTER) > t.raw.count(LEAVE), "the screen again")
            t.frame()
            tap.ok("overview" in t.row(0), "fg shows it again", t)
        t.kill(signal.SIGSTOP)
        t.until(lambda: t.said.count("stopped") == 3, "the stop")
        shown = t.raw.count(ENTER)
        t.continues()
        t.until(lambda: t.raw.count(ENTER) > shown, "the screen again")
        t.type("c")
        t.until(lambda: "carriers" in t.row(0), "a key")
        tap.ok(True, "SIGSTOP and SIGCONT draw it anew")
        t.type("\x1a")
        t.until(lambda: t.said.count("stopped") == 4, "the stop")
        modes, already = t.now(), t.raw.count(ENTER)
        t.kill(signal.SIGCONT)  # as bg does
        t.until(lambda: t.raw.count(ENTER) == already, "nothing")
        t.kill(signal.SIGTERM)
        code, after = t.ends()
        tap.ok(code == 0 and t.now() == modes and t.raw.count(ENTER) == already and
               "total of" in after, "in the background it leaves the terminal alone", t)


def test_plain(tap):
    cases = (("TERM=dumb", {"env": {"TERM": "dumb"}}, []), ("no TERM", {"env": {"TERM": None}}, []),
             ("--screen off", {}, ["--screen", "off"]), ("--json", {}, ["--json"]),
             ("in the background", {"foreground": False}, []))
    for what, options, args in cases:
        with Terminal([FWD, *RING, "--period", "0.05", *args], **options) as t:
            t.until(lambda: re.search(rb"carrier 0 .*\n(.*\n)+.*carrier 0 ", t.raw), "two reports")
            t.kill(signal.SIGINT)
            code, _ = t.ends()
            tap.ok(code == 0 and b"\x1b" not in t.raw and t.now() == t.modes and
                   max(map(len, t.raw.split(b"\r\n")[:9])) <= 80, f"{what}: lines of 80 columns", t)
    with Terminal([STAGES, "--port", "ring:", "--carriers", "1", "--period", "0.05", "--fail",
                   "plain", "--screen", "on"]) as t:
        t.until(lambda: re.search(rb"carrier 0 .*\n(.*\n)+.*carrier 0 ", t.raw), "two reports")
        tap.ok(b"\x1b" not in t.raw, "haul_app_plain_reports() makes lines", t)
    with Terminal([FWD, *RING, "--period", "0", "--duration", "0.2"]) as t:
        code, _ = t.ends()
        tap.ok(code == 0 and b"\x1b" not in t.raw, "--period 0: the totals only", t)
    r = subprocess.run([FWD, *RING, "--screen", "on"], capture_output=True, text=True,
                       stdin=subprocess.DEVNULL, timeout=60)
    tap.ok(r.returncode == 2 and r.stderr.count("\n") == 1 and "no terminal" in r.stderr,
           "--screen on without a terminal", r)
    with Terminal([FWD, *RING, "--screen", "on"], env={"TERM": "dumb"}) as t:
        code, after = t.ends()
        tap.ok(code == 2 and "TERM" in after and b"\x1b" not in t.raw, "--screen on, TERM=dumb", t)


def test_looks(tap):
    for env, blocks, colours in ({"LC_ALL": "C"}, False, True), \
            ({"LC_ALL": "C.UTF-8", "NO_COLOR": "1"}, True, False):
        with running("--port", "null:", "--carriers", "1", "--mode", "rxonly", env=env) as t:
            t.until(lambda: re.search("[#\u2588] +[0-9]+ %", t.row(6)), "a bar")
            tap.ok(t.raw.isascii() != blocks and (b"\x1b[32m" in t.raw) == colours,
                   f"bars and colours with {env}", t)


def test_slow(tap):
    """A terminal that nobody reads stops neither the carriers nor the end."""
    with tempfile.TemporaryFile("w+") as out:
        # A hundred frames are more than a terminal keeps.
        with Terminal([FWD, "--port", "null:", "--carriers", "1", "--period", "0.005", "--duration",
                       "0.5", "--json"], out=out) as t:
            code, _ = t.ends(reads=False)
            out.seek(0)
            figures = json.load(out)
            tap.ok(code == 0 and figures["ports"][0]["rx_packets"] > 0 and ENTER in t.raw and
                   t.now() == t.modes, "a terminal that nobody reads", t)


def test_gone(tap):
    for ignore in (), (signal.SIGHUP,):
        with running(*RING, ignore=ignore) as t:
            t.hang_up()
            t.until(lambda: "ended" in t.said, "its end")
            # As a program whose reader has gone: there is nowhere to say more.
            tap.ok(f"ended {-signal.SIGPIPE}\n" in t.said,
                   f"ends when its terminal goes{', without SIGHUP' if ignore else ''}", t)


def main():
    netns.enter()
    tap = netns.Tap()
    with tempfile.TemporaryDirectory() as directory:
        test_figures(tap, directory)
        test_long_messages(tap, directory)
        test_many_messages(tap, directory)
    test_keys(tap)
    test_many(tap)
    test_ends(tap)
    test_messages(tap)
    test_stops(tap)
    test_plain(tap)
    test_looks(tap)
    test_slow(tap)
    test_gone(tap)
    tap.done()


if __name__ == "__main__":
    main()
