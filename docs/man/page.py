# SPDX-License-Identifier: BSD-3-Clause
"""Writes a man page in mdoc, to stdout: a text written by hand, with parts of a program's --help in
the place of marks, so that the options of the page are those of the program.

Usage: page.py TEMPLATE VERSION [PROGRAM]

Marks, each alone on a line: @PURPOSE@ @OPTIONS@ @PORTS@ @EXIT@ @EXAMPLES@; and @VERSION@ anywhere.
A template must have the mark of each part of its program's --help.
"""
import re
import subprocess
import sys

HEADINGS = {"Options:": "OPTIONS", "Port specs (values of --port):": "PORTS",
            "Examples:": "EXAMPLES"}
OPTION = re.compile(r"  ((?:-\w, )?--[\w-]+)(?: (\S+))?(?: {2,}(.*))?$")
ITEM = re.compile(r"([a-z]+(?:\[:[A-Z]+\])?): +(.*)$")  # of a list within an option's text


class Wrong(Exception):
    pass


def parts(text):
    """The lines of each part of --help."""
    found = {"PURPOSE": []}
    name = "PURPOSE"
    for line in text.splitlines()[1:]:
        if line.startswith("Exit codes: "):
            name = "EXIT"
            line = line.partition(": ")[2]
        elif line and not line[0].isspace() and line.endswith(":"):
            if line not in HEADINGS:
                raise Wrong(f"--help has an unknown heading: {line}")
            name = HEADINGS[line]
            continue
        found.setdefault(name, []).append(line)
    return {name: trimmed(lines) for name, lines in found.items()}


def trimmed(lines):
    return "\n".join(lines).strip("\n").split("\n")


def plain(text):
    """Text as mdoc shows it: no macros, no escapes, and dashes that can be copied."""
    text = text.replace("\\", "\\e")
    text = re.sub(r"(?<![\w-])-(?=[\w-])|(?<=-)-(?=\w)", r"\\-", text)
    return re.sub(r"(?m)^(?=[.'])", r"\\&", text)


def sentence(lines):
    """Lines of running text, from a capital to a full stop."""
    text = plain("\n".join(lines).rstrip(";."))
    return text[:1].upper() + text[1:] + ("" if text.endswith(":") else ".")


def words(text):
    """Arguments of a macro: none of them may be taken for a macro or a delimiter."""
    return " ".join(("\\&" if re.fullmatch(r"[A-Z][a-z0-9]|[][().,:;!?]", w) else "") + plain(w)
                    for w in text.split())


def value(text):
    """SPEC, N|LIST and ARGS... are to be replaced, io|mac|... to be typed."""
    macro = "Cm" if re.search(r"^[a-z]", text) else "Ar"
    names = re.sub(r"\.\.\.$", " ...", text.replace("|", " | "))
    return f"{macro} {words(names)}"


def described(lines):
    """The text of an option: running text, a list of items, the default."""
    text = "\n".join(lines)
    text, default = re.fullmatch(r"(.*?)(?:\s+\(default:\s+([^()]*(?:\([^()]*\))?[^()]*)\))?", text,
                                 re.S).groups()
    before, items = [], []
    for line in text.split("\n"):
        item = ITEM.match(line)
        if item and (items or before and before[-1].endswith(":")):
            items.append([item[1], [item[2]]])
        elif items:
            items[-1][1].append(line)
        else:
            before.append(line)
    default = f"(default: {' '.join(default.split())})" if default else ""
    if not items:
        yield sentence([*before, *filter(None, [default])])
        return
    yield sentence(before)
    yield ".Pp"
    yield f".Bl -tag -width {max(len(name) for name, _ in items) * 'x'}x -compact"
    for name, lines in items:
        yield f".It Cm {words(name)}"
        yield sentence(lines)
    yield ".El"
    if default:
        yield ".Pp"
        yield sentence([default.strip("()")])


def options(lines):
    found = []
    for line in lines:
        option = OPTION.match(line)
        if option:
            found.append([option[1], option[2], [option[3]] if option[3] else []])
        elif found and line.startswith("      "):
            found[-1][2].append(line.strip())
        else:
            raise Wrong(f"--help: not an option: {line}")
    yield ".Bl -tag -width Ds"
    for name, arg, text in found:
        flags = " , ".join(f"Fl {words(n[1:])}" for n in name.split(", "))
        yield f".It {flags}{' ' + value(arg) if arg else ''}"
        yield from described(text)
    yield ".El"


def ports(lines):
    yield ".Bl -tag -width Ds"
    for line in lines:
        yield sentence([line.strip()]) if line.startswith("      ") else f".It Cm {words(line)}"
    yield ".El"


def exits(lines):
    yield ".Bl -tag -width Ds"
    for code, meaning in re.findall(r"(\d+): (.*?)[;.]", " ".join(lines)):
        yield f".It {code}"
        yield sentence([meaning])
    yield ".El"


def examples(lines):
    yield ".Bd -literal"
    yield from (plain(line[2:]) for line in lines)
    yield ".Ed"


def purpose(lines):
    yield re.sub(r"(?<=[a-zA-Z]\.) ", "\n", plain("\n".join(lines)))


WRITERS = {"PURPOSE": purpose, "OPTIONS": options, "PORTS": ports, "EXIT": exits,
           "EXAMPLES": examples}


def page(template, version, shown):
    found = parts(shown) if shown else {}
    lines = []
    for line in template.replace("@VERSION@", version).splitlines():
        mark = re.fullmatch(r"@([A-Z]+)@", line)
        if not mark:
            lines.append(line)
        elif mark[1] in found:
            lines += WRITERS[mark[1]](found.pop(mark[1]))
        else:
            raise Wrong(f"--help has nothing for {line}")
    if found:
        raise Wrong(f"no mark for {', '.join(found)}")
    return "\n".join(lines) + "\n"


def main():
    path, version, *program = sys.argv[1:]
    with open(path) as f:
        template = f.read()
    shown = program and subprocess.run([*program, "--help"], check=True, capture_output=True,
                                       text=True).stdout
    try:
        sys.stdout.write(page(template, version, shown))
    except Wrong as e:
        sys.exit(f"{path}: {e}")


if __name__ == "__main__":
    main()
