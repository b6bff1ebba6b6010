# SPDX-License-Identifier: BSD-3-Clause
"""Builds haul in four ways and tests each. Called by tests/run.

Every configuration has a build directory of its own, build-NAME, kept from run to run. The last
line printed is "N passed, N failed, N skipped": tests within test programs, and one failure for
each test program or configuration that does not build. Exit status 0: some passed, none failed.
"""
import argparse
import collections
import json
import os
import re
import subprocess
import sys
import time

SANITIZE = ["-Dchecks=true", "-Doptimization=2", "-Db_lundef=false"]


class Configuration:
    def __init__(self, name, what, compiler, options=(), suites=(), slower=1, environment=None):
        self.name = name
        self.what = what
        self.dir = "build-" + name
        self.compiler = compiler
        self.options = list(options)
        self.suites = list(suites)  # none: all
        self.slower = slower  # how much longer a test may take
        self.environment = environment or {}


CONFIGURATIONS = [
    Configuration("test", "as users build it", "gcc"),
    Configuration("clang", "the other compiler, all carriers steal", "clang",
                  suites=["unit", "stress"], environment={"HAUL_STEAL": "global"}),
    Configuration("asan", "address and undefined behaviour sanitizers", "gcc",
                  SANITIZE + ["-Db_sanitize=address,undefined"], ["unit", "stress", "net"], 4,
                  # What only more requests show, the first one shows.
                  {"HAUL_REQUESTS": "200"}),
    Configuration("tsan", "thread sanitizer, carriers of a cluster steal", "clang",
                  SANITIZE + ["-Db_sanitize=thread"], ["unit", "stress"], 8,
                  {"HAUL_STEAL": "cluster"}),
]

ENVIRONMENT = {
    "ASAN_OPTIONS": "detect_stack_use_after_return=0:abort_on_error=0",
    "LSAN_OPTIONS": "print_suppressions=0:suppressions=" + os.path.abspath("tests/leaks.supp"),
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
    "TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1",
}


class Tally:
    def __init__(self):
        self.passed = 0
        self.failed = []  # lines for people
        self.skipped = []

    def program(self, where, run, tap):
        """Counts one test program, an entry of meson's testlog.json."""
        subtests = re.findall(r"^(ok|not ok)\b *\d* *-? *(.*?) *(?:# *(skip)\S* *(.*))?$",
                              run["stdout"], re.M | re.I)
        if not tap or not subtests:
            return self.whole(where, run, tap)
        bad = 0
        for ok, name, skip, why in subtests:
            if ok != "ok":
                bad += 1
                self.failed.append(f"{where}: {name}")
            elif skip:
                self.skipped.append(f"{where}: {name}: {why}")
            else:
                self.passed += 1
        if run["result"] not in ("OK", "SKIP") and not bad:
            self.failed.append(f"{where}: {run['result'].lower()} after {len(subtests)} tests")

    def whole(self, where, run, tap):
        """A program that has one result for all that it did."""
        reason = re.search(r"^1\.\.0 *# *skip\S* *(.+)", run["stdout"], re.M | re.I)
        if run["result"] == "SKIP" and reason:
            self.skipped.append(f"{where}: {reason.group(1)}")
        elif run["result"] == "SKIP" and not tap:
            self.skipped.append(f"{where}: {run['stdout'].strip() or 'it does not say why'}")
        elif run["result"] == "OK" and not tap:
            self.passed += 1
        else:
            self.failed.append(f"{where}: {run['result'].lower()}" + tap * ", no test ran")


def say(text):
    print(text, flush=True)


def introspect(conf, what):
    out = subprocess.run(["meson", "introspect", what, conf.dir], stdout=subprocess.PIPE,
                         check=True)
    return json.loads(out.stdout)


def configure(conf):
    if os.path.exists(conf.dir + "/build.ninja"):
        return True
    done = subprocess.run(["meson", "setup", conf.dir, "-Dtests=enabled"] + conf.options,
                          env={**os.environ, "CC": conf.compiler}, stdout=subprocess.PIPE,
                          text=True)
    if done.returncode:
        say(done.stdout)
    return done.returncode == 0


def chosen(conf, suites):
    """The tests of these suites; none: all of them."""
    return [t for t in introspect(conf, "--tests")
            if not suites or {s.split(":")[-1] for s in t["suite"]} & set(suites)]


def build(conf, tests, everything):
    """Builds what the tests need; returns the tests whose programs could not be built."""
    files = {t["id"]: t["filename"] for t in introspect(conf, "--targets")}
    needs = {t["name"]: [os.path.relpath(f, conf.dir) for d in t["depends"] for f in files[d]]
             for t in tests}
    wanted = ["all"] if everything else sorted({f for n in needs.values() for f in n})
    ninja = ["ninja", "-C", conf.dir]
    if not wanted or subprocess.run(ninja + ["--quiet", "-k", "0"] + wanted).returncode == 0:
        return [], True
    broken = [t for t in tests if needs[t["name"]] and b"no work to do" not in subprocess.run(
        ninja + ["-n"] + needs[t["name"]], stdout=subprocess.PIPE).stdout]
    return broken, False


def run_tests(conf, tests, suites, slower):
    """Runs them and returns meson's log: one entry for each test program."""
    log = conf.dir + "/meson-logs/testlog.json"
    if os.path.exists(log):
        os.remove(log)
    command = ["meson", "test", "-C", conf.dir, "--no-rebuild", "--print-errorlogs",
               "--timeout-multiplier", str(slower)]
    for suite in suites:
        command += ["--suite", suite]
    subprocess.run(command + [t["name"] for t in tests],
                   env={**ENVIRONMENT, **conf.environment, **os.environ})
    if not os.path.exists(log):
        return []
    with open(log, encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def run(conf, args, tally):
    suites = [s for s in args.suite or conf.suites if s in conf.suites or not conf.suites]
    if args.suite and not suites:
        return
    say(f"\n== {conf.name}: {conf.compiler}, {conf.what}; "
        + ("suites " + ", ".join(suites) if suites else "all suites"))
    began = time.monotonic()
    if not configure(conf):
        tally.failed.append(f"{conf.name}: does not configure")
        return
    everything = not suites or "net" in suites
    tests = chosen(conf, suites)
    broken, built = build(conf, tests, everything)
    for t in broken:
        tally.failed.append(f"{conf.name}: {t['name']}: does not build")
    if not built and not broken:
        tally.failed.append(f"{conf.name}: something that no test needs does not build")
    say(f"built in {time.monotonic() - began:.0f} s")

    tests = [t for t in tests if t not in broken]
    if not tests:
        return
    slower = max(conf.slower, args.soak)  # a program has several stress tests, in 30 s by default
    entries = run_tests(conf, tests, suites, slower)
    tap = {t["name"]: t["protocol"] == "tap" for t in tests}
    for entry in entries:
        name = entry["name"].split(" / ")[-1]
        tally.program(f"{conf.name}: {name}", entry, tap[name])
    ran = collections.Counter(e["name"].split(" / ")[-1] for e in entries)
    for name in (collections.Counter(t["name"] for t in tests) - ran).elements():
        tally.failed.append(f"{conf.name}: {name}: was not run")


def main():
    p = argparse.ArgumentParser(
        prog="tests/run", formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Installs what is missing, builds haul and tests it, in these configurations:\n"
        + "\n".join(f"  {c.name:6} {c.compiler}, {c.what}: "
                    + (", ".join(c.suites) or "all suites") for c in CONFIGURATIONS))
    p.add_argument("--quick", action="store_true", help="only the first configuration")
    p.add_argument("--only", metavar="CONFIGURATION", choices=[c.name for c in CONFIGURATIONS],
                   help="only this one")
    p.add_argument("--suite", action="append", default=[], metavar="NAME",
                   help="only this suite; may be given again")
    p.add_argument("--soak", type=int, default=0, metavar="SECONDS",
                   help="how long each stress test goes on (HAUL_STRESS_SECONDS)")
    args = p.parse_args()
    if args.soak:
        os.environ["HAUL_STRESS_SECONDS"] = str(args.soak)

    began = time.monotonic()
    tally = Tally()
    for conf in CONFIGURATIONS[:1] if args.quick else CONFIGURATIONS:
        if args.only in (None, conf.name):
            run(conf, args, tally)

    say(f"\n{time.monotonic() - began:.0f} s in all")
    for line in tally.failed:
        say("failed: " + line)
    for line in tally.skipped:
        say("skipped: " + line)
    say(f"{tally.passed} passed, {len(tally.failed)} failed, {len(tally.skipped)} skipped")
    return 1 if tally.failed or not tally.passed else 0


if __name__ == "__main__":
    sys.exit(main())
