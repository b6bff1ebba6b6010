# SPDX-License-Identifier: BSD-3-Clause
"""What is measured: haul-fwd with one of its pollers, or a program without haul.

All pollers of haul are measured in one process, which changes its poller between runs, so that they
share memory, rings and interface. counts() has sums since the beginning; a run has the difference.
"""
import time

from .cost import Counts, cpu_ns
from .program import Failed, Fwd, Peer

SUMS = "sleeps", "work_ns", "empty_ns", "asleep_ns", "rx_packets", "polls", "empty_polls"
NO_LOSS = "consumed", "filtered"
WAITING = "block", "adaptive"  # pollers that wait for an event of the port


def waits(poller):
    return poller.partition(":")[0] in WAITING


class Sums:
    """Figures at a moment. What a subject does not tell is None."""

    def __init__(self, pid, told, main_waits=True):
        self.at = time.monotonic()
        self.told = told
        counts = Counts(pid, main_waits)
        self.told.update({name: getattr(counts, name) for name in Counts.NAMES})

    def since(self, before):
        found = {}
        for name, now in self.told.items():
            then = before.told.get(name)
            found[name] = None if now is None or then is None else now - then
        found["seconds"] = self.at - before.at
        return found


class Subject:
    """A process on a CPU. pollers: those that it can be."""

    is_haul = False

    def __init__(self):
        self.pid = None
        self.poller = None
        self.spent_ns = 0  # CPU time of processes that have ended

    def select(self, poller):
        self.poller = poller

    def rest(self):
        """Called when it is not measured for a while, and must not use the CPU."""

    def cpu_ns(self):
        return cpu_ns(self.pid) if self.pid else 0

    def begin(self):
        """Called before a run."""

    def finish(self):
        """Called after a run; returns figures that it tells only at its end."""
        return {}

    def calls(self, difference):
        """System calls in a difference of sums, or None."""
        return difference.get("calls")


class Haul(Subject):
    is_haul = True

    def __init__(self, path, spec, cpu, work, kind, interrupts, scratch):
        super().__init__()
        self.kind = kind
        self.fwd = Fwd("measured haul-fwd", path,
                       self.arguments(spec, cpu, work, interrupts), scratch)
        self.pid = self.fwd.pid
        self.runs = False

    @staticmethod
    def arguments(spec, cpu, work, interrupts):
        """interrupts: a NIC's are on for the whole life of the process, so that pollers that wait
        for them can be chosen later: those begin with a program that starts with one of these or
        with sleep, which any port has."""
        found = ["--port", spec, "--mode", "macswap", "--handler", work["handler"],
                 "--carriers", f"{cpu}-{cpu}"]
        if work["service"]:
            found += ["--service", work["service"]]
        return found + (["--poller", "sleep"] if interrupts else [])

    def wake(self):
        if not self.runs:
            said = self.fwd.ask("start")
            if "forwarding -" not in said:
                raise Failed(f"the {self.fwd.what}: {said.strip().splitlines()[-1]}")
            self.runs = True

    def rest(self):
        if self.runs:
            self.fwd.ask("stop")
            self.runs = False

    def lacks(self, poller):
        """Why it cannot have this poller, or None."""
        self.wake()
        said = self.fwd.ask(f"set poller {poller}").strip()
        if not said:
            return None
        self.fwd.do("set poller spin")  # a poller that was refused is set all the same
        return said.splitlines()[-1].rpartition(f" {poller.partition(':')[0]}: ")[2]

    def select(self, poller):
        self.wake()
        if poller != self.poller:
            self.fwd.do(f"set poller {poller}")
        super().select(poller)

    def counts(self):
        told = dict.fromkeys(SUMS, 0)
        figures = self.fwd.figures()
        for carrier in figures["carriers"]:
            for name in SUMS:
                told[name] += carrier[name]
        told["lost"] = sum(n for port in figures["ports"] for name, n in port["dropped"].items()
                           if name not in NO_LOSS)
        return Sums(self.pid, told, main_waits=False)

    def calls(self, difference):
        """Reads and writes as the kernel counts them, and waits. AF_PACKET and AF_XDP send by a
        call that the kernel does not count: one for each poll that found packets."""
        if difference["calls"] is None:
            return None
        sends = 0
        if self.kind in ("veth", "afxdp"):
            sends = difference["polls"] - difference["empty_polls"]
        return difference["calls"] + difference["sleeps"] + sends

    def end(self):
        self.fwd.end()


class Epoll(Subject):
    """A process for each run, because it tells its figures at its end."""

    name = "kernel-epoll"

    def __init__(self, path, link, cpu, work, scratch):
        super().__init__()
        self.scratch = scratch
        self.command = [path, "--interface", link.subject, "--cpu", str(cpu)]
        if work["service"]:
            self.command += ["--service", work["service"]]
        self.process = None
        self.begin()
        self.finish()

    def begin(self):
        if not self.process:
            self.process = Peer(self.name, self.command, self.scratch)
            self.pid = self.process.pid

    def finish(self):
        self.spent_ns += self.cpu_ns()
        told = self.process.figures_at_end()
        self.process = self.pid = None
        polls = told["polls"] - told["empty_polls"]
        return {"calls": told["syscalls"], "wakeups": told["wakeups"],
                "lost": told["missed"] + told["send_failed"],
                "packets_per_poll": told["packets"] / polls if polls > 0 else None}

    def counts(self):
        return Sums(self.pid, {})

    def end(self):
        if self.process:
            self.process.end()


class Interrupt(Subject):
    """dpdk-interrupt, which stays, because its interface goes with it."""

    name = "dpdk-interrupt"

    def __init__(self, path, link, cpu, work, scratch):
        super().__init__()
        command = [path, "--port", link.subject, "--cpu", str(cpu)]
        if work["service"]:
            command += ["--service", work["service"]]
        self.process = Peer(self.name, command, scratch)
        self.pid = self.process.pid

    def counts(self):
        return Sums(self.pid, {})

    def calls(self, difference):
        """Reads and writes, and waits: each makes the thread sleep."""
        if difference["calls"] is None:
            return None
        return difference["calls"] + difference["voluntary"]

    def end(self):
        self.process.end()
