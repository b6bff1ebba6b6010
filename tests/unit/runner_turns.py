# SPDX-License-Identifier: BSD-3-Clause
"""Programs and configurations take turns by day: each has one, and --whole has all of them."""
import argparse

import runner
from tap import Tap

TESTS = [{"name": f"{suite}{i}", "suite": [f"haul:{suite}"]}
         for suite, n in (("net", 23), ("model", 10), ("unit", 7)) for i in range(n)]
TESTS.append({"name": "search", "suite": ["haul:model", "haul:long"]})


def args(**more):
    given = {"all": False, "whole": False, "part": True, "only": None}
    return argparse.Namespace(**{**given, **more})


def names(conf, **more):
    tests, left = runner.chosen(conf, [], args(**more))
    return {t["name"] for t in tests}, left


def main():
    tap = Tap()
    conf = runner.Configuration("x", "", "gcc", turns={"net": 4, "model": 3})
    runner.introspect = lambda conf, what: TESTS
    everything = {t["name"] for t in TESTS}
    days, sizes = [], set()
    for runner.DAY in range(739000, 739012):
        today, left = names(conf)
        days.append(today)
        sizes.add(len(today) + left)
    tap.ok(set().union(*days) == everything - {"search"}, "each program has its day")
    tap.ok(all(5 + 3 + 7 <= len(today) <= 6 + 4 + 7 for today in days), "a day has its part",
           [len(today) for today in days])
    tap.ok(all({f"unit{i}" for i in range(7)} <= today for today in days),
           "other suites are there each day")
    tap.ok(sizes == {len(TESTS) - 1}, "what is left is counted", sizes)
    tap.ok(names(conf, whole=True) == (everything - {"search"}, 0), "--whole: all but long ones")
    tap.ok(names(conf, part=False) == (everything, 0), "--deep, --only, --suite: all")

    confs = runner.CONFIGURATIONS
    ways = []
    for runner.DAY in range(739000, 739000 + len(confs) - 1):
        ways.append([c.name for c in runner.todays(confs, args(all=True))])
    tap.ok(all(way[0] == "test" and len(way) == 2 for way in ways) and
           {way[1] for way in ways} == {c.name for c in confs[1:]},
           "--all: the first configuration, and each day another", ways)
    tap.ok(runner.todays(confs, args()) == confs[:1] and
           runner.todays(confs, args(all=True, whole=True)) == confs and
           runner.todays(confs, args(all=True, part=False)) == confs and
           [c.name for c in runner.todays(confs, args(only="asan"))] == ["asan"],
           "one, all, or the one that is named")
    tap.done()


main()
