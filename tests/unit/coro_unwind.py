# SPDX-License-Identifier: BSD-3-Clause
"""Run by gdb on coro_unwind: every backtrace on a coroutine's stack is complete and ends at the
coroutine's start.

gdb -batch -nx -x coro_unwind.py coro_unwind
"""
import os

import gdb

SUSPENDED = ["inner", "outer", "body", "hauli_coro_start"]
OUTERMOST = gdb.frame_stop_reason_string(gdb.FRAME_UNWIND_OUTERMOST)
REGISTERS = {"i386:x86-64": ("rsp", "rbp", "rip"), "aarch64": ("sp", "x29", "pc")}
STEPS_MAX = 400  # instructions from one side's switch to the next action of the other side


OUT = os.dup(1)  # our breakpoints; gdb reports every one at the stop
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def say(line):
    os.write(OUT, (line + "\n").encode())


def walk():
    """The names of all functions with a frame, and the reason why unwinding stopped at the last
    one."""
    names = []
    frame = gdb.newest_frame()
    while frame is not None:
        if frame.type() != gdb.INLINE_FRAME:
            names.append(frame.name())
        reason = frame.unwind_stop_reason()
        frame = frame.older()
    return names, gdb.frame_stop_reason_string(reason)


class Tap:
    def __init__(self):
        self.n = 0

    def check(self, name, right, seen):
        self.n += 1
        say("%sok %d - %s" % ("" if right else "not ", self.n, name))
        if not right:
            say("# seen: %s" % (seen,))

    def whole(self, name, wanted):
        seen = walk()
        self.check(name, seen == (wanted, OUTERMOST), seen)


def step_through(tap):
    """From in_a_coroutine() by a switch to main: at each instruction the backtrace is complete, or,
    between the two stacks, is one frame marked as the last."""
    wrong, between = [], 0
    for _ in range(STEPS_MAX):
        gdb.execute("stepi", to_string=True)
        names, reason = seen = walk()
        if names[0] == "while_one_is_suspended":
            break
        if names == ["inner"] and reason == OUTERMOST:
            between += 1
        elif names[-1] != "main" and (names[-4:], reason) != (SUSPENDED, OUTERMOST):
            wrong.append(seen)
    tap.check("each_instruction_of_a_switch_unwinds", not wrong, wrong[:5])
    tap.check("the_steps_went_through_a_switch",
              names[0] == "while_one_is_suspended" and between > 0, (names, between))


def main():
    for setting in ("pagination off", "confirm off", "debuginfod enabled off",
                    "startup-with-shell off"):
        gdb.execute("set " + setting, to_string=True)
    gdb.execute("break in_a_coroutine", to_string=True)
    gdb.execute("break while_one_is_suspended", to_string=True)
    try:
        gdb.execute("run", to_string=True)
    except gdb.error as why:
        say("1..0 # SKIP gdb cannot run a program here: %s" % why)
        return
    tap = Tap()
    say("1..4")
    tap.whole("nested_function_of_a_coroutine", ["in_a_coroutine"] + SUSPENDED)
    step_through(tap)
    for register, field in zip(REGISTERS[gdb.selected_frame().architecture().name()],
                               ("sp", "fp", "pc")):
        value = int(gdb.parse_and_eval("suspended.ctx." + field))
        gdb.execute("set $%s = %d" % (register, value), to_string=True)
    tap.whole("suspended_coroutine_by_its_three_words", SUSPENDED)
    gdb.execute("kill", to_string=True)


main()
