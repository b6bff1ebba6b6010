# SPDX-License-Identifier: BSD-3-Clause
"""Handlers that do not end, as reports, --json and the end of a program tell of them.

Random mixtures of sick and healthy handlers, with random options. The seed is HAUL_SEED or random,
and is printed. Usage: app_stuck.py APP_SICK
"""
import collections
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

import fwd
import netns

# What the last byte of a packet makes its handler do, and the function in which it waits then.
SITES = {"p": "sick_parks", "s": "sick_sleeps", "l": "sick_locks", "r": "sick_receives",
         "y": "", "e": None, **dict.fromkeys("0123456789", "sick_deep")}
LATE = 0.9  # seconds without a report; the period is 0.1
ROUNDS = int(os.environ.get("HAUL_ROUNDS", 3 if netns.fewer() else 5))


def frames(kinds):
    return [fwd.frame(i, 64)[:-1] + kind.encode() for i, kind in enumerate(kinds)]


def wait_for_reports(program, stuck, waits):
    """Reads reports until all handlers but the stuck ones have ended, and the oldest of those that
    wait is so old that its call stack is shown. A report that is late may have waited for a
    carrier: if the poller of one had no turn, the program is looked at."""
    said, in_flight, site, came = [], 0, not waits, None
    for line in program.stderr:
        said.append(line)
        if re.fullmatch(r"[0-9.]+ s\n", line):
            now = time.monotonic()
            late, came = came is not None and now - came > LATE, now
        if line.startswith("  carrier") and " polls 0.00 " in line and late:
            netns.where_it_hangs(program)
            late, came = False, time.monotonic()
        if line.startswith("  carrier 0"):
            in_flight = 0
        m = re.search(r"in flight (\d+)", line)
        in_flight += int(m[1]) if m else 0
        site = site or "it waits at" in line
        if m and in_flight == stuck and site:
            break
    return said


def by_function(sites):
    """Handlers by the function of the program in which they waited."""
    found = collections.Counter()
    for handlers, at in sites:
        names = [name for name in SITES.values() if name and name in at]
        found[names[0] if names else ""] += handlers
    return found


def told(notes):
    """The same as the lines have it."""
    return [(int(n), at) for n, at in re.findall(r"note:   (\d+) (waited at .*|did not wait.*)",
                                                 notes)]


def stuck_carriers(said, rest):
    """The watchdog's lines, and the coroutines that ran at the end with their call stacks."""
    lines = [line.rstrip("\n") for line in said] + rest.split("\n")
    found = [line for line in lines if line.startswith("haul:") or "does not answer" in line]
    for i, line in enumerate(lines):
        if line.endswith(", running"):
            found += [line] + lines[i + 1:i + 12]
    return "\n".join(found)


def mixture(rng):
    return rng.choices("pslrye", weights=[rng.random() + 0.01 for _ in range(6)], k=300)


def run(tap, sick, rng, kinds, steals=("off", "cluster", "global")):
    counts = collections.Counter(kinds)
    stuck = len(kinds) - counts["e"]
    waits = stuck - counts["y"]
    strict = rng.random() < 0.5
    steal = rng.choice(steals)
    order = [] if steal == "off" else ["--order", rng.choice(["flow", "any"])]
    options = ["--carriers", rng.choice(["1", "2"]), "--poller", rng.choice(["spin", "sleep"]),
               "--steal", steal, *order, *["--strict"] * strict]
    what = " ".join(options) + " " + " ".join(f"{k}:{n}" for k, n in sorted(counts.items()))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "in.pcap")
        fwd.write_pcap(path, frames(kinds))
        with subprocess.Popen([sick, "--port", f"pcap:rx={path}", "--json", "--period", "100ms",
                               "--mbufs", "2048", *options], text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as p:
            said = wait_for_reports(p, stuck, waits)
            p.send_signal(signal.SIGINT)
            out, rest = netns.finish(p, look_after=30)
    notes = netns.said(rest)
    tap.ok(p.returncode == (3 if strict and stuck else 0), f"exit code: {what}",
           f"{p.returncode} {stuck_carriers(said, rest)}\n{''.join(said[-8:])} {rest}")
    if p.returncode == -signal.SIGKILL:
        return
    figures = json.loads(out)
    expected = collections.Counter()
    for kind, n in counts.items():
        if n and SITES[kind] is not None:
            expected[SITES[kind]] += n
    tap.ok(figures["cancelled"]["handlers"] == stuck
           and by_function((s["handlers"], s["at"]) for s in figures["cancelled"]["sites"])
           == expected,
           f"cancelled handlers by call: {what}", f"{figures['cancelled']} {expected}")
    tap.ok((f"{stuck} handlers had to be cancelled" in notes) == (stuck > 0)
           and by_function(told(notes)) == expected,
           f"the lines: {what}", notes)
    tap.ok(all(c["in_flight"] == c["waiting"] == 0 for c in figures["carriers"]),
           f"none is left: {what}", figures["carriers"])


def fill(tap, sick):
    """More packets than handlers may be in flight: half of the pool."""
    name = "a report says that no more handlers may begin"
    most = r"  carrier 0: \d+ more like .* 0x\w+, parked at the same place"
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "in.pcap")
        fwd.write_pcap(path, frames("p" * 700))
        with subprocess.Popen([sick, "--port", f"pcap:rx={path}", "--json", "--period", "100ms",
                               "--mbufs", "1024", "--carriers", "1", "--poller", "sleep"],
                              text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as p:
            said = ""
            for line in p.stderr:
                said += line
                if "at the limit in" in line:
                    break
            p.send_signal(signal.SIGUSR1)
            dump = []
            for line in p.stderr:
                dump.append(line)
                # Not those that have not begun yet, and are alike, too.
                if re.search(most, line) or len(dump) == 1500:
                    break
            p.send_signal(signal.SIGINT)
            netns.finish(p)
    parked = [line for line in dump if ", parked, for " in line]
    tap.ok(len(parked) == 3 and re.search(most, dump[-1]),
           "a dump shows the first of handlers at one place", "".join(dump[-3:] + dump[:40]))
    at = re.search(r"in flight (\d+)\s+at the limit in (\d+) % of polls", said)
    tap.ok(at and int(at[1]) in range(513, 545) and int(at[2]) in range(101), name, said)


def main():
    netns.enter()
    tap = netns.Tap()
    seed = int(os.environ.get("HAUL_SEED", random.randrange(1 << 32)))
    print(f"# HAUL_SEED={seed}")
    rng = random.Random(seed)
    for _ in range(ROUNDS):
        run(tap, sys.argv[1], rng, mixture(rng))
    # A handler that was stolen waits in other calls of haul's than one at home: call stacks are
    # more than the functions of the program.
    run(tap, sys.argv[1], rng, list("0123456789") * 3, ["off"])
    fill(tap, sys.argv[1])
    tap.done()


main()
