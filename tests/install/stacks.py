# SPDX-License-Identifier: BSD-3-Clause
"""The call stacks of a dump begin with the call of haul in which a coroutine is, and end with the
function that was spawned: the library's other frames are left out.
Usage: stacks.py BUILD_DIR SOURCE_DIR"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))

import outside
from tap import Tap

CALL = r"    \S+ \(libhaul\.so\S*\)\n"  # its name is exported
INNER = r"    (\S+ \()?libhaul\.so\S*\n"  # or not
FUNCTION = r"    stacks\+0x[0-9a-f]+\n"
EXPECTED = {
    "waits": CALL + FUNCTION,
    "receives": INNER + FUNCTION,
    "computes": f"({INNER})?({FUNCTION})+",
}


def main():
    build, tree = sys.argv[1:]
    tap = Tap()
    with outside.installed(build) as root:
        if outside.SHARED not in outside.kinds(root):
            tap.skip("call stacks", "there is no libhaul.so")
            tap.done()
        binary = outside.compile_program(
            root, "stacks", os.path.join(tree, "tests/install/stacks.c"), "gcc")
        ran = outside.run([binary], env=outside.environment(root))
        for name, frames in EXPECTED.items():
            tap.ok(ran.returncode == 0
                   and re.search(rf"^  carrier 0: {name} 0x.*\n{frames}(?!    )", ran.stdout, re.M),
                   f"a stack in which a coroutine {name}", f"{ran.returncode}: {ran.stdout}")
    tap.done()


main()
