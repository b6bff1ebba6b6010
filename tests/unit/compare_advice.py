# SPDX-License-Identifier: BSD-3-Clause
"""The advice: the same for runs that differ only by noise, right for targets, silent where runs
decide nothing, and not misled by disturbed runs."""
import copy
import random
import re

import compare_sample as sample
from compare import choice
from compare.advice import advise
from tap import Tap

SEEDS = range(1, 13)


def polled(data, poller):
    return [p for p in data["points"] if p["poller"] == poller]


def disturb(data, pollers, keep, rng):
    """Another program takes the CPU: these runs have ten times the latency, and say so."""
    for poller in pollers:
        for point in polled(data, poller):
            for run in point["runs"][keep:]:
                run["disturbed"] = "another program took the CPU"
                run["p99_ns"] *= rng.uniform(5, 20)
                run["cpu_share"] *= 0.5
            point["disturbed"] = len(point["runs"]) - keep
    return data


def segments(advice):
    return [part["poller"] for part in advice["by_load"]]


def stability(tap):
    pollers = ["spin", "adaptive:20us", "sleep:50us", "block", "kernel-epoll"]
    all_advice = [advise(sample.sample(seed, pollers)) for seed in SEEDS]
    options = [a["option"] for a in all_advice]
    tap.ok(len(set(options)) == 1, "runs that differ by noise have the same advice", options)
    whole = {str(segments(a)) for a in all_advice}
    tap.ok(len(whole) == 1, "... for each load, too", whole)
    tap.ok(all(a["option"].removeprefix("--poller ") in pollers[:4] for a in all_advice),
           "one of haul's pollers is advised", options)
    near = [advise(sample.sample(seed, pollers, noise=0.15), "p99=100us") for seed in SEEDS]
    tap.ok(len({str(segments(a)) for a in near}) == 1,
           "intervals that may include the target do not change it", [a["text"] for a in near])
    data = sample.sample(1, pollers)
    tap.ok(advise(data) == advise(copy.deepcopy(data)), "the same file has the same advice")
    random.Random(3).shuffle(data["points"])
    tap.ok(advise(data) == advise(sample.sample(1, pollers)),
           "the order of the points does not matter")


def shape(tap):
    advice = advise(sample.sample(1, ["spin", "adaptive:20us", "block", "kernel-epoll"]))
    parts = advice["by_load"]
    tap.ok(parts[0]["from_pps"] == 0, "the advice begins without load", parts)
    tap.ok(parts[-1]["to_pps"] == max(sample.LOADS) * sample.MAXIMUM,
           "... and ends at the highest load", parts)
    tap.ok(all(a["to_pps"] == b["from_pps"] for a, b in zip(parts, parts[1:])),
           "... without a gap", parts)
    tap.ok(parts[0]["poller"] == "block", "a poller that blocks is advised for light load", parts)
    tap.ok(all(part["option"] in advice["sentence"] for part in parts),
           "the sentence names each option", advice["sentence"])
    tap.ok(advice["text"].startswith(advice["sentence"]) and "kernel sockets" in advice["text"],
           "the text has the sentence, and the kernel beside", advice["text"])
    tap.ok("measured over a veth pair, all others over tap" in advice["text"],
           "... and says that it has another link", advice["text"])


def targets(tap):
    pollers = ["spin", "adaptive:20us", "sleep:50us", "block"]
    data = sample.sample(1, pollers)
    loose = advise(data, "p99=1ms")
    least = min(p["cpu_share"] for p in data["points"] if p["load"] == 0.5)
    mine = next(p for p in loose["by_load"] if p["from_pps"] < 100e3 <= p["to_pps"])
    there = next(p for p in polled(data, mine["poller"]) if p["load"] == 0.5)
    tap.ok(there["cpu_share"] < 1.1 * least + 0.01 and mine["meets_target"],
           "any poller keeps 1 ms: the one with the least CPU", loose["text"])
    strict = advise(data, "p99=58us")
    tap.ok("spin" in segments(strict) and strict["option"],
           "58 us needs a poller that spins at some loads", strict["text"])
    for part in strict["by_load"]:
        points = [p for p in polled(data, part["poller"])
                  if part["from_pps"] <= p["offered_pps"] <= part["to_pps"]]
        tap.ok(part["meets_target"] is not True or all(p["p99_ns"] <= 58e3 for p in points),
               f"the advised {part['poller']} keeps the target", part)
    none = advise(data, "p99=1us")
    tap.ok("No poller keeps the target" in none["sentence"], "an impossible target is said",
           none["sentence"])
    cpu = advise(data, "cpu=20%")
    tap.ok(cpu["by_load"][0]["poller"] != "spin" and cpu["by_load"][0]["cpu_share"] <= 0.2,
           "20 % of a CPU rules spin out", cpu["text"])
    tap.ok(cpu["by_load"][-1]["meets_target"] is False, "... and nobody keeps it at 90 % load",
           cpu["by_load"])
    for bad in "p99", "p99=", "p99=fast", "p99=0us", "cpu=many", "cpu=-1%", "cpu=nan", "cpu=0", \
            "cpu=101%", "cpu=200%", "cpu=inf", "loss=1%", "=", "p99=1e9999s":
        try:
            choice.parse(bad)
            tap.ok(False, f"--target {bad} is refused")
        except ValueError as e:
            tap.ok(re.search(r"such as|more than 0", str(e)) and "\n" not in str(e),
                   f"--target {bad} is refused", e)
    tap.ok(choice.parse("cpu=100%").limit == 1, "--target cpu=100% is taken")


def undecided(tap):
    data = sample.sample(4, ["spin", "block"])
    twin = [dict(p, poller="sleep:50us") for p in polled(sample.sample(5, ["spin", "block"]),
                                                         "block")]
    data["points"] += twin
    advice = advise(data)
    part = advice["by_load"][0]
    tap.ok(part["poller"] == "block" and part["not_told_apart"] == ["sleep:50us"]
           and part["undecided"], "equal pollers are undecided; the simpler one is advised", part)
    tap.ok("do not tell" in advice["text"], "... and the text says so", advice["text"])
    wild = [advise(sample.sample(seed, ["spin", "adaptive:100us"], [0.75, 0.9], noise=0.5))
            for seed in SEEDS]
    tap.ok(sum(a["undecided"] for a in wild) >= len(wild) - 2,  # 95 % of them
           "noise that hides differences leaves them undecided", [a["text"] for a in wild])
    # The target is where the interval is.
    at = polled(sample.sample(4, ["spin", "block"]), "spin")[0]["p99_ns"]
    close = advise(sample.sample(4, ["spin", "block"], loads=[0.01]), f"p99={at}ns")
    tap.ok(close["undecided"] and close["by_load"][0]["meets_target"] is None,
           "a target within the interval is undecided", close["text"])


def bridged(tap):
    """At the middle load the interval of block includes the target."""
    data = sample.sample(4, ["spin", "block"], loads=[0.01, 0.05, 0.1])
    for point in polled(data, "block"):
        for n, run in enumerate(point["runs"]):
            run["p99_ns"] = 50e3 + n * (3e3 if point["load"] == 0.05 else 10)
        point["p99_ns"] = sorted(r["p99_ns"] for r in point["runs"])[4]
    advice = advise(data, "p99=65us")
    tap.ok(segments(advice) == ["block"] and advice["undecided"]
           and "Undecided at 10 kpps: the interval of block includes" in advice["text"],
           "a load where the target is open does not change the advice", advice["text"])
    alone = copy.deepcopy(data)
    alone["points"] = [p for p in data["points"] if p["load"] == 0.05]
    tap.ok(segments(advise(alone, "p99=65us")) == ["spin"],
           "alone, a poller that surely keeps it is advised there")


def disturbed(tap):
    pollers = ["spin", "adaptive:20us", "block"]
    quiet = advise(sample.sample(1, pollers, runs=14))
    rng = random.Random(1)
    some = advise(disturb(sample.sample(1, pollers, runs=14), ["block"], 9, rng))
    tap.ok(some["option"] == quiet["option"] and segments(some) == segments(quiet),
           "disturbed runs do not change the advice", some["text"])
    tap.ok("disturbed" in some["text"], "... but are reported", some["text"])
    most = advise(disturb(sample.sample(1, pollers), pollers, 2, rng))
    tap.ok(most["option"] is None and not most["by_load"] and most["undecided"],
           "without enough quiet runs nothing is advised", most["text"])
    tap.ok("disturbed in 147 of 189 runs" in most["sentence"], "... and the sentence says why",
           most["sentence"])
    one = advise(disturb(sample.sample(1, pollers), ["block"], 2, rng))
    tap.ok("block" not in segments(one) and "Not judged" in one["text"],
           "a poller whose runs were disturbed is not judged", one["text"])
    tap.ok(one["undecided"] and "block may be better" in one["text"],
           "... and leaves open what it might have won", one["text"])
    spinless = disturb(sample.sample(1, pollers), ["spin"], 9, rng)
    for point in polled(spinless, "spin")[1:]:
        for run in point["runs"]:
            run["disturbed"] = "x"
    tap.ok("spin: " not in advise(spinless)["sentence"],
           "what spin takes is said only for the same loads", advise(spinless)["sentence"])
    busy = sample.sample(1, pollers)
    for point in busy["points"]:
        keep = 6 if point["load"] == 0.1 else 1
        for run in point["runs"][keep:]:
            run["disturbed"] = "the hypervisor took 5% of a CPU"
    for point in polled(busy, "block"):  # only a few of its runs count: it may be better
        for run in point["runs"][3:]:
            run["disturbed"] = "the hypervisor took 5% of a CPU"
    advice = advise(busy)
    only = 0.1 * sample.MAXIMUM
    tap.ok(advice["sentence"].startswith("The machine was too busy to be sure: take --poller") and
           advice["undecided"], "an open answer of a busy machine says so", advice["text"])
    tap.ok([(p["from_pps"], p["to_pps"]) for p in advice["by_load"]] == [(only, only)] and
           " at 20 kpps" in advice["sentence"], "... and is about the load that was judged only",
           advice["text"])


def losses(tap):
    data = sample.sample(1, ["spin", "adaptive:20us", "block"])
    for point in polled(data, "block"):
        for run in point["runs"]:
            run["lost"] = run["sent"] // 50
            run["lost_by"] = {"generator": 0, "link": 0, "subject": run["lost"]}
    advice = advise(data)
    tap.ok("block" not in segments(advice) and "lose packets: block" in advice["text"],
           "a poller that loses packets is left out", advice["text"])
    for point in polled(data, "block"):
        for run in point["runs"]:
            run["lost_by"] = {"generator": run["lost"], "link": 0, "subject": 0}
    tap.ok("block" in segments(advise(data)), "what the generator did not send is no fault of it")


def partial(tap):
    for data in {}, {"points": []}, {"points": None}, sample.sample(1, ["spin"]):
        advice = advise(data)
        tap.ok(advice["option"] is None and advice["sentence"].startswith("No poller is advised"),
               "too little for an advice", advice["text"])
    data = sample.sample(1, ["spin", "block"])
    data["points"] = data["points"][:4]
    data.update(complete=False, ended_because="interrupted")
    advice = advise(data)
    tap.ok(advice["option"] and "Not complete (interrupted)" in advice["text"],
           "a run that was interrupted has the advice of its loads", advice["text"])
    few = advise(sample.sample(1, ["spin", "block"], runs=3))
    tap.ok(few["option"] is None and "needs 5 undisturbed runs" in few["sentence"],
           "three runs decide nothing", few["sentence"])


def arrivals(tap):
    data = sample.sample(1, ["spin", "block"], arrivals=("poisson", "burst:32"))
    for point in data["points"]:
        if point["arrivals"] == "burst:32" and point["poller"] == "block":
            for run in point["runs"]:
                run["p99_ns"] *= 100
    text = advise(data)["text"]
    tap.ok("With burst:32 arrivals: spin" in text, "other arrivals with another advice are named",
           text)


def main():
    tap = Tap()
    for part in stability, shape, targets, undecided, bridged, disturbed, losses, partial, arrivals:
        part(tap)
    tap.done()


if __name__ == "__main__":
    main()
