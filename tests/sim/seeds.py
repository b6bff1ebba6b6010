# SPDX-License-Identifier: BSD-3-Clause
"""A stress program in simulations: it ends well with each seed, and twice in the same way.

seeds.py PROGRAM N [SEED [STEPS]]

Without a seed: N of them, or HAUL_SIM_SEEDS, from the day's on. A failure tells the command that
shows it again, also under gdb.
"""
import os
import random
import re
import subprocess
import sys
import time

from tap import Tap

PROGRAM = sys.argv[1]
DAY = int(time.time()) // 86400
SEEDS = ([int(sys.argv[3])] if len(sys.argv) > 3 else
         range(1000 * DAY, 1000 * DAY + int(os.environ.get("HAUL_SIM_SEEDS", sys.argv[2]))))
TIMEOUT = 100  # real seconds: a loop in which no simulated time passes never ends
LAST = re.compile(r"^simulation: .*$", re.M)


def settings(seed):
    steps = sys.argv[4] if len(sys.argv) > 4 else random.Random(seed).choice([4, 16, 64, 256])
    return {"HAUL_SIM_SEED": str(seed), "HAUL_SIM_STEPS": str(steps),
            "HAUL_STRESS_SEED": str(seed),
            "HAUL_STRESS_SECONDS": os.environ.get("HAUL_STRESS_SECONDS", "0.005"),
            "CK_TAP_LOG_FILE_NAME": "-", "CK_VERBOSITY": "silent"}


def run(env):
    try:
        r = subprocess.run([PROGRAM], env={**os.environ, **env}, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired as e:
        return None, "", f"no end in {TIMEOUT} s\n{(e.stdout or b'').decode()}"
    return r.returncode, "".join(LAST.findall(r.stdout)), r.stdout


tap = Tap()
for seed in SEEDS:
    env = settings(seed)
    rc, told, said = run(env)
    again = run(env)[1] if rc == 0 else told
    tap.ok(rc == 0 and told and told == again,
           f"{os.path.basename(PROGRAM)}: seed {seed}, {env['HAUL_SIM_STEPS']} steps",
           f"{' '.join(f'{k}={v}' for k, v in env.items())} {PROGRAM}\nexit {rc}\n"
           f"{said[-3000:]}\nthe second time: {again}")
tap.done()
