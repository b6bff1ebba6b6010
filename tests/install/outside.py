# SPDX-License-Identifier: BSD-3-Clause
"""Installs haul into an empty folder, and builds users' programs against it, with the flags of
pkg-config and nothing else."""
import contextlib
import glob
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
        for pc in glob.glob(os.path.join(libdir(root), "pkgconfig/*.pc")):
            with open(pc, encoding="utf-8") as f:
                text = f.read()
            with open(pc, "w", encoding="utf-8") as f:
                f.write(re.sub(r"^prefix=", "prefix=" + root, text, flags=re.M))
        yield root


def libdir(root):
    found = [d for d, folders, _ in os.walk(root) if "pkgconfig" in folders]
    if not found:
        raise Broken("meson install brings no pkgconfig folder")
    return found[0]


# How a program is linked: with the shared libraries of haul and DPDK, with libhaul.a and the shared
# ones of DPDK, or with the archives of both.
SHARED, STATIC_HAUL, STATIC = "shared", "libhaul.a", "static"
SIMULATION = "-Wl,--whole-archive,-l:libhaul-sim.a,--no-whole-archive"


def kinds(root):
    """What can be linked with this installation, as far as DPDK is not in question."""
    names = os.listdir(libdir(root))
    return [SHARED] * ("libhaul.so" in names) + [STATIC_HAUL, STATIC] * ("libhaul.a" in names)


def has_static_dpdk():
    folder = must(["pkg-config", "--variable=libdir", "libdpdk"]).strip()
    return os.path.exists(os.path.join(folder, "librte_eal.a"))


def environment(root, kind=SHARED):
    return {**os.environ, "PKG_CONFIG_PATH": os.path.join(libdir(root), "pkgconfig"),
            "LD_LIBRARY_PATH": libdir(root) if kind == SHARED else ""}


def options(root, kind, package):
    def pkgconfig(*words):
        return shlex.split(must(["pkg-config", *words], env=environment(root)))

    if kind == STATIC_HAUL:
        archives = ["-l:libhaul-app.a"] * (package == "haul-app")
        archives += [SIMULATION if package == "haul-sim" else "-l:libhaul.a"]
        return [*pkgconfig("--cflags", "--libs-only-L", package), *archives,
                *pkgconfig("--libs", package, "hwloc", "jansson", "libpcap",
                           "libsystemd", "liburing"), "-lm"]
    return pkgconfig("--cflags", "--libs", *["--static"] * (kind == STATIC), package)


def needed(binary):
    """The shared libraries that it needs itself."""
    return re.findall(r"\(NEEDED\).*\[(.*)\]", must(["readelf", "--dynamic", "--wide", binary]))


def source(path):
    """The text of a C file, or of a page's blocks of C up to the one with main()."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    if not path.endswith(".md"):
        return text
    program = ""
    for block in re.findall(r"```c\n(.*?)```", text, re.S):
        program += block
        if "int main(" in block:
            break
    return program


def output(path):
    """What a page says that its program prints."""
    with open(path, encoding="utf-8") as f:
        return re.search(r"it prints:\n\n```\n(.*?)```", f.read(), re.S)[1]


def compile_program(root, name, path, compiler="gcc", kind=SHARED, package="haul"):
    """The path of the binary."""
    binary = os.path.join(root, name)
    must([compiler, "-std=gnu17", "-Wall", "-Wextra", "-Wno-unused-parameter",
          "-Werror", "-O2", "-x", "c", "-",
          "-x", "none", "-o", binary, *options(root, kind, package)], input=source(path))
    return binary
