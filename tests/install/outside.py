# SPDX-License-Identifier: BSD-3-Clause
"""Installs haul into an empty folder, and builds users' programs against it, with the flags of
pkg-config and nothing else."""
import contextlib
import os
import re
import shlex
import subprocess
import tempfile


def run(command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          **options)


class Broken(Exception):
    pass


def must(command, **options):
    done = run(command, **options)
    if done.returncode:
        raise Broken(f"{' '.join(command)}: exit status {done.returncode}\n{done.stdout}")
    return done.stdout


@contextlib.contextmanager
def installed(build):
    """The root of an installation, which is removed afterwards."""
    with tempfile.TemporaryDirectory() as root:
        must(["meson", "install", "-C", build, "--no-rebuild", "--quiet", "--destdir", root])
        pc = os.path.join(libdir(root), "pkgconfig/haul.pc")
        with open(pc, encoding="utf-8") as f:
            text = f.read()
        with open(pc, "w", encoding="utf-8") as f:
            f.write(re.sub(r"^prefix=", "prefix=" + root, text, flags=re.M))
        yield root


def libdir(root):
    found = [d for d, _, names in os.walk(root) if "libhaul.a" in names]
    if not found:
        raise Broken("meson install brings no libhaul.a")
    return found[0]


def environment(root, static=False):
    return {**os.environ, "PKG_CONFIG_PATH": os.path.join(libdir(root), "pkgconfig"),
            "LD_LIBRARY_PATH": "" if static else libdir(root)}


def options(root, static):
    words = shlex.split(must(["pkg-config", "--cflags", "--libs"] + ["--static"] * static
                             + ["haul"], env=environment(root)))
    # Both libraries are installed; by default a linker takes the shared one.
    return ["-l:libhaul.a" if static and w == "-lhaul" else w for w in words]


def source(path):
    """The text of a C file, or of the first block of C in a page."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    return re.search(r"```c\n(.*?)```", text, re.S)[1] if path.endswith(".md") else text


def compile_program(root, name, path, compiler="gcc", static=False):
    """The path of the binary."""
    binary = os.path.join(root, name)
    must([compiler, "-std=gnu17", "-Wall", "-Wextra", "-Werror", "-O2", "-x", "c", "-",
          "-x", "none", "-o", binary, *options(root, static)], input=source(path))
    return binary
