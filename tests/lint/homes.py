# SPDX-License-Identifier: BSD-3-Clause
"""Homes: constructs that are easy to get wrong are allowed in one place each. Tests and benches are
free."""
import re

import tree

SOURCES = ("lib/", "drivers-glue/", "apps/")
# Programs see public headers only.
COUNTERS = ["lib/base/counter.h", "apps/haul-app/report/counters.c", "apps/examples/"]
STEPS = "lib/sim/steps.h"  # replaces atomics
HOMES = [  # name, places where it is allowed, message
    (r"\bmemory_order_(?!relaxed\b)\w+", ["lib/conc/"], "atomics live in lib/conc"),
    (r"\bmemory_order_relaxed\b", ["lib/conc/", *COUNTERS],
     "atomics live in lib/conc, counters in lib/base/counter.h"),
    (r"\batomic_\w+ *\(|\b_Atomic\b|\batomic_\w+ +\w", ["lib/conc/", *COUNTERS],
     "atomics live in lib/conc"),
    (r"\b__(?:atomic|sync)_\w+",
     ["lib/include/haul/hist.h", "lib/include/haul/sync_inline.h",
      "lib/include/haul/trace_inline.h", "lib/base/hist.c"],
     "use C11 atomics, in lib/conc"),  # C++ has no _Atomic: public headers are for both
    (r"#\s*include\s*<hwloc", ["lib/topo/"], "hwloc is lib/topo's"),
    # Names of offloads need no device. And a program without haul, to compare with.
    (r"\brte_(?:eth|eal)_(?!dev_[rt]x_offload_name)\w+ *\(|\brte_(?:ethdev|eal)\w*\.h\b",
     ["drivers-glue/", "apps/haul-compare/interrupt.c"], "EAL and ethdev are drivers-glue's"),
    (r"(?<!asm )(?<!__asm__ )\bvolatile\b", [], "use an atomic of lib/conc"),
    (r"\b(?:__thread|_Thread_local|thread_local)\b",
     ["lib/sched/state/self.c", "lib/sim/world.c", "lib/include/haul/sync_inline.h",
      "lib/include/haul/placed.h", "lib/sched/run/placed.c"],
     "ask hauli_self(): a thread-local is not to be held over a switch"),
    (r"__attribute__ *\(\( *constructor", [], "start-up is a table"),
]


def findings(root):
    for path in tree.files(root, ".c", ".h"):
        if not path.startswith(SOURCES):
            continue
        code = tree.code(tree.text(root, path))
        for pattern, homes, why in HOMES:
            if path.startswith(tuple(homes)) or path == STEPS:
                continue
            for m in re.finditer(pattern, code):
                yield f"{path}:{tree.line_of(code, m.start())}: {m[0].strip()}: {why}"


if __name__ == "__main__":
    tree.main(findings)
