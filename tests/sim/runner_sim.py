# SPDX-License-Identifier: BSD-3-Clause
"""tests/run --sim with real programs of simulations: runner_sim.py PLANTED"""
import os
import re
import subprocess
import sys
import tempfile
import time

import runner
import simulations
from progress import Progress
from tap import Tap

PLANTED = os.path.abspath(sys.argv[1])
TESTS = """project('x')
test('sim_fine', find_program('{0}'), args: ['--test', 'fine', '--seeds', '3'])
test('sim_race', find_program('{0}'), args: ['--test', 'race', '--seeds', '1', '--steps', '4'],
  env: ['HAUL_X=a b'])
test('sim_clock', find_program('{0}'),
  args: ['--test', 'by-the-clock', '--seeds', '1', '--twice', '1'])
test('sim_by_plan', find_program('sh'), args: ['-c', '"$0" --seeds 9', '{0}'])
test('other', find_program('{0}'), args: ['--seeds', '9'])
"""


def run(seconds):
    """What a run says, its tally, and how long it took."""
    said, texts = [], []
    conf = runner.Configuration("x", "", "gcc")
    progress, tally = Progress(conf.stages() + [(simulations.STAGE, seconds)]), runner.Tally()
    progress.say = said.append
    update = progress.update
    progress.update = lambda *args: (texts.append(args[2]), update(*args))
    began = time.monotonic()
    runner.simulate(conf, seconds, progress, tally)
    return "\n".join(said), texts, tally, time.monotonic() - began


def main():
    tap = Tap()
    here = os.getcwd()
    os.environ["HAUL_SIM_SEEDS"] = "2"  # that of a search by hand does not count
    with tempfile.TemporaryDirectory() as d:
        os.chdir(d)
        with open("meson.build", "w", encoding="utf-8") as f:
            f.write(TESTS.format(PLANTED))
        with open("meson_options.txt", "w", encoding="utf-8") as f:
            f.write("option('tests', type: 'feature')\n")
        said, texts, tally, took = run(6)
        tap.ok(tally.passed == 1 and len(tally.failed) == 2,
               "each program of simulations is one test, others are none",
               f"{vars(tally)}\n{said}")
        # No time is asserted but that which the program is told to take.
        tap.ok(took >= 2 and re.search(r"^sim_fine: ([3-9]|\d\d+) runs in [2-9]", said, re.M),
               "a program has its share of the time, and not its usual seeds", said)
        seed = int(re.search(r"^seeds from (\d+)$", said, re.M)[1])
        found = re.search(r"sim_race: race: seed (\d+): returned 1\n *(HAUL_X='a b' .*)",
                          "\n".join(tally.failed))
        tap.ok(found and seed <= int(found[1]) < seed + 100000, "seeds are those that are told",
               tally.failed)
        again = found and subprocess.run(["sh", "-c", found[2]], stdout=subprocess.PIPE,
                                         stderr=subprocess.STDOUT, text=True)
        tap.ok(again and again.returncode == 1 and f"race: seed {found[1]}: returned 1" in
               again.stdout, "the line makes the run again", f"{found and found[2]} {again}")
        found = re.search(r"two runs differ.*\n *(.*--twice 1)$", "\n".join(tally.failed), re.M)
        again = found and subprocess.run(["sh", "-c", found[1]], stdout=subprocess.PIPE,
                                         stderr=subprocess.STDOUT, text=True)
        tap.ok(again and again.returncode == 3, "two runs that differ are a failure, again, too",
               f"{tally.failed}\n{again}")
        tap.ok([t for t in texts if t.startswith("3 of 3: sim_clock")], "it says how far it is",
               texts)
        os.chdir(here)
    tap.ok(simulations.first_seed(1e9 + 1) > simulations.first_seed(1e9) and
           simulations.first_seed(4e9) < 2 ** 63, "later seeds are others")
    for more in ([], ["--all"], ["--suite", "unit"]):
        r = subprocess.run([sys.executable, runner.__file__, "--sim", *(["3"] if more else ["0"]),
                            *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        tap.ok(r.returncode == 2 and "--sim" in r.stderr.splitlines()[-1],
               f"refused: {more or 'no time'}", r.stderr)
    tap.done()


if __name__ == "__main__":
    main()
