# SPDX-License-Identifier: BSD-3-Clause
"""haul-compare's measuring, without a link: its command line, its plan, the search for the highest
rate, what a process cost, and which runs count."""
import io
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "apps", "haul-compare"), os.path.join(ROOT, "tests")]
sys.dont_write_bytecode = True

from compare import (cost, maximum, model, options, plan, progress, run, session,  # noqa: E402
                     steps, subject)
from tap import Tap  # noqa: E402

POLLERS = ["spin", "adaptive:20", "block", "kernel-epoll"]


def asked(*words):
    return options.Options(words)


def refused(*words):
    try:
        options.Options(words)
    except options.Usage as e:
        return str(e)
    return ""


def test_options(tap):
    o = asked("--loads", "10%,0.5,20k", "--pollers=spin,adaptive:7", "--port", "a", "--port", "b")
    tap.ok(o.loads == [0.1, 0.5, 20000] and o.pollers == ["spin", "adaptive:7"] and
           o.port == ["a", "b"], "values, with = and without", vars(o))
    for words, part in (
            (["--loads", "0"], "packets per second"), (["--loads", "101%"], "packets per second"),
            (["--pollers", "busy"], "haul-fwd --poller"), (["--pollers", ""], "at least one"),
            (["--pollers", "adaptive:0"], "haul-fwd --poller"), (["--arrivals", "x"], "poisson"),
            (["--minutes", "0"], "0.2"), (["--runs", "1.5"], "whole"), (["--minutes"], "give N"),
            (["--port", "tap:a"], "twice"), (["--cpus", "1"], "two CPUs"), (["-x"], "--help"),
            (["--port", "a", "--port", "b", "--link", "tap"], "one of the two"),
            (["--load", "f", "--sizes", "64"], "leave those out"),
            (["--remake", "f", "--minutes", "1"], "measures nothing")):
        said = refused(*words)
        tap.ok(part in said and "\n" not in said, f"refused: {' '.join(words)}", said)
    text = options.usage()
    tap.ok(all(len(line) <= 90 for line in text.splitlines()) and
           all(f"  --{entry[0]} {entry[1]}" in text for entry in options.TABLE), "--help", text)


def test_plan(tap):
    full = plan.Plan(asked(), POLLERS, 1e5, 400)
    seconds = full.rounds * sum((c.seconds(full.run_seconds()) + full.overhead) * len(POLLERS)
                                for c in full.cells)
    tap.ok(full.rounds == 9 and not full.left_out and 380 < seconds <= 400,
           "all runs fit into the time, and use it", (seconds, full.run_seconds()))
    tap.ok(len(full.cells) == 7 + 2 * 2 and
           {(c.load, c.arrivals) for c in full.cells if c.arrivals != "poisson"} ==
           {(load, kind) for load in (0.1, 0.5) for kind in ("constant", "burst:32")},
           "other arrivals at two loads", [(c.load, c.arrivals) for c in full.cells])
    orders = [full.order(i, 1) for i in range(9)]
    tap.ok(all(len(set(o)) == len(o) == len(full.cells) * len(POLLERS) for o in orders) and
           orders[0] == full.order(0, 1) != full.order(0, 2),
           "a round has each poller at each load once, in an order that the seed decides")
    firsts = [[p for c, p in o if c is o[0][0]] for o in orders]
    tap.ok(firsts[1] == firsts[0][::-1] and len({f[0] for f in firsts}) == len(POLLERS),
           "pollers follow each other in changing orders", firsts)
    short = plan.Plan(asked(), POLLERS, 1e5, 20)
    tap.ok(short.left_out and len(short.cells) == 4 and
           plan.Plan(asked(), POLLERS, 1e5, 1).rounds == 1, "a short time leaves out, and says so",
           short.left_out)
    own = plan.Plan(asked("--loads", "2%,30k", "--arrivals", "constant"), POLLERS, 1e5, 5)
    tap.ok([(c.load, c.pps, c.arrivals) for c in own.cells] ==
           [(0.02, 2000, "constant"), (0.3, 30000, "constant")] and own.rounds < 9,
           "what was asked for stays: shares and rates", [vars(c) for c in own.cells])
    slow = plan.Cell(0.01, 100, "poisson")
    tap.ok(slow.seconds(0.2) == 3 and slow.seconds(5) == 5, "slow loads have longer runs")


class Scripted:
    """A side whose link passes up to a rate."""

    def __init__(self, most, disturbed=0, piles_from=1e12):
        self.most, self.disturbed, self.trials = most, disturbed, 0
        self.piles_from = piles_from

    def run(self, poller, pps, arrivals, seconds):
        self.trials += 1
        hit = self.disturbed > 0
        self.disturbed -= hit
        lost = 0 if pps <= self.most and not hit else 100
        return {"sent": 1000, "received": 1000 - lost, "lost": lost, "disturbed": hit and "noise",
                "p50_ns": 3e6 if pps > self.piles_from else 20000,
                "lost_by": {"generator": 0, "link": 0, "subject": lost}}


def find(side):
    return maximum.find(side, "spin", "poisson", 0.1, lambda text: None)


def test_maximum(tap):
    for most in 130, 4000, 123456, 7e6:
        found = find(Scripted(most))
        tap.ok(0.9 * most < found["pps"] <= most and found["limited_by"] == "subject",
               f"the highest rate of {most:g}", found)
    tap.ok(find(Scripted(0))["pps"] is None, "a link that passes nothing has none")
    found = find(Scripted(50000, disturbed=3))
    tap.ok(found["pps"] > 45000, "trials that the machine disturbed are no limit", found)
    found = find(Scripted(1e6, piles_from=300e3))
    tap.ok(270e3 < found["pps"] <= 300e3, "a rate at which packets pile up is too high", found)
    side = Scripted(1e9)
    tap.ok(find(side)["pps"] > 1e7 and side.trials < 20, "the search has an end", side.trials)


CHILD = """
import os, sys, time
while time.process_time_ns() < 60e6: pass
with open("/dev/zero", "rb", buffering=0) as f:
    for _ in range(500): f.read(1)
for _ in range(40): time.sleep(0.0001)  # what is counted
print(time.process_time_ns(), flush=True)
sys.stdin.read()
"""


def test_cost(tap):
    with subprocess.Popen([sys.executable, "-c", CHILD], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as child:
        before = cost.Counts(child.pid)
        told = int(child.stdout.readline())
        one = cost.cpu_ns(child.pid)
        counts = cost.Counts(child.pid).since(before)
        tap.ok(one >= told >= 60e6, "CPU time is that which the process sees", (one, told))
        tap.ok(counts["voluntary"] >= 40 and counts["calls"] >= 500 and
               counts["waited_ns"] >= 0, "context switches, and reads", counts)
        child.stdin.close()
        child.wait()
    tap.ok(cost.cpu_ns(child.pid) == 0 and cost.Counts(child.pid).voluntary == 0,
           "a process that has gone costs nothing")
    with tempfile.TemporaryDirectory() as d:
        for name, joules in (("intel-rapl:0", 5), ("intel-rapl:0:0", 3), ("intel-rapl:1", 7)):
            os.mkdir(f"{d}/{name}")
            for file, value in ("energy_uj", joules * 10**6), ("max_energy_range_uj", 10**7 - 1):
                with open(f"{d}/{name}/{file}", "w", encoding="ascii") as f:
                    f.write(f"{value}\n")
        rapl = cost.Energy(d)
        before = rapl.now()
        for name, joules in ("intel-rapl:0", 1), ("intel-rapl:1", 8):
            with open(f"{d}/{name}/energy_uj", "w", encoding="ascii") as f:
                f.write(f"{joules * 10**6}\n")
        tap.ok(rapl.joules(before, rapl.now()) == 7, "energy of packages, past a counter's end",
               (before, rapl.now()))
        tap.ok(cost.Energy(f"{d}/none").joules([], []) is None, "no RAPL, no energy")


SENT = {"seconds": 1.0, "due": 1010, "sent": 1000, "received": 980}


def test_run(tap):
    side = run.Side(None, type("Subject", (), {"calls": lambda self, d: d["calls"]})(), None,
                    False)
    side.idle["p"] = {"sleeps": 100, "asleep_ns": 0.9e9, "empty_ns": 0.1e9, "work_ns": 0,
                      "calls": 200, "voluntary": 10, "involuntary": 0, "polls": 1e6,
                      "empty_polls": 1e6}
    told = {"seconds": 1.5, "sleeps": 550, "asleep_ns": 0.65e9, "empty_ns": 0.25e9,
            "work_ns": 0.6e9, "calls": 2060, "voluntary": 495, "involuntary": 0, "rx_packets": 980,
            "polls": 5000, "empty_polls": 4510, "lost": 15, "waited_ns": 0}
    found = side.costs("p", told, {}, SENT, 0.7)
    tap.ok(found["wakeups_ps"] == 500 and found["syscalls_per_packet"] == 2 and
           abs(found["switches_per_packet"] - 490 / 980) < 1e-9 and
           found["packets_per_poll"] == 2, "the idle edges of a run are taken out", found)
    tap.ok({k: round(v, 6) for k, v in found["share"].items()} ==
           {"work": 0.6, "empty": 0.2, "asleep": 0.2}, "of the shares, too", found["share"])
    side.idle["p"]["cpu_ns"] = 0.2e9
    tap.ok(abs(side.cpu_share("p", 0.6e9, 1.5, 1.0) - 0.5) < 1e-9, "and of the CPU time")
    tap.ok(found["lost_by"] == {"generator": 10, "subject": 15, "link": 5}, "who lost packets",
           found["lost_by"])
    tap.ok(run.said(0.05, 0.0) is None and "other programs" in run.said(0.5, 0.0) and
           "hypervisor" in run.said(0.0, 0.02) and "generator waited" in run.said(0, 0, 0.1) and
           "measured program" in run.said(0, 0, 0, 0.1) and "late" in run.said(0, 0, 0, 0, 1e6),
           "what disturbs a run")


class Link:
    """A side over which packets come back, but with deaf pollers."""

    def __init__(self, deaf):
        self.deaf = deaf

    def run(self, poller, *_):
        return {"received": 0 if poller in self.deaf else 5}


def test_given_nic(tap):
    work = {"handler": "burst", "service": None}
    begin = subject.Haul.arguments("pci:1:0.0", 1, work, True)
    tap.ok(begin[-2:] == ["--poller", "sleep"] and
           "--poller" not in subject.Haul.arguments("pci:1:0.0", 1, work, False) and
           [p for p in POLLERS if subject.waits(p)] == ["adaptive:20", "block"],
           "a NIC has interrupts from the start, if a poller waits for them", begin)
    said = []
    one = session.Session(asked("--port", "a", "--port", "b"), [], None, None, None)
    one.say, session.DEAF_SECONDS = said.append, 0.01
    one.by_poller = dict.fromkeys(POLLERS[:3], Link(["block"]))
    one.select = one.by_poller.get
    one.leave_out_deaf()
    tap.ok(list(one.by_poller) == POLLERS[:2] and len(said) == 1 and "without block" in said[0],
           "a poller that no packet wakes is left out", said)


def one_run(p99, disturbed=None, histogram=((100, 5), (200, 1))):
    found = dict.fromkeys((*model.MEDIANS, "max_ns"), 1.0)
    return {**found, "p99_ns": p99, "sent": 6, "received": 6, "lost": 0, "disturbed": disturbed,
            "lost_by": {"generator": 0, "link": 0, "subject": 0}, "max_ns": p99,
            "share": {"work": 1, "empty": 0, "asleep": 0}, "histogram": histogram}


def test_model(tap):
    point = model.Point("spin", plan.Cell(0.5, 1000, "poisson"))
    point.runs = [one_run(p99) for p99 in (50, 60, 70, 80, 90)] + [one_run(9e9, "noise")]
    entry = point.entry()
    tap.ok(entry["p99_ns"] == 70 and entry["disturbed"] == 1 and entry["used"] == 5 and
           entry["max_ns"] == 90 and entry["histogram"] == [[100, 25], [200, 5]] and
           len(entry["runs"]) == 6 and entry["sent"] == 30, "disturbed runs are left out", entry)
    low, high = entry["p99_ci_ns"]
    tap.ok(50 <= low <= 70 <= high <= 90, "an interval over runs", entry["p99_ci_ns"])
    point.runs = [one_run(5, "noise")]
    entry = point.entry()
    tap.ok(entry["p99_ns"] == 5 and entry["disturbed"] == entry["used"] == 1,
           "if all were disturbed, they are what there is", entry)


def test_steps(tap):
    rows = [(at * 1000000, 1000 + at) for at in range(100, 350)]
    course = steps.course("spin", 1000, [(rows, None), (rows, None), (rows[:9], "noise")])
    at = course["at_ms"].index(100)
    tap.ok(course["p50_ns"][at] == 1102 and course["p50_ns"][at - 1] is None and
           course["offered_pps"][at] == 1000 and course["offered_pps"][-1] == 0 and
           len({len(course[k]) for k in ("at_ms", "offered_pps", "p50_ns", "p99_ns")}) == 1,
           "packets by the time at which they were due", course)
    tap.ok(course["disturbed"] == 1 and
           steps.course("spin", 1, [(rows, "noise")])["p99_ns"][at] == 1104,
           "of undisturbed runs, if there are any", course)


def test_progress(tap):
    class Lost(io.StringIO):
        def write(self, text):
            raise OSError("gone")

    out = io.StringIO()
    bar = progress.Progress(60, out)
    for i in range(100):
        bar.now(f"run {i}", again=i > 0)
    bar.say("a note")
    tap.ok(out.getvalue().splitlines() == ["1:00 left  run 0", "a note"],
           "elsewhere than on a terminal, only news", out.getvalue())
    bar = progress.Progress(60, Lost())
    bar.now("x")
    bar.say("y")
    tap.ok(bar.is_lost, "a terminal that is gone ends nothing")


def main():
    tap = Tap()
    for test in (test_options, test_plan, test_maximum, test_cost, test_run,
                 test_given_nic, test_model, test_steps, test_progress):
        test(tap)
    tap.done()


if __name__ == "__main__":
    main()
