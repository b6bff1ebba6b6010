# SPDX-License-Identifier: BSD-3-Clause
"""Symbols: the shared library exports exactly the declarations of the public headers; the static
one defines no name outside haul_ and hauli_.
Usage: symbols.py ROOT LIBHAUL.SO LIBHAUL.A"""
import re
import subprocess
import sys

import tree

DECLARATION = re.compile(r"\bHAUL_API\b[^;]*?\b(haul_\w+)\s*(?:\([^;]*\)|\[[^;]*\])?[^;()]*;", re.S)


def defined(library, *options):
    out = subprocess.run(["nm", "--defined-only", "--extern-only", *options, library], check=True,
                         stdout=subprocess.PIPE, text=True).stdout
    return {m[1] for m in re.finditer(r"^[0-9a-f]+ [A-Z] ([^@\s]+)", out, re.M)}


def declared(root):
    for path in tree.files(root, ".h"):
        if path.startswith(("lib/include/", "drivers-glue/include/")):
            yield from DECLARATION.findall(tree.code(tree.text(root, path)))


def differences(exported, static, declarations):
    for name in sorted(exported - declarations):
        yield f"{name}: exported, and no public header declares it"
    for name in sorted(declarations - exported):
        yield f"{name}: declared in a public header, and not in the library"
    for name in sorted(n for n in static if not re.match(r"hauli?_", n)):
        yield f"{name}: a global name that may clash with the user's"


def findings(root):
    return differences(defined(sys.argv[2], "--dynamic"), defined(sys.argv[3]),
                       set(declared(root)))


if __name__ == "__main__":
    tree.main(findings)
