# SPDX-License-Identifier: BSD-3-Clause
"""The simulator of stealing: no task is lost or run twice, with any options; its output depends on
the options only; and it steals nothing that the scope forbids.

usage: sim.py SIM
"""
import itertools
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Tap  # pylint: disable=wrong-import-position

HOT = ["--load", "0.5", "--hot", "2", "--hot-share", "0.6"]
SMALL = ["--carriers", "16", "--clusters", "4", "--us", "2000", "--tasks", "2000"]


def run(sim, *options):
    return subprocess.run([sim, *SMALL, "--json", *options], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)


def figures(sim, *options):
    done = run(sim, *options)
    return json.loads(done.stdout) if done.returncode == 0 else {"error": done.stderr}


def conserves(tap, sim):
    """The simulator itself ends with 1 if a task is lost or runs twice."""
    ways = itertools.product(("poll", "mail", "source"), ("park", "spin"),
                             ("off", "cluster", "global"), ("1", "8"))
    for arrive, idle, steal, searchers in ways:
        r = figures(sim, *HOT, "--arrive", arrive, "--idle", idle, "--steal", steal,
                    "--searchers", searchers, "--slices", "3", "--service", "bimodal",
                    "--mean", "2000", "--long", "200000")
        sources = 16 if arrive == "source" else 0
        tap.ok(r.get("slices") == 3 * (r.get("tasks", 0) - sources) > 0,
               f"{arrive}, {idle}, {steal}, {searchers}: each runs once", r)


def depends_on_its_options(tap, sim):
    first, again = (run(sim, *HOT, "--steal", "global").stdout for _ in range(2))
    other = run(sim, *HOT, "--steal", "global", "--seed", "2").stdout
    tap.ok(first == again != "", "the same seed says the same", first + again)
    tap.ok(other not in (first, ""), "another one says something else", other)


def stays_in_its_scope(tap, sim):
    packed = [*HOT, "--hot", "4", "--packed"]
    off, cluster, everywhere = (figures(sim, *packed, "--steal", s)
                                for s in ("off", "cluster", "global"))
    tap.ok(off.get("stolen") == off.get("looks") == 0, "off: no steals, no looks", off)
    tap.ok(cluster.get("crossed") == cluster.get("far_looks") == 0 < cluster.get("stolen", 0),
           "cluster: none crosses", cluster)
    tap.ok(everywhere.get("crossed", 0) > 0, "global: some cross", everywhere)


def refuses(tap, sim):
    for options in (["--steal", "all"], ["--carriers", "10"], ["--load", "-1"], ["--what"],
                    ["--seed"]):
        done = run(sim, *options)
        tap.ok(done.returncode == 2 and done.stderr.count("\n") == 1 and not done.stdout,
               f"{' '.join(options)}: refused by one line", done)


def main():
    tap, sim = Tap(), sys.argv[1]
    conserves(tap, sim)
    depends_on_its_options(tap, sim)
    stays_in_its_scope(tap, sim)
    refuses(tap, sim)
    tap.done()


if __name__ == "__main__":
    main()
