# SPDX-License-Identifier: BSD-3-Clause
"""Every public header compiles alone, twice in a row, in each language that its users may use, by
two compilers. HAUL_FEWER: by one of the two, in turn, and not as gnu17, in which haul itself is
compiled.
Usage: alone.py CORE_INCLUDE GLUE_INCLUDE APP_INCLUDE HEADER..."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))

import flags
from tap import Tap

# A header of ours is no system header to a user who turns on what he likes.
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-Wundef", "-Wstrict-prototypes",
            "-Wshadow", "-Wconversion", "-Wsign-conversion", "-Wcast-qual", "-Wcast-align",
            "-Wpointer-arith", "-Wwrite-strings", "-Wredundant-decls", "-Wdouble-promotion",
            "-Wfloat-conversion", "-Wswitch-enum", "-Wformat=2"]
LANGUAGES = [  # its name, compilers, options
    ("gnu17", ["gcc", "clang"], ["-x", "c", "-std=gnu17"]),
    ("c11", ["gcc", "clang"], ["-x", "c", "-std=c11"]),
    ("c++17", ["g++", "clang++"], ["-x", "c++", "-std=c++17"]),
]


def main():
    core, glue, app, *headers = map(os.path.realpath, sys.argv[1:])
    tap = Tap()
    for turn, header in enumerate(headers):
        folder = next(f for f in (core, glue, app) if header.startswith(f))
        inside = os.path.relpath(header, folder)
        for language, compilers, options in LANGUAGES:
            if "HAUL_FEWER" in os.environ:
                if language == "gnu17":
                    continue
                turn += 1
                compilers = [compilers[turn % 2]]
            for compiler in compilers:
                command = [compiler, *options, *WARNINGS, "-fsyntax-only", "-I" + core]
                if folder != core:
                    # DPDK's headers need GNU C.
                    command = [o.replace("=c", "=gnu") for o in command]
                    command += ["-I" + glue, "-I" + app, *flags.dpdk()]
                if "++" in compiler:
                    command.remove("-Wstrict-prototypes")
                run = subprocess.run(command + ["-"], input=f"#include <{inside}>\n" * 2,
                                     stderr=subprocess.PIPE, text=True)
                tap.ok(run.returncode == 0, f"{inside} by {compiler} as {language}", run.stderr)
    tap.done()


main()
