# SPDX-License-Identifier: BSD-3-Clause
"""Facts about the machine, and which CPUs to measure on."""
import os
import re


def text(path, otherwise=""):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return otherwise


def field(path, key):
    found = re.search(rf"^{re.escape(key)}\s*:\s*(.*)$", text(path), re.M)
    return found[1] if found else None


def numbers(listed):
    """0-2,5 as [0, 1, 2, 5]."""
    found = []
    for part in filter(None, listed.split(",")):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def cpu_file(cpu, name):
    return text(f"/sys/devices/system/cpu/cpu{cpu}/{name}")


def siblings(cpu):
    """Other CPUs of the same core."""
    return [c for c in numbers(cpu_file(cpu, "topology/thread_siblings_list")) if c != cpu]


def choose(allowed):
    """(generator's CPU, subject's CPU): two cores if there are, the highest numbers first, because
    the kernel sends most interrupts to the lowest."""
    cpus = sorted(allowed, reverse=True)
    subject = cpus[0]
    others = [c for c in cpus[1:] if c not in siblings(subject)] or cpus[1:]
    return (others[0] if others else subject), subject


def facts():
    system = os.uname()
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    cpus = sorted(os.sched_getaffinity(0))
    flags = field("/proc/cpuinfo", "flags") or ""
    return {
        "cpu": field("/proc/cpuinfo", "model name") or system.machine,
        "cpus": len(cpus),
        "smt": any(siblings(c) for c in cpus),
        "kernel": f"{system.sysname} {system.release}",
        "virtual": "hypervisor" in flags.split(),
        "governor": cpu_file(cpus[0], "cpufreq/scaling_governor") or None,
        "memory_mb": pages >> 20,
    }


def has_pause():
    """True if the CPU can rest between polls: umwait, or monitorx."""
    return bool({"waitpkg", "monitorx"} & set((field("/proc/cpuinfo", "flags") or "").split()))
