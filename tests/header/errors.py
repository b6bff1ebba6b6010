# SPDX-License-Identifier: BSD-3-Clause
"""What the comments of public headers promise: for each function that returns an int, the errors
that its comment names, as a table in C for tests/support/promises.h.

A comment belongs to the functions that follow it. Part of a comment may be about some of them only:
it begins with their names and a colon, or, behind an empty line, with a name and "()". What the
comment at the head of a header names is true for functions with a deadline or an errbuf. "Errors as
haul_x()" and "an error of haul_x()" include those of haul_x(), "the same" those of the function
before. "and others" and a plain "-errno" allow all. Usage: errors.py OUTPUT HEADER..."""
import os
import re
import sys

PART = re.compile(r"^ *(?:(?P<names>haul_\w+(?:, haul_\w+)*):|(?P<name>haul_\w+)\(\) )")
COMMENT = re.compile(r"^/\*(.*?)\*/", re.S | re.M)
FUNCTION = re.compile(r"^HAUL_API ([\w ]+?[ *]+)(haul_\w+)\(([^;]*?)\)[A-Z_ ]*;", re.S | re.M)
SEVERAL = re.compile(r"errors? (?:as|of) (haul_\w+\(\)(?:(?:, | or |, or )haul_\w+\(\))*)", re.I)
BEFORE = re.compile(r"^\W*The same |errors? as above|Same context and errors")
OPEN = re.compile(r"and others|another -errno|\bor -errno\b|error of EAL|error of opening")


def lines(comment):
    return [re.sub(r"^ ?\* ?", "", line).rstrip() for line in comment.splitlines()]


def parts(comment):
    """Yields (names, text); names is empty for what is about all functions."""
    names, text, gap = set(), [], True
    for line in lines(comment):
        start = PART.match(line)
        if start and (start["names"] or gap):
            yield names, " ".join(text)
            names, text = set(re.findall(r"haul_\w+", start[0])), []
        text.append(line.strip())
        gap = not line.strip()
    yield names, " ".join(text)


def about(comment, function):
    return " ".join(text for names, text in parts(comment) if not names or function in names)


class Promise:
    def __init__(self, text):
        self.errors = set(re.findall(r"-(E[A-Z0-9]+)\b", text))
        self.open = bool(OPEN.search(text))

    def include(self, other):
        self.errors |= other.errors
        self.open |= other.open


def read(path, promises):
    """Adds those of a header; later ones may refer to earlier ones."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    comments = [(m.end(), m[1]) for m in COMMENT.finditer(text)]
    head = comments[1][1] # behind the licence
    before = None
    for m in FUNCTION.finditer(text):
        if m[1].strip() != "int":
            continue
        end, comment = max((c for c in comments if c[0] <= m.start()), key=lambda c: c[0])
        words = about(comment, m[2])
        promise = Promise(words)
        if "errbuf" in m[3] or m[3].endswith("uint64_t deadline"):
            promise.include(Promise(head))
        for names in SEVERAL.findall(words):
            for name in re.findall(r"haul_\w+", names):
                promise.include(promises[name][1])
        if BEFORE.search(words):
            promise.include(promises[before][1])
        promises[m[2]] = os.path.basename(path), promise
        before = m[2]


def main():
    output, *headers = sys.argv[1:]
    promises = {}
    for path in headers:
        read(path, promises)
    with open(output, "w", encoding="utf-8") as f:
        for name, (header, promise) in promises.items():
            errors = "".join(e + ", " for e in sorted(promise.errors))
            f.write(f'{{"{name}", "{header}", {str(promise.open).lower()}, {{{errors}}}}},\n')


main()
