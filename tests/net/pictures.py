#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The pictures of programs in the documentation can be made anew, and show what the programs print
now: the same words, whatever the figures.

pictures.py PATH-OF-MAKE BUILD-DIRECTORY
"""
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

import netns

TEXT = "{http://www.w3.org/2000/svg}text"
PICTURES = {"haul-doctor": r"haul can(not)? run ", "haul-fwd": r"^ 1 afpacket:eth1 "}
# These words depend on the speed and the state of the machine.
VARIES = r"us|ms|[kMG]|-|%|[\u2588\u2591\u00b7]+"


def lines(folder, name):
    """The lines of a picture."""
    tree = xml.etree.ElementTree.parse(os.path.join(folder, name + ".svg"))
    return ["".join(line.itertext()) for line in tree.iter(TEXT)]


def words(shown):
    found = {word for line in shown for word in line.split() if not re.search(r"[0-9]", word)}
    return {word for word in found if not re.fullmatch(VARIES, word)}


def main():
    make, build = sys.argv[1:]
    netns.enter()
    tap = netns.Tap()
    with tempfile.TemporaryDirectory() as folder:
        for name, says in PICTURES.items():
            done = subprocess.run([make, "--build", build, "--out", folder, name],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if not tap.ok(done.returncode == 0, f"{name} is drawn", done.stdout):
                continue
            new, old = lines(folder, name), lines(os.path.dirname(make), name)
            tap.ok(any(re.search(says, line) for line in new), f"{name} printed its end", new)
            tap.ok(new[0] == old[0], f"{name}: the documentation has this command line",
                   f"run docs/pictures/make: {old[0]}")
            if name == "haul-fwd":  # the doctor's findings depend on the machine
                tap.ok(words(new) == words(old), f"{name}: the documentation has these words",
                       f"run docs/pictures/make: {words(new) ^ words(old)}")
    tap.done()


if __name__ == "__main__":
    main()
