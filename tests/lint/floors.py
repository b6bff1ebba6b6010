# SPDX-License-Identifier: BSD-3-Clause
"""Floors: a file includes from its own folder and from lower floors, and there is no cycle.

Programs include the public headers of lib/, drivers-glue and haul-app only; drivers-glue has one
further door into lib/sched, and haul-app one into lib/base: a header whose code is all inline. Of
DPDK, lib below lib/net sees helpers that need no initialised EAL, and lib/net sees mbufs and the
definitions of packet headers. Files and rooms are those of the tables in docs/internals.
"""
import os
import re
import subprocess

import tree

# A room uses those before it.
SCHED = [
    "lib/sched/state", "lib/sched/mail", "lib/sched/wait", "lib/sched/place", "lib/sched/look",
    "lib/sched/steal", "lib/sched/spawn", "lib/sched/run",
]
APP = [
    "apps/haul-app/process", "apps/haul-app/health", "apps/haul-app/options",
    "apps/haul-app/report", "apps/haul-app/telemetry", "apps/haul-app/screen",
]
# Folders in a folder that are not a part of it.
ROOMS = [*SCHED, "drivers-glue/port/control", *APP]
CORE = {"lib/base", "lib/topo", "lib/coro", "lib/conc", "lib/pool", "lib/trace"}
BELOW = {  # folder: the other folders from which it may include
    "lib/base": set(),
    "lib/topo": {"lib/base"},
    "lib/conc": {"lib/base"},
    "lib/coro": {"lib/base", "lib/conc"},
    "lib/pool": {"lib/base", "lib/topo", "lib/conc"},
    "lib/trace": {"lib/base", "lib/conc"},
    **{room: {*CORE, *SCHED[:i]} for i, room in enumerate(SCHED)},
    "lib/sched": {*CORE, *SCHED},
    "lib/sync": {*CORE, *SCHED, "lib/sched"},
    "lib/offload": {*CORE, *SCHED, "lib/sched"},
    "lib/fd": {*CORE, *SCHED, "lib/sched", "lib/sync", "lib/offload"},
    "lib/net": {*CORE, *SCHED, "lib/sched"},
    "drivers-glue/linux": {"lib/base"},
    "drivers-glue/eal": {"lib/base", "lib/topo", "lib/conc", "drivers-glue/linux"},
    "drivers-glue/port/control": {"lib/base", "drivers-glue/port", "drivers-glue/eal"},
    "drivers-glue/port": {"lib/base", "lib/coro", "lib/conc", "drivers-glue/eal",
                          "drivers-glue/linux"},
    "drivers-glue/capture": {"lib/base", "lib/conc", "drivers-glue/linux"},
    "drivers-glue/io": {"lib/base", "lib/conc", "lib/net", "drivers-glue/port",
                        "drivers-glue/capture"},
    "drivers-glue/host": {"lib/base", "lib/conc", "lib/net", "lib/sync", "drivers-glue/linux",
                          "drivers-glue/port",
                          "drivers-glue/io"},
    "lib/sim": {*CORE, *SCHED, "lib/fd"},  # around all others, and called by none
    "drivers-glue/simnet": {"lib/base", "lib/sim", "lib/sched", "drivers-glue/port"},
    "drivers-glue/include": set(),
    "apps/haul-app/include": set(),
    **{room: set(APP[:i]) for i, room in enumerate(APP)},
    "apps/haul-app": {*APP},
    "apps": set(),
}
# The door into lib for a folder above it; SHOWN are the headers that a door shows whole.
DOORS = {"drivers-glue/io": "lib/sched/glue.h", "drivers-glue/host": "lib/sched/glue.h",
         **{room: "lib/base/delay.h" for room in (*APP, "apps/haul-app")}}
# Words that threads of programs share: inline code that any program may use.
WORDS = ("lib/conc/word.h", "lib/conc/gate.h")
SHOWN = ("lib/sched/glue.h", "lib/sched/mail/handover.h")
HELPERS = "branch_prediction|common|cycles|pause|prefetch"
HEADERS = "arp|byteorder|ether|icmp|ip|jhash|mbuf|mbuf_ptype|mempool|net|tcp|udp|vxlan|gre|mpls"
DPDK = {floor: HELPERS for floor in BELOW if floor.startswith("lib/")}
DPDK["lib/include"] = "none"
DPDK["lib/net"] += "|" + HEADERS


def floor_of(path):
    return next((f for f in [*BELOW, "lib/include"] if path.startswith(f + "/")), None)


def target(root, path, quote, name):
    """The file of this tree that an include names, or None if it is not of this tree."""
    places = ["lib/include", "drivers-glue/include", "apps/haul-app/include"]
    if quote == '"':
        places = [os.path.dirname(path), "lib", "drivers-glue", "tests", *places]
        if path.startswith("apps/haul-app/"):
            places.append("apps/haul-app")
    return next((os.path.normpath(os.path.join(p, name)) for p in places
                 if os.path.isfile(os.path.join(root, p, name))), None)


def allowed(floor, path, other):
    if other.startswith("lib/include/"):
        return True
    if other.startswith("drivers-glue/include/"):
        return floor.startswith(("drivers-glue/", "apps"))
    if other.startswith("apps/haul-app/include/"):
        return floor.startswith("apps")
    if other == DOORS.get(floor) or (other in WORDS and floor.startswith("apps")):
        return True
    return floor_of(other) == floor or floor_of(other) in BELOW.get(floor, ())


def cycles(graph):
    """One line for each include that closes a circle."""
    done, path = set(), []

    def visit(node):
        if node in path:
            yield f"{node}:1: includes itself by way of {' > '.join(path[path.index(node):])}"
        elif node not in done:
            path.append(node)
            for other in graph.get(node, ()):
                yield from visit(other)
            path.pop()
            done.add(node)
    for node in graph:
        yield from visit(node)


def names(root, folder, without=()):
    """haul's own names in the headers of a folder."""
    return {name for path in tree.files(root, ".h")
            if path.startswith(folder + "/") and path not in without
            for name in re.findall(r"\b(?:hauli|HAULI)_\w+", tree.text(root, path))}


def past_the_door(root):
    """Uses of names that a door does not show, and of carriers' fields."""
    hidden = names(root, "lib/sched", SHOWN)
    for path in SHOWN:
        if os.path.exists(os.path.join(root, path)):
            hidden -= set(re.findall(r"\w+", tree.text(root, path)))
    for folder in ("lib/base", "lib/conc", "lib/coro", "lib/net"):
        hidden -= names(root, folder)
    for path in tree.files(root, ".c", ".h"):
        if floor_of(path) not in DOORS:
            continue
        code = tree.code(tree.text(root, path))
        for m in re.finditer(r"\b(?:hauli|HAULI)_\w+|\bcarrier->", code):
            if m[0] in hidden or m[0] == "carrier->":
                yield f"{path}:{tree.line_of(code, m.start())}: {m[0]} is not in " \
                      f"{DOORS[floor_of(path)]}"


# Pages with a table of files. FILES: each row has files of the folder; paths with a slash are of
# others. ROOMED: each row has a folder of this one, or itself, and its files in the last cell.
FILES = {
    "docs/internals/conc.md": "lib/conc", "docs/internals/coro.md": "lib/coro",
    "docs/internals/sync.md": "lib/sync", "docs/internals/topo.md": "lib/topo",
    "docs/internals/net.md": "lib/net", "docs/internals/fd.md": "lib/fd",
    "docs/internals/pool.md": "lib/pool",
    "docs/internals/haul-compare.md": "apps/haul-compare/compare",
    "docs/internals/haul-dns.md": "apps/haul-dns", "docs/internals/haul-http.md": "apps/haul-http",
}
ROOMED = {
    "docs/internals/sched.md": "lib/sched", "docs/internals/drivers-glue.md": "drivers-glue",
    "docs/internals/haul-app.md": "apps/haul-app",
}


def modules(root, folder):
    """The modules of each folder within this one: {"": {"glue"}, "run": {"round", ...}}."""
    found = {}
    for path in tree.files(root, ".c", ".h", ".S", ".py"):
        if path.startswith(folder + "/") and "/include/" not in path:
            inner, name = os.path.split(os.path.relpath(path, folder))
            found.setdefault(inner, set()).add(os.path.splitext(name)[0])
    return found


def quoted(cell):
    return {os.path.splitext(name)[0] for name in re.findall(r"`([\w./]+)`", cell)}


def table(root, page, head):
    """The rows of a page's table whose first column has this head: number of line, cells."""
    lines, inside = tree.text(root, page).splitlines(), False
    for number, line in enumerate(lines, 1):
        inside = line.startswith("|") and (inside or line.startswith(f"| {head} "))
        if inside and not line.startswith((f"| {head} ", "|--")):
            yield number, line.strip("|").split("|")


def untold(root, page, folder):
    """Files of a folder that its page does not list, or the other way round."""
    told, here = {}, modules(root, folder).get("", set()) - {"__init__"}
    for number, cells in table(root, page, "file"):
        told |= {name: number for name in quoted(cells[0]) if "/" not in name}
    for name in sorted(here - told.keys()):
        yield f"{page}:1: the table does not list {folder}/{name}"
    for name in sorted(told.keys() - here):
        yield f"{page}:{told[name]}: {folder} has no {name}"


def told_wrong(root, page, folder):
    """Rooms whose files are not those of the page's table."""
    rooms = modules(root, folder)
    if "" in rooms:
        rooms[os.path.basename(folder)] = rooms.pop("")
    for number, cells in table(root, page, "room"):
        name = cells[0].strip(" `")
        other = rooms.pop(name, set()) ^ quoted(cells[-1])
        if other:
            yield f"{page}:{number}: the files of {name} are others: {' '.join(sorted(other))}"
    for name in rooms:
        yield f"{page}:1: the table has no {name}"


def pages(root):
    for check, of in ((untold, FILES), (told_wrong, ROOMED)):
        for page, folder in of.items():
            if os.path.exists(os.path.join(root, page)):
                yield from check(root, page, folder)
    picture = os.path.join(root, "docs/pictures/rooms.py")
    if os.path.exists(picture) and \
            subprocess.run([picture, "--check"], stderr=subprocess.DEVNULL).returncode:
        yield "docs/pictures/sched.svg:1: not that of docs/internals/sched.md: run rooms.py"


def findings(root):
    yield from past_the_door(root)
    yield from pages(root)
    graph = {}
    for path in tree.files(root, ".c", ".h"):
        source, floor = tree.text(root, path), floor_of(path)
        if path.startswith("drivers-glue/") and not floor:
            yield f"{path}:1: drivers-glue has folders; which one is it of?"
        for m in re.finditer(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)', source, re.M):
            where = f"{path}:{tree.line_of(source, m.start())}"
            other = target(root, path, *m.groups())
            if other:
                graph.setdefault(path, []).append(other)
                if floor and not allowed(floor, path, other):
                    yield f"{where}: {floor} may not include {other}"
            elif floor in DPDK and re.match(r"rte_|cmdline|ethdev", m[2]) \
                    and not re.fullmatch(f"rte_({DPDK[floor]})\\.h", m[2]):
                yield f"{where}: {floor} may not include DPDK's {m[2]}"
    yield from cycles(graph)


if __name__ == "__main__":
    tree.main(findings)
