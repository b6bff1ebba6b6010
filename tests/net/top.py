# SPDX-License-Identifier: BSD-3-Clause
"""haul-top and programs that run: text and JSON, the screen in a terminal of 80 columns and 24
rows, keys, its ends, recordings. Usage: top.py HAUL_FWD HAUL_HTTP HAUL_TOP"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

import netns

sys.path.append("/usr/lib/python3/dist-packages")  # where Debian has pyte, for any python3
from terminal import ENTER, Terminal  # noqa: E402

import fwd  # noqa: E402
from web import Server  # noqa: E402

FWD, HTTP, TOP = sys.argv[1:4]
netns.enter()
for folder in "/run", "/tmp/dpdk":  # where programs of other tests have their sockets
    if os.path.isdir(folder):
        netns.mount("tmpfs", folder, "mode=755")
tap = netns.Tap()
DIR = tempfile.mkdtemp()
os.environ["RUNTIME_DIRECTORY"] = DIR
os.environ["XDG_RUNTIME_DIR"] = DIR
os.environ.pop("NO_COLOR", None)
PACKETS = 997
CAPTURE = os.path.join(DIR, "in.pcap")
fwd.write_pcap(CAPTURE, [fwd.frame(i, 100) for i in range(PACKETS)])
PORTS = ["--port", "ring:", "--port", f"pcap:rx={CAPTURE}", "--carriers", "2", "--mode", "rxonly",
         "--poller", "sleep"]
VIEWS = {"o": "overview", "c": "carriers", "p": "ports", "u": "queues", "d": "drops",
         "r": "coroutines", "w": "waits", "l": "latency", "n": "counts", "h": "help"}


def run(*args):
    return subprocess.run([TOP, *map(str, args)], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=60)


def one_line(r, text):
    return r.returncode == 1 and r.stderr.count("\n") == 1 and r.stderr.startswith("haul-top: ") \
        and text in r.stderr and not r.stdout


def started(*args):
    """A haul-fwd whose telemetry answers."""
    haul = fwd.Running(*args)
    netns.wait_for(haul.runs, "haul-fwd to run")
    netns.wait_for(lambda: run("--pid", haul.process.pid, "--once", "--interval",
                               "0.1").returncode == 0, "telemetry to answer")
    return haul


def test_text():
    r = run("--list")
    tap.ok(one_line(r, "no program of haul runs"), "no program", r)
    with started(*PORTS) as haul, Server(HTTP, "--carriers", "1") as http:
        pid = haul.process.pid
        r = run("--list")
        tap.ok(r.returncode == 0 and re.search(rf"^ +{pid}  haul-fwd +\d\d:", r.stdout, re.M) and
               re.search(rf"^ +{http.process.pid}  haul-http ", r.stdout, re.M), "--list", r)
        listed = {p["pid"]: p for p in json.loads(run("--list", "--json").stdout)}
        tap.ok(listed[pid]["name"] == "haul-fwd" and os.path.exists(listed[pid]["socket"]),
               "--list --json", listed)
        r = run("--once")
        tap.ok(one_line(r, "several programs run") and f"{pid} (haul-fwd)" in r.stderr,
               "several programs", r)
        r = run("--pid", 1, "--once")
        tap.ok(one_line(r, "no program of haul has the pid 1"), "no such pid", r)
        tap.ok(one_line(run("--name", "x", "--once"), "no program x runs"), "no such name")
        for choice in (["--pid", pid], ["--name", f"haul-{pid}"],
                       ["--socket", listed[pid]["socket"]]):
            r = run(*choice, "--once", "--interval", "0.1")
            tap.ok(r.returncode == 0 and r.stdout.startswith(f"haul-fwd {pid}: overview\n") and
                   "poller sleep" in r.stdout and " pcap:" in r.stdout and
                   max(map(len, r.stdout.split("\n"))) <= 80, f"by {choice[0]}", r)
        for name in list(VIEWS.values())[:-1]:
            r = run("--pid", pid, "--once", "--interval", "0.1", "--view", name)
            tap.ok(r.returncode == 0 and r.stdout.startswith(f"haul-fwd {pid}: {name}\n") and
                   r.stdout.count("\n") > 5, f"--view {name}", r)
        got = json.loads(run("--pid", pid, "--once", "--json", "--interval", "0.1").stdout)
        tap.ok(len(got["carriers"]) == 2 and len(got["ports"]) == 2 and len(got["queues"]) == 2 and
               got["info"]["pid"] == pid and got["policies"]["poller"] == "sleep" and
               "polls" in got["carriers"][1]["per_second"] and got["interval"] > 0 and
               got["coroutines"]["list"][0]["name"] == "poller" and
               got["ports"][1]["rx_packets"] == PACKETS and got["latency"] is None and
               "--times" in got["errors"]["latency"], "--json",
               [got["queues"], got["ports"], got["coroutines"], got["errors"], got["carriers"]])
        r = run("--name", "haul-http", "--once", "--interval", "0.1")
        tap.ok(r.returncode == 0 and "acceptor" in r.stdout and
               re.search(r"^\d+ wait: \d+ input of fd$", r.stdout, re.M) and
               re.search(r"^\(for input of fd\) +\d+ +0 ", r.stdout, re.M),
               "a program without ports", r)


def test_stack():
    """Of a program in which a coroutine waits for connections."""
    with Server(HTTP, "--carriers", "2") as http, top_on(
            "--pid", str(http.process.pid), "--interval", "0.1", "--view", "waits") as t:
        t.until(lambda: "acceptor" in t.row(5), "a wait")
        tap.ok(t.screen.buffer[5][0].reverse and t.screen.buffer[5][79].reverse and
               not t.screen.buffer[6][0].reverse, "the first row is picked", t)
        # On a busy machine a carrier may not get a CPU for a second.
        t.type("\r")
        t.until(lambda: again(t) and t.row(5).startswith("acceptor 0x") and
                "input of fd" in t.row(5) and re.search(r"^  0  \S+\+0x", t.row(7)) and
                t.row(4) == "Esc back  Enter ask again", "its call stack")
        tap.ok(t.fits(80, 24), "a call stack", t)
        t.size(30, 7)
        t.until(lambda: t.fits(30, 7) and "acceptor 0x" in t.row(5), "a small terminal")
        t.type("\x1bOBj\x1bOB")
        t.until(lambda: re.search(r"^  0  \S+\+0x", t.row(4)), "the next lines")
        t.size(80, 24)
        t.until(lambda: t.row(23).endswith("Quit"), "the size of before")
        t.type("\r\x1b")
        t.until(lambda: "waits for" in t.row(4), "the waits again")
        t.type("\r")
        t.until(lambda: again(t) and t.row(5).startswith("acceptor 0x"), "once more")
        t.type("r")
        t.until(lambda: ": coroutines " in t.row(0) and "(all)" in t.row(5), "another view")
        t.type("w/nobody\r")
        t.until(lambda: t.shows("no row has this text"), "no rows")
        t.type("\rjjkk\r")
        t.type("\x1bj")
        t.until(lambda: "acceptor" in t.row(5) and "filtered" not in t.row(0), "the rows")
        t.type("jjj\x1b[4~\x1b[1~kkk\r")
        t.until(lambda: again(t) and t.row(5).startswith("acceptor 0x"), "the first row")
        http.process.send_signal(signal.SIGTERM)
        http.process.wait(60)
        t.until(lambda: t.shows("has ended"), "its end")
        t.type("\r")
        t.until(lambda: t.row(5).endswith("has ended") and t.row(22).endswith("has ended"),
                "no answer")
        t.type("\x1bq")
        tap.ok(t.ends()[0] == 0 and t.is_restored(), "whole after stacks", t)


def again(t):
    if t.shows("its carrier does not answer"):
        t.type("\r")
    return True


def top_on(*args, env=None, **options):
    """On a terminal like xterm, without its sequence that repeats a character: pyte has none."""
    return Terminal([TOP, *args], env={"TERM": "screen", **(env or {})}, **options)


def watching(haul, *args, **options):
    t = top_on("--pid", str(haul.process.pid), "--interval", "0.1", *args, **options)
    t.until(lambda: t.shows("poller sleep") or "ended" in t.said, "figures")
    return t


def sets(t, keys, text):
    """Again if a carrier's thread had no CPU."""
    t.type(keys)
    t.until(lambda: t.shows(text) or (t.shows("does not answer") and t.type("\r")), text)


def test_changes():
    """By keys, of a program that allows it, whose end comes amid them."""
    with started("--port", "ring:", "--port", "ring:", "--carriers", "2", "--poller", "sleep",
                 "--telemetry-control") as haul, watching(haul, "--view", "carriers") as t:
        t.type("\x1bOB\r")
        t.until(lambda: t.row(5) == "carrier 1, all ports: what the poller does while there are no "
                "packets" and "Enter set it" in t.row(4) and t.row(7).split()[:1] == ["spin"],
                "a choice")
        tap.ok(t.fits(80, 24) and t.screen.buffer[7][2].reverse and t.row(7).split()[0] == "spin",
               "the first one is picked", t)
        sets(t, "\r", "set to spin")
        t.type("\x1bu")
        t.until(lambda: [t.row(i).split()[-1:] for i in range(5, 9)] ==
                [["sleep:100"], ["spin"]] * 2, "it is told by queue")
        t.type("\x1bOAk\r")
        t.until(lambda: t.row(5).startswith("carrier 0, port 0: "), "a queue's choice")
        sets(t, "kj\x1bOA\x1bOC\r", "set to sleep:1000")
        sets(t, "k\r", "no way to wait")
        tap.ok(t.row(6).startswith("port '") and t.row(10).startswith("  adaptive:50"), "why not",
               t)
        t.size(40, 9)
        t.until(lambda: t.row(6).startswith("port '") and len(t.rows()) == 9, "a small terminal")
        t.size(80, 24)
        t.until(lambda: t.row(23).endswith("Quit"), "the size of before")
        t.type("\x1b")
        t.until(lambda: t.row(5).endswith(" sleep:1000"), "the queue's policy")
        t.type("b")
        t.until(lambda: "packets per poll" in t.row(5) and t.row(11).split() == ["32"],
                "a choice of the burst")
        sets(t, "j\r", "set to 64")
        t.type("\x1bt")
        t.until(lambda: "take handlers" in t.row(5), "a choice of stealing")
        sets(t, "j\r", "carriers do not steal")
        got = json.loads(run("--pid", haul.process.pid, "--once", "--json", "--interval",
                             "0.1").stdout)
        tap.ok(got["policies"]["burst"] == 64 and got["policies"]["control"] == 1 and
               "sleep:1000" in [q["poller"] for q in got["queues"]], "the changes are made",
               (got["policies"], got["queues"]))
        haul.process.kill()
        haul.process.wait(60)
        t.until(lambda: t.shows("has ended"), "its end")
        t.type("k\r")
        t.until(lambda: t.row(6).endswith("has ended"), "no answer")
        t.type("\x1bq")
        tap.ok(t.ends()[0] == 0 and t.is_restored(), "whole after changes", t)


def test_stuck():
    """A carrier that a handler keeps busy makes no change, and says so."""
    path = os.path.join(DIR, "one.pcap")
    fwd.write_pcap(path, [fwd.frame(1, 100)])
    with started("--port", f"pcap:rx={path}", "--port", "null:", "--carriers", "1", "--poller",
                 "sleep", "--mode", "io", "--handler", "coroutine", "--service", "1000",
                 "--telemetry-control") as haul:
        with watching(haul, "--view", "carriers", "--patience", "60") as t:
            t.type("\r\r")
            t.until(lambda: re.match(r"carrier 0 does not answer: port 0 queue 0 0x\S+ does not",
                                     t.row(6)), "a carrier that is stuck")
            t.type("\x1bu")
            t.until(lambda: ": queues" in t.row(0) and t.row(5).endswith("sleep:100"), "no change")
            t.type("q")
            tap.ok(t.ends()[0] == 0, "a carrier that is stuck")
        haul.process.kill()
        haul.process.wait(60)


def test_views(haul):
    with watching(haul) as t:
        for key, name in VIEWS.items():
            t.type(key)
            t.until(lambda: f": {name} " in t.row(0), f"view {name}")
            t.until(lambda: name == "help" or "rx " in t.row(2) and "-/s" not in t.row(2), "rates")
            tap.ok(t.fits(80, 24) and t.row(0).endswith("every 100ms") and
                   t.row(23).endswith("Help Quit"), f"{key}: {name}", t)
        t.type("c")
        t.until(lambda: re.search(r"^ +1 +\d+ \[", t.row(6)), "two carriers")
        tap.ok(re.search(r"^ +0 +\d+ \[", t.row(5)), "carriers are in order", t)
        t.type("v")
        t.until(lambda: re.search(r"^ +1 +\d+ \[", t.row(5)), "the other order")
        t.type("vp")
        t.until(lambda: "pcap:" in t.row(6), "ports")
        t.type("/PCA\x7fa\r")
        t.until(lambda: "filtered" in t.row(0) and "pcap:" in t.row(5) and not t.row(6), "one port")
        t.type("s")  # the second column: the names
        t.type("/")
        t.until(lambda: t.row(23) == "show rows with: PCa_", "the text that is typed")
        t.type("\x1b")
        t.until(lambda: "filtered" not in t.row(0) and "ring:" in t.row(6), "all")
        tap.ok("pcap:" in t.row(5), "sorted by name", t)
        t.type("o ")
        t.until(lambda: "HELD" in t.row(0) and "overview" in t.row(0), "held figures")
        held = t.rows()
        t.type("po")
        t.until(lambda: "overview" in t.row(0), "the overview")
        tap.ok(t.rows()[1:] == held[1:], "held figures stay", (held, t))
        t.type(" +")
        t.until(lambda: "HELD" not in t.row(0) and "every 200ms" in t.row(0), "a longer interval")
        for columns, rows in (120, 40), (40, 10), (20, 4), (1, 1), (80, 24):
            t.size(columns, rows)
            t.until(lambda: t.fits(columns, rows) and (rows < 24 or "Quit" in t.row(rows - 1)),
                    "the new size")
            tap.ok(True, f"{columns} columns, {rows} rows")
        t.type("c\r")
        t.until(lambda: "Enter set it" in t.row(4), "a choice")
        t.type("\r")
        t.until(lambda: t.row(6) == "not allowed: start the program with --telemetry-control",
                "a program that allows no changes")
        t.type("q")
        tap.ok(t.ends()[0] == 0 and t.is_restored(), "q", t)


def test_ends(haul):
    for how in "\x03", signal.SIGTERM, signal.SIGHUP:
        with watching(haul) as t:
            t.type(how) if isinstance(how, str) else t.kill(how)
            code, _ = t.ends()
            tap.ok(code == 0 and t.is_restored(), f"whole after {how!r}", t)
    for how in "\x1c", signal.SIGABRT, signal.SIGSEGV:
        with watching(haul) as t:
            t.type(how) if isinstance(how, str) else t.kill(how)
            code, _ = t.ends()
            tap.ok(code == -(signal.SIGQUIT if isinstance(how, str) else how) and t.is_restored(),
                   f"whole after {how!r}", t)
    with watching(haul) as t:
        for i in range(20):  # also while it writes
            t.type("cp\x1a")
            t.until(lambda: t.said.count("stopped") == i + 1, "its stop")
            whole = t.is_restored()
            t.continues()
            t.until(lambda: t.raw.count(ENTER) == i + 2 and t.shows("poller sleep"),
                    "the screen again")
        tap.ok(whole, "whole while it is stopped", t)
        t.type("q")
        tap.ok(t.ends()[0] == 0 and t.is_restored(), "and after that", t)
    with watching(haul, "--duration", "0.3") as t:
        tap.ok(t.ends()[0] == 0 and t.is_restored(), "whole after --duration", t)
    with watching(haul) as t:
        # A terminal that takes nothing: nobody reads the other end.
        t.size(200, 60)
        for _ in range(300):
            t.type("cpo")
        t.kill(signal.SIGTERM)
        code, _ = t.ends(reads=False)
        tap.ok(code in (0, -signal.SIGTERM) and t.now() == t.modes, "a terminal that is stuck", t)


def test_colours(haul):
    colour = re.compile(rb"\x1b\[[0-9;]*3[1-6]m")
    with watching(haul) as t:
        t.type("q")
        t.ends()
        tap.ok(colour.search(t.raw), "colours")
    for args, env in (["--no-colour"], {}), ([], {"NO_COLOR": "1"}), ([], {"TERM": "vt220"}):
        with watching(haul, *args, env=env) as t:
            t.type("q")
            t.ends()
            tap.ok(not colour.search(t.raw), f"no colours: {args} {env}", t.raw)
    with top_on("--pid", str(haul.process.pid), env={"TERM": "none"}) as t:
        code, after = t.ends()
        tap.ok(code == 1 and "the terminal is not known: TERM=none" in after, "TERM=none", t)


def test_program_ends():
    with started(*PORTS) as haul:
        pid = haul.process.pid
        with watching(haul) as t, top_on(
                "--name", "haul-fwd", "--interval", "0.1") as any_of_them:
            any_of_them.until(lambda: any_of_them.shows("poller sleep"), "figures")
            haul.process.send_signal(signal.SIGTERM)
            haul.process.wait(60)
            t.until(lambda: t.row(22) == f"haul-fwd {pid} has ended", "the end to be told")
            any_of_them.until(lambda: "has ended; waiting for the next" in any_of_them.row(22),
                              "the end to be told")
            tap.ok(t.shows("pcap:") and f"haul-fwd {pid}: " in t.row(0), "the last figures stay", t)
            t.type("p")
            t.until(lambda: ": ports" in t.row(0), "a key")
            t.type("q")
            tap.ok(t.ends()[0] == 0 and t.is_restored(), "whole after the program's end", t)
            with started(*PORTS) as other:
                any_of_them.until(
                    lambda: f"haul-fwd {other.process.pid}: " in any_of_them.row(0) and
                    not any_of_them.shows("ended"), "the next program")
                tap.ok(True, "the next program is shown")
                other.process.kill()
                any_of_them.until(lambda: any_of_them.shows("has ended"), "its death")
                any_of_them.type("q")
                tap.ok(any_of_them.ends()[0] == 0, "a program that was killed")


def test_recording(haul):
    path = os.path.join(DIR, "a.top")
    pid = haul.process.pid
    r = run("--pid", pid, "--record", path, "--interval", "0.1", "--duration", "0.5")
    with open(path, encoding="ascii") as f:
        lines = [json.loads(line) for line in f]
    tap.ok(r.returncode == 0 and not r.stdout and lines[0] == {"haul_top": 1} and len(lines) > 2 and
           all(s["pid"] == pid for s in lines[1:]), "recorded without a terminal", r)
    r = run("--replay", path, "--once", "--view", "ports")
    tap.ok(r.returncode == 0 and r.stdout.startswith(f"{path}: ports\n") and
           " pcap:" in r.stdout and "-/s" not in r.stdout, "the end of it as text", r)
    got = json.loads(run("--replay", path, "--once", "--json").stdout)
    tap.ok(got["info"] == lines[-1]["answers"]["/haul/info"]["values"] and
           got["carriers"][0]["per_second"]["polls"] >= 0, "and as JSON", got)
    n = len(lines) - 1
    with top_on("--replay", path) as t:
        t.until(lambda: f"{n} of {n}" in t.row(0) and t.shows("pcap:"), "the end of the replay")
        t.type("w\r")
        t.until(lambda: t.shows("a recording has no call stacks") or t.shows("no coroutine waits"),
                "no call stacks")
        for keys in "c\r\r", "b\r":
            t.type("\x1b" + keys)
            t.until(lambda: t.row(6) == "this is a recording: nothing can be changed", "no change")
        t.type("\x1bo")
        t.until(lambda: "overview" in t.row(0), "the overview again")
        t.type("\x1bOD")
        t.until(lambda: "HELD  " in t.row(0) and f"{n - 1} of {n}" in t.row(0), "the one before")
        t.type("\x1bOC")
        t.until(lambda: f"{n} of {n}" in t.row(0), "the next one")
        t.type("q")
        tap.ok(t.ends()[0] == 0 and t.is_restored(), "replayed", t)
    with watching(haul, "--record", path) as t:
        t.until(lambda: "recording" in t.row(0) and os.path.getsize(path) > 1000, "a sample")
        t.type("q")
        tap.ok(t.ends()[0] == 0 and run("--replay", path, "--once").returncode == 0,
               "recorded with a screen", t)
    for bad, text in (("/none", "No such file"), ("/dev/zero", "not a regular file"),
                      (TOP, "not a recording")):
        tap.ok(one_line(run("--replay", bad, "--once"), text), f"no recording: {text}")
    for args in ["--once"], []:
        r = run("--pid", pid, "--interval", "0.1", "--record", "/dev/full", *args)
        tap.ok(one_line(r, "/dev/full: No space left"), f"a full disk {args}", r)


try:
    test_text()
    test_stack()
    test_changes()
    test_stuck()
    with started(*PORTS) as program:
        test_views(program)
        test_ends(program)
        test_colours(program)
        test_recording(program)
    test_program_ends()
finally:
    shutil.rmtree(DIR)
tap.done()
