# SPDX-License-Identifier: BSD-3-Clause
"""The timeline of a simulation: traced.py HAUL_TRACE PROGRAM FLOWS"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from tap import Tap

TRACE, PROGRAM, FLOWS = sys.argv[1:]
PROTO = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../unit")
SEED = int(os.environ.get("HAUL_STRESS_SEED", time.time() // 86400))
# Runtimes that end before the run and with it, thefts, deaths of coroutines, an abort(), an exit().
SAME = [(PROGRAM, t) for t in ("race", "deadlock", "no-retry")] + \
    [(FLOWS, t) for t in ("in-order", "no-memory", "own", "forgotten")]


def run(program, test, seed, *more):
    r = subprocess.run([program, "--test", test, "--seed", str(seed), *more], text=True,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    return r.stdout


class Timeline:
    """What haul-trace makes of it, by protoc."""
    def __init__(self, program, test, seed):
        with tempfile.TemporaryDirectory() as folder:
            raw, made = f"{folder}/raw", f"{folder}/made"
            self.said = run(program, test, seed, "--trace", raw)
            done = subprocess.run([TRACE, "--in", raw, "--out", made], text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.said += done.stdout
            with open(made, "rb") as f:
                text = subprocess.run(
                    ["protoc", "--proto_path=" + PROTO, "--decode=perfetto.protos.Trace",
                     "trace.proto"], stdin=f, stdout=subprocess.PIPE, text=True, check=True).stdout
        packets = re.findall(r"(?ms)^packet \{$(.*?)^\}$", text)
        self.names = {}  # of events, by number
        self.marks = []  # instants: time, name
        self.processes = {}  # pid: name
        self.carriers = []  # process, thread
        for p in packets:
            for number, text in re.findall(r"event_names \{\s+iid: (\d+)\s+name: (.*)", p):
                self.names[number] = text.strip('"')
            process = re.search(r"process \{\s+pid: (\d+)\s+process_name: \"(.*)\"", p)
            thread = re.search(r"thread \{\s+pid: (\d+)\s+tid: (\d+)\s+thread_name: \"(.*)\"", p)
            if process:
                self.processes[process[1]] = process[2]
            if thread:
                self.carriers.append((self.processes[thread[1]], thread[3]))
            if "type: TYPE_INSTANT" in p:
                at, name = re.search(r"timestamp: (\d+)", p), re.search(r"name_iid: (\d+)", p)
                self.marks.append((int(at[1]), self.names[name[1]]))


def hash_of(said):
    found = re.search(r"hash ([0-9a-f]{16})", said)
    return found and found[1]


def same(tap, program, test):
    bad = []
    for seed in range(SEED, SEED + 4):
        plain = run(program, test, seed)
        traced = run(program, test, seed, "--trace", "/dev/null")
        if not hash_of(plain) or hash_of(plain) != hash_of(traced):
            bad.append(f"seed {seed}\n{plain}\n{traced}")
    tap.ok(not bad, f"a run with a timeline is the same: {test}, seed {SEED}", "\n".join(bad))


def strikes(said):
    """Times and names of faults, as the run says them."""
    return [(round(float(s) * 1e9), what)
            for s, what in re.findall(r"^  (\d+\.\d{9}) s: (.*)$", said, re.M)]


def shows(tap):
    t = Timeline(FLOWS, "lost", 1000)
    told = strikes(t.said)
    # Instants of one time are put a nanosecond apart.
    near = [any(name == what and 0 <= at - ns < 10 for at, name in t.marks) for ns, what in told]
    tap.ok(told and told[0][1].startswith("loss 1: ") and all(near),
           "strikes are marks, at the times that the run says", f"{t.said}\n{t.marks[:20]}")
    hosts = set(t.processes.values())
    tap.ok({"a", "b", "faults", os.path.basename(FLOWS)} == hosts and
           {process for process, _ in t.carriers} == {"a", "b"}, "hosts are processes",
           f"{t.processes}\n{t.carriers}")
    t = Timeline(FLOWS, "forgotten", 1000)
    tap.ok(("asker", "carrier 0") in t.carriers, "of a run that is stuck, too", t.carriers)
    t = Timeline(PROGRAM, "race", 1000)
    tap.ok([c for _, c in t.carriers] == ["carrier 0", "carrier 1"] and
           re.search(r": [1-9]\d+ events of 3 carriers", t.said),
           "of a runtime that has ended", t.said)
    t = Timeline(PROGRAM, "two-faults", 1000)
    tap.ok("Assertion" in t.said and len(strikes(t.said)) == 0 and
           any(name == "sometimes 3: first, thread 1" for _, name in t.marks),
           "of a run that aborts", f"{t.said}\n{t.marks[:20]}")
    t = Timeline(PROGRAM, "leaves", 1000)
    tap.ok("it goes" in t.said and t.processes, "of a run that exits", t.said)


if not shutil.which("protoc"):
    print("1..0 # SKIP protoc is not installed (protobuf-compiler)")
    sys.exit(0)
tap = Tap()
for case in SAME:
    same(tap, *case)
shows(tap)
tap.done()
