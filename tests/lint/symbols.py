# SPDX-License-Identifier: BSD-3-Clause
"""Symbols: the shared library exports exactly the declarations of the public headers, and its name
for the loader has the minor version until 1.0; the static one defines no name outside haul_ and
hauli_.
Usage: symbols.py ROOT VERSION HEADERS:... LIBRARY..."""
import os
import re
import subprocess
import sys

import tree

DECLARATION = re.compile(r"\bHAUL_API\b[^;]*?\b(haul_\w+)\b(?!\s*\*)\s*(?:\([^;]*\)|\[[^;]*\])?"
                         r"[^;()]*;", re.S)


# What a library defines in place of the C library's.
REPLACED = re.compile(r'^HAULI_SIM_REPLACED (?:.*__asm__\("(\w+)"\);|[^;{=]*?\b(\w+)\()|'
                      r'^NAMES\(\w+, (\w+)\)$', re.M)


def defined(library, *options):
    out = subprocess.run(["nm", "--defined-only", "--extern-only", *options, library], check=True,
                         stdout=subprocess.PIPE, text=True).stdout
    return {m[1] for m in re.finditer(r"^[0-9a-f]+ [A-Z] ([^@\s]+)", out, re.M)}


def declared(root, folders):
    for path in tree.files(root, ".h"):
        if path.startswith(tuple(folders)):
            yield from DECLARATION.findall(tree.code(tree.text(root, path)))


def differences(exported, declarations):
    for name in sorted(exported - declarations):
        yield f"{name}: exported, and no public header declares it"
    for name in sorted(declarations - exported):
        yield f"{name}: declared in a public header, and not in the library"


# Without a clash: what the macros of probes make, a weak symbol.
OURS = r"hauli?_|_\.stapsdt\.base$"


def clashes(static):
    for name in sorted(n for n in static if not re.match(OURS, n)):
        yield f"{name}: a global name that may clash with the user's"


def misnamed(file, soname, version):
    major, minor, _ = version.split(".")
    name = file.split(".so.")[0]
    if file != f"{name}.so.{version}":
        yield f"{file}: not named after version {version}"
    if soname != f"{name}.so.{major}" + f".{minor}" * (major == "0"):
        yield f"{file}: its name for the loader is {soname}"


def soname_of(library):
    out = subprocess.run(["readelf", "--dynamic", "--wide", library], check=True,
                         stdout=subprocess.PIPE, text=True).stdout
    return re.search(r"\(SONAME\).*\[(.*)\]", out)[1]


def findings(root):
    version, headers, *libraries = sys.argv[2:]
    for library in libraries:
        replaced = set()
        if "haul-sim" in library:
            replaced = {m[1] or m[2] or m[3]
                        for path in tree.files(root, ".c")
                        if path.startswith(("lib/sim/", "drivers-glue/simnet/"))
                        for m in REPLACED.finditer(tree.text(root, path))}
        if library.endswith(".a"):
            yield from clashes(defined(library) - replaced)
        else:
            yield from differences(defined(library, "--dynamic"),
                                   set(declared(root, headers.split(":"))) | replaced)
            yield from misnamed(os.path.basename(library), soname_of(library), version)


if __name__ == "__main__":
    tree.main(findings)
