# SPDX-License-Identifier: BSD-3-Clause
"""The simulator of stealing against the library's own carriers, which run the same loads in a
simulation: without costs, both have nearly the same latencies, so the simulator's carriers decide
as the library's do. All times are simulated, and follow from the seed.

usage: sim_real.py SIM SIM_REAL
"""
import json
import os
import statistics
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Tap  # pylint: disable=wrong-import-position

SIM, REAL = sys.argv[1:3]
COSTS = ["slice-cost", "spawn-cost", "send-cost", "receive-cost", "look-cost", "far-look-cost",
         "wake-call", "barrier", "interrupt", "theft", "fence", "refill", "far-refill"]
FREE = [word for cost in COSTS for word in ("--" + cost, "0")] + ["--poll-cost", "1", "--wake", "1"]
LOADS = {
    "even": ["--load", "0.7"],
    "bursts": ["--load", "0.5", "--burst", "16"],
    "hot": ["--load", "0.5", "--hot", "1", "--hot-share", "0.3"],
    "hogs": ["--load", "0.5", "--service", "bimodal", "--mean", "1000", "--long", "500000"],
    "yields": ["--load", "0.7", "--slices", "3"],
}
NEAR = 0.1  # by which medians may differ: they do by 5 %


def run(program, *options):
    return subprocess.run([program, *FREE, "--arrive", "mail", "--carriers", "8", "--clusters", "1",
                           "--us", "60000", "--json", *options], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)


def figures(program, *options):
    """Medians of three seeds."""
    runs = [run(program, *options, "--seed", seed) for seed in ("1", "2", "3")]
    bad = [r.stderr for r in runs if r.returncode != 0]
    if bad:
        return {"error": bad}
    lines = [json.loads(r.stdout) for r in runs]
    return {name: statistics.median(line[name] for line in lines)
            for name in ("tasks", "slices", "worked_ns", "stolen", "mean_ns", "p99_ns")}


def is_near(a, b, name):
    return name in a and name in b and abs(a[name] - b[name]) <= NEAR * a[name]


def main():
    tap = Tap()
    for name, load in LOADS.items():
        real = {}
        for steal in ("off", "cluster"):
            model, real[steal] = (figures(p, *load, "--steal", steal) for p in (SIM, REAL))
            told = f"{model}\n{real[steal]}"
            tap.ok(all(model.get(k, 0) == real[steal].get(k, 1)
                       for k in ("tasks", "slices", "worked_ns")),
                   f"{name}, {steal}: the same work", told)
            tap.ok(is_near(model, real[steal], "mean_ns") and is_near(model, real[steal], "p99_ns"),
                   f"{name}, {steal}: the same latencies", told)
        off, on = real["off"], real["cluster"]
        tap.ok(off.get("stolen") == 0 < on.get("stolen", 0) and
               on.get("p99_ns", 1) * 1.2 < off.get("p99_ns", 0), f"{name}: thefts help", real)
    first, again, other = (run(REAL, "--seed", seed).stdout for seed in ("1", "1", "2"))
    tap.ok(first == again != "" and other not in (first, ""), "the same seed says the same",
           first + again + other)
    for options in (["--arrive", "poll"], ["--idle", "spin"], ["--what"]):
        done = run(REAL, *options)
        tap.ok(done.returncode == 2 and done.stderr.count("\n") == 1 and not done.stdout,
               f"{' '.join(options)}: refused by one line", done)
    tap.done()


if __name__ == "__main__":
    main()
