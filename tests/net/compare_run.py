# SPDX-License-Identifier: BSD-3-Clause
"""haul-compare: a short comparison on a link that it makes, as a user without privileges; what
report.json has; that nothing is left behind."""
import json
import os
import re
import subprocess
import sys
import tempfile

import netns

COMPARE = sys.argv[1]
NEEDED = {"poller": str, "arrivals": str, "load": float, "offered_pps": float,
          "achieved_pps": float, "sent": int, "received": int, "lost": int, "lost_by": dict,
          "p50_ns": (int, float), "p90_ns": (int, float), "p99_ns": (int, float),
          "p999_ns": (int, float), "max_ns": int, "cpu_share": float,
          "cpu_ns_per_packet": float, "wakeups_ps": float, "switches_per_packet": float,
          "disturbed": int, "histogram": list, "runs": list}
KEEP = "--disturbed", "keep"  # other tests run at the same time
USER = 65534


def drop():
    os.setgroups([])
    os.setresgid(USER, USER, USER)
    os.setresuid(USER, USER, USER)


def compare(*args, seconds=240):
    keep = () if "--remake" in args else KEEP
    return subprocess.run([COMPARE, *keep, *map(str, args)], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=seconds, preexec_fn=drop if os.geteuid() == 0 else None)


def adds_up(point):
    return point["lost"] == sum(point["lost_by"].values()) and \
        point["received"] == sum(n for _, n in point["histogram"]) > 0 and \
        0 < point["p50_ns"] <= point["p99_ns"] <= point["max_ns"] and \
        len(point["runs"]) == point["used"] + (point["used"] < len(point["runs"])) * \
        point["disturbed"]


def of(points, poller):
    return [p for p in points if p["poller"] == poller]


def test_tap(tap, d):
    out = f"{d}/tap"
    # Without a link, time or neighbour of its own: the shortest that has all kinds of pollers.
    r = compare("--link", "tap", "--pollers", "spin,block,sleep:50,kernel-epoll,dpdk-interrupt",
                "--loads", "1k,3k", "--arrivals", "poisson", "--minutes", 0.25, "--out", out)
    if not tap.ok(r.returncode == 0 and os.path.exists(f"{out}/report.html"),
                  "a comparison over TAP, without privileges", f"{r.stdout}{r.stderr}"):
        return
    with open(f"{out}/report.json", encoding="utf-8") as f:
        report = json.load(f)
    points = report["points"]
    tap.ok(report["complete"] and report["link"]["kind"] == "tap" and
           report["link"]["user"] == "ordinary" and report["maximum"]["pps"] > 0 and
           {p["poller"] for p in points} ==
           {"spin", "block", "sleep:50", "kernel-epoll", "dpdk-interrupt"} and
           len(points) == 10, "each poller at each load", (report["notes"], r.stderr))
    wrong = [(p["poller"], k, p.get(k)) for p in points for k, kind in NEEDED.items()
             if not isinstance(p.get(k), kind)]
    tap.ok(not wrong, "with all figures", wrong)
    tap.ok(all(map(adds_up, points)), "which add up",
           [{k: v for k, v in p.items() if k not in ("runs", "histogram")} for p in points
            if not adds_up(p)])
    by = {(p["poller"], round(p["offered_pps"] / 1000)): p for p in points}
    # A poller that got little of a CPU finds packets at each poll: of those, one point must do.
    tap.ok(all(any(p["share"]["asleep"] > 0 and p["wakeups_ps"] > 0 for p in of(points, name)) and
               all(p["share"]["asleep"] > 0.3 for p in of(points, name) if not p["disturbed"])
               for name in ("block", "sleep:50")) and
           all(p["share"]["asleep"] == 0 == p["wakeups_ps"] for p in of(points, "spin")),
           "who sleeps, and who does not",
           [(k, p["share"], p["wakeups_ps"]) for k, p in by.items()])
    # Calls are counted for a little less or more time than packets.
    tap.ok(all(p["syscalls_per_packet"] >= (0.5 if p["disturbed"] else 1.9)
               for name in ("spin", "block") for p in of(points, name)),
           "a read and a write for each packet of a TAP",
           [(k, p["syscalls_per_packet"]) for k, p in by.items()])
    idle = {entry["poller"]: entry for entry in report["idle"]}
    # How much a spinning poller gets is up to whoever else is on its CPU: 0.1 % beside 20 others.
    tap.ok(idle["block"]["cpu_share"] < 0.1 and idle["spin"]["cpu_share"] > 0, "idle CPUs",
           {k: v["cpu_share"] for k, v in idle.items()})
    tap.ok(re.match(r"\d:\d\d left  ", r.stderr) and "\r" not in r.stderr,
           "progress as lines, without a terminal", r.stderr)


def test_memif(tap, d):
    out = f"{d}/memif"
    r = compare("--link", "memif", "--pollers", "spin,sleep:20,block", "--loads", "1k",
                "--arrivals", "burst:4", "--minutes", 0.2, "--out", out)
    with open(f"{out}/report.json", encoding="utf-8") as f:
        report = json.load(f)
    tap.ok(r.returncode == 0 and {p["poller"] for p in report["points"]} == {"spin", "sleep:20"}
           and any("without block" in note for note in report["notes"]),
           "memif, which cannot block, and says so", f"{r.stdout}{r.stderr}")
    tap.ok(all(adds_up(p) for p in report["points"]), "figures of memif", report["points"])
    os.unlink(f"{out}/report.html")
    again = compare("--remake", f"{out}/report.json", "--target", "p99=1ms")
    tap.ok(again.returncode == 0 and os.path.exists(f"{out}/report.html"), "made anew",
           again.stderr)


def main():
    tap = netns.Tap()
    netns.make_way()
    with tempfile.TemporaryDirectory() as d:
        os.chmod(d, 0o777)
        # Of its own: other tests run haul-compare at the same time.
        os.environ["TMPDIR"] = f"{d}/temporary"
        os.mkdir(os.environ["TMPDIR"])
        os.chmod(os.environ["TMPDIR"], 0o777)
        if os.path.exists("/dev/net/tun"):
            test_tap(tap, d)
        else:
            tap.skip("TAP", "no /dev/net/tun")
        test_memif(tap, d)
        left = os.listdir(os.environ["TMPDIR"])
        tap.ok(not left, "no files are left behind", left)
    tap.done()


main()
