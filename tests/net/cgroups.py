#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs in cgroups that limit CPU time, CPUs and memory, as containers are: they say so, choose
what fits, drop what does not, and are not killed.

cgroups.py PATH-OF-HAUL-FWD PATH-OF-HAUL-DOCTOR
"""
import contextlib
import json
import os
import random
import subprocess
import sys

import netns

import fwd

ROOT = "/sys/fs/cgroup"
PERIOD = 100000
MIB = 1 << 20
HOLD = ["--service", "100s", "--service-sleep", "--handler", "coroutine", "--mode", "macswap"]

tap = netns.Tap()


def read(path):
    try:
        with open(path) as f:
            return f.read()
    except OSError:
        return ""


def write(path, text):
    with open(path, "w") as f:
        f.write(str(text))


class Version1:
    """A hierarchy for each controller."""

    def __init__(self):
        self.dirs = {}
        for line in read("/proc/self/cgroup").split():
            _, names, own = line.split(":", 2)
            for name in names.split(","):
                if name in ("cpu", "memory", "cpuset"):
                    # In a container the path may be the host's.
                    top = f"{ROOT}/{names}"
                    self.dirs[name] = (top + own.rstrip("/") if os.path.isdir(top + own) else top)

    def usable(self):
        return {"cpu", "memory"} <= self.dirs.keys()

    def make(self, name):
        return {controller: f"{at}/{name}" for controller, at in self.dirs.items()}

    def limit(self, dirs, cpus, memory, cpuset):
        if cpus:
            write(f"{dirs['cpu']}/cpu.cfs_period_us", PERIOD)
            write(f"{dirs['cpu']}/cpu.cfs_quota_us", int(cpus * PERIOD))
        if memory:
            write(f"{dirs['memory']}/memory.limit_in_bytes", memory)
        if "cpuset" in dirs:
            for what in "mems", "cpus":
                own = read(f"{os.path.dirname(dirs['cpuset'])}/cpuset.{what}")
                write(f"{dirs['cpuset']}/cpuset.{what}", cpuset if cpuset and what == "cpus"
                      else own)


class Version2:
    def usable(self):
        return {"cpu", "memory"} <= set(read(f"{ROOT}/cgroup.subtree_control").split())

    def make(self, name):
        return {"all": f"{ROOT}/{name}"}

    def limit(self, dirs, cpus, memory, cpuset):
        if cpus:
            write(f"{dirs['all']}/cpu.max", f"{int(cpus * PERIOD)} {PERIOD}")
        if memory:
            write(f"{dirs['all']}/memory.max", memory)
        if cpuset and os.path.exists(f"{dirs['all']}/cpuset.cpus"):
            write(f"{dirs['all']}/cpuset.cpus", cpuset)


class Group:
    """A cgroup of the test's own; with() removes it."""

    made = 0

    def __init__(self, version, cpus=None, memory=None, cpuset=None):
        Group.made += 1
        self.dirs = version.make(f"haul-test-{os.getpid()}-{Group.made}")
        self.stack = contextlib.ExitStack()
        try:
            for at in self.dirs.values():
                os.mkdir(at)
                self.stack.callback(os.rmdir, at)
            version.limit(self.dirs, cpus, memory, cpuset)
        except OSError:
            self.stack.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.stack.close()

    def enter(self):
        """In the child, before exec."""
        for at in self.dirs.values():
            write(f"{at}/cgroup.procs", os.getpid())

    def throttled(self):
        at = self.dirs.get("cpu", self.dirs.get("all"))
        return dict(line.split() for line in read(f"{at}/cpu.stat").splitlines())


def usable_version():
    for version in Version2(), Version1():
        if version.usable():
            with contextlib.suppress(OSError), Group(version, 1.0, 64 * MIB):
                return version
    tap.skip("cgroups", "no cgroup with CPU time and memory can be made here")
    return tap.done()


VERSION = usable_version()
CORES = len(json.loads(subprocess.run([sys.argv[2], "--json"], capture_output=True,
                                      text=True).stdout)["plan"]["carriers"])


def run(group, *args):
    """haul-fwd in the group, until it reports or for its --duration."""
    options = ["--json"] if "--period" in args else ["--json", "--period", "0.05"]
    with fwd.Running(*args, options=options, preexec_fn=group.enter) as haul:
        if "--duration" in args:
            return haul.wait()
        netns.wait_for(haul.runs, "haul-fwd")
        return haul.end()


def chosen(cpus, carriers, poller, line, *args):
    with Group(VERSION, cpus) as group:
        got = run(group, "--port", "null:size=64", "--mode", "rxonly", *args)
        ok = got.rc == 0 and got.json["poller"] == poller and line in got.err and \
            len(got.json["carriers"]) == carriers
        tap.ok(ok, f"a quota of {cpus} CPUs{' and ' if args else ''}{' '.join(args)}: {carriers} "
               f"carrier, {poller}", f"{got}{group.throttled()}")


chosen(0.5, 1, "sleep", "allows the time of 0.5 CPUs for 1 carrier: --poller sleep instead of spin"
       if CORES == 1 else "the time of 0.5 CPUs: 1 carrier instead of")
chosen(1.5, 2, "sleep", "1.5 CPUs for 2 carriers: --poller sleep", "--carriers", "2")
chosen(1.5, 2, "spin", "and 2 carriers take more: the kernel will stop", "--carriers", "2",
       "--poller", "spin")
if CORES > 1:
    chosen(1.5, 1, "spin", f"the time of 1.5 CPUs: 1 carrier instead of {CORES}")
chosen(64, CORES, "spin", "")

# Memory. What a run needs at least is what its pool takes and some for DPDK.
with Group(VERSION, memory=24 * MIB) as group:
    got = run(group, "--port", "null:", "--carriers", 1)
    tap.ok(got.rc == 2 and "MB are free" in got.err and len(got.err.splitlines()) == 1,
           "24 MiB are too little for the packet buffers: a line", got)
with Group(VERSION, memory=120 * MIB) as group:
    got = run(group, "--port", "null:", "--carriers", 1, "--mbufs", 30000, "--stack-size",
              30000, "--duration", 1, "--period", 0, *HOLD)
    tap.ok(got.rc == 0 and got.dropped("no_coroutine") > 0 and "allows 8 MB more" in got.err,
           "handlers wait, and their stacks fill the cgroup: further packets are dropped", got)

# Any limits, any command: an end with a line, or a run; never killed.
seed = int(os.environ.get("HAUL_SEED", random.randrange(1 << 32)))
rng = random.Random(seed)
for i in range(4 if os.environ.get("HAUL_FEWER") else 12):
    limits = {
        "cpus": rng.choice([None, round(rng.uniform(0.1, 2.5), 1)]),
        "memory": rng.choice([None, rng.randrange(20, 300) * MIB]),
        "cpuset": rng.choice([None, "0"]),
    }
    args = ["--port", "null:", "--period", 0, "--duration", rng.choice(["0.1", "1"])]
    args += rng.choice([[], ["--carriers", rng.randint(1, 4)]])
    args += rng.choice([[], ["--poller", rng.choice(["spin", "sleep"])]])
    args += rng.choice([[], ["--mbufs", rng.randrange(2000, 100000)]])
    args += rng.choice([[], HOLD, [*HOLD, "--stack-size", rng.choice([8192, 100000])]])
    args += rng.choice([[], ["--steal", "cluster"]])
    with Group(VERSION, **limits) as group:
        got = run(group, *args)
    fine = got.rc in (0, 1, 2) and (got.rc == 0 or len(got.err.splitlines()) <= 3)
    if not tap.ok(fine, f"limits {i}", f"HAUL_SEED={seed} {limits}\n{got}"):
        break
tap.done()
