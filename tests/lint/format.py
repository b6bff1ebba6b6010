# SPDX-License-Identifier: BSD-3-Clause
"""Format: clang-format 14 with the tree's .clang-format changes no C file."""
import os
import re
import subprocess

import tree


def findings(root):
    paths = list(tree.files(root, ".c", ".h"))
    style = "file:" + os.path.join(root, ".clang-format")
    for i in range(0, len(paths), 100):
        run = subprocess.run(["clang-format-14", "--style=" + style, "--dry-run", "-Werror"]
                             + paths[i:i + 100], cwd=root, stderr=subprocess.PIPE, text=True)
        # One line per file is enough: the remedy is the same for all.
        wrong = dict.fromkeys(re.findall(r"^(\S+?):\d+:\d+: error", run.stderr, re.M))
        yield from (f"{path}:1: run clang-format-14 -i on it" for path in wrong)
        if run.returncode and not wrong:
            yield run.stderr


if __name__ == "__main__":
    tree.main(findings)
