# SPDX-License-Identifier: BSD-3-Clause
"""The C of the pages compiles, and that of the examples without a warning. The blocks of a page are
one file, in their order. What a block needs and a reader does not is in a comment of the page
before the block, which begins with "<!-- c". A page may include the program of first-program.md.
Excerpts of sources are those of tests/lint/excerpts.py.
Usage: pages.py SOURCE_DIR INCLUDE_DIR..."""
import glob
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))

import flags
from tap import Tap

PIECE = re.compile(r"^(?:<!-- c|(?P<block> *```c))\n(.*?)^ *(?:-->|```)$", re.S | re.M)
EXCERPT = re.compile(r"^<!-- from \S+ -->\n```c\n.*?^```$", re.S | re.M)
FENCE = re.compile(r"^ *``` ?[cC]\b", re.M)
WARNINGS = ["-Wall", "-Wextra", "-Werror"]
OF_PAGES = ["-Wno-unused-parameter"]
OF_EXAMPLES = [*OF_PAGES, "-pedantic", "-Wshadow", "-Wconversion", "-Wsign-conversion"]


def program(tree, page):
    """The text of its C, where the compiler counts lines as the page does; the number of blocks."""
    with open(os.path.join(tree, page), encoding="utf-8") as f:
        text = EXCERPT.sub(lambda m: "\n" * m[0].count("\n"), f.read())
    pieces = list(PIECE.finditer(text))
    blocks = sum(piece["block"] is not None for piece in pieces)
    assert blocks == len(FENCE.findall(text)), f"{page}: the end of a block is missing"
    lines = ((text.count("\n", 0, piece.start(2)) + 1, piece[2]) for piece in pieces)
    return "".join(f'#line {line} "{page}"\n{code}' for line, code in lines), blocks


def main():
    tree, *folders = sys.argv[1:]
    with tempfile.TemporaryDirectory() as work:
        with open(os.path.join(work, "shout.c"), "w", encoding="utf-8") as first:
            first.write(program(tree, "docs/guide/first-program.md")[0])
        check(tree, [*folders, work])


def check(tree, folders):
    options = ["-std=gnu17", *WARNINGS, "-fsyntax-only", *("-I" + f for f in folders),
               *flags.dpdk(), "-x", "c"]
    tap = Tap()
    for path in sorted(glob.glob("apps/examples/*.c", root_dir=tree)):
        for compiler in "gcc", "clang":
            run = subprocess.run([compiler, *options, *OF_EXAMPLES, os.path.join(tree, path)],
                                 stderr=subprocess.PIPE, text=True)
            tap.ok(run.returncode == 0, f"{path} by {compiler}", run.stderr)
    for path in sorted(glob.glob("docs/**/*.md", root_dir=tree, recursive=True)) + ["README.md"]:
        code, blocks = program(tree, path)
        if blocks:
            run = subprocess.run(["gcc", *options, *OF_PAGES, "-"], input=code,
                                 stderr=subprocess.PIPE, text=True)
            tap.ok(run.returncode == 0, f"{path}: blocks of C: {blocks}", run.stderr)
    tap.done()


main()
