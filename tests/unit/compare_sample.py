# SPDX-License-Identifier: BSD-3-Clause
"""What a run of haul-compare might have measured: made up, from a queue and the price of waking,
with noise that a seed decides. compare_sample.py SEED prints one."""
import json
import math
import os
import random
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "apps", "haul-compare"))

MAXIMUM = 200e3  # packets per second
LOADS = [0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9]
POLLERS = ["spin", "adaptive:5us", "adaptive:20us", "adaptive:100us", "sleep:50us", "block",
           "kernel-epoll", "dpdk-interrupt"]
WAKE = 20e3  # ns
BASE = 12e3


def asleep(poller, rate):
    """How likely a packet finds the poller asleep."""
    if poller == "spin":
        return 0.0
    if poller.startswith("adaptive"):
        spins = float(poller.partition(":")[2].removesuffix("us")) / 1e6
        return math.exp(-rate * spins)
    return 1.0


def model(poller, load):
    """(p50, p99, CPU) without noise."""
    rate = load * MAXIMUM
    queue = 1 / (1 - min(load, 0.97))
    sleeps = asleep(poller, rate) * (1 - load)
    wake = WAKE * (1.4 if poller in ("kernel-epoll", "dpdk-interrupt") else 1)
    p50 = BASE + 2e3 * queue + wake * sleeps
    p99 = 1.5 * BASE + 3e3 * queue + (1.6 * wake if sleeps > 0.01 else 0)
    cpu = 1.0 if poller == "spin" else min(
        load + (1 - load) * (1 - asleep(poller, rate)) + rate * sleeps * 4e-6, 1.0)
    if poller.startswith("sleep"):
        p50, p99, cpu = p50 + 25e3, p99 + 55e3, min(load + 0.04, 1.0)
    if poller == "kernel-epoll":
        cpu = min(1.5 * cpu + 0.01, 1.0)
    return p50, p99, cpu


def histogram(p50, p99, packets):
    """Buckets that are about 3 % wide, of a log-normal distribution."""
    sigma = math.log(p99 / p50) / 2.326
    bound, before, found = p50 / 20, 0, []
    while before < packets and bound < p99 * 40:
        share = 0.5 * (1 + math.erf(math.log(bound / p50) / sigma / math.sqrt(2)))
        count = round(packets * share) - before
        if count > 0:
            found.append([round(bound), count])
            before += count
        bound *= 1.03
    return found


def run_of(poller, load, rng, noise):
    p50, p99, cpu = model(poller, load)
    p99 *= math.exp(rng.gauss(0, noise))
    p50 *= math.exp(rng.gauss(0, noise / 3))
    cpu = min(cpu * math.exp(rng.gauss(0, noise / 5)), 1.0)
    rate = load * MAXIMUM
    sent = round(rate * 2)
    return {"offered_pps": rate, "achieved_pps": rate * 0.9999, "sent": sent, "received": sent,
            "lost": 0, "lost_by": {"generator": 0, "link": 0, "subject": 0},
            "p50_ns": round(p50), "p90_ns": round(p50 * 1.3), "p99_ns": round(p99),
            "p999_ns": round(p99 * 2.2), "max_ns": round(p99 * 5), "cpu_share": cpu,
            "cpu_ns_per_packet": cpu / rate * 1e9, "disturbed": None, "generator_late": 0.0}


def median(runs, name):
    return sorted(r[name] for r in runs)[len(runs) // 2]


def point_of(poller, arrivals, load, rng, noise, runs):
    kept = [run_of(poller, load, rng, noise) for _ in range(runs)]
    point = {name: median(kept, name) for name in kept[0]
             if isinstance(kept[0][name], (int, float))}
    rate, cpu = load * MAXIMUM, point["cpu_share"]
    sleeps = asleep(poller, rate) * (1 - load)
    return {**point, "poller": poller, "arrivals": arrivals, "load": load,
            "lost_by": kept[0]["lost_by"], "p50_ci_ns": None, "p99_ci_ns": None,
            "p999_ci_ns": None, "cpu_ci": None,
            "share": {"work": load, "empty": max(cpu - load, 0), "asleep": max(1 - cpu, 0)},
            "wakeups_ps": rate * sleeps, "syscalls_per_packet": 2 * sleeps,
            "switches_per_packet": sleeps, "packets_per_poll": 1 / (1 - load) * 0.3,
            "energy_w": None, "disturbed": 0, "runs": kept,
            "histogram": histogram(point["p50_ns"], point["p99_ns"], 2e5)}


def step_of(poller):
    at = list(range(0, 1200, 20))
    offered = [MAXIMUM / 2 if 400 <= t < 800 else 0 for t in at]
    p50, p99, _ = model(poller, 0.5)
    late = [4 if t == 400 else 1 for t in at]
    return {"poller": poller, "at_ms": at, "offered_pps": offered,
            "p50_ns": [p50 * f if r else None for r, f in zip(offered, late)],
            "p99_ns": [p99 * f if r else None for r, f in zip(offered, late)]}


def sample(seed=1, pollers=None, loads=None, arrivals=("poisson",), noise=0.08, runs=9):
    rng = random.Random(seed)
    pollers, loads = pollers or POLLERS, loads or LOADS
    return {
        "format": 1, "command": "haul-compare --out made-up", "complete": True,
        "ended_because": None, "started": "2026-11-22T12:00:00Z", "seconds": 540.0,
        "machine": {"cpu": "made up", "cpus": 2, "smt": False, "kernel": "Linux 6.18",
                    "virtual": True, "governor": None, "memory_mb": 4096},
        "versions": {"haul": "0.1", "dpdk": "22.11", "commit": "made up"},
        "link": {"kind": "tap", "generator": "afpacket:haul0", "subject": "tap:haul0",
                 "user": "ordinary"},
        "work": {"mode": "macswap", "handler": "burst", "service": "0", "sizes": "64",
                 "flows": 16},
        "maximum": {"pps": MAXIMUM, "poller": "spin", "how": "halving, no loss in 2 s"},
        "disturbances": [],
        "points": [point_of(p, a, load, rng, noise, runs)
                   for a in arrivals for load in loads for p in pollers],
        "idle": [{"poller": p, "cpu_share": 1.0 if p == "spin" else 0.001} for p in pollers],
        "steps": [step_of(p) for p in pollers],
        "neighbours": [{"poller": p, "load": load, "where": "core",
                        "lost_share": model(p, load)[2] / 2,
                        "ci": [model(p, load)[2] / 2.2, model(p, load)[2] / 1.8],
                        "runs": [model(p, load)[2] / d for d in (2.2, 2.1, 2, 1.9, 1.8)]}
                       for p in pollers for load in (0.1, 0.5)],
    }


if __name__ == "__main__":
    json.dump(sample(int((sys.argv + ["1"])[1])), sys.stdout, indent=1)
