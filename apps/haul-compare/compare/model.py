# SPDX-License-Identifier: BSD-3-Clause
"""What is measured, as report.json has it."""
import datetime
import statistics
import time

from .intervals import median_ci

# Figures of a point that are the medians of its runs, and those that have an interval.
MEDIANS = ("offered_pps", "achieved_pps", "p50_ns", "p90_ns", "p99_ns", "p999_ns", "cpu_share",
           "cpu_ns_per_packet", "wakeups_ps", "syscalls_per_packet", "switches_per_packet",
           "packets_per_poll", "energy_w", "generator_late")
INTERVALS = {"p50_ns": "p50_ci_ns", "p99_ns": "p99_ci_ns", "p999_ns": "p999_ci_ns",
             "cpu_share": "cpu_ci"}
SUMS = "sent", "received", "lost"

HOW = {
    "latency": "from the time at which a packet was due, which nothing slows down, to its return "
               "to the generator's poller; buckets of 3 %",
    "lost": "by the generator: due and not sent; by the subject: its counters; by the link: the "
            "rest",
    "cpu_share": "CPU time of the process (clock_gettime of its CPU clock), read before the first "
                 "and after the last packet, without the edges of a run",
    "share": "haul's own counters of the carrier's time in work, empty polls and waits, without "
             "the edges of a run",
    "wakeups_ps": "waits and pauses that haul counts; of other programs: voluntary context "
                  "switches",
    "switches_per_packet": "/proc/PID/task/*/status, voluntary and involuntary",
    "packets_per_poll": "packets received / polls that found packets",
    "neighbour": "the share of its work that a program which counts loses beside the poller, on "
                 "the same CPU or on the other half of its core",
    "intervals": "bootstrap over the runs, 95 %",
}
CALLS = {
    "tap": "reads and writes of /proc/PID/io, and waits that haul counts; a TAP needs no other "
           "calls",
    "memif": "reads and writes of /proc/PID/io, and waits that haul counts; memif needs no other "
             "calls",
    "other": "reads and writes of /proc/PID/io, waits that haul counts, and one call to send for "
             "each poll that found packets",
}


def median(values):
    values = [v for v in values if v is not None]
    return statistics.median(values) if values else None


def merged(histograms):
    counts = {}
    for histogram in histograms:
        for upper, count in histogram or []:
            counts[upper] = counts.get(upper, 0) + count
    return [[upper, counts[upper]] for upper in sorted(counts)]


def mean_of(parts, names):
    parts = [p for p in parts if p]
    return {n: statistics.fmean(p[n] for p in parts) for n in names} if parts else None


class Point:
    """A poller at a load: its runs, and the figures that follow from those that nothing
    disturbed, or from all if each was."""

    def __init__(self, poller, cell):
        self.poller, self.cell = poller, cell
        self.runs = []

    def clean(self):
        return [run for run in self.runs if not run["disturbed"]]

    def entry(self):
        used = self.clean() or self.runs
        found = {"poller": self.poller, "arrivals": self.cell.arrivals, "load": self.cell.load,
                 "used": len(used)}
        for name in MEDIANS:
            found[name] = median([run[name] for run in used])
        for name in SUMS:
            found[name] = sum(run[name] for run in used)
        found["lost_by"] = {who: sum(run["lost_by"][who] for run in used)
                            for who in ("generator", "link", "subject")}
        found["max_ns"] = max((run["max_ns"] for run in used if run["max_ns"]), default=None)
        for name, key in INTERVALS.items():
            values = [run[name] for run in used if run[name] is not None]
            _, low, high = median_ci(values)
            found[key] = None if low is None else [low, high]
        found["share"] = mean_of([run["share"] for run in used], ("work", "empty", "asleep"))
        found["disturbed"] = len(self.runs) - len(self.clean())
        found["histogram"] = merged(run["histogram"] for run in used)
        found["runs"] = [{k: v for k, v in run.items() if k != "histogram"} for run in self.runs]
        return found


class Report:
    def __init__(self, command, machine, versions):
        self.began = time.monotonic()
        self.points = {}  # by poller and cell, in the order of their first runs
        self.head = {
            "format": 1, "command": command, "complete": False, "ended_because": None,
            "started": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "seconds": 0, "machine": machine, "versions": versions}
        self.body = {"link": None, "work": None, "maximum": None, "plan": None, "notes": [],
                     "disturbances": []}
        self.parts = {"idle": [], "steps": [], "neighbours": []}

    def seconds(self):
        return time.monotonic() - self.began

    def note(self, line):
        if line not in self.body["notes"]:
            self.body["notes"].append(line)

    def add(self, poller, cell, run):
        self.points.setdefault((poller, cell), Point(poller, cell)).runs.append(run)
        if run["disturbed"]:
            self.disturbed(run["disturbed"], f"{poller}, {cell.arrivals}, {cell.load:.0%}")

    def disturbed(self, what, where):
        self.body["disturbances"].append(
            {"at_s": round(self.seconds(), 1), "what": what, "points": [where]})

    def is_empty(self):
        return not self.points and not self.parts["idle"]

    def data(self):
        """The whole, in the order in which people read it."""
        kind = (self.body["link"] or {}).get("kind")
        how = {**HOW, "syscalls_per_packet": CALLS.get(kind, CALLS["other"])}
        return {**self.head, "seconds": round(self.seconds(), 1), **self.body, "how": how,
                "points": [point.entry() for point in self.points.values()], **self.parts}
