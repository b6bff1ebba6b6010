# SPDX-License-Identifier: BSD-3-Clause
"""Programs outside the tree are built against an installed haul, shared and static, and run; the
ones with archives need no shared library of haul, and none of DPDK.
Usage: install.py BUILD_DIR SOURCE_DIR"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))

import outside
from tap import Tap

PROGRAMS = [  # name, source, package, arguments, expected output
    ("spawn", "tests/install/spawn.c", "haul", [], r"carriers 2 sum 332833500 strayed 0\n"),
    ("lcores", "tests/install/lcores.c", "haul", [], r"carriers on lcores 2\n"),
    ("first", "README.md", "haul", [], r"(coroutine \d on carrier \d+\n){8}"),
    ("echo", "apps/examples/echo.c", "haul-app", ["--help"], r"(?s)Usage: .*--port.*"),
]


def wrong(root, tree, program, compiler, kind):
    """The error, or an empty text."""
    name, path, package, args, expected = program
    try:
        binary = outside.compile_program(root, name, os.path.join(tree, path), compiler, kind,
                                         package)
    except outside.Broken as e:
        return str(e)
    unwanted = {outside.SHARED: r"$^", outside.STATIC_HAUL: r"libhaul",
                outside.STATIC: r"libhaul|librte"}[kind]
    dynamic = [lib for lib in outside.needed(binary) if re.match(unwanted, lib)]
    if dynamic:
        return f"needs {' '.join(dynamic)}"
    ran = outside.run([binary, *args], env=outside.environment(root, kind))
    if ran.returncode == 0 and re.fullmatch(expected, ran.stdout):
        return ""
    return f"exit status {ran.returncode}\n{ran.stdout}"


def main():
    build, tree = sys.argv[1:]
    tap = Tap()
    with outside.installed(build) as root:
        for compiler in "gcc", "clang":
            for kind in outside.kinds(root):
                for program in PROGRAMS:
                    what = f"{program[0]} by {compiler}, {kind}"
                    if kind == outside.STATIC and not outside.has_static_dpdk():
                        tap.skip(what, "DPDK is installed without archives")
                        continue
                    why = wrong(root, tree, program, compiler, kind)
                    tap.ok(not why, what, why)
    tap.done()


main()
