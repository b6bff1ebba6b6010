# SPDX-License-Identifier: BSD-3-Clause
"""A frame larger than a coroutine's stack and the guard below it ends a program built with the
flags of pkg-config, with the line that names the coroutine and the one with its last frames. The
call stack of a crash has frames of the program, and of haul only where the crash is inside it.
Usage: frames.py BUILD_DIR SOURCE_DIR"""
import os
import re
import resource
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))

import outside
from tap import Tap


PLACE = "%s\\+0x[0-9a-f]+"
OWN = PLACE % "frames[^ ]*"
LIBHAUL = PLACE % r"libhaul\.so[^ ]*"
# How, the line before, the signal, and the call stack, with libhaul.so and with libhaul.a, whose
# frames have no name of their own.
ENDS = [
    ("abort", "", signal.SIGABRT, OWN, OWN),
    ("unlock", r"haul: haul_mutex_unlock\(\): .*\n", signal.SIGABRT, OWN, f"{OWN}( < {OWN})+"),
    ("inside", "", signal.SIGSEGV, f"({LIBHAUL} < )+{OWN}", f"{OWN}( < {OWN})+"),
]


def ends(tap, root, source, kind):
    binary = outside.compile_program(root, "frames-" + kind, source, kind=kind)
    for how, before, sig, shared, static in ENDS:
        ran = outside.run([binary, how], env=outside.environment(root, kind))
        stack = shared if kind == outside.SHARED else static
        tap.ok(ran.returncode == -sig and re.fullmatch(
            f'{before}haul: {sig.name} in coroutine "leaper" .* at {stack}\n', ran.stdout),
            f"{kind}: the frames of {how}", f"{ran.returncode}: {ran.stdout}")


def main():
    build, tree = sys.argv[1:]
    tap = Tap()
    source = os.path.join(tree, "tests/install/frames.c")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with outside.installed(build) as root:
        for compiler in "gcc", "clang":
            binary = outside.compile_program(root, "frames", source, compiler)
            for size in "60000", "300000":
                ran = outside.run([binary, size], env=outside.environment(root))
                tap.ok(ran.returncode == -signal.SIGSEGV
                       and ran.stdout.startswith('haul: coroutine "leaper" has run over its stack')
                       and '\nhaul: SIGSEGV in coroutine "leaper" 0x' in ran.stdout
                       and ran.stdout.count("\n") == 2,
                       f"{size} bytes by {compiler}", f"{ran.returncode}: {ran.stdout}")
        for kind in outside.kinds(root):
            if kind != outside.STATIC or outside.has_static_dpdk():
                ends(tap, root, source, kind)
    tap.done()


main()
