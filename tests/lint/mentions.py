# SPDX-License-Identifier: BSD-3-Clause
"""Mentions: comments and pages name only files, folders and functions of haul that exist, and no
commits: a reader's copy may not have them. Fenced code and names in capitals (port_KIND.c) are
examples."""
import os
import re

import tree

TOPS = "lib|apps|drivers-glue|tests|perf|docs"
FILE = re.compile(r"(?<![\w./*%<@{}$-])((?:\w[\w.-]*/)*\w[\w-]*"
                  r"\.(?:c|cc|h|py|md|sh|pml|S))(?![\w/(*])")
FOLDER = re.compile(rf"(?<![\w./*%<@{{}}$-])((?:{TOPS})/[\w/-]*\w)(?![\w*/<{{-]|\.\w)")
FUNCTION = re.compile(r"\bhauli?_\w{2,}(?=\()")  # haul_x() is an example
DECISION = re.compile(r"docs/design/\d{4}")
COMMIT = re.compile(r"\bcommit [0-9a-f]{7,40}\b")
# The kernel's sources, DPDK's headers; the small tree of the lint's own tests.
ELSEWHERE = re.compile(r"(include/uapi|linux|net/core)/|rte_\w+\.h$")
SKIPPED = "tests/lint/selftest.py"


def prose(root, path):
    """Offset and text of each comment of a source; of a page, all but fenced code."""
    text = tree.text(root, path)
    if path.endswith(".md"):
        yield 0, re.sub(r"```.*?```", lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S)
    elif path.endswith((".c", ".h", ".S", ".cc", ".pml")):
        for m in re.finditer(r'/\*.*?\*/|//[^\n]*', text, re.S):
            yield m.start(), m[0]
    elif path.endswith((".py", "meson.build")) or text.startswith("#!"):
        for m in re.finditer(r'(?m)(?:^|\s)#[^\n]*|"""(?:.|\n)*?"""', text):
            yield m.start(), m[0]


def known(root, paths):
    """The names that code has."""
    code = (tree.code(tree.text(root, p)) for p in paths
            if p.endswith((".c", ".h", ".S", ".cc", ".pml")))
    return {name for text in code for name in re.findall(r"\bhauli?_\w+", text)}


def findings(root):
    paths = list(tree.files(root))
    names = {os.path.basename(p) for p in paths}
    functions = known(root, paths)

    def exists(name):
        if "/" not in name:
            return name in names
        if re.match(rf"(?:{TOPS})/", name):
            return os.path.exists(os.path.join(root, name))
        return any(p.endswith("/" + name) for p in paths)

    for path in paths:
        if path == SKIPPED or path.endswith((".svg", ".xml", ".png", ".pcap")):
            continue
        for at, text in prose(root, path):
            def line(m):
                return tree.line_of(tree.text(root, path), at + m.start())

            for m in COMMIT.finditer(text):
                yield f"{path}:{line(m)}: {m[0]}: give a version or a date"
            for m in FILE.finditer(text):
                if not exists(m[1]) and not ELSEWHERE.search(m[1]) and m[1].islower():
                    yield f"{path}:{line(m)}: there is no {m[1]}"
            for m in FUNCTION.finditer(text):
                if m[0] not in functions:
                    yield f"{path}:{line(m)}: there is no {m[0]}()"
            for m in FOLDER.finditer(text):
                if DECISION.fullmatch(m[1]):
                    if not any(p.startswith(m[1]) for p in paths):
                        yield f"{path}:{line(m)}: there is no {m[1]}"
                elif not exists(m[1]):
                    yield f"{path}:{line(m)}: there is no {m[1]}"


if __name__ == "__main__":
    tree.main(findings)
