# SPDX-License-Identifier: BSD-3-Clause
"""haul-app's hooks: their order, the end after a failure in each, counters, JSON.
Usage: app_hooks.py APP_STAGES HAUL_FWD HAUL_DOCTOR"""
import json
import signal
import subprocess
import sys

import netns

ARGS = ["--port", "null:", "--carriers", "2", "--packets", "10000", "--period", "0"]
BEGIN = ["parsed", "opened", "carrier_begins 0", "carrier_begins 1", "started"]
END = ["carrier_ends 0", "carrier_ends 1", "closed"]


def run(*args):
    """Exit status, stdout, the hooks called, the other lines of stderr."""
    r = subprocess.run(args, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    lines = netns.said(r.stderr).splitlines()
    return (r.returncode, r.stdout, [line[5:] for line in lines if line.startswith("hook ")],
            [line for line in lines if not line.startswith(("hook ", "stages: note: "))])


def start(*args):
    return subprocess.Popen(args, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def read_until(program, hook):
    """Reads what a program says until it calls the hook."""
    for line in program.stderr:
        if line.startswith(f"hook {hook}"):
            return


def test_order(tap, stages):
    status, out, hooks, rest = run(stages, *ARGS)
    tap.ok(status == 0 and hooks == BEGIN + ["report final 3"] + END and not rest,
           "hooks in their order", f"{status} {hooks} {rest}")
    tap.ok(any(line.split()[:1] == ["packets"] for line in out.splitlines())
           and " third " in out, "counters and own reasons in the table", out)
    status, out, hooks, rest = run(stages, *ARGS[:4], "--duration", "1s", "--period", "50ms")
    reports = [h for h in hooks if h == "report 3"]
    tap.ok(status == 0 and reports and "bursts" in out and "gauge 2001" in out,
           "a report each period, with rates and gauges", f"{status} {hooks} {out}")


def test_failures(tap, stages):
    for hook, called in (("parsed", BEGIN[:1] + END[2:]), ("opened", BEGIN[:2] + END[2:]),
                         ("carrier_begins 0", BEGIN[:3] + END[2:]),
                         ("carrier_begins 1", BEGIN[:4] + [END[0], END[2]]),
                         ("started", BEGIN + END)):
        status, _, hooks, rest = run(stages, *ARGS, "--fail", hook)
        tap.ok(status == 1 and hooks == called and rest == [f"stages: {hook} fails"],
               f"{hook} fails: the end is in order", f"{status} {hooks} {rest}")
    for code, expected in (0, 0), (7, 7), (256, 1), (1000, 1):
        status, _, hooks, rest = run(stages, *ARGS, "--fail", "opened", "--code", str(code))
        tap.ok(status == expected and hooks[-1] == "closed"
               and ("opened() returned" in "".join(rest)) == (code > 255),
               f"a hook returns {code}", f"{status} {rest}")
    status, _, hooks, rest = run(stages, *ARGS, "--fail", "call in parsed")
    tap.ok(status == 1 and hooks == ["closed"] and len(rest) == 1,
           "a function on carriers that do not run yet", f"{status} {hooks} {rest}")
    status, _, hooks, rest = run(stages, "--port", "afpacket:haul-none", *ARGS[2:])
    tap.ok(status == 2 and hooks == ["parsed", "closed"] and len(rest) == 1,
           "a port that cannot be opened", f"{status} {hooks} {rest}")
    status, _, hooks, rest = run(stages)
    tap.ok(status == 2 and hooks == [] and len(rest) == 1, "no port", f"{status} {hooks} {rest}")


def test_cancel(tap, stages):
    with start(stages, *ARGS[:4], "--fail", "sleep") as p:
        read_until(p, "sleeps")
        p.send_signal(signal.SIGTERM)
        said = netns.finish(p)[1]
        tap.ok(p.returncode == 9 and said.endswith("hook closed\n"),
               "a signal cancels a function on carriers", f"{p.returncode} {said}")


def test_hog(tap, stages):
    """A handler that never returns: the end is bounded, also while a report waits for it. Both at
    once, since each ends by a bound of seconds."""
    hog = [stages, *ARGS[:4], "--hog", "--poller", "sleep"]
    with start(*hog, "--period", "50ms") as p:
        read_until(p, "started")
        # It asks carriers for a report, and one does not answer.
        netns.wait_for(lambda: netns.waits_in(p, "futex"), "a report")
        p.send_signal(signal.SIGINT)
        status, _, hooks, rest = run(*hog, "--duration", "0.3s", "--period", "0")
        said = netns.finish(p)[1]
    tap.ok(status == 1 and hooks[-1] == "report final 0" and "carrier 1" in "".join(rest),
           "a hog at the end: the report has no function on carriers", f"{status} {hooks} {rest}")
    tap.ok(p.returncode == 1 and "stages: carrier 1 does not respond" in said,
           "a hog in a report: a signal ends it", f"{p.returncode} {said}")


def reading(stages, text, *args):
    """A run that reads text, and stdin stays open if that does not end it."""
    r = subprocess.run([stages, *ARGS[:4], "--period", "0", "--poller", "sleep", "--read", *args],
                       input=text, capture_output=True, text=True, timeout=120)
    return r.returncode, [line for line in netns.said(r.stderr).splitlines()
                          if not line.startswith("stages: note: ")]


def test_watch(tap, stages):
    status, lines = reading(stages, "abe")
    hooks = [line[5:] for line in lines if line != "hook fires"]
    tap.ok(status == 0 and hooks == BEGIN + ["read a", "read b", "read e", "report final 3"] + END,
           "haul_app_end() in a function of haul_app_watch()", f"{status} {lines}")
    status, lines = reading(stages, "ab", "--duration", "300ms")
    tap.ok(status == 0 and "hook end of file 0 1" in lines and "hook fires" in lines,
           "a file at its end, and a timer", f"{status} {lines}")
    status, lines = reading(stages, "cab", "--duration", "300ms")
    tap.ok(status == 0 and sum("was closed" in line for line in lines) == 1
           and "hook read b" in lines, "a file closed too early", f"{status} {lines}")
    with subprocess.Popen([stages, *ARGS[:4], "--read"], text=True, stdin=subprocess.PIPE,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as p:
        p.stdin.write("xy")
        p.stdin.flush()
        for line in p.stderr:
            if line.startswith("hook read y"):
                break
        p.send_signal(signal.SIGINT)
        said = netns.finish(p)[1]
        tap.ok(p.returncode == 0 and said.endswith("hook closed\n"),
               "a signal while files are watched", f"{p.returncode} {said}")


def test_json(tap, stages):
    status, out, hooks, rest = run(stages, *ARGS, "--json")
    tap.ok(status == 0 and hooks == BEGIN + ["json"] + END, "hooks with --json", f"{hooks} {rest}")
    figures = json.loads(out)
    counters = figures["counters"]
    tap.ok(figures["list"] == [-1, None, True, "a\ufffd\"b", {"nothing": None}],
           "values of all kinds", figures["list"])
    tap.ok(counters["packets"] == figures["counted"] >= 10000
           and counters["packets"] == figures["ports"][0]["rx_packets"]
           and counters["read"] == counters["gauge"] == 2001
           and [c["counters"]["read"] for c in figures["carriers"]] == [1000, 1001]
           and sum(c["counters"]["bursts"] for c in figures["carriers"]) == counters["bursts"],
           "counters add up", counters)
    dropped = figures["ports"][0]["dropped"]
    tap.ok(dropped["third"] == counters["packets"] and "own0" not in dropped
           and dropped["malformed"] == 0, "own reasons by name", dropped)


def test_command_line(tap, stages, fwd, doctor):
    for text, taken in (("18446744073709551615", True), ("18446744073709551616", False)):
        status = run(stages, *ARGS, "--number", text)[0]
        tap.ok(status == (0 if taken else 2), f"a number without a limit: {text}", status)
    for text, taken in ((".2", True), ("0.002min", True), ("0.00001h", True), ("2m", False),
                        (".", False), ("-1", False)):
        status, _, _, rest = run(stages, *ARGS[:4], "--period", "0", "--duration", text)
        tap.ok(status == (0 if taken else 2), f"a time: {text}", f"{status} {rest}")
    status, out, _, _ = run(stages, "--version")
    tap.ok(status == 0 and out.startswith("stages 7 (haul 0."), "--version", out)
    for program in stages, fwd, doctor:
        long, short = (run(program, o)[1] for o in ("--help", "-h"))
        tap.ok(long == short and all(o in long for o in ("--carriers", "--near", "--smt")),
               f"{program}: -h, and the options for placement", short)
    for program in fwd, doctor:
        args = ["--port", "null:", "--duration", "0"] if program == fwd else []
        for wrong in (["--near", "haul-none"], ["--carriers", "0"], ["--smt=1"]):
            status, out, _, rest = run(program, *args, *wrong)
            tap.ok(status == 2 and not out and len(rest) == 1, f"{program}: {' '.join(wrong)}",
                   f"{status} {rest}")
    for program, chosen in (doctor, "--carriers"), (fwd, "--carriers"), (fwd, "--nb-cores"):
        args = ["--port", "null:", "--duration", "0"] if program == fwd else []
        status, out, _, rest = run(program, *args, chosen, "1", "--smt")
        tap.ok(status == 2 and not out and len(rest) == 1 and "--smt has no effect" in rest[0],
               f"{program}: --smt with {chosen}", f"{status} {out} {rest}")
    _, out, _, _ = run(doctor, "--json", "--carriers", "0-0")
    cpus = ",".join(str(c["cpu"]) for c in json.loads(out)["plan"]["carriers"])
    status, out, _, rest = run(fwd, "--port", "null:", "--carriers", f"{cpus}-{cpus}",
                               "--packets", "1", "--json")
    tap.ok(status == 0 and [c["cpu"] for c in json.loads(out)["carriers"]] == [int(cpus)],
           "a plan of the doctor's runs", f"{status} {rest}")


def main():
    netns.enter()
    tap = netns.Tap()
    stages, fwd, doctor = sys.argv[1:]
    test_order(tap, stages)
    test_failures(tap, stages)
    test_cancel(tap, stages)
    test_hog(tap, stages)
    test_watch(tap, stages)
    test_json(tap, stages)
    test_command_line(tap, stages, fwd, doctor)
    tap.done()


main()
