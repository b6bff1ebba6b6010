# SPDX-License-Identifier: BSD-3-Clause
"""Shell: every script passes shellcheck."""
import re
import subprocess

import tree


def findings(root):
    for path in tree.files(root):
        with open(f"{root}/{path}", "rb") as f:
            if not re.match(rb"#!.*\b(ba|da)?sh\b", f.readline()):
                continue
        run = subprocess.run(["shellcheck", "-f", "gcc", path], cwd=root, stdout=subprocess.PIPE,
                             text=True)
        yield from run.stdout.splitlines()


if __name__ == "__main__":
    tree.main(findings)
