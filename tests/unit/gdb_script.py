# SPDX-License-Identifier: BSD-3-Clause
"""The commands of libhaul-gdb.py on a stuck program: in the live process, and in its core.
Usage: gdb_script.py GDB SCRIPT PROGRAM"""
import glob
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

from tap import Tap

ENTRY = r"hauli_coro_start \(\)"
# Commands of one session, and what the text of each must have, in this order.
LIVE = r"0x[0-9a-f]+"
SESSION = [
    ("haul list", [
        rf"#1 carrier 0: holder {LIVE}, parked, in haul_park\(\) by hold\(\) at .*stuck\.c:\d+\n",
        rf"#2 carrier 0: locker {LIVE}, blocked for mutex {LIVE} <mutex>, held by holder {LIVE}, "
        r"in haul_mutex_lock\(\) by want_lock\(\) at .*stuck\.c:",
        rf"carrier 0: getter {LIVE}, blocked for a value of channel {LIVE}, "
        r"in haul_chan_recv\(\) by get\(\) at ",
        rf"carrier 0: sleeper {LIVE}, sleeping, in haul_sleep\(\) by rest\(\) at ",
        rf"carrier 0: joiner {LIVE}, joining holder {LIVE}, in haul_join\(\) by join_holder\(\)",
        rf"carrier 0: gone {LIVE}, ended, not joined\n",
        rf"carrier 1: hog {LIVE}, running in thread \d+\n",
        rf"carrier 1: newcomer {LIVE}, ready, has not begun rest\n",
        r"carrier 1: 2 more, ready, have not begun rest\n\Z"]),
    ("haul list getter", [r"\A  #3 carrier 0: getter \S+, blocked for .*\n\Z"]),
    ("haul bt holder", [
        r"\A#1 carrier 0: holder .*\n#\d ", r" haul_park \(", r" hold \(deep=0\) at ",
        r" hold \(deep=1\) at ", r" hold \(deep=2\) at ", r" hold_lock \(arg=0x0\) at ",
        ENTRY + r" at .*\n\n\Z"]),
    ("haul bt hog", [r"\A#\d+ carrier 1: hog .*\n#0 ", r" hog \(arg=0x0\) at ", ENTRY]),
    ("haul bt all", [
        r"carrier 0: holder", ENTRY, r"carrier 0: locker", r" haul_mutex_lock \(", r" want_lock \(",
        ENTRY, r"carrier 0: getter", r" get \(", ENTRY, r"carrier 0: sleeper", r" haul_sleep \(",
        r" rest \(", ENTRY, r"carrier 0: joiner", r" haul_join \(", ENTRY,
        r"carrier 0: gone .*\n\n", r"carrier 1: hog", ENTRY, r"carrier 1: newcomer .*\n\n"]),
    ("haul switch twin", [
        r"\A  #5 carrier 0: twin .*\n  #6 carrier 0: twin .*\n"
        r"2 coroutines are twin; give a number, such as haul switch #5\n\Z"]),
    ("haul switch #6", [r"\A#\d+ .* in rest \("]),
    ("haul bt #6", [r"\A#6 carrier 0: twin .*\n#\d ", r" rest \("]),
    ("haul bt #77", [r"\ANo coroutine is #77; see haul list\n\Z"]),
    ("haul switch getter", [r"\A#\d+ .* in get \(arg=0x0\) at .*stuck\.c:\d+\n"]),
    ("info locals", [r"number = 42\n"]),
    ("down", [r"\A#\d+ "]),
    ("up", [r"\A#\d+ .* in get \("]),
    # Other commands leave the selection alone.
    ("haul bt joiner", [r" join_holder \(", ENTRY]),
    ("frame", [r"\A#\d+ .* in get \("]),
    ("backtrace", [r"\A#[1-9] ", r" get \(arg=0x0\) at ", ENTRY + r" at .*\n\Z"]),
    ("up", [r"\A#\d+ "]),
    ("frame function get", [r"\A#\d+ .* in get \("]),
    ("haul switch joiner", [r"\A#\d+ .* in join_holder \("]),
    ("thread apply all -q backtrace 1", [r"\S"]),
    ("haul switch back", [r"\A\Z"]),
    ("haul switch *&holder", [r"\A#\d+ .* in hold \("]),
    ("haul switch back", [r"\A\Z"]),
    ("backtrace", [r"\A#0 ", r" main \(argc=\d, .*\) at .*stuck\.c:\d+\n\Z"]),
    ("haul switch hog", [r"\AIt runs: thread \d+\n\Z"]),
    ("haul switch newcomer", [r"\AIt has no stack: ready, has not begun rest\n\Z"]),
    ("haul switch nobody", [r"\ANo coroutine is nobody; see haul list\n\Z"]),
    ("haul bt main", [r"\ANo coroutine is main; see haul list\n\Z"]),
    ("haul bt 16", [r"\ANo coroutine is 16; see haul list\n\Z"]),
    ("haul bt", [r"\Ahaul bt #NUMBER"]),
]
# The innermost frame of the thread is main()'s. The selection ends when the process continues.
GOES_ON = [
    ("finish", [r"\S"]),
    ("haul switch getter", [r" in get \("]),
    ("backtrace", [r"\A#1 ", r" get \(arg=0x0\) at ", ENTRY + r" at .*\n\Z"]),
    ("stepi", [r"\S"]),
    ("frame", [r"\A#0 "]),
    ("backtrace", [r"\A#0 ", r" main \(argc=\d, .*\) at .*\n\Z"]),
]
OVERRUN = [
    ("haul list hog", [rf"carrier 1: hog {LIVE}, running in thread \d+\n"]),
    ("haul bt hog", [r"\A#\d+ carrier 1: hog .*\n#0 .* dig \(", r"#\d+ .* dig \(", r" hog \("]),
]
HIBERNATES = [
    ("haul list", [
        rf"carrier 0: hibernator {LIVE}, ",
        rf"carrier 0: holder {LIVE}, parked, hibernates, in haul_park\(\) by hold\(\) at .*stuck",
        rf"carrier 0: locker {LIVE}, blocked for mutex {LIVE} <mutex>, held by holder {LIVE}",
        rf"carrier 0: sleeper {LIVE}, sleeping, hibernates, in haul_sleep\(\) by rest\(\) at ",
        rf"carrier 0: bear {LIVE}, parked, hibernates, in haul_park\(\) by lie\(\) at .*:\d+\n"]),
    ("haul bt bear", [
        r"\A#\d+ carrier 0: bear .*, hibernates, .*\n#0 ", r"in haul_park \(\) at ",
        r"\n#\d  0x[0-9a-f]+ in lie \(\) at .*stuck\.c:", r" in lie \(\) at ", r" in lie \(\) at ",
        r" in hibernate \(\) at ", ENTRY + r".*\n\n\Z"]),
    ("haul switch bear", [r"\AIt hibernates: its frames are elsewhere; see haul bt #\d+\n\Z"]),
    ("haul bt all", [r" in hold \(\) at ", r" haul_mutex_lock \(", r" in hibernate \(\) at "]),
]
MARK = "--- "


def has_in_order(text, patterns):
    at = 0
    for pattern in patterns:
        found = re.compile(pattern).search(text, at)
        if not found:
            return False
        at = found.end()
    return True


class Gdb:
    def __init__(self, tap, gdb, script):
        self.tap = tap
        self.start = [gdb, "-batch", "-nx", "-ex", "set debuginfod enabled off", "-ex",
                      "set width 0", "-ex", "set startup-with-shell off", "-x", script]

    def texts(self, what, first, commands):
        """What each of the commands prints. An error does not end the session."""
        args = [*self.start]
        for command in first:
            args += ["-ex", command]
        for command in commands:
            catch = (f"python\ntry:\n  gdb.execute('{command}')\n"
                     "except gdb.error as e:\n  print(e)\nend\n")
            args += ["-ex", "echo " + MARK + "\\n", "-ex",
                     "python exec(" + repr(catch[7:-4]) + ")"]
        ran = subprocess.run([*args, *what], stdin=subprocess.DEVNULL, timeout=120, check=False,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return ran.stdout.split(MARK + "\n")

    def session(self, name, what, first, session):
        before, *texts = self.texts(what, first, [command for command, _ in session])
        for (command, patterns), text in zip(session, texts + [""] * len(session)):
            self.tap.ok(has_in_order(text, patterns), f"{name}: {command}", text or before)


def core_of(program, folder, *mode):
    """A core that the kernel has written, with the program stuck, in a mode of it; or None."""
    limits = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (limits[1], limits[1]))
    with subprocess.Popen([program, *mode], cwd=folder, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as ran:
        ran.stdout.readline()
        if "overrun" not in mode:
            ran.send_signal(signal.SIGABRT)
    resource.setrlimit(resource.RLIMIT_CORE, limits)
    return next(iter(glob.glob(folder + "/core*")), None)


def with_core(tap, gdb, name, command, commands):
    with tempfile.TemporaryDirectory() as folder:
        core = core_of(command[0], folder, *command[1:])
        if core:
            gdb.session(name, [command[0], core], ["thread 1"], commands)
        else:
            tap.skip(name, "the kernel writes cores elsewhere (kernel.core_pattern)")


def elsewhere(tap, gdb, script, program):
    """gdb loads the commands for a process in another mount namespace, as below "ip netns exec"."""
    name = "a process in another mount namespace"
    try:
        ran = subprocess.Popen(["unshare", "-m", program], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL)
    except FileNotFoundError:
        tap.skip(name, "no unshare(1)")
        return
    with ran, tempfile.TemporaryDirectory() as scripts:
        if ran.stdout.readline():
            there = scripts + os.path.realpath(program) + "-gdb.py"
            os.makedirs(os.path.dirname(there))
            shutil.copy(script, there)
            text = subprocess.run(
                [gdb, "-batch", "-nx", "-iex", "set sysroot /", "-iex",
                 "set debuginfod enabled off", "-iex",
                 "add-auto-load-scripts-directory " + scripts, "-iex",
                 "add-auto-load-safe-path " + scripts, "-p", str(ran.pid), "-ex", "haul list"],
                stdin=subprocess.DEVNULL, timeout=120, check=False, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, text=True).stdout
            tap.ok("#1 carrier 0: holder 0x" in text, name, text)
        else:
            tap.skip(name, "no right to make one")
        ran.kill()


def main():
    program = os.path.abspath(sys.argv[3])
    tap = Tap()
    gdb = Gdb(tap, sys.argv[1], sys.argv[2])
    stuck = ["break all_are_stuck", "run", "up"]
    before, *works = gdb.texts([program], ["break main", "run"], ["info threads"])
    if not works or "stuck" not in works[0]:
        print("1..0 # SKIP gdb cannot run a program here:", before.strip().split("\n")[-1])
        return
    gdb.session("live", [program], stuck, SESSION + GOES_ON)
    with_core(tap, gdb, "core", [program], SESSION)
    gdb.session("hibernating", [program], [*stuck[:1], "run hibernates", "up"], HIBERNATES)
    with_core(tap, gdb, "core of hibernating ones", [program, "hibernates"], HIBERNATES)
    with_core(tap, gdb, "core of an overrun stack", [program, "overrun"], OVERRUN)
    with tempfile.TemporaryDirectory() as folder:
        bare = os.path.join(folder, "bare")
        subprocess.run(["objcopy", "--strip-debug", program, bare], check=True)
        gdb.session("stripped", [bare], stuck[:2], [
            ("haul list", [r"\AThere is no debug information of libhaul\. "])])
    elsewhere(tap, *sys.argv[1:3], program)
    gdb.session("no process", [program], [], [("haul list", [r"\AThere is no process"])])
    tap.done()


main()
