# SPDX-License-Identifier: BSD-3-Clause
"""A recorded load comes back as it was: from known times of arrival haul-fwd's recorder makes a
record, and haul-compare reads arrivals, rates, lengths and flows from it.

usage: compare_load.py PROGRAM (unit/load_of_times)"""
import json
import math
import os
import random
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.dirname(HERE))
sys.path.append(os.path.join(os.path.dirname(os.path.dirname(HERE)), "apps", "haul-compare"))
from tap import Tap  # noqa: E402
from compare import load  # noqa: E402


def record(times, sizes=(60,), flows=1, queues=1):
    """The record of a load with these times of arrival, in seconds; lengths and flows in turn."""
    lines = "".join(f"{round(t * 1e9)} {sizes[i % len(sizes)]} {i % flows}\n"
                    for i, t in enumerate(times))
    done = subprocess.run([sys.argv[1]] + (["two"] if queues == 2 else []), input=lines,
                          stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def constant(pps, seconds, at=0.0, burst=1):
    return [at + (i // burst * burst + 0.37) / pps for i in range(int(pps * seconds))]


def poisson(pps, seconds):
    r, times, t = random.Random(5), [], 0.0
    while t < seconds:
        times.append(t)
        t += r.expovariate(pps)
    return times


def test_arrivals(tap):
    for pps, seconds in (500, 4), (20e3, 1), (150e3, 0.5), (1e6, 0.3):
        found = load.Load(record(constant(pps, seconds)))
        tap.ok(found.arrivals() == "constant" and
               math.isclose(found.mean_pps, pps, rel_tol=0.01),
               f"even gaps, {pps:g} per second", found.describe())
        found = load.Load(record(poisson(pps, seconds)))
        tap.ok(found.arrivals() == "poisson" and abs(found.mean_pps / pps - 1) < 0.1,
               f"Poisson, {pps:g} per second", found.describe())
    for pps, burst in (2e3, 32), (20e3, 8), (100e3, 32), (500e3, 64):
        found = load.Load(record(constant(pps, 0.5, burst=burst)))
        kind, _, n = found.arrivals().partition(":")
        tap.ok(kind == "burst" and 0.8 * burst <= int(n) <= 1.2 * burst,
               f"{burst} at once, {pps:g} per second", found.describe())
    # Slow changes of the rate are no bursts.
    swing = [t + 0.01 * math.sin(2 * math.pi * t) for t in constant(200e3, 1)]
    found = load.Load(record(sorted(max(t, 0) for t in swing)))
    tap.ok(found.arrivals() == "constant", "a rate that changes slowly", found.describe())


def test_rates(tap, d):
    on_off = [t for i in range(3) for t in constant(40e3, 0.5, at=1.0 * i + 0.3)]
    found = load.Load(record(on_off))
    on, off = 4000, 0
    tap.ok(found.packets == [on] * 5 + [off] * 5 + [on] * 5 + [off] * 5 + [on] * 5,
           "on and off: each interval", found.packets)
    tap.ok(found.arrivals() == "constant" and found.peak_pps == 40e3,
           "on and off: gaps within", found.describe())
    phases = found.phases(2.5)
    tap.ok([(round(p), round(s, 6)) for p, s in phases] ==
           [(40000, 0.5), (0, 0.5), (40000, 0.5), (0, 0.5), (40000, 0.5)], "phases", phases)
    tap.ok(sum(found.part(1.0)) == 20000, "a part has the mean rate", found.part(1.0))
    tap.ok(len(found.part(6.0)) == 60, "a longer one repeats it")
    tap.ok(found.rate_at(0) == 0 and found.rate_at(1) == 40e3 == found.rate_at(0.5),
           "shares of the time")
    path = os.path.join(d, "rates")
    found.write_rates(path, 1.0, factor=0.5)
    with open(path, encoding="ascii") as f:
        lines = f.read().split()
    tap.ok(lines == ["20000.000/0.500000s", "0.000/0.500000s"], "a file for the generator", lines)
    quiet = load.Load(record([t + 2 for t in constant(1e3, 1)]))
    tap.ok(len(quiet.packets) == 10 and round(quiet.mean_pps) == 1000,
           "time before the load does not count", quiet.packets)


def test_sizes_and_flows(tap):
    times = constant(1e3, 1)
    tap.ok(load.Load(record(times)).size_list() == [60], "one length")
    sizes = load.Load(record(times, [64, 64, 1518, 64])).size_list()
    tap.ok(len(sizes) == 16 and sizes.count(64) == 12 and sizes.count(1518) == 4 and
           sizes != sorted(sizes), "lengths in their proportion, mixed", sizes)
    found = load.Load(record(times, [20, 9000]))
    tap.ok(set(found.size_list()) == {60, 1518} and found.sizes == [(20, 500), (2047, 500)],
           "lengths that the generator has not", found.sizes)
    for flows in 1, 40, 5000:
        found = load.Load(record(constant(10e3, 1), flows=flows))
        tap.ok(abs(found.flows - flows) <= 0.02 * flows, f"{flows} flows", found.flows)
    many = load.Load({**record(times), "flows": 100000})
    tap.ok(many.generator_args()[-2:] == ["--flows", "64512"], "at most those of the generator")


def test_long(tap):
    """Intervals get longer; the sums stay."""
    times = sorted(constant(10, 3000) + constant(50e3, 0.2, at=1000))
    for queues in 1, 2:
        r = record(times, queues=queues)
        sums = [sum(w["squares"]) for w in r["windows"]]
        tap.ok(r["interval_seconds"] == 0.8 and len(r["packets"]) == 3750 and
               sum(r["packets"]) == len(times) and max(r["packets"]) > 10000 and
               len(times) <= sums[0] <= sums[1] <= sums[2] <= sums[3],
               f"50 minutes, {queues} queues", f"{r['interval_seconds']} {sums}")


def test_files(tap, d):
    path = os.path.join(d, "load")

    def refusal(text):
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        try:
            return load.read(path) and ""
        except load.LoadError as e:
            return str(e)
    good = record(constant(1e3, 1))
    tap.ok(refusal(json.dumps(good)) == "", "a file is read")
    for name, text in (
            ("no JSON", "x"), ("an array", "[]"), ("no packets", json.dumps(
                {**good, "packets": [0] * 10})), ("another format", json.dumps(
                    {**good, "format": 2})), ("an object without a load", "{\"format\": 1}"),
            ("interval 0", json.dumps({**good, "interval_seconds": 0}))):
        line = refusal(text)
        tap.ok(line.startswith(path + ": ") and "\n" not in line, f"refused: {name}", line)
    try:
        load.read("/nowhere/x")
        tap.ok(False, "a missing file is refused")
    except load.LoadError as e:
        tap.ok("No such file" in str(e), "a missing file is refused", e)


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as d:
        test_arrivals(tap)
        test_rates(tap, d)
        test_sizes_and_flows(tap)
        test_long(tap)
        test_files(tap, d)
    tap.done()


if __name__ == "__main__":
    main()
