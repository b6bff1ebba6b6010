# SPDX-License-Identifier: BSD-3-Clause
"""The facts that go with a figure, for the benchmarks that are scripts."""

import datetime
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(HERE)

sys.path.append(os.path.join(TOP, "tests"))
from ending import run  # noqa: E402,F401  the scripts call it


def cpus():
    """The CPUs to measure on, the best first: the kernel tends to send interrupts to the lowest
    ones."""
    return sorted(os.sched_getaffinity(0), reverse=True)


def fact(path, key):
    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if line.startswith(key):
                return line.split(":", 1)[1].strip()
    return "unknown"


def commit():
    done = subprocess.run(["git", "-C", TOP, "describe", "--always", "--dirty", "--exclude", "*"],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return done.stdout.strip() or "unknown"


def facts():
    """Facts in the harness's format."""
    system = os.uname()
    now = datetime.datetime.now(datetime.timezone.utc)
    return {
        "commit": commit(),
        "cpu": fact("/proc/cpuinfo", "model name"),
        "cpus": len(cpus()),
        "kernel": f"{system.sysname} {system.release}",
        "load": round(os.getloadavg()[0], 2),
        "date": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }


def free_hugepages(meminfo="/proc/meminfo"):
    """Megabytes of huge pages that a program can have: not those that others have reserved, which
    count as free until they are written to."""
    free = int(fact(meminfo, "HugePages_Free")) - int(fact(meminfo, "HugePages_Rsvd"))
    return free * int(fact(meminfo, "Hugepagesize").split()[0]) // 1024


def spread(values):
    """The interquartile range."""
    quarters = statistics.quantiles(values, n=4, method="inclusive")
    return quarters[2] - quarters[0]


def progress(text):
    """A line that the next one overwrites; only on a terminal."""
    if sys.stderr.isatty():
        print(f"\r{text:60}\r", end="", file=sys.stderr, flush=True)


def build(*folders):
    """Builds the programs and benchmarks in these build directories, so that figures are those of
    the sources."""
    for folder in folders:
        if not os.path.exists(os.path.join(folder, "build.ninja")):
            sys.exit(f"{folder}: not configured: meson setup {os.path.relpath(folder)}")
        progress(f"building in {folder}")
        done = subprocess.run(["ninja", "-C", folder, "all", "benchmarks"], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        progress("")
        if done.returncode:
            sys.exit(done.stdout + f"{folder}: does not build")
