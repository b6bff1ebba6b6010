# SPDX-License-Identifier: BSD-3-Clause
"""The source tree as the lint rules see it. A rule is a script with findings(root), which yields
lines for people; it ends with tree.main(findings)."""
import os
import re
import sys


def files(root, *suffixes):
    """Paths relative to root, sorted; no build directories, nothing hidden but .ci."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(f for f in folders if f == ".ci" or f == "build" and folder != root
                            or not f.startswith((".", "build", "__")))
        for name in sorted(names):
            if not suffixes or name.endswith(suffixes):
                yield os.path.relpath(os.path.join(folder, name), root)


def text(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as f:
        return f.read()


def code(source):
    """C without comments and without the insides of strings; lines keep their numbers."""
    def blank(m):
        return '""' if m.group(0)[0] == '"' else re.sub(r"[^\n]", " ", m.group(0))
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', blank, source, flags=re.DOTALL)


def line_of(source, offset):
    return source.count("\n", 0, offset) + 1


def main(findings):
    bad = list(findings(sys.argv[1]))
    print("\n".join(bad))
    sys.exit(1 if bad else 0)
