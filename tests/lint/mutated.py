# SPDX-License-Identifier: BSD-3-Clause
"""Mutations: the text that each one replaces is in its file exactly once, apart from white space.
The tests that run them take minutes, so an edit without its mutation shows here first."""
import ast
import os

import tree

LISTS = ("MUTATIONS", "WEAKENED")


def mutations(source):
    """Line, file and text of each (test, file, what is broken, text, its replacement)."""
    for node in ast.parse(source).body:
        if not isinstance(node, ast.Assign) or ast.unparse(node.targets[0]) not in LISTS:
            continue
        for one in ast.walk(node.value):
            if isinstance(one, ast.Tuple):
                _, name, _, old, _ = ast.literal_eval(one)
                yield one.lineno, name, old


def findings(root):
    for path in tree.files(root, ".py"):
        for line, name, old in mutations(tree.text(root, path)):
            if not os.path.exists(os.path.join(root, name)):
                yield f"{path}:{line}: there is no {name}"
                continue
            times = "".join(tree.text(root, name).split()).count("".join(old.split()))
            if times != 1:
                yield f"{path}:{line}: {name} has the text {times} times: {old}"


if __name__ == "__main__":
    tree.main(findings)
