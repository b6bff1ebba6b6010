# SPDX-License-Identifier: BSD-3-Clause
"""Failures while haul-compare runs: a clear line, what was measured is kept, nothing is left.
HAUL_FEWER: without those that resemble others."""
import concurrent.futures
import contextlib
import fcntl
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

import netns

import haul_compare as compare
from haul_compare import MEMIF, SHORT, Compare

AT_ONCE = 3  # comparisons that run beside each other


def is_early_end(c, code, why):
    """It ended with this code and one line of its own at the end, and kept what it had."""
    report = c.report()
    lines = c.errors()
    return c.process.returncode == code and report is not None and not report["complete"] and \
        why in (report["ended_because"] or "") and report["idle"] and \
        (code == 130 or (lines and why in lines[-1]))


def killed_child(check, d, word, why):
    with Compare(f"{d}/out", *MEMIF) as c:
        c.wait_for("round 1 of")
        os.kill(c.child(word), signal.SIGKILL)
        c.wait()
        check(is_early_end(c, 1, why), f"kill -9 of the {word} side: a line and a report",
              f"{c}{c.report()}")
        check(not compare.children(c.pid), f"kill -9 of the {word} side: no process is left")


def killed_itself(check, d):
    with Compare(f"{d}/out", *SHORT) as c:
        c.wait_for("round 1 of")
        pids = list(compare.children(c.pid))
        network = os.readlink(f"/proc/{c.pid}/ns/net")
        netns.wait_for(lambda: os.path.exists(f"{d}/out/report.partial.json"),
                       "what was measured", compare.PATIENCE)
        c.process.kill()
        c.wait()
        gone = True
        try:
            netns.wait_for(lambda: not any(os.path.exists(f"/proc/{p}") for p in pids) and
                           not compare.users_of(network), "the end of children")
        except TimeoutError:
            gone = False
        check(len(pids) >= 2 and gone, "kill -9 of haul-compare: its programs end with it",
              f"{pids} {compare.users_of(network)}\n{c}")
    rc, out, err = compare.run("--remake", f"{d}/out/report.partial.json", "--out", f"{d}/again")
    check(rc == 0 and os.path.exists(f"{d}/again/report.html") and not err,
          "kill -9 of haul-compare: a report of what it had measured", f"{rc}\n{out}{err}")
    stale_folders(check, d)


def stale_folders(check, d):
    """The next haul-compare removes the folder of one that was killed, and no other."""
    def folders():
        return {name for name in os.listdir(d) if name.startswith("haul-compare-")}
    stale = folders()
    others = {f"haul-compare-{name}" for name in ("locked", "report-x")}
    for name in others:
        os.mkdir(f"{d}/{name}")
    lock = os.open(f"{d}/haul-compare-locked", os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    rc, _, err = compare.run("--programs", d, "--out", f"{d}/o", *SHORT,
                             env={**os.environ, "TMPDIR": d})
    check(rc == 1 and len(stale) == 1 and folders() == others,
          "kill -9 of haul-compare: the next one removes its folder, and none of others",
          f"{stale} {folders()} {rc}\n{err}")
    os.close(lock)


def link_down(check, d):
    netns.veth("d0", "d1")
    with Compare(f"{d}/out", *SHORT, "--port", "afpacket:d0", "--port", "afpacket:d1") as c:
        c.wait_for("round 1 of")
        netns.ip("link set d1 down")
        c.wait()
        check(is_early_end(c, 1, "d1"), "link down: a line and a report", f"{c}{c.report()}")


def ends(check, d, number, phase, keeps):
    name = f"{signal.Signals(number).name} at '{phase}'"
    with Compare(f"{d}/out", *MEMIF) as c:
        c.wait_for(phase)
        rc = c.end(number)
        report = c.report()
        if keeps:
            check(is_early_end(c, 130, "interrupted") and os.path.exists(f"{d}/out/report.html"),
                  f"{name}: a report of what there is", f"{c}{report}")
        else:
            check(rc == 130 and (report is not None or "nothing was measured" in c.said()),
                  f"{name}: ends, and says what it has", c)
        check("Traceback" not in c.said() and not os.path.exists(f"{d}/out/report.partial.json"),
              f"{name}: nothing else", c)


@contextlib.contextmanager
def busy():
    """Other programs on all CPUs, all the time. Yields the arguments of a short comparison."""
    loops = []
    try:
        for cpu in os.sched_getaffinity(0):
            loops.append(subprocess.Popen(["taskset", "-c", str(cpu), "sh", "-c",
                                           "while :; do :; done"]))
        yield [*SHORT[:SHORT.index("--disturbed")], "--loads", "1k,2k", "--link", "memif"]
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def busy_machine(check, d):
    """No figures, a line and an exit code."""
    with busy() as asked:
        rc, out, err = compare.run("--out", f"{d}/out", *asked)
    last = err.splitlines()[-1]
    check(rc == 1 and not out and re.fullmatch(
        r"haul-compare: gave up: all \d+ runs were disturbed, the last because .*: end .*, or "
        r"give --disturbed keep", last), "busy machine: a line", f"{rc}\n{out}{err}")
    check(not os.listdir(f"{d}/out"), "busy machine: no report", os.listdir(f"{d}/out"))


def busy_machine_kept(check, d):
    with busy() as asked, Compare(f"{d}/kept", *asked, "--disturbed", "keep") as kept:
        check(kept.wait() == 0 and "gave up" not in kept.said() and kept.report(),
              "busy machine: a report if it is asked for", kept)


def no_space(check, d):
    os.mkdir(f"{d}/small")
    if not netns.mount("tmpfs", f"{d}/small", "size=256k"):
        return
    with Compare(f"{d}/small/out", *MEMIF,
                 env={**os.environ, "TMPDIR": d}) as c:
        c.wait_for("idle: ")
        with open(f"{d}/small/full", "wb", buffering=0) as f:
            try:
                while f.write(b"x" * 4096):
                    pass
            except OSError:
                pass
        c.wait_for("round 1 of")
        rc = c.end()
        other = [word for word in c.said().split() if "haul-compare-report-" in word]
        check(rc != 0 and "No space left" in c.said() and other and
              c.report(other[-1]) is not None, "no space in --out: the report is elsewhere", c)
        check("Traceback" not in c.said(), "no space in --out: lines only", c)


def wrong_folders(check, d):
    with open(f"{d}/file", "w", encoding="ascii"):
        pass
    for out in f"{d}/file", f"{d}/file/x", "/proc/nowhere":
        rc, _, err = compare.run("--out", out, *SHORT)
        check(rc == 2 and err.startswith(f"haul-compare: --out {out}: ") and err.count("\n") == 1,
              f"--out {os.path.basename(out)} that cannot be: a line before the measuring", err)
    rc, _, err = compare.run("--programs", d, "--out", f"{d}/o", *SHORT)
    lines = [line for line in err.splitlines() if "haul-fwd: not found" in line]
    check(rc == 1 and len(lines) == 1, "no haul-fwd: a line", err)


def lost_readers(check, d, how, end):
    """The reader of stderr goes while it measures, that of stdout too."""
    (out, printed), (err, said) = os.pipe(), os.pipe()
    with Compare(f"{d}/out", *MEMIF, "--minutes", "2", stdout=printed,
                 stderr=os.fdopen(said, "w")) as c:
        c.said_to.close()
        os.close(printed)
        os.read(err, 1)
        os.close(err)
        os.close(out)
        netns.wait_for(lambda: os.path.exists(f"{d}/out/report.partial.json") or
                       c.process.poll() is not None, "a round", compare.PATIENCE)
        check(c.process.poll() is None, "stderr without a reader: it goes on", c.process.poll())
        rc = end(c)
        check(rc > 0 and c.report() is not None, f"no readers, {how}: the report is written, and "
              "an exit code says that a part is lost", f"{rc} {os.listdir(f'{d}/out')}")


def kill_macswap(c):
    netns.wait_for(lambda: c.child("macswap"), "the next run", compare.PATIENCE)
    os.kill(c.child("macswap"), signal.SIGKILL)
    return c.wait()


def first_moments(check, d):
    """SIGINT while Python starts, and while a file is read that does not end."""
    os.mkfifo(f"{d}/fifo")
    for delay in 0.02, 0.04, 0.06, 0.08, 0.1:
        rc, said = interrupted(lambda _: time.sleep(delay),  # no event tells these moments
                               "--out", f"{d}/out", *MEMIF)
        check(rc in (130, -signal.SIGINT) and "Traceback" not in said and said.count("\n") <= 1,
              f"SIGINT after {delay} s: at most a line", f"{rc} {said}")
    for option, path in (("--remake", f"{d}/fifo"), ("--load", f"{d}/fifo")):
        def reads(process, path=path):
            netns.wait_for(lambda: netns.has_open(process, path), "the FIFO to be read")
        rc, said = interrupted(reads, option, path, "--out", f"{d}/out")
        check(rc == 130 and "Traceback" not in said, f"{option} of a FIFO: SIGINT ends it",
              f"{rc} {said}")
    for option in "--remake", "--load":
        rc, _, err = compare.run(option, "/dev/zero", "--out", f"{d}/out")
        check(rc == 1 and "/dev/zero: it has more than" in err and "Traceback" not in err,
              f"{option} /dev/zero: a line", f"{rc} {err}")


def interrupted(until, *args):
    """Exit code, and what was said, of haul-compare with a SIGINT when until() returns."""
    with subprocess.Popen([compare.COMPARE, *map(str, args)], stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as p:
        try:
            until(p)
            p.send_signal(signal.SIGINT)
            said = p.communicate(timeout=compare.PATIENCE)[0]
        finally:
            p.kill()
    return p.returncode, said


def wrong_arguments(check, d):
    """Of the program as it is started; the others are in tests/unit/compare_command.py."""
    rc, out, err = compare.run("--frobnicate")
    check(rc == 2 and err == "haul-compare: --frobnicate: unknown; see --help\n" and not out,
          "wrong arguments: a line", f"{rc}\n{out}{err}")
    for path, words in (f"{d}/load", "haul-fwd --record-load"), ("/nowhere/x", "No such file"):
        with open(f"{d}/load", "w", encoding="ascii") as f:
            f.write("{}")
        rc, _, err = compare.run("--load", path, "--out", f"{d}/o", "--minutes", 0.2)
        check(rc == 1 and words in err, f"--load {os.path.basename(path)}: a line", err)


CASES = [
    (killed_child, "macswap", "measured haul-fwd"),
    (killed_itself,), (link_down,), (no_space,),
    (lost_readers, "SIGINT", Compare.end), (lost_readers, "a child is killed", kill_macswap),
    (ends, signal.SIGINT, "highest rate without loss", False),
    (ends, signal.SIGTERM, "round 1 of", True),
    (wrong_folders,), (wrong_arguments,), (first_moments,), (busy_machine,),
]
if "HAUL_FEWER" not in os.environ:
    CASES += [
        (killed_child, "generate", "generator"),
        (ends, signal.SIGINT, "making the link", False),
        (ends, signal.SIGINT, "idle: sleep:200", False), (busy_machine_kept,),
    ]


def one(case):
    """The results of a case, which runs beside others."""
    results = []

    def check(good, name, why=""):
        results.append((bool(good), name, str(why)))
    with tempfile.TemporaryDirectory() as d:
        try:
            case[0](check, d, *case[1:])
        except Exception as e:  # pylint: disable=broad-except
            check(False, f"{case[0].__name__} {case[1:]}", repr(e))
        netns.unmount(f"{d}/small")
    return results


def main():
    netns.enter()
    tap = netns.Tap()
    wanted = sys.argv[2:]
    cases = [c for c in CASES if not wanted or c[0].__name__ in wanted]
    alone = [c for c in cases if c[0] in (busy_machine, busy_machine_kept)]
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        for results in [*pool.map(one, [c for c in cases if c not in alone]), *map(one, alone)]:
            for result in results:
                tap.ok(*result)
    tap.done()


main()
