# SPDX-License-Identifier: BSD-3-Clause
"""Programs outside the tree are built against an installed haul, shared and static, and run.
Usage: install.py BUILD_DIR SOURCE_DIR"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))

import outside
from tap import Tap

PROGRAMS = [  # name, source, expected output
    ("spawn", "tests/install/spawn.c", r"carriers 2 sum 332833500 strayed 0\n"),
    ("lcores", "tests/install/lcores.c", r"carriers on lcores 2\n"),
    ("first", "README.md", r"(coroutine \d on carrier \d+\n){8}"),
]


def wrong(root, program, compiler, static):
    """The error, or an empty text."""
    name, path, expected = program
    try:
        binary = outside.compile_program(root, name, path, compiler, static)
    except outside.Broken as e:
        return str(e)
    ran = outside.run([binary], env=outside.environment(root, static))
    if ran.returncode == 0 and re.fullmatch(expected, ran.stdout):
        return ""
    return f"exit status {ran.returncode}\n{ran.stdout}"


def main():
    build, tree = sys.argv[1:]
    tap = Tap()
    with outside.installed(build) as root:
        for compiler in "gcc", "clang":
            for static in False, True:
                for name, path, expected in PROGRAMS:
                    why = wrong(root, (name, os.path.join(tree, path), expected), compiler, static)
                    tap.ok(not why, f"{name} by {compiler}, {'static' if static else 'shared'}",
                           why)
    tap.done()


main()
