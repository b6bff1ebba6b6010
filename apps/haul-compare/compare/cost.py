# SPDX-License-Identifier: BSD-3-Clause
"""What a process costs: CPU time, waiting for a CPU, context switches, system calls, energy.

CPU time is that of the process's CPU clock, which the kernel keeps in nanoseconds for running
threads, too. Context switches, time waiting for a CPU and calls are read from /proc before and
after a run.
"""
import glob
import os
import time

SCHED_CLOCK = 2  # CPUCLOCK_SCHED, of a process
TICKS = os.sysconf("SC_CLK_TCK")


def cpu_ns(pid):
    """CPU time of all threads; 0 if the process has gone."""
    try:
        return time.clock_gettime_ns((~pid << 3) | SCHED_CLOCK)
    except OSError:
        return 0


def _pairs(path):
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return dict(line.rstrip("\n").split(":", 1) for line in file if ":" in line)
    except OSError:
        return {}


def _schedstat(path):
    """Nanoseconds on a CPU, and waiting for one."""
    try:
        with open(path, encoding="ascii") as file:
            ran, waited, _ = map(int, file.read().split())
            return ran, waited
    except (OSError, ValueError):
        return 0, 0


class Counts:
    """Sums over the threads of a process, since their beginning. main_waits: the time that the main
    thread waits for a CPU counts; that of haul-fwd only answers commands, and often waits behind a
    poller."""

    NAMES = "voluntary", "involuntary", "waited_ns", "calls"

    def __init__(self, pid, main_waits=True):
        self.voluntary = self.involuntary = self.waited_ns = 0
        for task in glob.glob(f"/proc/{pid}/task/*"):
            status = _pairs(f"{task}/status")
            self.voluntary += int(status.get("voluntary_ctxt_switches", 0))
            self.involuntary += int(status.get("nonvoluntary_ctxt_switches", 0))
            if main_waits or not task.endswith(f"/{pid}"):
                self.waited_ns += _schedstat(f"{task}/schedstat")[1]
        io = _pairs(f"/proc/{pid}/io")
        # read, write and their kin; send, receive and waits are not among them.
        self.calls = int(io["syscr"]) + int(io["syscw"]) if "syscr" in io else None

    def since(self, before):
        found = {}
        for name in self.NAMES:
            a, b = getattr(before, name), getattr(self, name)
            found[name] = None if a is None or b is None else b - a
        return found


class Cpus:
    """Where the time of all CPUs went so far, in seconds."""

    def __init__(self):
        self.busy, self.steal = {}, {}
        with open("/proc/stat", encoding="ascii") as file:
            for line in file:
                words = line.split()
                if not words[0].startswith("cpu") or words[0] == "cpu":
                    continue
                cpu, ticks = int(words[0][3:]), list(map(int, words[1:]))
                # user, nice, system; not interrupts, which carry the packets
                self.busy[cpu] = sum(ticks[:3]) / TICKS
                self.steal[cpu] = ticks[7] / TICKS


def kernel_helpers(cpu):
    """Process ids of the kernel's threads that carry packets on a CPU."""
    found = []
    for path in glob.glob("/proc/[0-9]*/comm"):
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                if file.read().strip() == f"ksoftirqd/{cpu}":
                    found.append(int(path.split("/")[2]))
        except OSError:
            continue
    return found


def busiest(cpu, known, seconds=0.3):
    """The process, besides known ones, that took most of a CPU in the last moments: (name, pid,
    share), or None."""
    def look():
        found = {}
        for path in glob.glob("/proc/[0-9]*/stat"):
            try:
                with open(path, encoding="utf-8", errors="replace") as file:
                    name, _, rest = file.read().partition("(")[2].rpartition(")")
            except OSError:
                continue
            words = rest.split()
            if len(words) > 36 and int(words[36]) == cpu:
                found[int(path.split("/")[2])] = name, int(words[11]) + int(words[12])
        return found
    before = look()
    time.sleep(seconds)
    grown = [(ticks - before[pid][1], pid, name) for pid, (name, ticks) in look().items()
             if pid in before and pid not in known]
    ticks, pid, name = max(grown, default=(0, 0, ""))
    share = ticks / TICKS / seconds
    return (name, pid, min(share, 1.0)) if share > 0.1 else None


class Energy:
    """Joules of all packages by RAPL, where the kernel lets us read them."""

    def __init__(self, root="/sys/class/powercap"):
        self.zones = []
        for path in glob.glob(f"{root}/intel-rapl:[0-9]*"):
            if path.count(":") == 1 and self.read(path, "energy_uj") is not None:
                self.zones.append((path, self.read(path, "max_energy_range_uj") or 0))

    @staticmethod
    def read(zone, name):
        try:
            with open(f"{zone}/{name}", encoding="ascii") as file:
                return int(file.read())
        except (OSError, ValueError):
            return None

    def now(self):
        return [self.read(zone, "energy_uj") for zone, _ in self.zones]

    def joules(self, before, after):
        """Between two values of now(); None without RAPL."""
        if not self.zones or None in before + after:
            return None
        return sum((b - a) % (most + 1) if b < a else b - a
                   for (_, most), a, b in zip(self.zones, before, after)) / 1e6
