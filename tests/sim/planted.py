# SPDX-License-Identifier: BSD-3-Clause
"""What simulations find in faulty programs, and what they say: planted.py PROGRAM FLOWS"""
import json
import os
import random
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time

from tap import Tap

PROGRAM, FLOWS = sys.argv[1:]
os.environ.pop("HAUL_SIM_SEEDS", None)
SEED = 1000  # any
FOUND = [  # test, more arguments, exit status, what it says
    ("fine", [], 0, r"^50 runs in .*, 2 of them twice: 0 failed$"),
    ("own-mask", [], 0, r": 0 failed$"),
    ("own-stack", [], 0, r": 0 failed$"),
    ("recovers", [], 0, r": 0 failed$"),
    ("race", [], 1, r"^race: seed \d+: returned 1$"),
    ("invariant", [], 1, r"^invariant: seed 1000: one is gone$"),
    ("lost-wakeup", ["--seeds", "2000"], 1, r"^lost-wakeup: seed \d+: stuck at .*all threads wait"),
    ("deadlock", [], 1, r"(?s)^deadlock: seed \d+: stuck at .*^  thread 1: waits in futex.*"
     r"^Coroutines:.*waiting for mutex.*^    lock_both\+0x.*^Deadlocks:.*deadlock"),
    ("no-retry", [], 1, r"(?s)^no-retry: seed \d+: request \d+ has no reply$.*"
     r"^Faults: 1 of \d+ are enough.*^  0\.0+ s: sometimes \d+: re(quest|ply) lost, thread 1$"),
    ("two-faults", [], 1, r"(?s)^two-faults: seed \d+: Aborted .* in thread 1$.*"
     r"^Faults: 3 of \d+ are enough.*Assertion"),
    ("endless", ["--limit", "1"], 1,
     r"^endless: seed 1000: no end in 1 s of real time: .* thread 1"),
    ("too-long", [], 1, r"^too-long: seed 1000: no end in 1 s of simulated time$"),
    ("leaves", [], 1, r"(?s)^leaves: seed 1000: exit\(3\) .* in thread 1$.*^it goes$"),
    ("by-the-clock", ["--twice", "1"], 3,
     r"^by-the-clock: seed \d+: two runs differ: switch \d{4,}: to thread \d at .* thread \d at"),
    ("by-order", ["--twice", "1"], 0, r", 50 of them twice: 0 failed$"),
    ("by-descriptor", ["--twice", "1"], 0, r", 50 of them twice: 0 failed$"),
    ("by-address", ["--twice", "1"], 3, r"^by-address: seed \d+: two runs differ: "),
]
BEHIND = r"number \d+, at \d+\.\d{9} s, is behind number \d+, at \d+\.\d{9} s$"
FOUND_IN_FLOWS = [
    ("any-order", [], 1, r"^any-order: seed \d+: link mirror > a: 10\.1\.0\.0 port 100\d to "
     r"10\.1\.0\.1 port 200\d: " + BEHIND),
    ("late", [], 1, r"^late: seed \d+: link mirror > a: .*" + BEHIND),
    ("lost", [], 1, r"(?s)^lost: seed \d+: a frame is lost: loss$.*^Faults: 1 of .*"
     r"^  \d+\.\d{9} s: loss \d+: (a > b|b > a)$"),
    ("forgotten", [], 1, r"(?s): stuck at .*^  thread \d+ of asker: waits in futex.*"
     r"^    ask\+0x\w+ \(sim_flows\)$.*^Coroutines of asker:$.*waiting for semaphore.*"
     r"^    wait_for_reply\+0x"),
    ("refused", [], 1, r"(?s)^refused: seed \d+: returned \d+$.*^Faults: 1 of .*"
     r"^  0\.\d{9} s: syscall 1: pipe2, thread \d+ plumber of house$"),
    ("own", [], 1, r"^own: seed \d+: link a > b: flow 7: number 199, .* behind number 200, "),
]
ARGUMENTS = [  # exit status, what it says
    (["--help"], 0, r"--seeds N"),
    (["--list"], 0, r"(?s)^  race$.*^  burst-loss$"),
    (["--sedes"], 2, r": --sedes: no such option; --help shows them$"),
    (["--seeds"], 2, r": --seeds needs a value"),
    (["--seeds", "many"], 2, r": --seeds many: give a number, 0 to "),
    (["--seeds=-1"], 2, r": --seeds -1: give a number, 0 to "),
    (["--test", "rice"], 2, r": --test rice: there is none; --list shows them$"),
    (["--seed", "1"], 2, r": --seed runs one test: name it by --test$"),
    (["--test", "fine", "--trace", "x"], 2,
     r": --trace x: it is the timeline of one run: give its --seed$"),
    (["--test", "fine", "--seeds", "1", "--trace", "x"], 2, r": --trace x: it is the timeline "),
    (["--test", "fine", "--seed", "1", "--trace", "/nowhere/x"], 2,
     r": --trace /nowhere/x: No such file or directory$"),
    (["race"], 2, r': "race": give a test as --test race$'),
    (["--faults", "losss"], 2, r': --faults: "losss" is none: --list shows them$'),
    (["--faults", "loss:x"], 2, r': --faults: "loss:x" should be as loss:3 or loss:7-9$'),
    (["--test", "fine", "--json", "/nowhere/x"], 2, r": --json /nowhere/x: No such file"),
]


def run(*args, env=None, program=PROGRAM):
    r = subprocess.run([program, *args], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       text=True, timeout=300, env={**os.environ, **(env or {})})
    return r.returncode, r.stdout


def finds(tap, program, test, more, status, said):
    args = ["--test", test, "--from", str(SEED), "--seeds", "50", *more]
    rc, out = run(*args, program=program)
    if not tap.ok(rc == status and re.search(said, out, re.M), f"finds: {test}",
                  f"exit {rc}\n{out}"):
        return
    again = re.search(r"^Again: (.*)$", out, re.M)
    if status != 1 or test == "endless":
        return
    failure = re.search(rf"^{test}: seed \d+: (.*)$", out, re.M)[1]
    r = subprocess.run(shlex.split(again[1]), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       text=True, timeout=300)
    failure = re.split(r" at |: \d", failure)[0]
    same = failure in r.stdout if r.returncode > 0 and test != "leaves" else r.returncode != 0
    tap.ok(same, f"and shows it again: {test}", f"{again[1]}\nexit {r.returncode}\n{r.stdout}")


def interrupted(tap):
    with subprocess.Popen([PROGRAM, "--test", "endless"], stderr=subprocess.PIPE, text=True) as p:
        while not os.path.exists(f"/proc/{p.pid}/task/{p.pid}/children") or \
                not open(f"/proc/{p.pid}/task/{p.pid}/children").read():
            time.sleep(0.01)  # between two looks
        p.send_signal(signal.SIGINT)
        said = p.communicate()[1]
    tap.ok(p.returncode == 130 and re.search(r"^0 runs in .*: 0 failed$", said, re.M),
           "Ctrl-C ends with what was done", f"exit {p.returncode}\n{said}")


def counts(tap):
    with tempfile.NamedTemporaryFile("r") as f:
        rc, out = run("--test", "no-retry", "--test", "fine", "--seeds", "40", "--from", "1",
                      "--keep-going", "--json", f.name)
        found = json.load(f)
    tap.ok(rc == 1 and found["failed"] == len(found["found"]) > 1 and found["runs"] == 80 and
           all(one["test"] == "no-retry" and one["kind"] == "failure" for one in found["found"]),
           "--keep-going counts, --json has them all", out)


def place(strike):
    """What a strike of --json hits, as the text has it."""
    if "to" in strike:
        return f"{strike['from']} > {strike['to']}"
    if "thread" not in strike:
        return strike.get("node") or strike.get("host") or "an invariant"
    name, host = strike.get("thread_name"), strike.get("host")
    return f"thread {strike['thread']}" + (f" {name}" if name else "") + \
        (f" of {host}" if host else "")


def lines_of(struck):
    return [f"  {s['ns'] / 1e9:.9f} s: {s['fault']} {s['number']}: " +
            "".join(f"{s[what]}, " for what in ("call", "sometimes") if what in s) + place(s)
            for s in struck]


def places(tap):
    """The faults of --json are those of the text, field by field, of whole runs and of those with
    the fewest faults."""
    shapes, bad = set(), []
    for program, test, more in (
            (PROGRAM, "no-retry", []), (PROGRAM, "no-retry", ["--shorten", "0"]),
            (FLOWS, "lost", []), (FLOWS, "lost", ["--shorten", "0"]), (FLOWS, "refused", [])):
        with tempfile.NamedTemporaryFile("r") as f:
            _, out = run("--test", test, "--from", str(SEED), "--seeds", "50", "--json", f.name,
                         *more, program=program)
            found = json.load(f)["found"][0]
        again = shlex.split(re.search(r"^Again: (.*)$", out, re.M)[1])
        said = run(*again[1:], program=program)[1]
        told = re.findall(r"^  \d+\.\d{9} s: .*$", said, re.M)
        struck = found["struck"]
        shapes |= {tuple(k for k in s if k not in ("fault", "number", "ns")) for s in struck}
        if not told or lines_of(struck)[:20] != told or found["nb_struck"] < len(struck):
            bad.append(f"{test} {more}\n{said}\n{json.dumps(found)}")
    need = {("from", "to"), ("sometimes", "thread"),
            ("call", "thread", "thread_name", "host")}
    tap.ok(not bad and need <= shapes, "--json has the places of faults, as the text",
           "\n".join(bad) or shapes)


def random_lines(tap):
    """Whatever the words are, the exit status is one of those that are told, and a wrong line is
    answered by one line."""
    seed = int(os.environ.get("HAUL_STRESS_SEED", time.time() // 86400))
    r = random.Random(seed)
    numbers = ["0", "1", "3", "7", "1e3", "-1", "", "x", "99999999999999999999", "0x10"]
    values = {
        "--test": ["fine", "race", "recovers", "fine", ""], "--seeds": numbers,
        "--from": numbers, "--seed": numbers, "--twice": numbers, "--steps": numbers,
        "--limit": ["5", "7", "x", ""], "--shorten": ["0", "1", "x"], "--jobs": ["1", "2", "x"],
        "--for": ["1", "2", "x"], "--faults": ["all", "none", "loss,", "stall:1", "stall:0",
                                              "stall:2-1", "late,slow", "no-stack:1-99999"],
        "--json": ["/dev/null", "/nowhere/x", ""], "--keep-going": [None], "--list": [None],
        "--trace": ["/dev/null", "/nowhere/x"], "--help": [None], "--sede": numbers,
        "-t": ["fine"], "-x": [None], "fine": [None],
    }
    bad = []
    for _ in range(100):
        args = ["--seeds", "4", "--for", "1"]
        for _ in range(r.randrange(5)):
            name = r.choice(list(values))
            value = r.choice(values[name])
            args += [name] if value is None else \
                r.choice([[name, value], [f"{name}={value}"]])
        # Without these, what is endless is run, too.
        args += [] if "fine" in args or "race" in args else ["--test", "fine"]
        rc, out = run(*args)
        one_line = rc != 2 or (len(out.splitlines()) == 1 and out.startswith(PROGRAM + ": "))
        if rc not in (0, 1, 2) or not one_line:
            bad.append(f"{shlex.join(args)}\nexit {rc}\n{out}")
    tap.ok(not bad, f"random command lines: HAUL_STRESS_SEED={seed}", "\n".join(bad))


tap = Tap()
for case in FOUND:
    finds(tap, PROGRAM, *case)
for case in FOUND_IN_FLOWS:
    finds(tap, FLOWS, *case)
for args, status, said in ARGUMENTS:
    rc, out = run(*args)
    lines = len(out.splitlines())
    tap.ok(rc == status and re.search(said, out, re.M) and (rc == 0 or lines == 1),
           " ".join(args), f"exit {rc}\n{out}")
rc, out = run("--test", "fine", env={"HAUL_SIM_SEEDS": "7"})
tap.ok(rc == 0 and out.startswith("7 runs"), "HAUL_SIM_SEEDS", out)
rc, out = run("--test", "fine", "--seed", "5")
tap.ok(rc == 0 and re.search(r"(?s)^fine: seed 5: ok$.* simulated in ", out, re.M), "--seed", out)
interrupted(tap)
counts(tap)
places(tap)
random_lines(tap)
tap.done()
