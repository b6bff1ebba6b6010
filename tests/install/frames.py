# SPDX-License-Identifier: BSD-3-Clause
"""A frame larger than a coroutine's stack and the guard below it ends a program built with the
flags of pkg-config, with the line that names the coroutine and the one with its last frames.
Usage: frames.py BUILD_DIR SOURCE_DIR"""
import os
import resource
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))

import outside
from tap import Tap


def main():
    build, tree = sys.argv[1:]
    tap = Tap()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with outside.installed(build) as root:
        for compiler in "gcc", "clang":
            binary = outside.compile_program(
                root, "frames", os.path.join(tree, "tests/install/frames.c"), compiler)
            for size in "60000", "300000":
                ran = outside.run([binary, size], env=outside.environment(root))
                tap.ok(ran.returncode == -signal.SIGSEGV
                       and ran.stdout.startswith('haul: coroutine "leaper" has run over its stack')
                       and '\nhaul: SIGSEGV in coroutine "leaper" 0x' in ran.stdout
                       and ran.stdout.count("\n") == 2,
                       f"{size} bytes by {compiler}", f"{ran.returncode}: {ran.stdout}")
    tap.done()


main()
