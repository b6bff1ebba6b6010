# SPDX-License-Identifier: BSD-3-Clause
"""The man pages: well-formed, and with each option of each program; and the reference of the API:
with each function of the public headers.

Usage: manpages.py MANDOC WRITER REFERENCE_WRITER REFERENCE PAGE... -- PROGRAM...
(MANDOC "": not installed)
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

import symbols
import tree
from tap import Tap

mandoc, writer, reference_writer, reference, *rest = sys.argv[1:]
pages = {os.path.basename(p): p for p in rest[:rest.index("--")]}
programs = {os.path.basename(p): p for p in rest[rest.index("--") + 1:]}
tap = Tap()
# Parts of other headers, of which programs include none; and the form of a file.
INLINE = {"haul/sync_inline.h", "haul/trace_inline.h", "haul/trace_file.h"}


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
    others = re.findall(r"\b((?:lib)?haul[\w-]*\(\d\))", see_also)
    tap.ok(others and {o.replace("(", ".").rstrip(")") for o in others} <= {*pages, "libhaul.3"},
           f"{name}: refers to pages that there are", others)
    program = programs.get(name.rpartition(".")[0])
    if not program:
        return
    wanted = [" ".join(w.split()).rstrip(";.") for w in shown(program)]
    missing = [w for w in wanted if w.lower() not in text.lower()]
    tap.ok(len(wanted) > 5 and not missing, f"{name}: has all that --help has",
           "\n".join(missing))


def test_headers():
    """haul(7) names the public headers and the programs."""
    with open(os.path.join(os.path.dirname(writer), "haul.7.in")) as f:
        text = f.read()
    named = set(re.findall(r"^\.It Pa (haul\S*/\S+\.h)$", text, re.M))
    root = os.path.join(os.path.dirname(writer), "../..")
    public = {os.path.relpath(p, include) for include in glob.glob(root + "/*/include") +
              glob.glob(root + "/*/*/include") for p in glob.glob(include + "/*/*.h")}
    public -= {"haul/haul.h", *INLINE}
    tap.ok(named == public, "haul.7: all public headers", named ^ public)
    listed = set(re.findall(r"^\.It Xr (haul-\S+) 1$", text, re.M))
    tap.ok(listed == {*programs}, "haul.7: all programs", listed ^ {*programs})


def public_headers():
    root = os.path.normpath(os.path.join(os.path.dirname(writer), "../.."))
    for path in tree.files(root, ".h"):
        if re.search(r"(^|/)include/haul", path):
            yield path, tree.code(tree.text(root, path))


def test_reference():
    names = {name for _, code in public_headers() for name in symbols.DECLARATION.findall(code)
             + re.findall(r"^static inline .*?\b(haul_\w+)\(", code, re.M)
             if not name.endswith("_")}
    files = set(os.listdir(reference))
    missing = {f"{n}.3" for n in names} - files
    tap.ok(len(names) > 200 and not missing, "libhaul(3): a page for each function", missing)
    # man(1) looks in section 3 before it looks in 7.
    tap.ok("haul.3" not in files, "haul(7) is what man haul shows")
    texts = {}
    for name in sorted(files):
        with open(os.path.join(reference, name), encoding="utf-8") as f:
            texts[name] = f.read()
    lost = {(name, to) for name, text in texts.items()
            for to in re.findall(r"^\.(?:Xr|so) (?:man3/)?(\S+?)(?: 3\b|\.3$)", text, re.M)
            if f"{to}.3" not in files}
    tap.ok(not lost, "libhaul(3): refers to pages that there are", lost)
    whole = [n for n, text in texts.items() if not text.startswith(".so ")]
    untold = [n for n in whole if re.search(r"^\.Sh DESCRIPTION\n\.Sh|^\.Nd $", texts[n], re.M)]
    tap.ok(not untold, "libhaul(3): each page says something", untold)
    unlisted = [n for n in whole if f"Xr {n[:-2]} 3" not in texts["libhaul.3"] and n != "libhaul.3"]
    tap.ok(not unlisted, "libhaul(3): lists each page", unlisted)
    if mandoc:
        r = output(mandoc, "-T", "lint", "-W", "warning",
                   *(os.path.join(reference, n) for n in whole))
        tap.ok(r.returncode == 0 and not r.stdout, "libhaul(3): well-formed", r.stdout)


HEADER = """/* SPDX */
/* Things: a header of a test. */
struct haul_thing;

/*
 * haul_a: does a. Any thread.
 * haul_b: waits. Returns
 *	-EINVAL	no a
 *		at all
 */
HAUL_API int haul_a(struct haul_thing *t, int (*fn)(void *a, int b));
HAUL_API void haul_b(void) HAUL_SUSPENDS;
/* The same, twice. */
HAUL_API void haul_c(void);

/* Of haul_d(). */
struct haul_opts {
	int x; /* no {, no ; */
};

/*
 * Does d.
 *
 *	haul_d();
 */
static inline void haul_d(void)
{
	return;
}
"""


def made_of(header, folder):
    path = os.path.join(folder, "haul/thing.h")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(header)
    out = os.path.join(folder, "man3")
    r = output(sys.executable, reference_writer, out, "1",
               os.path.join(os.path.dirname(writer), "haul.7.in"), path)
    found = {}
    for name in os.listdir(out) if r.returncode == 0 else ():
        with open(os.path.join(out, name), encoding="utf-8") as f:
            found[name] = f.read()
    return found, r.stdout


def test_reference_writer():
    with tempfile.TemporaryDirectory() as d:
        made, said = made_of(HEADER, d)
        tap.ok(set(made) == {f"{n}.3" for n in ("libhaul", "haul_thing.h", "haul_a",
                                                "haul_b", "haul_c", "haul_opts", "haul_d")},
               "reference: a page or a link for each name", said or list(made))
        a = made.get("haul_a.3", "")
        for what, part in (
                ("functions", '.Fo haul_a\n.Fa "struct haul_thing *t"\n'
                 '.Fa "int (*fn)(void *a, int b)"\n.Fc\n'),
                ("lists", ".It \\-EINVAL\nno a\nat all\n.El"),
                ("names", ".Fn haul_b :\nwaits.\nReturns\n"),
                ("the same", ".Fn haul_c :\nThe same, twice.\n"),
                ("what suspends", "calling coroutine:\n.Fn haul_b .\n")):
            tap.ok(part in a, f"reference: {what}", a)
        tap.ok(made.get("haul_b.3") == ".so man3/haul_a.3\n", "reference: links")
        tap.ok(".Bd -literal -offset indent\n    haul_d();\n.Ed" in made.get("haul_d.3", "") and
               "    int x; /* no {, no ; */\n" in made.get("haul_opts.3", ""), "reference: code")
        bare = re.sub(r"/\*\n \* Does d.*?\*/\n|/\* Of haul_d.*?\n", "", HEADER, flags=re.S)
        said = made_of(bare, d)[1]
        tap.ok("haul_d() has no comment" in said, "reference: a function without a comment", said)


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
test_reference()
test_reference_writer()
test_drift()
tap.done()
