# SPDX-License-Identifier: BSD-3-Clause
"""The ABI of the shared libraries is compatible with its description in apps/packaging/abi: no
function, no type of a public header and no constant that programs are compiled with has gone or
changed. More is compatible.

Usage: abi.py ROOT LIBRARY...            the test
       abi.py ROOT --record LIBRARY...   describes what is built: after a change that is meant"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
sys.path.append(os.path.join(os.path.dirname(__file__), "../lint"))

import symbols
from tap import Tap

RECORD = "run: meson compile -C BUILD_DIR record-abi"


def describe(folder, library, output):
    """abidw's description of what public headers and exported functions show of a library."""
    subprocess.run(["abidw", "--exported-interfaces-only", "--no-corpus-path", "--no-comp-dir-path",
                    "--no-show-locs", "--no-elf-needed", "--no-parameter-names",
                    "--type-id-style", "hash",
                    "--suppressions", os.path.join(folder, "public.suppr"),
                    "--out-file", output, library], check=True)
    with open(output, encoding="utf-8") as f:
        text = f.read()
    with open(output, "w", encoding="utf-8") as f:
        # A tenth less without indentation. Paths depend on where the build directory is.
        text = re.sub(r"(?m)^ +", "", text)
        f.write(re.sub(r" path='[^']*/((?:lib|drivers-glue|apps)/[^']*')", r" path='\1", text))


def difference(old, new):
    """What abidiff says of an incompatible change, or an empty text."""
    done = subprocess.run(["abidiff", "--no-added-syms", old, new], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if done.returncode & ~(4 | 8):  # 4: a change, 8: of those that break each program
        raise RuntimeError(f"abidiff: exit status {done.returncode}\n{done.stdout}")
    return done.stdout if done.returncode else ""


def described(folder, library):
    return os.path.join(folder, symbols.soname_of(library) + ".abi")


def record(folder, libraries):
    for library in libraries:
        path = described(folder, library)
        for old in glob.glob(path.split(".so.")[0] + ".so.*.abi"):
            os.unlink(old)
        describe(folder, library, path)
        print(f"{path}: {os.path.getsize(path) // 1000} kB")


def test_library(tap, folder, library, temporary):
    name = os.path.basename(library)
    old = described(folder, library)
    if not os.path.exists(old):
        tap.ok(False, f"{name}: a description of its ABI", f"no {old}; {RECORD}")
        return
    new = os.path.join(temporary, name + ".abi")
    describe(folder, library, new)
    found = difference(old, new)
    tap.ok(not found, f"{name}: nothing that programs use has changed",
           f"{found}If that is meant, and docs/changelog.md says so, {RECORD}")
    # The same with a function and a field less, as of a later library, must be found.
    with open(old, encoding="utf-8") as f:
        text = f.read()
    for what, pattern in (("function", r"<elf-symbol name='haul_\w+' type='func-type'[^\n]*\n"),
                          ("field", r"(?<=is-struct='yes' visibility='default' id='\w{8}'>\n)"
                          r"<data-member.*?</data-member>\n")):
        less, times = re.subn(pattern, "", text, count=1, flags=re.S)
        with open(new, "w", encoding="utf-8") as f:
            f.write(less)
        tap.ok(times and difference(old, new), f"{name}: a {what} that has gone is found")


def main():
    root, *libraries = sys.argv[1:]
    folder = os.path.join(root, "apps/packaging/abi")
    if libraries[0] == "--record":
        record(folder, libraries[1:])
        return
    tap = Tap()
    if not shutil.which("abidw"):
        tap.skip("the ABI", "abidw is not installed (abigail-tools)")
    else:
        with tempfile.TemporaryDirectory() as temporary:
            for library in libraries:
                test_library(tap, folder, library, temporary)
    tap.done()


main()
