# SPDX-License-Identifier: BSD-3-Clause
"""Links: every page links only to existing files, and the index lists every page of docs/."""
import os
import re

import tree

INDEX = "docs/README.md"


def links(root, path):
    """Line and file of each link within the tree."""
    page = re.sub(r"```.*?```", lambda m: "\n" * m[0].count("\n"), tree.text(root, path),
                  flags=re.S)
    for m in re.finditer(r"\]\((?!https?:|#)([^)#\s]+)", page):
        yield tree.line_of(page, m.start()), os.path.normpath(
            os.path.join(os.path.dirname(path), m[1]))


def findings(root):
    reached = {INDEX}
    for path in tree.files(root, ".md"):
        for line, to in links(root, path):
            if not os.path.exists(os.path.join(root, to)):
                yield f"{path}:{line}: there is no {to}"
            if path == INDEX:
                reached.add(to)
    for path in tree.files(root, ".md"):
        if path.startswith("docs/") and path not in reached:
            yield f"{path}:1: {INDEX} does not lead to it"


if __name__ == "__main__":
    tree.main(findings)
