# SPDX-License-Identifier: BSD-3-Clause
"""Memory edges: each atomic access in lib/conc says why its order is enough, and each tagged edge
has both ends.

    memory_order_release  /* inbox.E1:R */    writes before this ...
    memory_order_acquire  /* inbox.E1:A */    ... are seen after this
    atomic_thread_fence   /* bell.E3:F */     both sides of a store-load edge
    memory_order_relaxed  /* why that is enough */
"""
import collections
import re

import tree

ORDER = re.compile(r"\bmemory_order_(\w+)[\s,);]*(?:/\*(.*?)\*/)?", re.DOTALL)
TAG = re.compile(r"\b([a-z_]+\.E\d+):([RAF])\b")


def findings(root):
    ends = collections.defaultdict(list)
    for path in tree.files(root, ".c", ".h"):
        if not path.startswith("lib/conc/"):
            continue
        source = tree.text(root, path)
        for m in ORDER.finditer(source):
            where = f"{path}:{tree.line_of(source, m.start())}"
            tags = TAG.findall(m[2] or "")
            if not (m[2] or "").strip():
                yield f"{where}: memory_order_{m[1]} without a comment that says why"
            elif m[1] != "relaxed" and not tags:
                yield f"{where}: memory_order_{m[1]} without the name of its edge"
            for edge, end in tags:
                ends[edge].append((end, where))
    for edge, seen in sorted(ends.items()):
        kinds = [end for end, _ in seen]
        if not ("R" in kinds and "A" in kinds or kinds.count("F") >= 2):
            yield f"{seen[0][1]}: edge {edge} has only {', '.join(kinds)}"


if __name__ == "__main__":
    tree.main(findings)
