# SPDX-License-Identifier: BSD-3-Clause
"""The Debian packages: each installed file is in exactly one of them, and they need what the build
needs; one version, everywhere; what apps/packaging/debs writes and refuses. HAUL_DEBS: makes the
packages, too, of the last commit, and lintian finds no error and no warning.

Usage: packages.py BUILD_DIR SOURCE_DIR"""
import glob
import importlib.machinery
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
sys.path.append(os.path.join(os.path.dirname(__file__), "../lint"))

import outside
import symbols
from tap import Tap

# Replaced or removed by debian/rules.
NOT_PACKAGED = {"usr/share/doc/haul/LICENSE"}


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as f:
        return f.read()


def debs_program(tree):
    path = os.path.join(tree, "apps/packaging/debs")
    spec = importlib.util.spec_from_loader("debs", importlib.machinery.SourceFileLoader(
        "debs", path))
    module = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True
    spec.loader.exec_module(module)
    return module


def installed_files(root, prefix):
    """As a package has them: below usr/."""
    top = root + prefix
    for folder, folders, names in os.walk(top):
        links = [f for f in folders if os.path.islink(os.path.join(folder, f))]
        for name in names + links:
            yield os.path.join("usr", os.path.relpath(os.path.join(folder, name), top))


def patterns(debian):
    for path in glob.glob(debian + "/*.install"):
        for line in read(path).splitlines():
            yield os.path.basename(path).removesuffix(".install"), line


def matches(pattern, file):
    """As dh_install does: a folder stands for all in it, and no wildcard for a slash."""
    wild = re.escape(pattern).replace(r"\*", "[^/]*")
    return re.fullmatch(wild + "(/.*)?", file)


def test_files(tap, root, prefix, debian):
    files = set(installed_files(root, prefix)) - NOT_PACKAGED
    owners = {f: [p for p, pattern in patterns(debian) if matches(pattern, f)] for f in files}
    wrong = [f"{f}: in {' and '.join(p) or 'no package'}" for f, p in sorted(owners.items())
             if len(p) != 1]
    tap.ok(len(files) > 500 and not wrong, f"each of {len(files)} files is in one package",
           "\n".join(wrong))
    idle = [f"{p}: {pattern}" for p, pattern in patterns(debian)
            if not any(matches(pattern, f) for f in files)]
    tap.ok(not idle, "each pattern of debian/*.install stands for a file", "\n".join(idle))
    for program in sorted(f.removeprefix("usr/bin/") for f in files if f.startswith("usr/bin/")):
        for also in (f"usr/share/man/man1/{program}.1",
                     f"usr/share/bash-completion/completions/{program}"):
            tap.ok(owners.get(also) == owners[f"usr/bin/{program}"], f"beside {program}: {also}")


def fields(debian):
    """The stanzas of debian/control, each as a dictionary."""
    for stanza in read(debian, "control").split("\n\n"):
        yield dict(re.findall(r"(?m)^([\w-]+): *((?:.*\n?)(?:^[ \t].*\n?)*)", stanza))


def names(text):
    return {re.match(r"[^\s(:]+", part.strip())[0] for part in text.split(",")}


def test_control(tap, tree, debian, libraries):
    source, *packages = fields(debian)
    group = re.search(r"(?ms)^# build: .*?\n(.*?)\n\n", read(tree, ".ci/packages"))[1].split()
    # The compiler is always there where packages are built, and meson brings ninja.
    wanted = set(group) - {"gcc", "libc6-dev", "ninja-build"} | {"debhelper-compat", "python3"}
    found = names(source["Build-Depends"])
    tap.ok(found == wanted, "Build-Depends is the group build of .ci/packages", found ^ wanted)
    soversion = {re.search(r"\.so\.(.*)", symbols.soname_of(lib))[1] for lib in libraries}
    named = {p["Package"].strip() for p in packages}
    tap.ok(len(soversion) == 1 and "libhaul" + next(iter(soversion)) in named,
           "the library's package has the libraries' soversion", f"{soversion}, {named}")
    tap.ok({p for p, _ in patterns(debian)} == named, "each package has files", named)


def test_version(tap, debs, root, version):
    said = {name: outside.run([os.path.join(folder, name), "--version"],
                              env=outside.environment(root)).stdout.strip()
            for folder, _, files in os.walk(root) if folder.endswith("/bin") for name in files}
    tap.ok(len(said) > 5 and all(s == f"{p} {version}" for p, s in said.items()),
           "programs have the version of meson.build", said)
    tap.ok(debs.project_version() == version, "and the packages", debs.project_version())
    minor = version.rpartition(".")[0]
    log = debs.read("docs/changelog.md")
    following = re.search(r"^## ([\d.]+)", log, re.M)[1]
    tap.ok([int(n) for n in following.split(".")] >= [int(n) for n in minor.split(".")],
           "docs/changelog.md begins with this version or the next", following)
    debs.commit_time = lambda: 1800000000
    snapshot = debs.changelog(version + "+git20270115.080000.0123abcd", False)
    tap.ok(snapshot.startswith(f"haul ({version}+git20270115.080000.0123abcd-0haul1) unstable;") and
           snapshot.endswith("  Fri, 15 Jan 2027 08:00:00 +0000\n"), "debian/changelog", snapshot)
    debs.read = lambda path: "## 0.9 (to come)\n" if path.endswith("changelog.md") else \
        "Maintainer: nobody\n"
    try:
        debs.changelog("0.9.0", True)
        said = ""
    except debs.Failed as e:
        said = str(e)
    tap.ok('no section "## 0.9", without "(to come)"' in said, "a release has its changes", said)


def test_quickstart(tap, root):
    """What the demonstration says where it cannot run; debian/tests run it."""
    program = next(os.path.join(folder, "quickstart") for folder, _, files in os.walk(root)
                   if "quickstart" in files)
    with tempfile.TemporaryDirectory() as empty:
        for path, wanted in ((empty, "haul-echo is not in PATH: install haul"),
                             (glob.glob(root + "/**/bin", recursive=True)[0],
                              "ip is missing: install iproute2")):
            ran = outside.run([sys.executable, program], env={**os.environ, "PATH": path})
            tap.ok(ran.returncode == 1 and ran.stdout == f"haul: {wanted}\n", wanted, ran.stdout)


def test_refusal(tap, tree):
    """One line, and no packages, where there is no commit to make them of."""
    if not all(map(shutil.which, ("dpkg-buildpackage", "dh", "git"))):
        tap.skip("refusals", "no debhelper")
        return
    with tempfile.TemporaryDirectory() as copy:
        os.makedirs(os.path.join(copy, "apps/packaging"))
        program = shutil.copy(os.path.join(tree, "apps/packaging/debs"),
                              os.path.join(copy, "apps/packaging/debs"))
        env = {**os.environ, "GIT_CEILING_DIRECTORIES": os.path.dirname(copy)}
        for what, prepare, wanted in (
                ("no git tree", [], "is no git tree"),
                ("changes", ["git", "init", "-q"], "commit or remove apps/packaging/debs")):
            if prepare:
                subprocess.run(prepare, cwd=copy, check=True, env=env)
            done = subprocess.run([program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True, env=env)
            tap.ok(done.returncode == 1 and re.fullmatch(f"debs: .*({wanted}).*\n", done.stdout),
                   f"refuses: {what}", done.stdout)


def test_packages(tap, tree):
    if "HAUL_DEBS" not in os.environ:
        tap.skip("the packages", "HAUL_DEBS is not set: it takes minutes")
        return
    with tempfile.TemporaryDirectory() as out:
        done = outside.run([os.path.join(tree, "apps/packaging/debs"), "--out", out, "--lintian"])
        tap.ok(not done.returncode and len(glob.glob(out + "/*.deb")) >= 4,
               "the packages, by lintian's rules", done.stdout)


def main():
    build, tree = sys.argv[1:]
    debian = os.path.join(tree, "apps/packaging/debian")
    project, options = (json.loads(outside.must(["meson", "introspect", build, what]))
                        for what in ("--projectinfo", "--buildoptions"))
    prefix = next(o["value"] for o in options if o["name"] == "prefix")
    tap = Tap()
    with outside.installed(build) as root:
        if outside.kinds(root) == [outside.SHARED, outside.STATIC_HAUL, outside.STATIC]:
            test_files(tap, root, prefix, debian)
        else:
            tap.skip("files", "this build is not of both kinds of libraries")
        test_control(tap, tree, debian, glob.glob(outside.libdir(root) + "/lib*.so.*.*.*"))
        test_quickstart(tap, root)
        test_version(tap, debs_program(tree), root, project["version"])
    test_refusal(tap, tree)
    test_packages(tap, tree)
    tap.done()


main()
