# SPDX-License-Identifier: BSD-3-Clause
"""The timeline of a simulation: traced.py HAUL_TRACE PROGRAM FLOWS FAULTS HOSTS"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from tap import Tap

TRACE, PROGRAM, FLOWS, FAULTS, HOSTS = sys.argv[1:]
PROTO = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../unit")
SEED = int(os.environ.get("HAUL_STRESS_SEED", time.time() // 86400))
# Runtimes that end before the run and with it, thefts, deaths of coroutines, an abort(), an exit().
SAME = [(PROGRAM, t) for t in ("race", "deadlock", "no-retry")] + \
    [(FLOWS, t) for t in ("in-order", "no-memory", "own", "forgotten")] + [(FAULTS, "deaths")]
os.environ.update({"HOSTS": "3", "SECONDS": "20"})  # of HOSTS
FRAMES = 1 << 63  # from here on numbers of arrows are those of frames


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
        processes = {}  # by number of their tracks
        self.names = {}  # of events, by number
        self.marks = []  # instants: time, name
        self.processes = {}  # pid: name
        self.carriers = []  # process, thread
        self.tracks = {}  # number: process, name; of nodes
        self.frames = []  # events with arrows: time, track, name, begins, ends
        for p in packets:
            for number, text in re.findall(r"event_names \{\s+iid: (\d+)\s+name: (.*)", p):
                self.names[number] = text.strip('"')
            process = re.search(r"process \{\s+pid: (\d+)\s+process_name: \"(.*)\"", p)
            thread = re.search(r"thread \{\s+pid: (\d+)\s+tid: (\d+)\s+thread_name: \"(.*)\"", p)
            if process:
                self.processes[process[1]] = process[2]
                processes[re.search(r"uuid: (\d+)", p)[1]] = process[2]
            track = re.search(r"uuid: (\d+)\s+name: \"(.*)\"\s+parent_uuid: (\d+)\s+}", p)
            if track:
                self.tracks[track[1]] = processes[track[3]], track[2]
            if thread:
                self.carriers.append((self.processes[thread[1]], thread[3]))
            if "type: TYPE_INSTANT" in p:
                at = re.search(r"timestamp: (\d+)", p)
                name = re.search(r"(?m)^ {4}name_iid: (\d+)", p)
                self.marks.append((int(at[1]), self.names[name[1]]))
                begins, ends = ([int(n) - FRAMES for n in re.findall(rf" {what}: (\d+)", p)]
                                for what in ("flow_ids", "terminating_flow_ids"))
                if any(n >= 0 for n in begins + ends):
                    track = self.tracks[re.search(r"track_uuid: (\d+)", p)[1]]
                    self.frames.append((*self.marks[-1], track, begins, ends))


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


def wrong_arrows(t):
    """What is wrong with the arrows of frames: each begins once at a node, and ends later, at most
    once, at the node that both ends name, or is lost at one of the two."""
    begun, bad = {}, []
    for at, name, (_, node), begins, ends in sorted(t.frames, key=lambda f: f[0]):
        if len(begins) + len(ends) != 1:
            bad.append(f"{at} {name}: {begins} {ends}")
        for n in begins:
            if n in begun or not re.match(r"(duplicate, )?to ", name):
                bad.append(f"{at} {name}: arrow {n} begins")
            begun[n] = at, node, name.split("to ")[1]
        for n in ends:
            since, where, to = begun.pop(n, (None, None, None))
            if since is None or at <= since or not (
                    (name == f"from {where}" and node == to) or
                    (name.startswith("lost: ") and node in (where, to))):
                bad.append(f"{at} {name} at {node}: arrow {n} from {where} to {to}, {since}")
    return bad, len(begun)


def arrows(tap):
    t = Timeline(FLOWS, "lost", 1000)
    bad, _ = wrong_arrows(t)
    told = strikes(t.said)
    last = sorted(t.frames, key=lambda f: f[0])[-1]
    tap.ok(not bad and {track for _, _, track, _, _ in t.frames} == {("a", "a"), ("b", "b")} and
           last[1] == "lost: loss" and last[2][1] == told[-1][1][-5:-4] and
           abs(last[0] - told[-1][0]) < 1000,
           "an arrow leads from host to host, and ends in why a frame is lost",
           f"{bad}\n{told}\n{t.frames[-5:]}")
    # Over a switch: to each of those behind it, if it does not know where an address is.
    t = Timeline(HOSTS, "hosts", 1000)
    bad, in_flight = wrong_arrows(t)
    told = re.search(r"frames (\d+) arrived (\d+) lost (\d+) in flight (\d+)", t.said)
    seen = [sum(bool(re.match(what, name)) for _, name, *_ in t.frames)
            for what in ("to ", "from ", "lost: ")] + [in_flight]
    tap.ok(not bad and told and seen == [int(n) for n in told.groups()] and
           {("network", "s0"), ("server", "server"), ("c2", "c2")} <= set(t.tracks.values()),
           "as many arrows as frames, over a switch", f"{bad}\n{t.said}\n{seen} {t.tracks}")
    kinds, told = set(), ""
    for seed in range(SEED, SEED + 6):
        t = Timeline(FAULTS, "deaths", seed)
        bad, _ = wrong_arrows(t)
        told += "".join(f"seed {seed}: {b}\n" for b in bad)
        kinds |= {re.sub(" [^ ]*$", "", name) for _, name, *_ in t.frames if name[:2] != "lo"} | \
            {name for _, name, *_ in t.frames if name[:2] == "lo"}
    tap.ok(not told and {"to", "duplicate, to", "from", "lost: loss"} <= kinds,
           f"with all faults, and a host that dies, seed {SEED}", f"{told}{kinds}")


if not shutil.which("protoc"):
    print("1..0 # SKIP protoc is not installed (protobuf-compiler)")
    sys.exit(0)
tap = Tap()
for case in SAME:
    same(tap, *case)
shows(tap)
arrows(tap)
tap.done()
