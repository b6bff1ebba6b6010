# SPDX-License-Identifier: BSD-3-Clause
"""An earlier report in the same directory: its advice stays where new runs do not contradict it."""
import copy
import json
import os
import tempfile

import compare_sample as sample
from compare import report
from tap import Tap


def twins(seed):
    """Two pollers that do the same, beside spin."""
    data = sample.sample(seed, ["spin", "block"])
    data["points"] += [dict(p, poller="sleep:50us")
                       for p in sample.sample(seed + 50, ["spin", "block"])["points"]
                       if p["poller"] == "block"]
    data["started"] = f"2026-11-{seed:02}T12:00:00Z"
    return data


def at_light_load(advice):
    return advice["by_load"][0]["poller"]


def read(folder):
    with open(os.path.join(folder, "report.json"), encoding="utf-8") as file:
        return json.load(file)


def rewritten(folder, change):
    """Changes the report that lies in the folder."""
    data = read(folder)
    change(data)
    with open(os.path.join(folder, "report.json"), "w", encoding="utf-8") as file:
        json.dump(data, file)


def advised(poller):
    def change(data):
        for part in data["advice"]["by_load"]:
            part["poller"] = poller
        data["advice"]["option"] = f"--poller {poller}"
    return change


def after(change, new, target=None):
    """The advice about new, in a folder with a changed report about twins(1)."""
    with tempfile.TemporaryDirectory() as folder:
        report.write(twins(1), folder)
        rewritten(folder, change)
        advice = report.write(copy.deepcopy(new), folder, target)
        text = open(os.path.join(folder, "report.html"), encoding="utf-8").read()
        report.remake(os.path.join(folder, "report.json"))
        same = open(os.path.join(folder, "report.html"), encoding="utf-8").read() == text
        return advice, same


def main():
    tap = Tap()
    new = twins(2)
    advice, same = after(lambda data: None, new)
    tap.ok(at_light_load(advice) == "block", "the simpler of two equal pollers", advice["text"])
    tap.ok(same, "it is the same when remade")
    advice, same = after(advised("sleep:50us"), new)
    tap.ok(at_light_load(advice) == "sleep:50us",
           "an earlier advice stays if nothing is against it", advice["text"])
    tap.ok(advice["by_load"][0]["undecided"] and "2026-11-01" in advice["text"],
           "... is marked undecided, and the earlier report is named", advice["text"])
    tap.ok(same, "... and stays when the report is remade")
    advice, _ = after(advised("spin"), new)
    tap.ok(at_light_load(advice) == "block", "runs against it overrule it", advice["text"])

    def elsewhere(data):
        advised("sleep:50us")(data)
        data["machine"]["cpu"] = "another"

    def noisy(data):
        advised("sleep:50us")(data)
        for point in data["points"]:
            point["disturbed"] = 20

    def strange(data):
        advised("sleep:50us")(data)
        for part in data["advice"]["by_load"]:
            part.update(from_pps="x", to_pps=[])

    for change, name in (elsewhere, "of another machine"), (noisy, "of a disturbed machine"), \
            (strange, "that makes no sense"):
        advice, _ = after(change, new)
        tap.ok(at_light_load(advice) == "block", f"a report {name} has no say", advice["text"])
    advice, _ = after(advised("sleep:50us"), new, "p99=10ms")
    tap.ok(at_light_load(advice) == "block", "nor has one about another target", advice["text"])
    with tempfile.TemporaryDirectory() as folder:
        report.write(twins(1), folder)
        rewritten(folder, advised("sleep:50us"))
        for _ in range(3):  # what a run writes before its end
            advice = report.write(copy.deepcopy(new), folder)
        tap.ok(at_light_load(advice) == "sleep:50us", "reports while measuring do not lose it",
               advice["text"])
    tap.done()


if __name__ == "__main__":
    main()
