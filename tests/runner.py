# SPDX-License-Identifier: BSD-3-Clause
"""Builds haul and tests it; with --all, in one more way: another each day. Called by tests/run.

A run is to take minutes, so the programs of the largest suites take turns: each day has a part of
them, and the last lines say how many are left to other days. --whole runs all of them, and with
--all in all ways. Some is left to --deep, which takes hours: the long searches of models (suite
long), the cases that resemble others, and all but every hundredth mutation of the sources (tests of
the tests; of these --deep tries every eighth, others the next days, and HAUL_MUTATIONS=1 in the
environment all).

Every configuration has a build directory of its own, build-NAME, kept from run to run. On a
terminal a line says how far the run is and how much time is left; elsewhere there is a line for
each test program. The last line printed is "N passed, N failed, N skipped": tests within test
programs, and one failure for each test program or configuration that does not build. Exit status
0: some passed, none failed.

With --minutes N no program begins once N minutes are over: those that are left count as skipped, a
line for each configuration. A machine may be several times slower than on another day, and what
then fails in CI is its limit of time.

With --sim SECONDS only the simulations run, each for its share of the time, with seeds that are new
each time (tests/simulations.py): for a night.

Programs of suites net and unit run other programs, or threads that may have no CPU for seconds on
a busy machine. A few that fail beside other tests run once more, alone; what failed first is told
before the last line. One that crashed or that a sanitizer ended has one try, and so have all other
suites: what fails there once in a thousand runs is a fault.
"""
import argparse
import collections
import contextlib
import datetime
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import threading
import time

import ending
import simulations
from load import Machine, TESTS_MB, free_mb
from progress import Progress, cores, name, weights

LOGS = ["testlog", "testlog-beside"]
LOG_AGAIN = "testlog-again"
AGAIN = 3  # programs that get a second try: more have a cause in common
AGAIN_SUITES = {"machine", "net", "unit"}
SAID = 12  # lines of a failed test at the end
AT_ONCE = 6  # tests that mostly wait
# With lines only, which is all that reports name, 278 MB instead of 415 (address sanitizer).
SANITIZE = ["-Dchecks=true", "-Doptimization=2", "-Db_lundef=false", "-Dc_args=-g1"]
# Without --deep.
PART = {"HAUL_MUTATIONS": "100", "HAUL_FEWER": "1", "HAUL_STRESS_SECONDS": "0.3"}
DAY = datetime.date.today().toordinal()


class Configuration:
    def __init__(self, name, what, compiler, options=(), suites=(), slower=1, environment=None,
                 turns=None, build=60, tests=60, disk=50):
        self.name = name
        self.what = what
        self.dir = "build-" + name
        self.compiler = compiler
        self.options = list(options)
        self.suites = list(suites)  # the suites; none: all
        self.slower = slower  # factor on the time limit of a test
        self.environment = environment or {}
        self.turns = turns or {}  # suite: it takes so many days until each of its tests has run
        self.disk = disk  # MB of its build directory
        # Seconds on two cores, used if there is no earlier run.
        self.seconds = {"build": build, "tests": tests}

    def chosen(self, suites):
        """The requested suites that this configuration runs; its own if none was requested."""
        return [s for s in suites or self.suites if s in self.suites or not self.suites]

    def stage(self, what):
        return f"{self.name} {what}"

    def log(self, log):
        return f"{self.dir}/meson-logs/{log}.json"

    def last_log(self):
        """meson's log of the last run in this build directory: an entry a program."""
        return [entry for log in LOGS for entry in self.read(log)]

    def read(self, log):
        if not os.path.exists(self.log(log)):
            return []
        with open(self.log(log), encoding="utf-8") as f:
            return [json.loads(line) for line in f]

    def disk_left(self):
        """MB that the build directory will still grow by, at most."""
        sizes = [os.lstat(os.path.join(folder, name)).st_blocks * 512
                 for folder, _, names in os.walk(self.dir) for name in names]
        return max(self.disk - sum(sizes) / 1e6, 0)

    def forget_log(self):
        for log in filter(os.path.exists, map(self.log, LOGS + [LOG_AGAIN])):
            os.remove(log)

    def stages(self):
        """Estimated seconds of each configuration."""
        built = os.path.exists(self.dir + "/build.ninja")
        log = [e for e in self.last_log() if e.get("duration")]
        tests = max((e["starttime"] + e["duration"] for e in log), default=0) - min(
            (e["starttime"] for e in log), default=0)
        return [(self.stage("build"), 5 if built else self.seconds["build"]),
                (self.stage("tests"), tests or self.seconds["tests"])]


CONFIGURATIONS = [
    Configuration("test", "as users build it", "gcc", turns={"net": 10, "model": 6, "install": 3},
                  build=85, tests=250, disk=175),
    Configuration("clang", "the other compiler, all carriers steal", "clang",
                  suites=["unit", "stress"],
                  environment={"HAUL_STEAL": "global", "HAUL_COROUTINES": "1000000"}, build=50),
    Configuration("asan", "address and undefined behaviour sanitizers", "gcc",
                  SANITIZE + ["-Db_sanitize=address,undefined"], ["unit", "stress", "net"], 4,
                  # Odd packets are what these sanitizers are best at.
                  {"HAUL_FRAMES": "20000", "HAUL_STRESS_SECONDS": "1"}, {"net": 16, "unit": 2},
                  build=130, tests=250, disk=290),
    Configuration("tsan", "thread sanitizer, carriers of a cluster steal", "clang",
                  SANITIZE + ["-Db_sanitize=thread"], ["unit", "stress"], 8,
                  {"HAUL_STEAL": "cluster", "HAUL_STRESS_SECONDS": "1"}, tests=100, disk=110),
]

ENVIRONMENT = {
    "ASAN_OPTIONS": "detect_stack_use_after_return=0:abort_on_error=0",
    "LSAN_OPTIONS": "print_suppressions=0:suppressions=" + os.path.abspath("tests/leaks.supp"),
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
    "TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1",
}


class Limit:
    """The time of the whole run."""

    def __init__(self, minutes):
        self.minutes = minutes
        self.at = time.monotonic() + 60 * minutes if minutes else math.inf

    def left(self):
        return max(self.at - time.monotonic(), 0)

    def is_over(self):
        return self.left() == 0

    def __str__(self):
        return f"no time is left after {self.minutes:g} minutes"


class Tally:
    def __init__(self):
        self.passed = 0
        self.failed = []  # lines for people, each with what the test said of it
        self.again = []  # such lines of programs that passed alone
        self.skipped = []
        self.others = []  # lines about programs that are not run today

    def fail(self, line, said=""):
        lines = [text[:160] for text in said.splitlines() if text.strip("# ")]
        self.failed.append("\n    ".join([line, *lines[:SAID], *["..."][:len(lines) > SAID]]))

    def program(self, where, run, tap):
        """Counts one test program, an entry of meson's testlog.json."""
        subtests = re.findall(r"^(ok|not ok)\b *\d* *-? *(.*?) *(?:# *(skip)\S* *(.*))?$",
                              run["stdout"], re.M | re.I)
        if not tap or not subtests:
            return self.whole(where, run, tap)
        said = re.findall(r"^not ok\b.*\n((?:#.*\n)*)", run["stdout"], re.M | re.I)
        bad = 0
        for ok, name, skip, why in subtests:
            if ok != "ok":
                self.fail(f"{where}: {name}", said[bad] if bad < len(said) else "")
                bad += 1
            elif skip:
                self.skipped.append(f"{where}: {name}: {why}")
            else:
                self.passed += 1
        if run["result"] not in ("OK", "SKIP") and not bad:
            self.fail(f"{where}: {run['result'].lower()} after {len(subtests)} tests", last(run))

    def second(self, where, first, run, tap):
        """Counts a program that failed first by its second run, which was alone."""
        told, before = Tally(), len(self.failed)
        told.program(where, first, tap)
        self.program(where, run, tap)
        if len(self.failed) == before:
            self.again += told.failed

    def whole(self, where, run, tap):
        """A program with a single result."""
        reason = re.search(r"^1\.\.0 *# *skip\S* *(.+)", run["stdout"], re.M | re.I)
        if run["result"] == "SKIP" and reason:
            self.skipped.append(f"{where}: {reason.group(1)}")
        elif run["result"] == "SKIP" and not tap:
            self.skipped.append(f"{where}: {run['stdout'].strip() or 'it does not say why'}")
        elif run["result"] == "OK" and not tap:
            self.passed += 1
        else:
            self.fail(f"{where}: {run['result'].lower()}" + tap * ", no test ran", last(run))


def too_small(confs):
    """A line about a disk that has no room for builds or tests, or None."""
    builds = sum(c.disk_left() for c in confs)
    both = os.stat(".").st_dev == os.stat(tempfile.gettempdir()).st_dev
    for folder, needed in ((".", builds + TESTS_MB * both), (tempfile.gettempdir(), TESTS_MB)):
        if free_mb(folder) < needed:
            return (f"{os.path.abspath(folder)}: {free_mb(folder):.0f} MB are free, and this run "
                    f"needs about {needed:.0f}: builds or tests may fail; make room")
    return None


def last(run):
    """The end of what a program said."""
    lines = (run["stdout"] + "\n" + run.get("stderr", "")).splitlines()
    return "\n".join([text for text in lines if text.strip()][-SAID:])


@contextlib.contextmanager
def ends_after(process, seconds):
    timer = threading.Timer(min(seconds, threading.TIMEOUT_MAX), process.terminate)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def read_lines(command, each, seconds=math.inf, **more):
    """Calls each() with every line of a command's output, as it comes; returns the exit status.
    Ends the command after so many seconds."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace",
                          **more) as p, ends_after(p, seconds):
        try:
            for line in p.stdout:
                each(line.rstrip("\n"))
        except BaseException:
            p.terminate()  # it would end at its next line only
            raise
    return p.returncode


def introspect(conf, what):
    out = subprocess.run(["meson", "introspect", what, conf.dir], stdout=subprocess.PIPE,
                         check=True)
    return json.loads(out.stdout)


def configure(conf, progress):
    """Also after a change of the list of tests, which is read before anything is built."""
    command = ["meson", "setup", conf.dir, "-Dtests=enabled"] + conf.options
    if os.path.exists(conf.dir + "/build.ninja"):
        command = ["ninja", "-C", conf.dir, "build.ninja"]
    done = subprocess.run(command, env={**os.environ, "CC": conf.compiler}, stdout=subprocess.PIPE,
                          text=True)
    if done.returncode:
        progress.say(done.stdout)
    return done.returncode == 0


def suites_of(test):
    return {s.split(":")[-1] for s in test["suite"]}


def chosen(conf, suites, args):
    """The tests of these suites; none: all of them. Without --deep those that do not take long, and
    of these, unless all are wanted, today's. Also the number of those that are left to other
    days."""
    tests = [t for t in introspect(conf, "--tests") if not suites or suites_of(t) & set(suites)]
    if not args.part:
        return tests, 0
    tests = [t for t in tests if "long" not in suites_of(t)]
    all_of_them = len(tests)
    for suite, days in conf.turns.items() if not args.whole else ():
        those = sorted(t["name"] for t in tests if suite in suites_of(t))
        today = those[DAY % days::days]
        tests = [t for t in tests if t["name"] not in those or t["name"] in today]
    return tests, all_of_them - len(tests)


def todays(confs, args):
    """Of all configurations: the first, and one of the others; all, if that is wanted."""
    if args.only:
        return [c for c in confs if c.name == args.only]
    if not args.all:
        return confs[:1]
    if args.whole or not args.part:
        return confs
    return [confs[0], confs[1 + DAY % (len(confs) - 1)]]


def ninja(conf, progress, wanted):
    """Builds these targets; False if one does not build."""
    def each(line):
        step = re.match(r"\[(\d+)/(\d+)\] ", line)
        if step:
            progress.update(conf.stage("build"), int(step[1]) / int(step[2]),
                            f"{conf.name}: {step[1]} of {step[2]} built")
        elif not line.startswith("ninja: "):
            progress.say(line)

    return read_lines(["ninja", "-C", conf.dir, "-k", "0"] + wanted, each,
                      env={**os.environ, "NINJA_STATUS": "[%f/%t] "}) == 0


def beyond(conf, suites, targets):
    """What is built beyond the programs that tests name: suite net runs all programs of users."""
    if not suites:
        return ["all", "benchmarks"]
    return [os.path.relpath(f, os.path.realpath(conf.dir)) for t in targets for f in t["filename"]
            if "net" in suites and t["installed"]]


def build(conf, progress, tests, suites):
    """Builds the tests' programs and what is beyond; returns the tests whose programs could not be
    built."""
    targets = introspect(conf, "--targets")
    files = {t["id"]: t["filename"] for t in targets}
    where = os.path.realpath(conf.dir)
    needs = {t["name"]: [os.path.relpath(f, where) for d in t["depends"] for f in files[d]]
             for t in tests}
    wanted = sorted({f for n in needs.values() for f in n} | set(beyond(conf, suites, targets)))
    if not wanted or ninja(conf, progress, wanted):
        return [], True
    broken = [t for t in tests if needs[t["name"]] and b"no work to do" not in subprocess.run(
        ["ninja", "-C", conf.dir, "-n"] + needs[t["name"]], stdout=subprocess.PIPE).stdout]
    return broken, False


def crashed(run):
    """True if a signal or a sanitizer has ended the program, an entry of meson's testlog.json."""
    return not 0 <= (run.get("returncode") or 0) < 128 or \
        "Sanitizer: " in run["stdout"] + run.get("stderr", "")


def computes(test):
    """True if a test only needs CPU time, and passes with little of it."""
    return test["is_parallel"] and suites_of(test) & {"model", "lint", "header"} and \
        test["name"] != "mutations"  # it detects a hang by the clock


def run_tests(conf, progress, tests, suites, slower, limit, environment):
    """Runs them and returns two of meson's logs: one entry for each test program; the second runs
    of a few, by name.

    Tests that compute run beside the others, which mostly wait, and with a lower priority: not so
    low that other programs on the machine would stop them. Of the others, a few run at once: more
    would only wait for each other, as their carriers spin on the same first CPUs.
    """
    seconds = weights(tests, conf.last_log(), conf.slower)
    total = sum(seconds.values())
    progress.estimate(conf.stage("tests"), total)
    conf.forget_log()
    ran, failed = set(), set()
    lock = threading.Lock()

    def each(line):
        # " 66/143 haul:model / model_permit   OK   0.01s   3 subtests passed"
        result = re.match(r"\s*\d+/\d+ ((.*?)\s+([A-Z]+)\s+[\d.]+s\b.*)", line)
        if not result:
            # These counts are of one group; main() has the totals.
            if line and not re.match(r"Summary of Failures|[A-Z][a-zA-Z ]+: +\d+ *$", line):
                progress.say(line)
            return
        test, good = name(result[2]), result[3] in ("OK", "SKIP")
        with lock:
            if test in ran:  # at its end meson names the failed tests again
                return
            ran.add(test)
            failed.update(() if good else (test,))
            n = len(ran)
            progress.update(conf.stage("tests"),
                            min(sum(seconds.get(t, 0) for t in ran) / total, 1),
                            f"{conf.name}: {n} of {len(tests)} test programs, "
                            f"{len(failed)} failed; {test}")
        # On a terminal, a line for each good one would push what matters away.
        if not (progress.live and good):
            progress.say(f"{n:3}/{len(tests)} {result[1]}")

    def call(log, group, prefix, factor, at_once):
        command = prefix + ["meson", "test", "-C", conf.dir, "--no-rebuild", "--print-errorlogs",
                            "--logbase", log, "--num-processes", str(at_once),
                            "--timeout-multiplier", str(slower * factor)]
        for suite in suites:
            command += ["--suite", suite]
        read_lines(command + [t["name"] for t in group], each, limit.left(), env=environment)

    beside = [t for t in tests if computes(t)]
    others = [t for t in tests if not computes(t)]
    calls, gone = [], []

    def call_each(*group):
        try:
            call(*group)
        except BrokenPipeError as e:  # of the reader of our output
            gone.append(e)

    if beside:
        low = ["nice", "-n", "5"] if others else []
        calls.append(threading.Thread(target=call_each, args=(LOGS[1], beside, low, 4, cores())))
    if others:
        calls.append(threading.Thread(target=call_each, args=(LOGS[0], others, [], 2, AT_ONCE)))
    for thread in calls:
        thread.start()
    for thread in calls:
        thread.join()
    if gone:
        raise gone[0]
    failed -= {name(e["name"]) for e in conf.last_log() if crashed(e)}
    again = [t for t in tests if t["name"] in failed and suites_of(t) & AGAIN_SUITES]
    if again and len(again) <= AGAIN and not limit.is_over():
        progress.say("again, alone: " + " ".join(t["name"] for t in again))
        ran -= {t["name"] for t in again}
        call(LOG_AGAIN, again, [], 2, 1)
    # One that the limit of time has ended says nothing: the first try counts.
    return conf.last_log(), {name(e["name"]): e for e in conf.read(LOG_AGAIN)
                             if not (limit.is_over() and e["result"] == "INTERRUPT")}


def run(conf, args, progress, tally, limit):
    suites = conf.chosen(args.suite)
    progress.say(f"\n== {conf.name}: {conf.compiler}, {conf.what}; "
        + ("suites " + ", ".join(suites) if suites else "all suites"))
    if limit.is_over():
        tally.skipped.append(f"{conf.name}: all programs: {limit}")
        return
    began = time.monotonic()
    if not configure(conf, progress):
        tally.fail(f"{conf.name}: does not configure")
        return
    tests, left = chosen(conf, suites, args)
    if left:
        tally.others.append(f"{conf.name}: {left} programs have their turn on other days, or with "
                            "--whole")
    broken, built = build(conf, progress, tests, suites)
    for t in broken:
        tally.fail(f"{conf.name}: {t['name']}: does not build")
    if not built and not broken:
        tally.fail(f"{conf.name}: something that no test needs does not build")
    progress.update(conf.stage("build"), 1, f"{conf.name}: built")
    progress.say(f"built in {time.monotonic() - began:.0f} s")

    tests = [t for t in tests if t not in broken]
    if not tests:
        return
    began = time.monotonic()
    slower = max(conf.slower, args.soak)  # a program has several stress tests, of 30 s by default
    environment = {**ENVIRONMENT, **(PART if args.part else {}), **conf.environment, **os.environ}
    entries, again = run_tests(conf, progress, tests, suites, slower, limit, environment)
    if limit.is_over():  # meson has ended these
        entries = [e for e in entries if e["result"] != "INTERRUPT"]
    progress.update(conf.stage("tests"), 1, f"{conf.name}: tested")
    progress.say(f"tested in {time.monotonic() - began:.0f} s")
    tap = {t["name"]: t["protocol"] == "tap" for t in tests}
    for entry in entries:
        test = name(entry["name"])
        if test in again:
            tally.second(f"{conf.name}: {test}", entry, again[test], tap[test])
        else:
            tally.program(f"{conf.name}: {test}", entry, tap[test])
    ran = collections.Counter(name(e["name"]) for e in entries)
    not_run = list((collections.Counter(t["name"] for t in tests) - ran).elements())
    if not_run and limit.is_over():
        tally.skipped.append(f"{conf.name}: {len(not_run)} of {len(tests)} programs: {limit}")
        return
    for test in not_run:
        tally.fail(f"{conf.name}: {test}: was not run")


def positive(text):
    """A number of seconds of the command line."""
    n = int(text)
    if n <= 0:
        raise argparse.ArgumentTypeError(f"{text}: give a number above 0")
    return n


def simulate(conf, seconds, progress, tally):
    """Only the simulations, for so many seconds in all."""
    progress.say(f"\n== {conf.name}: {conf.compiler}, simulations for {seconds} s")
    if not configure(conf, progress):
        tally.fail(f"{conf.name}: does not configure")
        return
    tests = simulations.of(introspect(conf, "--tests"))
    broken, _ = build(conf, progress, tests, ["stress"])
    for t in broken:
        tally.fail(f"{conf.name}: {t['name']}: does not build")
    progress.update(conf.stage("build"), 1, f"{conf.name}: built")
    simulations.run([t for t in tests if t not in broken], seconds, progress, tally, read_lines)


def main():
    p = argparse.ArgumentParser(
        prog="tests/run", formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Installs what is missing, builds haul, and tests it.",
        epilog="Configurations:\n" + "\n".join(
            f"  {c.name:6} {c.compiler}, {c.what}: " + (", ".join(c.suites) or "all suites")
            for c in CONFIGURATIONS))
    p.add_argument("--all", action="store_true",
                   help="two configurations: the first one, and each day another; else the first "
                   "one only")
    p.add_argument("--whole", action="store_true",
                   help="all programs, not only today's; with --all in all configurations: an hour")
    p.add_argument("--deep", action="store_true",
                   help="all cases, long searches, every eighth mutation: hours")
    p.add_argument("--only", metavar="CONFIGURATION", choices=[c.name for c in CONFIGURATIONS],
                   help="only this one")
    p.add_argument("--suite", action="append", default=[], metavar="NAME",
                   help="only this suite; may be given again")
    p.add_argument("--soak", type=int, default=0, metavar="SECONDS",
                   help="how long each stress test goes on (HAUL_STRESS_SECONDS)")
    p.add_argument("--minutes", type=float, metavar="N",
                   help="begin no program after N minutes; what is left counts as skipped")
    p.add_argument("--sim", type=positive, default=0, metavar="SECONDS",
                   help="only the simulations, for so long in all, with new seeds; alone")
    args = p.parse_args()
    if args.sim and len(sys.argv) > 2 + (sys.argv[1] == "--sim"):
        p.error("--sim SECONDS: no other option goes with it")
    if args.soak:
        os.environ["HAUL_STRESS_SECONDS"] = str(args.soak)

    args.part = not (args.deep or args.only or args.suite)
    if args.deep:
        os.environ.setdefault("HAUL_MUTATIONS", "8")
        os.environ.setdefault("HAUL_MUTATIONS_FROM", str(DAY % 8))

    began = time.monotonic()
    limit = Limit(args.minutes)
    tally, machine = Tally(), Machine()
    machine.start()
    confs = [c for c in todays(CONFIGURATIONS, args) if not args.suite or c.chosen(args.suite)]
    stages = [stage for c in confs for stage in c.stages()]
    if args.sim:
        stages = [stages[0], (simulations.STAGE, args.sim)]
    progress = Progress(stages)
    line = too_small(confs)
    if line:
        print(f"tests/run: warning: {line}", flush=True)
    if args.sim:
        simulate(confs[0], args.sim, progress, tally)
    for conf in [] if args.sim else confs:
        run(conf, args, progress, tally, limit)
    progress.end()

    print(f"\n{time.monotonic() - began:.0f} s in all; {machine}")
    for line in tally.failed:
        print("failed: " + line)
    for line in tally.again:
        print("failed beside other tests, passed alone: " + line)
    for line in tally.skipped:
        print("skipped: " + line)
    for line in tally.others:
        print(line)
    print(f"{tally.passed} passed, {len(tally.failed)} failed, {len(tally.skipped)} skipped")
    return 1 if tally.failed or not tally.passed else 0


if __name__ == "__main__":
    ending.run(main)
