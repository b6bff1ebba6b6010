# SPDX-License-Identifier: BSD-3-Clause
"""Shell: every script passes shellcheck, and so does what a shell reads, which says so itself."""
import re
import subprocess

import tree


def findings(root):
    for path in tree.files(root):
        with open(f"{root}/{path}", "rb") as f:
            if not re.match(rb"#!.*\b(ba|da)?sh\b|# shellcheck shell=", f.readline()):
                continue
        run = subprocess.run(["shellcheck", "-f", "gcc", path], cwd=root, stdout=subprocess.PIPE,
                             text=True)
        yield from run.stdout.splitlines()


if __name__ == "__main__":
    tree.main(findings)
