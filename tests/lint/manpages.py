# SPDX-License-Identifier: BSD-3-Clause
"""The man pages: well-formed, and with each option of each program.

Usage: manpages.py MANDOC WRITER PAGE... -- PROGRAM...   (MANDOC "": not installed)
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

from tap import Tap

mandoc, writer, *rest = sys.argv[1:]
pages = {os.path.basename(p): p for p in rest[:rest.index("--")]}
programs = {os.path.basename(p): p for p in rest[rest.index("--") + 1:]}
tap = Tap()


def output(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def rendered(page):
    """As on a very wide terminal, with one blank between words."""
    text = output(mandoc, "-T", "utf8", "-O", "width=1000", page).stdout
    return re.sub(r" +", " ", re.sub(r".\x08", "", text))


def shown(program):
    """What the program's page must have: its options with their values, port specs, examples."""
    text = output(program, "--help").stdout
    for flags, value in re.findall(r"^  ((?:-\w, )?--[\w-]+)(?: (\S+))?", text, re.M):
        yield " ".join([flags, *value.replace("|", " | ").replace("...", " ...").split()])
    specs = re.search(r"^Port specs.*?\n\n", text, re.S | re.M)
    yield from (line.strip() for line in specs[0].splitlines()[1:-1]) if specs else ()
    yield from (line.strip() for line in text.partition("\nExamples:\n")[2].splitlines())


def test_page(name, path):
    r = output(mandoc, "-T", "lint", "-W", "warning", path)
    tap.ok(r.returncode == 0 and not r.stdout, f"{name}: well-formed", r.stdout)
    text = rendered(path)
    see_also = text[text.index("SEE ALSO"):].rpartition("\n\n")[0]
    others = re.findall(r"\b(haul[\w-]*\(\d\))", see_also)
    tap.ok(others and all(o.replace("(", ".").rstrip(")") in pages for o in others),
           f"{name}: refers to pages that there are", others)
    program = programs.get(name.rpartition(".")[0])
    if not program:
        return
    wanted = [" ".join(w.split()).rstrip(";.") for w in shown(program)]
    missing = [w for w in wanted if w.lower() not in text.lower()]
    tap.ok(len(wanted) > 10 and not missing, f"{name}: has all that --help has",
           "\n".join(missing))


def test_headers():
    """haul(7) names the public headers."""
    with open(os.path.join(os.path.dirname(writer), "haul.7.in")) as f:
        named = set(re.findall(r"^\.It Pa (haul\S*/\S+\.h)$", f.read(), re.M))
    root = os.path.join(os.path.dirname(writer), "../..")
    public = {os.path.relpath(p, include) for include in glob.glob(root + "/*/include") +
              glob.glob(root + "/*/*/include") for p in glob.glob(include + "/*/*.h")}
    tap.ok(named == public - {"haul/haul.h"}, "haul.7: all public headers", named ^ public)


def test_drift():
    """A --help with a part that the template does not place is an error, not a page without it."""
    with tempfile.TemporaryDirectory() as d:
        template, program = os.path.join(d, "x.1.in"), os.path.join(d, "x")
        for mark, text, wrong in (
                ("@OPTIONS@", "Options:\n  --a   b", ""),
                ("@OPTIONS@", "Options:\n  --a   b\n\nExamples:\n  x", "no mark for EXAMPLES"),
                ("@PORTS@", "Options:\n  --a   b", "--help has nothing for @PORTS@"),
                ("@OPTIONS@", "Options:\n--a\n", "not an option: --a"),
                ("@OPTIONS@", "Secrets:\n  --a   b", "an unknown heading: Secrets:")):
            with open(template, "w") as f:
                f.write(f"@PURPOSE@\n{mark}\n")
            with open(program, "w") as f:
                f.write(f"#!/bin/sh\ncat <<END\nUsage: x\nDoes.\n\n{text}\nEND\n")
            os.chmod(program, 0o755)
            r = output(sys.executable, writer, template, "1", program)
            tap.ok(wrong in r.stdout if wrong else r.returncode == 0,
                   f"a part of --help: {wrong or 'as usual'}", r.stdout)


if mandoc:
    for name, path in sorted(pages.items()):
        test_page(name, path)
else:
    tap.skip("pages", "mandoc is not installed")
tap.ok({p.rpartition(".")[0] for p in pages} == {"haul", *programs}, "each program has one", pages)
test_headers()
test_drift()
tap.done()
