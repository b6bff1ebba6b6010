# SPDX-License-Identifier: BSD-3-Clause
"""Writes the reference of the API, man pages in section 3, from the comments of the public headers:
a page for each comment with what it is about, a link for each further name there, a page for each
header, and libhaul(3), which lists them.

A comment is about the declarations that follow it, up to the next comment, or to an empty line
behind a function; one that begins with "The same" goes on with the comment before. A function
without a comment is an error. In a comment, indented lines are code, or a list of names and texts
in two columns; "haul_x: " begins what is about that function.

Usage: reference.py OUTPUT VERSION HAUL_7 HEADER...   (OUTPUT: a directory, whose content goes)
"""
import collections
import os
import re
import shutil
import sys

FUNCTION = re.compile(r"(?:HAUL_API|static inline) ([^(]*?[ *])(haul_\w+)\((.*?)\)"
                      r"( HAUL_SUSPENDS)?\s*(?:__attribute__\(\(.*\)\))?\s*[;{]", re.S)
TYPE = re.compile(r"(?:struct|enum) (haul_\w+)(?: \{|;)|typedef .*?\b\*?(haul_\w+_fn|haul_fn)\(")
MACRO = re.compile(r"#define (HAUL_(?!API\b|SUSPENDS\b)\w*[A-Z])\b")
THE_SAME = re.compile(r"/\*[\s*]*The same\b")
NOT_TOLD = "A struct has this name, too"
ITEM = re.compile(r"\s*(\S.*?)(?:\t+| {2,})(.*)$")


class Wrong(Exception):
    pass


def plain(text):
    """Text as mdoc shows it: no macros, no escapes, and dashes that can be copied."""
    text = re.sub(r"(?<!\w)-(?=\w)|(?<=-)-", r"\\-", text.replace("\\", "\\e"))
    return re.sub(r"(?m)^(?=[.'])", r"\\&", text)


def running(lines):
    """Running text, a sentence a line."""
    text = " ".join(line.strip() for line in lines).strip()
    return plain(re.sub(r"([.!?][)\"']?) +(?=[A-Z0-9(\"'-])", r"\1\n", text))


def end_of(text, at):
    """Where the declaration at text[at:] ends: behind its semicolon or the body of a function."""
    depth = 0
    for m in re.compile(r"/\*.*?\*/|[(){};]", re.S).finditer(text, at):
        depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(m[0], 0)
        if depth == 0 and (m[0] == ";" or m[0] == "}" and text[m.end()] == "\n"):
            return m.end()
    raise Wrong(f"no end: {text[at:at + 60]}")


def pieces(text):
    """Comments, declarations, macros and empty lines of a header, each as (kind, text)."""
    text = re.sub(r"#ifdef __cplusplus.*?#endif\n", "", text, flags=re.S)
    at = 0
    while at < len(text):
        if text[at] == "\n":
            kind, end = "gap", at + 1
        elif text.startswith("/*", at):
            kind, end = "comment", text.index("*/", at) + 2
        elif text[at] == "#":
            kind, end = "macro", re.compile(r"(?:\\\n|[^\n])*").match(text, at).end()
        else:
            kind, end = "declaration", end_of(text, at)
        if kind != "gap":
            rest = text.index("\n", end) + 1
            if kind == "comment" or text[end:rest].strip().startswith("/*"):
                rest = text.index("\n", max(end, text.find("*/", end, rest))) + 1
            end = rest
        yield kind, text[at:end]
        at = end


class Group:
    """Declarations with one comment."""
    def __init__(self, header, comment):
        self.header, self.comment = header, comment
        self.functions, self.types, self.macros, self.code = [], [], [], []
        self.of_next = "" # "The same ...": of the next function

    def add(self, kind, text):
        function = FUNCTION.match(text)
        if function:
            self.functions.append(function)
            behind = re.search(r"; (/\*.*\*/)$", text, re.S)
            own = self.of_next or words_of(behind[1]) if behind or self.of_next else ""
            self.comment += f"\n\n{function[2]}: {own}" if own and self.comment else own
            self.of_next = ""
            return
        found = MACRO.match(text) if kind == "macro" else TYPE.match(text)
        if found:
            (self.macros if kind == "macro" else self.types).append(found[1] or found[2])
            self.code.append(text)

    def names(self):
        functions = [f[2] for f in self.functions if not f[2].endswith("_")]
        return functions + [t for t in self.types if t not in functions] + self.macros


def words_of(comment):
    return "\n".join(re.sub(r"^/\*+ ?| ?\*?\*/$|^ \* ?", "", line).rstrip()
                     for line in comment.strip().split("\n")).strip("\n")


def groups_of(header, text):
    """The comment at the head of a header, and its groups."""
    head, group, found = None, Group(header, ""), []
    for kind, piece in pieces(text.partition("\n")[2]):
        if kind == "comment" and head is None:
            head = words_of(piece.strip())
        elif kind == "comment" and THE_SAME.match(piece) and found and found[-1].functions:
            group = found[-1]
            group.of_next = words_of(piece.strip())
        elif kind == "comment" and NOT_TOLD not in piece:
            group = Group(header, words_of(piece.strip()))
            found.append(group)
        elif kind == "gap" and group.functions:
            group = Group(header, "")
            found.append(group)
        elif kind in ("macro", "declaration"):
            if group not in found:
                found.append(group)
            group.add(kind, piece)
    for group in found:
        if group.functions and not group.comment:
            raise Wrong(f"{header}: {group.functions[0][2]}() has no comment")
    return head, [g for g in found if g.comment and g.names()]


def blocks(text):
    """Paragraphs, and within them runs of lines that are indented, or not, or about a function."""
    named = re.compile(r"haul_\w+(?:, haul_\w+)*: ")
    for paragraph in re.split(r"\n[ \t]*\n", text):
        run = []
        for line in paragraph.split("\n"):
            if run and named.match(run[0]):
                goes_on = line.startswith("    ")
            else:
                goes_on = (line[:1] in (" ", "\t")) == (run[:1] and run[0][:1] in (" ", "\t"))
            if run and (not goes_on or named.match(line)):
                yield run
                run = []
            run.append(line)
        yield run


def is_code(run):
    return not re.match(r"\s+(?:-E|0 |haul_\w+  )", run[0]) and \
        any(re.search(r"[;{}]$|\);", line) for line in run)


def described(text):
    for number, run in enumerate(blocks(text)):
        shown = run[0][:1] in (" ", "\t") and is_code(run)
        if number and not shown:
            yield ".Pp"
        named = re.match(r"(haul_\w+(?:, haul_\w+)*): ", run[0])
        if shown:
            yield ".Bd -literal -offset indent"
            yield from (plain(line.expandtabs(4)) or "\\&" for line in run)
            yield ".Ed"
        elif run[0][:1] in (" ", "\t"):
            yield from listed(run)
        elif named:
            yield f".Fn {named[1].replace(', ', ' , Fn ')} :"
            yield running([run[0][named.end():], *run[1:]])
        else:
            yield running(run)


def listed(run):
    """Names and texts in two columns; a line without a name goes on with the text before it."""
    indent = min(len(line.expandtabs()) - len(line.expandtabs().lstrip()) for line in run)
    yield ".Bl -tag -width Ds -compact"
    for line in run:
        item = ITEM.match(line)
        here = len(line.expandtabs()) - len(line.expandtabs().lstrip())
        if item and here == indent:
            yield f".It {plain(item[1])}"
            yield running([item[2]])
        elif here == indent:
            yield f".It {plain(line.strip())}"
        else:
            yield running([line])
    yield ".El"


def arguments(text):
    depth, arg = 0, ""
    for c in text:
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            yield " ".join(arg.split())
            arg = ""
        else:
            arg += c
    yield " ".join(arg.split())


def brief(comment, function=None):
    """The first statement, or that about a function."""
    own = function and re.search(rf"^(?:haul_\w+, )*{function}(?:, haul_\w+)*:? +(.*)", comment,
                                 re.S | re.M)
    text = " ".join((own[1] if own else re.sub(r"^haul_[\w, ]+: ", "", comment)).split())
    text = re.split(r"(?<=[\w)\"'])[.;:](?= |$)", text)[0]
    return plain(text[:1].lower() + text[1:] if re.match("[A-Z][a-z ]", text) else text)


def file_of(header):
    return header.replace("/", "_")


def top(name, version, date, names, told):
    yield '.\\" Made by docs/man/reference.py from the comments of the headers.'
    yield f".Dd {date}"
    yield f".Dt {name.upper()} 3"
    yield f".Os haul {version}"
    yield ".Sh NAME"
    yield from (f".Nm {n}{' ,' if n != names[-1] else ''}" for n in names)
    yield f".Nd {told}"


def synopsis(group):
    yield f".In {group.header}"
    for f in group.functions:
        yield f".Ft {' '.join(f[1].split())}"
        yield f".Fo {f[2]}"
        yield from (f'.Fa "{plain(a)}"' for a in arguments(f[3]))
        yield ".Fc"
    if group.code:
        yield ".Bd -literal"
        for line in "\n".join(c.strip("\n") for c in group.code).split("\n"):
            yield plain(line.replace("HAUL_API ", "").expandtabs(4)) or "\\&"
        yield ".Ed"


def page(groups, leaders, version, date):
    """The page of groups whose first name is the same."""
    names = [n for g in groups for n in g.names()]
    names = sorted(set(names), key=names.index)
    suspend = [f[2] for g in groups for f in g.functions if f[4]]
    yield from top(names[0], version, date, names, brief(groups[0].comment))
    yield ".Sh SYNOPSIS"
    for g in groups:
        yield from synopsis(g)
    yield ".Sh DESCRIPTION"
    for i, g in enumerate(groups):
        if i:
            yield ".Pp"
        yield from described(g.comment)
    if suspend:
        yield ".Pp"
        yield "These may suspend the calling coroutine:"
        yield from (f".Fn {n}{' ,' if n != suspend[-1] else ' .'}" for n in suspend)
    text = " ".join([g.comment + " ".join([*g.code, *(f[0] for f in g.functions)])
                     for g in groups])
    also = {leader for n in re.findall(r"\b(?:haul|HAUL)_\w+", text) for leader in leaders[n]}
    yield ".Sh SEE ALSO"
    yield from see({*also, *(file_of(g.header) for g in groups)} - {*names})


def see(names):
    yield from (f".Xr {n} 3 ," for n in sorted(names, key=str.lower))
    yield ".Xr haul 7"


def header_page(header, head, groups, version, date):
    name = file_of(header)
    yield from top(name, version, date, [name], brief(head))
    yield ".Sh SYNOPSIS"
    yield f".In {header}"
    yield ".Sh DESCRIPTION"
    yield from described(head)
    yield ".Pp"
    yield from contents(groups)
    yield ".Sh SEE ALSO"
    yield ".Xr libhaul 3 ,"
    yield ".Xr haul 7"


def contents(groups):
    yield ".Bl -tag -width Ds -compact"
    for g in groups:
        for name in g.names():
            yield f".It Xr {name} 3"
            yield brief(g.comment, name)
    yield ".El"


def index(headers, version, date):
    yield from top("libhaul", version, date, ["libhaul"], "functions, types and macros of the API")
    yield ".Sh DESCRIPTION"
    yield "All that the public headers declare, each with its page."
    for header, (_, groups) in headers.items():
        yield f".Ss {header}"
        yield from contents(groups)
    yield ".Sh SEE ALSO"
    yield from see(map(file_of, headers))


def pages(headers, version, date):
    """The content of each file, by name."""
    together, leaders = {}, collections.defaultdict(list)
    for _, groups in headers.values():
        for g in groups:
            together.setdefault(g.names()[0], []).append(g)
    for leader, groups in together.items():
        for name in (n for g in groups for n in g.names()):
            leaders[name].insert(0 if name == leader else len(leaders[name]), leader)
    found = {"libhaul": index(headers, version, date)}
    for header, (head, groups) in headers.items():
        if groups:
            found[file_of(header)] = header_page(header, head, groups, version, date)
    for name, [leader, *_] in [*leaders.items()]:
        found[name] = page(together[leader], leaders, version, date) if name == leader else \
            [f".so man3/{leader}.3"]
    return {name + ".3": "\n".join(lines) + "\n" for name, lines in found.items()}


def main():
    output, version, haul_7, *paths = sys.argv[1:]
    with open(haul_7, encoding="utf-8") as f:
        date = re.search(r"^\.Dd (.*)", f.read(), re.M)[1]
    headers = {}
    try:
        for path in paths:
            header = "/".join(path.split("/")[-2:])
            with open(path, encoding="utf-8") as f:
                found = groups_of(header, f.read())
            if found[1]:
                headers[header] = found
        made = pages(headers, version, date)
    except Wrong as e:
        sys.exit(str(e))
    shutil.rmtree(output, ignore_errors=True)
    os.makedirs(output)
    for name, text in made.items():
        with open(os.path.join(output, name), "w", encoding="utf-8") as f:
            f.write(text)


if __name__ == "__main__":
    main()
