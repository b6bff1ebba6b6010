# SPDX-License-Identifier: BSD-3-Clause
"""One run: a poller under a load for a time, with what it cost; and whether something else on the
machine disturbed it."""
import time

from . import cost
from .generator import SOON

PERCENTILES = "p50_ns", "p90_ns", "p99_ns", "p999_ns", "max_ns"
# A run is disturbed if others had more than these shares of its time.
STEAL_SHARE = 0.01
OTHERS_SHARE = 0.06
GENERATOR_WAITED_SHARE = 0.03
SUBJECT_WAITED_SHARE = 0.05
# While packets are sent, no command is given and nothing is read: on two CPUs, whoever does it
# takes the CPU from the generator or the poller.
BEFORE = 0.01  # seconds from the reading of clocks to the first packet
AFTER = 0.012  # and from the last one to the next reading
LATE_NS = 50000  # and more than half of the latency, at p99
TICKS_SLACK = 0.03  # seconds: /proc/stat counts in 10 ms


# Figures whose edges are not taken out: at an idle poller these, or their difference, are 0.
EXACT = "rx_packets", "polls", "empty_polls"


def per(value, of):
    return value / of if value is not None and of else None


class Watch:
    """The CPUs of a run, and all processes of ours."""

    def __init__(self, cpus, processes, ended_ns):
        self.cpus = sorted(set(cpus))
        self.processes = processes  # function that returns their ids
        self.ended_ns = ended_ns  # function that returns the CPU time of those that have ended
        self.helpers = [pid for cpu in self.cpus for pid in cost.kernel_helpers(cpu)]
        self.energy = cost.Energy()

    def ours(self):
        return (sum(cost.cpu_ns(pid) for pid in (*self.processes(), *self.helpers)) +
                self.ended_ns() + time.process_time_ns()) / 1e9

    def now(self):
        return cost.Cpus(), self.ours(), time.monotonic()

    def others(self, before, after):
        """(share that other programs had of our CPUs, seconds stolen by the hypervisor)"""
        seconds = after[2] - before[2]
        busy = sum(after[0].busy.get(c, 0) - before[0].busy.get(c, 0) for c in self.cpus)
        steal = sum(after[0].steal.get(c, 0) - before[0].steal.get(c, 0) for c in self.cpus)
        return (busy - (after[1] - before[1]) - TICKS_SLACK) / seconds, steal / seconds


class Side:
    """A generator, a link and what is measured at its other end."""

    def __init__(self, generator, subject, watch, shares_cpu):
        self.generator, self.subject, self.watch = generator, subject, watch
        self.shares_cpu = shares_cpu
        self.idle = {}  # by poller: figures per second without packets

    def measure_idle(self, poller, seconds):
        """Costs without packets. Returns a run, and remembers it for the edges of later runs."""
        subject = self.subject
        subject.select(poller)
        subject.begin()
        time.sleep(0.02)
        before, watched = subject.counts(), self.watch.now()
        cpu, joules, at = subject.cpu_ns(), self.watch.energy.now(), time.monotonic()
        time.sleep(seconds)
        cpu, took = subject.cpu_ns() - cpu, time.monotonic() - at
        joules = self.watch.energy.joules(joules, self.watch.energy.now())
        watched = self.watch.others(watched, self.watch.now())
        difference = subject.counts().since(before)
        subject.finish()
        rates = {k: v / difference["seconds"] for k, v in difference.items() if v is not None}
        rates["cpu_ns"] = cpu / took
        self.idle[poller] = rates
        found = {"cpu_share": cpu / 1e9 / took, "wakeups_ps": self.wakeups(rates),
                 "energy_w": per(joules, took), "share": shares(rates),
                 "switches_ps": rates.get("voluntary", 0) + rates.get("involuntary", 0)}
        found["disturbed"] = said(watched[0], watched[1])
        return found

    @staticmethod
    def wakeups(figures):
        return figures["sleeps"] if figures.get("sleeps") is not None else figures.get("voluntary")

    def run(self, poller, pps, arrivals, seconds):
        """Returns the figures of a run. pps may be text: phases of a rate, which take seconds."""
        generator, subject = self.generator, self.subject
        subject.select(poller)
        subject.begin()
        generator.load(pps, arrivals, seconds)
        waited = cost.Counts(generator.pid, main_waits=False)
        before, watched = subject.counts(), self.watch.now()
        generator.start()
        time.sleep(SOON - BEFORE)
        cpu, joules, at = subject.cpu_ns(), self.watch.energy.now(), time.monotonic()
        time.sleep(BEFORE + seconds + AFTER)
        cpu, took = subject.cpu_ns() - cpu, time.monotonic() - at
        joules = self.watch.energy.joules(joules, self.watch.energy.now())
        sent = generator.stop()
        difference = subject.counts().since(before)
        watched = self.watch.others(watched, self.watch.now())
        waited = cost.Counts(generator.pid, main_waits=False).since(waited)
        at_end = subject.finish()
        sent["seconds"] = seconds  # with packets; the generator counts until its stop
        found = self.latencies(sent)
        found.update(self.costs(poller, difference, at_end, sent,
                                self.cpu_share(poller, cpu, took, seconds)))
        found["energy_w"] = per(joules, took)
        found["seconds"] = round(seconds, 3)
        found["disturbed"] = self.disturbance(found, difference, waited, watched)
        return found

    def cpu_share(self, poller, cpu_ns, took, seconds):
        """Of the time with packets: without the edges, at the rate of the idle poller."""
        idle = self.idle.get(poller, {}).get("cpu_ns", 0)
        return max(cpu_ns - idle * (took - seconds), 0) / 1e9 / seconds

    @staticmethod
    def latencies(sent):
        seconds = sent["seconds"]
        found = {name: sent["from_intended"][name] for name in PERCENTILES}
        if not sent["received"]:
            found = dict.fromkeys(PERCENTILES)
        late = sent["late"]["p99_ns"]
        found.update({
            "offered_pps": sent["due"] / seconds, "achieved_pps": sent["received"] / seconds,
            "sent": sent["sent"], "received": sent["received"], "lost": sent["due"] -
            sent["received"], "histogram": sent["histogram"], "late_p99_ns": late,
            "generator_late": per(late, found["p99_ns"])})
        return found

    def costs(self, poller, difference, at_end, sent, cpu_share):
        """Rates over the time with packets: the edges of a run, without packets, are taken out at
        the rates of the idle poller."""
        seconds, packets = sent["seconds"], sent["received"]
        edges = max(difference["seconds"] - seconds, 0)
        idle = self.idle.get(poller, {})

        def in_run(name):
            value = difference.get(name)
            if value is None or name in EXACT:
                return value
            return max(value - idle.get(name, 0) * edges, 0)

        run = {name: in_run(name) for name in difference}
        calls = at_end["calls"] if "calls" in at_end else self.subject.calls(run)
        polls = (run["polls"] or 0) - (run["empty_polls"] or 0) if "polls" in run else 0
        per_poll = per(run.get("rx_packets"), polls)
        unsent = max(sent["due"] - sent["sent"], 0)
        by_subject = at_end.get("lost", difference.get("lost")) or 0
        lost = max(sent["sent"] - sent["received"], 0)
        wakeups = at_end.get("wakeups", self.wakeups(run))
        return {
            "lost_by": {"generator": unsent, "subject": min(by_subject, lost),
                        "link": max(lost - by_subject, 0)},
            "cpu_share": cpu_share,
            "cpu_ns_per_packet": per(cpu_share * 1e9 * seconds, packets),
            "share": shares(run),
            "wakeups_ps": per(wakeups, seconds),
            "syscalls_per_packet": per(calls, packets),
            "switches_per_packet": per(run["voluntary"] + run["involuntary"], packets),
            "packets_per_poll": at_end.get("packets_per_poll", per_poll),
        }

    def disturbance(self, found, difference, waited, watched):
        """What disturbed a run, or None."""
        if self.shares_cpu:  # generator and subject wait for each other
            return said(watched[0], watched[1])
        seconds = difference["seconds"]
        return said(watched[0], watched[1], waited["waited_ns"] / 1e9 / seconds,
                    difference["waited_ns"] / 1e9 / seconds,
                    found["late_p99_ns"] if found["late_p99_ns"] > (found["p99_ns"] or 0) / 2
                    else 0)


def said(others, steal, generator_waited=0.0, subject_waited=0.0, late_ns=0):
    if steal > STEAL_SHARE:
        return f"the hypervisor took {steal:.0%} of a CPU"
    if others > OTHERS_SHARE:
        return f"other programs took {others:.0%} of a CPU"
    if generator_waited > GENERATOR_WAITED_SHARE:
        return f"the generator waited for its CPU for {generator_waited:.0%} of the time"
    if subject_waited > SUBJECT_WAITED_SHARE:
        return f"the measured program waited for its CPU for {subject_waited:.0%} of the time"
    if late_ns > LATE_NS:
        return f"the generator was late by {late_ns / 1e3:.0f} us at p99"
    return None


def shares(run):
    """Work, empty polls and sleep as shares of their sum; None for a subject that does not tell."""
    parts = {name: run.get(f"{name}_ns") for name in ("work", "empty", "asleep")}
    total = sum(v or 0 for v in parts.values())
    return {k: (v or 0) / total for k, v in parts.items()} if total > 0 else None
