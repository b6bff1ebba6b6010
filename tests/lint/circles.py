# SPDX-License-Identifier: BSD-3-Clause
"""No circles: no folder and no module of lib/, drivers-glue/ and haul-app depends on itself by way
of others.

A module is a .c and the .h of the same name. It depends on the modules whose headers it includes,
and on the modules that define the functions and variables that it uses, including public ones. A
header declares only definitions of its own .c, and nothing that is not defined.

usage: circles.py ROOT [--show]: --show prints the modules of each folder, the highest floor first,
each with its dependencies in that folder.
"""
import functools
import os
import re
import sys

import floors
import tree

ENFORCED = ("lib/", "drivers-glue/", "apps/haul-app/")
# What simulation puts below each source, and above all of them.
AROUND = ("lib/sim/", "drivers-glue/simnet/")

NAME = r"hauli?_\w+"
# At the left margin: a return type on one or two lines, the name, the text after it.
DEFINED = re.compile(rf"^(?!typedef|extern|#)[\w*][\w\s*(),\"-]*?\b({NAME})(\(|\[|;| = )", re.M)
DECLARED = re.compile(rf"^(?!typedef|static|#)[\w*][\w\s*(),\"-]*?\b({NAME})(\(|\[|;)", re.M)


def module(path):
    return os.path.splitext(path)[0]


def balanced(code, at):
    """The offset after the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(code)):
        depth += {"(": 1, ")": -1}.get(code[i], 0)
        if depth == 0:
            return i + 1
    return len(code)


def is_body(code, m):
    """True if a definition begins at the match: a body or a value follows."""
    if m[2] != "(":
        return m[2] != ";" or not m[0].startswith("struct")
    return code[balanced(code, m.end() - 1):].lstrip().startswith("{")


def definitions(code):
    """The names with external linkage that a .c defines."""
    return {m[1] for m in DEFINED.finditer(code)
            if not re.match(r"static\b", m[0]) and is_body(code, m)}


def declarations(code):
    """The names that a .h declares and does not define, with their places."""
    return {m[1]: m.start() for m in DECLARED.finditer(code)
            if not (m[2] == "(" and is_body(code, m))
            and not re.match(r"(struct|enum|union) \w+;", m[0])}


def sources(root):
    """The code of each file under the rule, without comments."""
    return {path: tree.code(tree.text(root, path)) for path in tree.files(root, ".c", ".h")
            if path.startswith(ENFORCED) and not path.startswith(AROUND)
            and "/include/" not in path}


def homes(codes):
    """The module that defines each name."""
    return {name: module(path) for path, code in codes.items() if path.endswith(".c")
            for name in definitions(code)}


def includes(root, path):
    for m in re.finditer(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)', tree.text(root, path), re.M):
        yield floors.target(root, path, '"', m[1])


def graph(root, codes):
    """For each module the modules on which it depends, each with the reason."""
    defined, edges = homes(codes), {}
    for path, code in codes.items():
        out = edges.setdefault(module(path), {})
        for other in includes(root, path):
            if other in codes:
                out.setdefault(module(other), f"{path} includes {other}")
        for name in set(re.findall(rf"(?<!struct )\b{NAME}\b", code)) & defined.keys():
            out.setdefault(defined[name], f"{path} uses {name}")
        out.pop(module(path), None)
    return edges


def folder(one):
    """A folder within a folder, as drivers-glue/port/kinds, is a part of it; a room is not."""
    return next((room for room in floors.ROOMS if one.startswith(room + "/")),
                "/".join(os.path.dirname(one).split("/")[:2]))


def by_folder(edges):
    folders = {}
    for one, others in edges.items():
        out = folders.setdefault(folder(one), {})
        for other, why in others.items():
            if folder(other) != folder(one):
                out.setdefault(folder(other), why)
    return folders


def reachable(edges, start):
    seen, todo = set(), [start]
    while todo:
        for other in edges.get(todo.pop(), ()):
            if other not in seen:
                seen.add(other)
                todo.append(other)
    return seen


def circles(edges):
    """The groups of nodes that reach each other."""
    reach = {one: reachable(edges, one) for one in edges}
    done = set()
    for one in sorted(edges):
        if one in reach[one] and one not in done:
            members = {other for other in reach[one] if one in reach.get(other, ())}
            done |= members
            yield sorted(members)


def tell(edges):
    for members in circles(edges):
        yield f"{members[0]}:1: in a circle: {' '.join(members)}"
        for one in members:
            for other, why in sorted(edges[one].items()):
                if other in members:
                    yield f"    {one} > {other}: {why}"


def misplaced(root, codes):
    """Declarations in a header of what another module defines, or none, in C or assembly."""
    defined = homes(codes)
    others = "".join(tree.text(root, path) for path in tree.files(root, ".c", ".S"))
    for path, code in codes.items():
        for name, at in declarations(code).items() if path.endswith(".h") else ():
            declares = f"{path}:{tree.line_of(code, at)}: declares {name}, which is"
            if defined.get(name, module(path)) != module(path):
                yield f"{declares} defined in {defined[name]}.c"
            elif name not in defined and not re.search(
                    rf"^(?:struct \w+ )?{name}(?:;| =|:)", others, re.M):
                yield f"{declares} not defined"


def findings(root):
    codes = sources(root)
    edges = graph(root, codes)
    yield from tell(edges)
    yield from tell(by_folder(edges))
    yield from misplaced(root, codes)


def floor_numbers(edges):
    """The height of each node above the ground; nodes in a circle share a floor."""
    together = {one: tuple(members) for members in circles(edges) for one in members}

    @functools.lru_cache(None)
    def floor(group):
        below = {together.get(other, (other,)) for one in group for other in edges.get(one, ())}
        return max((floor(other) + 1 for other in below - {group}), default=0)
    return {one: floor(together.get(one, (one,))) for one in edges}


def show(root):
    edges = graph(root, sources(root))
    for folder in sorted({os.path.dirname(one) for one in edges}):
        inner = {one: {o for o in others if os.path.dirname(o) == folder}
                 for one, others in edges.items() if os.path.dirname(one) == folder}
        numbers = floor_numbers(inner)
        print(folder)
        for one in sorted(inner, key=lambda m: (-numbers[m], m)):
            others = " ".join(sorted(os.path.basename(o) for o in inner[one]))
            print(f"  {numbers[one]:2} {os.path.basename(one):16} {others}".rstrip())


if __name__ == "__main__":
    if "--show" in sys.argv:
        show(os.path.abspath(next(a for a in [*sys.argv[1:], "."] if not a.startswith("--"))))
    else:
        tree.main(findings)
