# SPDX-License-Identifier: BSD-3-Clause
"""Files: each begins with its licence, ends with a newline, and has at most 600 lines."""
import re

import tree

LICENCE = "SPDX-License-Identifier: BSD-3-Clause"
C = (".c", ".h", ".S")
SOURCES = C + (".py", ".sh", ".go", ".cpp", ".cc")
MAX_LINES = 600
MAX_COLUMNS = 100


def is_script(source):
    return source.startswith("#!")


def findings(root):
    for path in tree.files(root):
        try:
            source = tree.text(root, path)
        except UnicodeDecodeError:
            continue
        if not (path.endswith(SOURCES) or is_script(source)):
            continue
        lines = source.split("\n")
        first = lines[1] if is_script(source) and len(lines) > 1 else lines[0]
        if LICENCE not in first or path.endswith(C) and first != f"/* {LICENCE} */":
            yield f"{path}:1: does not begin with {LICENCE}"
        if not source.endswith("\n"):
            yield f"{path}:{len(lines)}: no newline at the end"
        if len(lines) - 1 > MAX_LINES:
            yield f"{path}:{MAX_LINES}: {len(lines) - 1} lines: is it still one thing?"
        for n, line in enumerate(lines, 1):
            if len(line.expandtabs(8)) > MAX_COLUMNS:
                yield f"{path}:{n}: {len(line.expandtabs(8))} columns"
            if re.search(r"[ \t]$", line):
                yield f"{path}:{n}: ends in white space"


if __name__ == "__main__":
    tree.main(findings)
