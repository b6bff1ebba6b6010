# SPDX-License-Identifier: BSD-3-Clause
"""Tests wait for events, not for times: on a busy machine what takes a millisecond takes seconds. A
sleep, or a limit below a minute, has a comment beside it or above it that says why the time is what
is meant: the thing under test, a pause between looks, or nothing that is to come."""
import re

import tree

LEAST = 60  # seconds
HINT = "wait for the event (netns.wait_for, WAIT_UNTIL), or say in a comment here why it is a time"
SLEEPS = {
    (".py",): r"\btime\.sleep\(",
    (".c", ".h", ".cc"):
        r"\b(?:u?sleep|(?:clock_)?nanosleep|rte_delay_\w+)\(|\bhaul_sleep\([^;]*HAUL_MS",
    (".sh",): r"(?:^|[;&|]\s*|\bdo\s+)sleep\s",
}
NUMBER = r"([\d.]+)\b(?! *\*)"
LIMITS = re.compile(
    rf"\b(?:timeout|seconds)={NUMBER}|settimeout\({NUMBER}\)|\.wait\({NUMBER}\)|"
    rf"\b(?:wire|raw)\.recv\({NUMBER}\)|\bwait_for\(.*, {NUMBER}\)$|\bselect\([^()]*, {NUMBER}\)|"
    rf"^[A-Z_]*(?:PATIENCE|LOST|HANGS) = {NUMBER}")
COMMENT = re.compile(r"(?:^|\s)# |/\*|\*/")
KEPT = ("tests/lint/sleeps.py", "tests/lint/selftest.py",
        "lib/sim/posix.c")  # which defines them


def lines_of(source, suffix):
    """Each line, without the comments of C, and true if it or the one above has a comment."""
    said = source.splitlines()
    code = said if suffix in (".py", ".sh") else tree.code(source).splitlines()
    for i, line in enumerate(code):
        above = said[i - 1].strip() if i > 0 else ""
        yield line, bool(COMMENT.search(said[i])) or above.startswith(("# ", "/*")) or \
            above.endswith("*/")


def findings(root):
    for suffixes, pattern in SLEEPS.items():
        for path in tree.files(root, *suffixes):
            if not path.startswith("tests/") or path in KEPT:
                continue
            source, suffix = tree.text(root, path), "." + path.rpartition(".")[2]
            for number, (line, says_why) in enumerate(lines_of(source, suffix), 1):
                limits = LIMITS.finditer(line) if suffix == ".py" else ()
                if not says_why and re.search(pattern, line):
                    yield f"{path}:{number}: a sleep: {HINT}"
                if not says_why and any(float(next(filter(None, m.groups()))) < LEAST
                                        for m in limits):
                    yield f"{path}:{number}: a limit below {LEAST} s: {HINT}"


if __name__ == "__main__":
    tree.main(findings)
