# SPDX-License-Identifier: BSD-3-Clause
"""haul-fwd --record-load: each packet is in the record once, and the generator repeats the record.
unit/compare_load.py has the times."""
import json
import os
import sys
import tempfile

import netns

import fwd

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), *[".."] * 2, "apps",
                             "haul-compare"))
from compare import load  # noqa: E402

# A machine that takes the CPU from haul-fwd for longer than the pause: so often again.
TRIES = 5


def record(path, rate, *more, subject=()):
    """Records what a generator sends over a cable. Returns the results of both sides."""
    with fwd.Running("--port", "afpacket:v1", "--mode", "macswap", "--carriers", 1,
                     "--record-load", path, *subject) as haul:
        netns.wait_for(haul.runs, "haul-fwd")
        g = fwd.figures("--port", "afpacket:v0", "--mode", "generate", "--carriers", 1,
                        "--rate", rate, "--drain", "2s", *more)
        return haul.end(), g


def facts(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def test_counts(tap, d):
    path = f"{d}/load"
    for handler in "burst", "coroutine":
        r, g = record(path, "20k/250ms", "--arrivals", "poisson", "--sizes", "64,512,1514",
                      "--flows", 50, subject=("--handler", handler))
        n = r.total("rx_packets")
        f = facts(path)
        tap.ok(r.rc == 0 and n > 0 and sum(f["packets"]) == n == sum(k for _, k in f["sizes"]),
               f"{handler}: each packet once", f"{r}{f}")
        sums = [sum(w["squares"]) for w in f["windows"]]
        tap.ok(n <= sums[0] <= sums[1] <= sums[2] <= sums[3] <= n * n,
               f"{handler}: longer windows have larger squares", sums)
        tap.ok([size for size, _ in f["sizes"]] == [64, 512, 1514] and f["flows"] in (49, 50, 51),
               f"{handler}: lengths and flows", f"{f['sizes']} {f['flows']}")
        tap.ok(f"haul-compare --load {path}" in r.err, f"{handler}: says what to do with it", r)


def test_repeats(tap, d):
    """The generator repeats a record: as many packets, and pauses."""
    first, again = f"{d}/first", f"{d}/again"
    for _ in range(TRIES):
        record(first, ",0/300ms,".join(["4k/200ms"] * 2))
        one = load.read(first)
        if 0 in one.packets:
            break
    tap.ok(0 in one.packets and one.peak_pps > 0, "a load with a pause",
           f"{one.describe()} {one.packets}")
    one.write_rates(f"{d}/rates", one.seconds)
    r, g = record(again, f"@{d}/rates", *one.generator_args())
    phases = one.phases(one.seconds)
    two = load.read(again)
    tap.ok(abs(g.json["generator"]["sent"] - sum(one.packets)) <= len(phases) *
           (int(one.arrivals().partition(":")[2] or 1) + 40 * (one.arrivals() == "poisson")),
           "as many packets again", f"{one.arrivals()} {one.packets}\n{g}")
    tap.ok(sum(two.packets) == r.total("rx_packets") and two.flows == one.flows and
           two.sizes[0][0] == one.sizes[0][0], "flows and lengths again",
           f"{one.describe()}\n{two.describe()}")


def test_errors(tap, d):
    for args, code, words in (
            (["--record-load", "/nowhere/x", "--port", "null:"], 1, "/nowhere/x: No such file"),
            (["--record-load", f"{d}/x", "--port", "null:", "--mode", "generate"], 2,
             "--record-load: modes"),
            (["--record-load", f"{d}/x", "--port", "null:", "--mode", "txonly"], 2,
             "--record-load: modes")):
        r = fwd.run(*args)
        tap.ok(r.rc == code and words in r.err and r.err.count("\n") == 1,
               " ".join(args), r)
    r = fwd.run("--port", "null:", "--record-load", "/dev/full", "--duration", "0.1", "--mode",
                "rxonly", "--json")
    tap.ok(r.rc == 1 and "/dev/full: No space left" in r.err, "a full disk is told", r)
    r = fwd.run("--port", "tap:nowhere/x", "--record-load", f"{d}/new")
    tap.ok(r.rc != 0 and not os.path.exists(f"{d}/new"), "no file without a record", r)


def main():
    netns.enter()
    tap = netns.Tap()
    netns.veth("v0", "v1")
    with tempfile.TemporaryDirectory() as d:
        test_counts(tap, d)
        test_repeats(tap, d)
        test_errors(tap, d)
    tap.done()


main()
