# SPDX-License-Identifier: BSD-3-Clause
"""Excerpts: a block of C behind <!-- from FILE --> is in that file, line by line; a line of the
block that is only "..." stands for lines that are left out."""
import re

import tree

EXCERPT = re.compile(r"^<!-- from (\S+) -->\n```c\n(.*?)^```$", re.M | re.S)


def pieces(block):
    return [p.strip("\n") + "\n" for p in re.split(r"^[ \t]*\.\.\.\n", block, flags=re.M)]


def findings(root):
    for path in tree.files(root, ".md"):
        page = tree.text(root, path)
        for m in EXCERPT.finditer(page):
            line = tree.line_of(page, m.start())
            try:
                source = "\n" + tree.text(root, m[1])
            except FileNotFoundError:
                yield f"{path}:{line}: there is no {m[1]}"
                continue
            at = 0
            for piece in pieces(m[2]):
                at = source.find("\n" + piece, at)
                if at < 0:
                    first = piece.split("\n", 1)[0].strip()
                    yield f"{path}:{line}: {m[1]} does not have the lines from \"{first}\" on"
                    break
                at += len(piece)


if __name__ == "__main__":
    tree.main(findings)
