# SPDX-License-Identifier: BSD-3-Clause
"""Programs outside the tree are built against an installed haul, shared and static, and run; the
ones with archives need no shared library of haul, and none of DPDK. The links of the installed
pages lead somewhere; gdb finds the commands for coroutines. HAUL_FEWER: with archives two programs
by one compiler.
Usage: install.py BUILD_DIR SOURCE_DIR"""
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
sys.path.append(os.path.join(os.path.dirname(__file__), "../lint"))

import links
import outside
from tap import Tap

PROGRAMS = [  # name, source, package, arguments, expected output, or None: as its page says
    ("spawn", "tests/install/spawn.c", "haul", [], r"carriers 2 sum 332833500 strayed 0\n"),
    ("lcores", "tests/install/lcores.c", "haul", [], r"carriers on lcores 2\n"),
    ("first", "README.md", "haul", [], r"(coroutine \d on carrier \d+\n){8}"),
    ("waiting", "docs/guide/waiting.md", "haul", [], None),
    ("descriptors", "docs/guide/descriptors.md", "haul", [], r"all replies came\n"),
    ("echo", "apps/examples/echo.c", "haul-app", ["--help"], r"(?s)Usage: .*--port.*"),
]


def wrong(root, tree, program, compiler, kind):
    """The error, or an empty text."""
    name, path, package, args, expected = program
    path = os.path.join(tree, path)
    try:
        binary = outside.compile_program(root, name, path, compiler, kind, package)
    except outside.Broken as e:
        return str(e)
    unwanted = {outside.SHARED: r"$^", outside.STATIC_HAUL: r"libhaul",
                outside.STATIC: r"libhaul|librte"}[kind]
    dynamic = [lib for lib in outside.needed(binary) if re.match(unwanted, lib)]
    if dynamic:
        return f"needs {' '.join(dynamic)}"
    ran = outside.run([binary, *args], env=outside.environment(root, kind))
    expected = expected or re.escape(outside.output(path))
    if ran.returncode == 0 and re.fullmatch(expected, ran.stdout):
        return ""
    return f"exit status {ran.returncode}\n{ran.stdout}"


def test_compare(tap, root, tree):
    """A program in Python with modules, and programs that it runs, wherever the prefix is."""
    found = {name: os.path.join(folder, name) for folder, _, names in os.walk(root)
             for name in names}
    ran = outside.run([found["haul-compare"], "--version"])
    tap.ok(ran.returncode == 0 and re.fullmatch(r"haul-compare \d+\.\d+\.\d+\n", ran.stdout),
           "haul-compare, with its modules", ran.stdout)
    args = ["--link", "memif", "--pollers", "sleep", "--loads", "1k", "--disturbed", "keep"]
    with subprocess.Popen([found["haul-compare"], *args, "--out", os.path.join(root, "none")],
                          env=outside.environment(root), stderr=subprocess.PIPE, text=True) as p:
        said = ""
        for line in p.stderr:
            said += line
            if "waiting for the first packets" in line:
                p.send_signal(signal.SIGINT)
    tap.ok(p.returncode == 130, "which finds haul-fwd beside it", said)
    report = os.path.join(root, "report")
    ran = outside.run([found["haul-compare"], "--remake",
                       os.path.join(tree, "docs/compare-sample/report.json"), "--out", report])
    tap.ok(ran.returncode == 0 and os.path.exists(os.path.join(report, "report.html")),
           "and writes a report", ran.stdout)
    helpers = [found.get(name, "") for name in
               ("kernel-epoll", "dpdk-interrupt", "compare-neighbour")]
    tap.ok(all(path.endswith(f"/libexec/haul/{os.path.basename(path)}") and
               os.access(path, os.X_OK) for path in helpers), "and the programs of its own",
           helpers)


def test_links(tap, root):
    """The pages lead to nothing that is not installed."""
    docs = next(folder for folder, _, names in os.walk(root) if folder.endswith("share/doc/haul"))
    pages = [os.path.relpath(os.path.join(folder, name), docs)
             for folder, _, names in os.walk(docs) for name in names if name.endswith(".md")]
    dead = [f"{page}:{line}: there is no {to}" for page in pages
            for line, to in links.links(docs, page) if not os.path.exists(os.path.join(docs, to))]
    tap.ok(len(pages) > 30 and not dead, f"the links of {len(pages)} pages", "\n".join(dead))


def test_gdb(tap, root):
    """gdb loads the script with the library. It looks in a folder of its own, here another one,
    below the path that the library has, here that of the temporary root."""
    libs = [name for name in os.listdir(outside.libdir(root))
            if re.fullmatch(r"libhaul\.so\.\d+\.\d+\.\d+", name)]
    gdb = shutil.which("gdb")
    if not libs or not gdb:
        tap.skip("gdb finds the script", "no gdb" if libs else "no shared library")
        return
    scripts = next(folder for folder, _, _ in os.walk(root) if folder.endswith("gdb/auto-load"))
    seen = os.path.join(root, "seen")
    os.makedirs(seen + os.path.dirname(root))
    os.symlink(scripts, seen + root)
    lib = os.path.join(outside.libdir(root), libs[0])
    ran = outside.run([gdb, "-batch", "-nx", "-iex", f"set auto-load scripts-directory {seen}",
                       "-iex", f"set auto-load safe-path {seen}", "-ex", "haul list", lib])
    tap.ok("There is no process and no core" in ran.stdout, "gdb finds the script", ran.stdout)


def test_simulation(tap, root, tree, kind):
    """The program of the guide, whose fault simulations find, and show again."""
    page = os.path.join(tree, "docs/guide/simulation.md")
    env = outside.environment(root, kind)
    try:
        binary = outside.compile_program(root, "requests", page, "gcc", kind, "haul-sim")
    except outside.Broken as e:
        tap.ok(False, f"a simulation, {kind}", e)
        return
    ran = outside.run([binary, "--from", "1"], env=env)
    again = re.search(r"^Again: (.*)$", ran.stdout, re.M)
    tap.ok(ran.returncode == 1 and again and ": too many requests at the server\n" in ran.stdout,
           f"a simulation finds the fault, {kind}", ran.stdout)
    if again:
        ran = outside.run(shlex.split(again[1]), env=env)
        tap.ok(ran.returncode == 1 and ": too many requests at the server\n" in ran.stdout,
               f"and shows it again, {kind}", ran.stdout)


def main():
    build, tree = sys.argv[1:]
    tap = Tap()
    with outside.installed(build) as root:
        test_compare(tap, root, tree)
        test_links(tap, root)
        test_gdb(tap, root)
        has_simulation = os.path.exists(os.path.join(outside.libdir(root), "pkgconfig/haul-sim.pc"))
        for kind in outside.kinds(root) if has_simulation else []:
            if kind == outside.STATIC and not outside.has_static_dpdk():
                tap.skip(f"a simulation, {kind}", "DPDK is installed without archives")
            else:
                test_simulation(tap, root, tree, kind)
        for compiler in "gcc", "clang":
            kinds = outside.kinds(root)
            if compiler != "gcc" and "HAUL_FEWER" in os.environ:
                kinds = kinds[:1]
            for kind in kinds:
                programs = PROGRAMS
                if kind != outside.SHARED and "HAUL_FEWER" in os.environ:
                    programs = [p for p in PROGRAMS if p[0] in ("spawn", "echo")]
                for program in programs:
                    what = f"{program[0]} by {compiler}, {kind}"
                    if kind == outside.STATIC and not outside.has_static_dpdk():
                        tap.skip(what, "DPDK is installed without archives")
                        continue
                    why = wrong(root, tree, program, compiler, kind)
                    tap.ok(not why, what, why)
    tap.done()


main()
