# SPDX-License-Identifier: BSD-3-Clause
"""Probes: scripts of bpftrace use only those that the code has, and only arguments that these
have."""
import re

import tree

DECLARED = re.compile(r"\bHAULI_PROBE(\d)\((\w+),")
BLOCK = re.compile(r"(?m)^usdt:\*:haul:(\w+)\n((?:.*\n)*?\})")


def findings(root):
    probes = {m[2]: int(m[1]) for path in tree.files(root, ".c")
              for m in DECLARED.finditer(tree.code(tree.text(root, path)))}
    for path in tree.files(root, ".bt"):
        text = tree.text(root, path)
        for m in BLOCK.finditer(text):
            where = f"{path}:{tree.line_of(text, m.start())}"
            if m[1] not in probes:
                yield f"{where}: there is no probe {m[1]}"
                continue
            for n in re.findall(r"\barg(\d)", m[2]):
                if int(n) >= probes[m[1]]:
                    yield f"{where}: {m[1]} has {probes[m[1]]} arguments, no arg{n}"
        if text.count("usdt:") != len(BLOCK.findall(text)):
            yield f"{path}: a probe is not written as usdt:*:haul:NAME"


if __name__ == "__main__":
    tree.main(findings)
