# SPDX-License-Identifier: BSD-3-Clause
"""The API: declarations of public headers follow docs/guide/conventions.md, as far as a script can
see; each function with an object of haul's is in the test that gives it NULL; and each function is
called by a program, an example or a page of the guide: what nobody needs is not public."""
import os
import re
import sys

import tree

sys.path.append(os.path.join(os.path.dirname(__file__), "../../docs/man"))
from reference import arguments  # noqa: E402

HEADER = re.compile(r"(^|/)include/haul[\w-]*/")
FUNCTION = re.compile(r"\bHAUL_API\s+([^;(]*?)\b(haul_\w+)\s*\(((?:[^;()]|\([^()]*\))*)\)[^;]*;")
MEMBER = re.compile(r"^\t[^;(]*\b(errbuf|errlen)(?:\[[^]]*\])?;", re.M)
NUMBERS = re.compile(r"(?:carrier|port|queue|q)")
ASKS = re.compile(r"_(?:is|has|can|try)_|_try_|^haul_try_")
NULLS = ("tests/net/nulls.c", "tests/sim/nulls.c")
# Not in the library that programs link, and its tests are the programs.
SIMULATION = re.compile(r"haul_sim_")

# What the macros and inline functions of public headers call counts as called where they are used.
MACRO = re.compile(r"^#define (\w+)(?:\(.*?\))?((?:.*\\\n)*.*)", re.M)
INLINE = re.compile(r"^static inline [^;{]*?\b(\w+)\([^;{]*\)\n\{\n(.*?)^\}", re.M | re.S)
# A definition begins in the first column.
INDENTED = re.compile(r"^[\t ].*", re.M)
BLOCK = re.compile(r"^ *```c\n(.*?)^ *```", re.M | re.S)
# Function: why it is public nevertheless.
CALLED_BY_NONE = {"haul_placed_yield_": "the plugin for gcc adds calls"}

# With the reasons in the page.
ASK_OTHERWISE = {"haul_cancelled", "haul_maybe_yield"}
TELL_WHETHER_DONE = {"haul_io_get_queue_stats", "haul_io_get_bucket_stats",  # false: there is none
                     "haul_app_place",
                     "haul_host_takes", "haul_host_reassemble"}  # true: the packet is gone
# Calls for each packet, on memory only, or made by a macro of a block.
DO_NOT_LOOK = re.compile(
    r"haul_(?:addr|arp|build|hist|icmp|nd|net|udp)_|haul_(?:try_)?send|haul_tx_burst$|haul_drop|"
    r"haul_record$|haul_no_suspend_|haul_(?:shield|with)_|haul_scope_|haul_app_|"
    r"haul_(?:chan|plan|reassembly)_destroy$|haul_fragment$|haul_reassemble$")


def wrong(result, name, args):
    last = args[-1]
    if "char *errbuf" in args and args[-2:] != ["char *errbuf", "size_t errlen"]:
        yield "its last two arguments are not char *errbuf, size_t errlen"
    if "uint64_t deadline" in args and last != "uint64_t deadline" and name != "haul_scope_open":
        yield "its deadline is not its last argument"
    for arg in args:
        number = re.fullmatch(r"(\w+) (\w+)", arg)
        if number and NUMBERS.fullmatch(number[2]) and number[1] != "unsigned":
            yield f"{arg}: numbers of carriers, ports and queues are unsigned"
    for i, arg in enumerate(args):
        if re.search(r"\(\*\w+\)\(.*void \*arg\)|^haul_\w*fn \*\w+$", arg) and \
                args[i + 1:i + 2] not in (["void *arg"], ["void *const args[]"]):
            yield f"{arg}: void *arg does not follow"
    if result == "bool" and not ASKS.search(name) and name not in ASK_OTHERWISE and \
            name not in TELL_WHETHER_DONE:
        yield "what returns a bool is called haul_x_is_y, has, can, or try"


def needs_object(args):
    """An argument that a call cannot do without: an object, not options or a result."""
    return any(re.fullmatch(r"(?:const )?struct haul_(?!\w*opts\b)\w+ \*\*?\w+", a) for a in args)


def words(text):
    return set(re.findall(r"\w+", text))


def used(root):
    """The names that programs, examples and pages use."""
    names = set()
    for path in tree.files(root, ".c", ".h"):
        if path.startswith("apps/") and not HEADER.search(path):
            names |= words("\n".join(INDENTED.findall(tree.code(tree.text(root, path)))))
    for path in tree.files(root, ".md"):
        if path.startswith("docs/guide/") or path == "README.md":
            for block in BLOCK.findall(tree.text(root, path)):
                names |= words("\n".join(INDENTED.findall(tree.code(block))))
    return names


def uncalled(root, functions, headers):
    """functions: where each is declared. headers: the code of all public ones."""
    names = used(root)
    wrappers = {m[1]: words(m[2]) for code in headers for m in
                (*MACRO.finditer(code), *INLINE.finditer(code))}
    reached = [name for name in wrappers if name in names]
    while reached:
        new = wrappers.pop(reached.pop(), set()) - names
        names |= new
        reached += new & wrappers.keys()
    for name, where in functions.items():
        if name not in names and name not in CALLED_BY_NONE and not SIMULATION.match(name):
            yield f"{where}: {name}: no program, example or page of the guide calls it"
        if name in names and name in CALLED_BY_NONE:
            yield f"{where}: {name}: it is called: no exception"


def findings(root):
    functions, headers = {}, []
    nulls = "".join(tree.text(root, path) for path in NULLS
                    if os.path.exists(os.path.join(root, path)))
    for path in tree.files(root, ".h"):
        if not HEADER.search(path):
            continue
        code = tree.code(tree.text(root, path))
        headers.append(code)
        for m in FUNCTION.finditer(code):
            functions[m[2]] = f"{path}:{tree.line_of(code, m.start())}"
            where = f"{functions[m[2]]}: {m[2]}: "
            args = list(arguments(m[3]))
            yield from (where + text for text in wrong(m[1].strip(), m[2], args))
            if needs_object(args) and not DO_NOT_LOOK.match(m[2]) and \
                    not SIMULATION.match(m[2]) and \
                    not re.search(rf"\bX\({m[2]},", nulls):
                yield f"{where}{NULLS[0]} does not give it NULL"
        for m in MEMBER.finditer(code):
            yield f"{path}:{tree.line_of(code, m.start(1))}: {m[1]}: an argument of the call"
    yield from uncalled(root, functions, headers)


if __name__ == "__main__":
    tree.main(findings)
