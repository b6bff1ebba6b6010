# SPDX-License-Identifier: BSD-3-Clause
"""Tests the rules: a small tree without errors, and for each error one file added to it, with the
line that the rule must print."""
import os
import re
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))

import api
import circles
import edges
import excerpts
import files
import floors
import format
import homes
import links
import mentions
import mutated
import probes
import shell
import sleeps
import symbols
import words
from tap import Tap

C = "/* SPDX-License-Identifier: BSD-3-Clause */\n"
STORE = "atomic_store_explicit(&w, 1, memory_order_release{});\n"
MUTATIONS = ("#!/usr/bin/env python3\n# SPDX-License-Identifier: BSD-3-Clause\n"
             "MUTATIONS = [\n    ('a', '{}', 'no load', 'atomic_load(&w)', '0'),\n]\n")
LOAD = "atomic_load_explicit(&w, memory_order_acquire{});\n"

RIGHT = {
    "lib/base/list.h": C + "#include <stddef.h>\n",
    "lib/conc/inbox.h": C + '#include "base/list.h"\n',
    "lib/conc/inbox.c": C + "void f(void)\n{\n\t" + STORE.format(" /* inbox.E1:R */") + "\t"
                        + LOAD.format(" /* inbox.E1:A */") + "}\n",
    "lib/sched/run.c": C + '#include <rte_cycles.h>\n\n#include "conc/inbox.h"\n\n'
                       "/* Not volatile, no rte_eth_rx_burst() */\n"
                       "void hauli_run(void)\n{\n}\n\nvoid hauli_walk(void)\n{\n}\n",
    "lib/sched/low.h": C + "struct low;\n",
    "lib/sched/top.h": C + '#include "sched/low.h"\n\nvoid hauli_top(void);\n',
    "lib/sched/top.c": C + '#include "sched/top.h"\n\nvoid hauli_top(void)\n{\n'
                       '\tHAULI_PROBE2(run, 1, 2);\n}\n',
    "lib/include/haul/base.h": C,
    "lib/include/haul/sem.h": C + "HAUL_API int haul_sem_wait(struct haul_sem *s, "
                              "uint64_t deadline);\n",
    "tests/net/nulls.c": C + "X(haul_sem_wait, NULL)\n",
    "lib/sched/run.h": C + "void hauli_run(void);\nvoid hauli_walk(void);\n",
    "lib/sched/run/loop.h": C,
    "lib/sched/glue.h": C + '#include "sched/run.h"\n\n/* As it is: hauli_walk() */\n',
    "drivers-glue/port/port.h": C,
    "drivers-glue/port/control/rss.h": C,
    "drivers-glue/io/io.c": C + "#include <rte_ethdev.h>\n\n#include <haul/base.h>\n\n"
                            '#include "port/port.h"\n#include "sched/glue.h"\n'
                            "void f(void)\n{\n\thauli_walk();\n}\n",
    "drivers-glue/include/haul-dpdk/a.h": C,
    "apps/haul-app/include/haul-app/a.h": C + "#include <haul-dpdk/a.h>\n",
    "apps/haul-app/run.h": C,
    "apps/haul-app/screen/canvas.h": C,
    "apps/haul-app/run.c": C + '#include <haul-app/a.h>\n\n#include "run.h"\n',
    "tests/mutations.py": MUTATIONS.format("lib/base/word.h"),
    "lib/base/word.h": C + "/* atomic_load( &w) */\n",
    "apps/first.c": C + "#include <haul/sem.h>\n\nint haul_defined(int x)\n{\n"
                    "\treturn haul_a(x) + HAUL_MACRO(x) + haul_called(x);\n}\n",
    "docs/guide/use.md": "In text: haul_told.\n\n```c\nvoid f(void)\n{\n"
                         "\thaul_sem_wait(s, 0); /* haul_told */\n}\n```\n",
    "docs/README.md": "[a](a.md), [use](guide/use.md), [base](../lib/base)\n",
    "docs/a.md": "[index](README.md#top), [out](https://example.org)\n```c\na[0](b)\n```\n",
    "apps/go": "#!/bin/sh\n# SPDX-License-Identifier: BSD-3-Clause\nset -eu\n",
}

API = "lib/include/haul/api.h"
B = "HAUL_API int haul_b(int x);\n"
WRONG = [  # rule, file, text, expected message
    (api, API, "HAUL_API int haul_a(char *errbuf, size_t errlen, int x);\n", "its last two"),
    (api, API, "struct haul_a {\n\tchar *errbuf; /* */\n};\n", "errbuf: an argument of the call"),
    (api, API, "HAUL_API int haul_a(uint64_t deadline, int x);\n", "its deadline is not its last"),
    (api, API, "HAUL_API int haul_a(int carrier);\n", "int carrier: numbers of"),
    (api, API, "HAUL_API int haul_a(int (*fn)(void *arg), int x);\n", "void .arg does not follow"),
    (api, API, "HAUL_API bool haul_a_alive(int x);\n", "what returns a bool"),
    (api, API, "HAUL_API int haul_a(const struct haul_a *a);\n", "haul_a: tests/net/nulls.c does"),
    (api, API, "HAUL_API int haul_a(const struct haul_a_opts *a);\n", None),
    (api, API, B, "api.h:2: haul_b: no program, example or page"),
    (api, API, "HAUL_API int haul_told(int x);\n", "haul_told: no program"),
    (api, API, "HAUL_API int haul_defined(int x);\n", "haul_defined: no program"),
    (api, API, B + "#define HAUL_OTHER(x) haul_b(x)\n", "haul_b: no program"),
    (api, API, B + "#define HAUL_MACRO(x) \\\n\thaul_b(x)\n", None),
    (api, API, B + "static inline int haul_a(int x)\n{\n\treturn haul_b(x);\n}\n", None),
    (api, API, "HAUL_API int haul_excused(int x);\n", None),
    (api, API, "HAUL_API int haul_called(int x);\n", "haul_called: it is called: no exception"),
    (floors, "lib/base/a.c", '#include "conc/inbox.h"\n', "lib/base/a.c:2: lib/base may not"),
    (floors, "lib/conc/a.c", '#include "sched/b.h"\n', None),  # the compiler's
    (floors, "lib/sched/state/a.c", '#include "sched/run/loop.h"\n',
     "lib/sched/state may not include lib/sched/run/loop.h"),
    (floors, "drivers-glue/port/a.c", '#include "port/control/rss.h"\n',
     "drivers-glue/port may not include drivers-glue/port/control/rss.h"),
    (floors, "docs/internals/conc.md", "| file | what |\n|---|---|\n| `ring` | A ring. |\n",
     "the table does not list lib/conc/inbox"),
    (floors, "docs/internals/conc.md", "| file | what |\n|---|---|\n| `inbox` `ring` | x |\n",
     "conc.md:4: lib/conc has no ring"),
    (floors, "docs/internals/sched.md", "| room | files |\n|---|---|\n| `run` | `loop` `gone` |\n",
     "sched.md:4: the files of run are others: gone"),
    (floors, "docs/internals/sched.md", "| room | files |\n|---|---|\n| `run` | `loop` |\n",
     "the table has no sched"),
    (floors, "apps/a.c", '#include "conc/inbox.h"\n', "apps may not include lib/conc/inbox.h"),
    (floors, "apps/a.c", '#include "haul-app/run.h"\n', "apps may not include apps/haul-app/run.h"),
    (floors, "apps/haul-app/a.c", '#include "conc/inbox.h"\n', "haul-app may not include lib/conc"),
    (floors, "apps/haul-app/report/a.c", '#include "screen/canvas.h"\n',
     "apps/haul-app/report may not include apps/haul-app/screen/canvas.h"),
    (floors, "drivers-glue/io/a.c", "#include <haul-app/a.h>\n", "may not include apps/haul-app"),
    (floors, "lib/net/a.c", "#include <haul-dpdk/a.h>\n", "lib/net may not include drivers-glue"),
    (floors, "drivers-glue/port/a.c", '#include "io/a.h"\n', None),  # as above
    (floors, "drivers-glue/linux/a.c", '#include "port/port.h"\n',
     "drivers-glue/linux may not include drivers-glue/port/port.h"),
    (floors, "drivers-glue/port/a.c", '#include "sched/glue.h"\n', "drivers-glue/port may not"),
    (floors, "drivers-glue/io/a.c", '#include "sched/run.h"\n', "may not include lib/sched/run.h"),
    (floors, "drivers-glue/io/a.c", "int x = hauli_run();\n", "hauli_run is not in lib/"),
    (floors, "drivers-glue/io/a.c", "int x = p->carrier->id;\n", "carrier-> is not in"),
    (floors, "drivers-glue/a.c", "int a;\n", "drivers-glue has folders"),
    (floors, "lib/include/haul/a.h", '#include "base/list.h"\n', "lib/include may not"),
    (floors, "lib/base/a.h", '#include "base/a.h"\n', "a.h:1: includes itself"),
    (floors, "lib/sched/a.c", "#include <rte_mbuf.h>\n", "lib/sched may not include DPDK's"),
    (floors, "lib/net/a.c", "#include <rte_ethdev.h>\n", "lib/net may not include DPDK's"),
    (circles, "lib/sched/low.h", '#include "sched/top.h"\n', "circle: lib/sched/low lib/sched/top"),
    (circles, "lib/sched/low.c", "int f(void)\n{\n\thauli_top();\n}\n",
     "lib/sched/low > lib/sched/top: lib/sched/low.c uses hauli_top"),
    (circles, "lib/conc/a.c", "int f(void)\n{\n\thauli_top();\n}\n",
     "lib/conc:1: in a circle: lib/conc lib/sched"),
    (circles, "lib/sched/low.h", "void hauli_top(void);\n",
     "low.h:2: declares hauli_top, which is defined in lib/sched/top.c"),
    (circles, "lib/sched/low.h", "void hauli_gone(void);\n",
     "low.h:2: declares hauli_gone, which is not defined"),
    (homes, "lib/sched/a.c", "static _Atomic int x;\n", "_Atomic: atomics live in lib/conc"),
    (homes, "lib/sched/a.c", STORE.format(""), "memory_order_release: atomics live"),
    (homes, "lib/net/a.c", "n = atomic_load(&n);\n", r"atomic_load\(: atomics live"),
    (homes, "apps/a.c", "x = memory_order_relaxed;\n", "counters in lib/base"),
    (homes, "lib/base/a.c", "x = __atomic_load_n(&y, 5);\n", "use C11 atomics"),
    (homes, "lib/sched/a.c", "#include <hwloc.h>\n", "hwloc is lib/topo's"),
    (homes, "apps/a.c", "rte_eth_dev_stop(0);\n", "drivers-glue's"),
    (homes, "apps/a.c", "#include <rte_eal.h>\n", "drivers-glue's"),
    (homes, "lib/sched/a.c", "static volatile int x;\n", "volatile: use an atomic"),
    (homes, "lib/net/a.c", "static __thread int x;\n", "__thread: ask hauli_self"),
    (edges, "lib/conc/a.c", STORE.format(""), "without a comment"),
    (edges, "lib/conc/a.c", STORE.format(" /* so */"), "without the name of its edge"),
    (edges, "lib/conc/a.c", STORE.format(" /* a.E1:R */"), "edge a.E1 has only R"),
    (edges, "lib/conc/a.c", LOAD.format(" /* a.E1:F */"), "edge a.E1 has only F"),
    (files, "lib/base/a.c", None, "does not begin with SPDX"),
    (files, "lib/base/a.h", "int\ta" + "a" * 100 + ";\n", "110 columns"),
    (files, "lib/base/a.h", "int a; \n", "white space"),
    (files, "lib/base/a.h", "int a;", "no newline"),
    (files, "lib/base/a.h", "\n" * 600, "601 lines"),
    (format, "lib/base/a.c", "int  a;\n", "lib/base/a.c:1: run clang-format"),
    (words, "lib/sched/a.c", "int seat;\n", "a.c:2: seat: say group_idx"),
    (words, "docs/a.md", "The thief will rob.\n", "a.md:2: rob: say steal"),
    (excerpts, "docs/a.md", "\n<!-- from lib/base/gone.h -->\n```c\nint a;\n```\n",
     "docs/a.md:3: there is no lib/base/gone.h"),
    (excerpts, "docs/a.md", "<!-- from lib/sched/run.h -->\n```c\nvoid hauli_walk(void);\n...\n"
     "void hauli_run(void);\n```\n", 'run.h does not have the lines from "void hauli_run'),
    (excerpts, "docs/a.md", "<!-- from lib/sched/run.h -->\n```c\nvoid hauli_run(void);\n...\n"
     "void hauli_walk(void);\n```\n", None),
    (links, "docs/a.md", "\n[b](gone.md)\n", "docs/a.md:[23]: there is no docs/gone.md"),
    (links, "docs/b.md", "text\n", "docs/b.md:1: docs/README.md does not lead"),
    (mentions, "lib/base/a.c", "/* As lib/base/gone.c. */\n", "a.c:2: there is no lib/base/gone.c"),
    (mentions, "lib/base/a.c", "/* lib/base/list.h, conc/inbox.c, gone.h. */\n", "no gone.h"),
    (mentions, "lib/base/a.c", "/* lib/base, tests/gone. */\n", "there is no tests/gone"),
    (mentions, "docs/a.md", "hauli_walk() calls `hauli_gone(x)`.\n", r"there is no hauli_gone\("),
    (mentions, "lib/base/a.c", "/* list.h, a list_KIND.c */\nx(\"gone.c\");\n", None),
    (mentions, "docs/a.md", "See docs/design/0099.\n", "there is no docs/design/0099"),
    (mentions, "docs/a.md", "As of commit 7a295d4.\n", "a.md:2: commit 7a295d4: give"),
    (mentions, "docs/a.md", "```sh\ncc first.c\n```\n", None),
    (mentions, "apps/go", "#!/bin/sh\n# Calls gone.sh.\n", "apps/go:2: there is no gone.sh"),
    (mutated, "tests/a.py", MUTATIONS.format("lib/base/a.h"), "a.py:4: there is no lib/base/a.h"),
    (mutated, "tests/a.py", MUTATIONS.format("lib/base/list.h"), "list.h has the text 0 times"),
    (probes, "apps/a.bt", "#!/usr/bin/env bpftrace\nusdt:*:haul:gone\n{\n\t@ = arg0;\n}\n",
     "a.bt:2: there is no probe gone"),
    (probes, "apps/a.bt", "#!/usr/bin/env bpftrace\nusdt:*:haul:run\n{\n\t@ = arg2;\n}\n",
     "a.bt:2: run has 2 arguments, no arg2"),
    (probes, "apps/a.bt", "#!/usr/bin/env bpftrace\nusdt:/x:haul:run\n{\n\t@ = arg1;\n}\n",
     "a.bt: a probe is not written"),
    (probes, "apps/a.bt", "#!/usr/bin/env bpftrace\nusdt:*:haul:run\n/arg0/\n{\n\t@ = arg1;\n}\n",
     None),
    (shell, "tests/go", "#!/bin/sh\nrm $1\n", "SC2086"),
    (shell, "apps/completion/go", "# shellcheck shell=bash\nrm $1\n", "SC2086"),
    (sleeps, "tests/a.py", "int\ntime.sleep(1)\n", "a.py:3: a sleep: wait for the event"),
    (sleeps, "tests/a.py", "int\ntime.sleep(1)  # at any moment\n", None),
    (sleeps, "tests/a.py", "# It stands still.\ntime.sleep(1)\n", None),
    (sleeps, "apps/a.py", "int\ntime.sleep(1)\n", None),
    (sleeps, "tests/unit/a.c", "int i;\nvoid f(void)\n{\n\tusleep(20000);\n}\n", "a.c:5: a sleep"),
    (sleeps, "tests/unit/a.c", "int i;\nint x = haul_sleep(20 * HAUL_MS);\n", "a.c:3: a sleep"),
    (sleeps, "tests/unit/a.c", "int i;\nint x = haul_sleep(HAUL_US); /* usleep(1) */\n", None),
    (sleeps, "tests/unit/a.c", "int i;\n\tnanosleep(&t, NULL); /* between looks */\n", None),
    (sleeps, "tests/go.sh", "#!/bin/sh\ntrue; sleep 1\n", "go.sh:2: a sleep"),
    (sleeps, "tests/net/a.py", "int\ndone = run(x, timeout=20)\n", "a.py:3: a limit below 60 s"),
    (sleeps, "tests/net/a.py", "int\ns.settimeout(0.2)\n", "a.py:3: a limit"),
    (sleeps, "tests/net/a.py", "int\ns.settimeout(0.2)  # nothing is to come\n", None),
    (sleeps, "tests/net/a.py", "int\nwait_for(is_up, 'it', 5)\nrun(x, timeout=60)\n", "a.py:3"),
]


def report(rule, root):
    return "\n".join(rule.findings(root))


def make(root, contents):
    for path, text in contents.items():
        os.makedirs(os.path.dirname(f"{root}/{path}"), exist_ok=True)
        with open(f"{root}/{path}", "w", encoding="utf-8") as f:
            f.write(text)


def main():
    tap = Tap()
    api.CALLED_BY_NONE.update(haul_excused="", haul_called="")
    with tempfile.TemporaryDirectory() as root:
        make(root, RIGHT)
        shutil.copy(sys.argv[1] + "/.clang-format", root)
        for rule in api, circles, floors, homes, edges, excerpts, files, format, links, mentions,\
                mutated, probes, shell, sleeps, words:
            said = report(rule, root)
            tap.ok(not said, f"{rule.__name__}: content with a tree that is right", said)
        for rule, path, text, expected in WRONG:
            text = "int a;\n" if text is None else text
            text = text if text.startswith(("#!", "# sh", "int a;")) else C + text
            make(root, {path: text})
            said = report(rule, root)
            os.remove(f"{root}/{path}")
            make(root, RIGHT)
            tap.ok(re.search(expected, said) if expected else not said,
                   f"{rule.__name__}: {expected or 'lets it pass'}", said)

    said = "\n".join([*symbols.differences({"haul_a", "oops"}, {"haul_a", "haul_gone"}),
                      *symbols.clashes({"haul_a", "hauli_b", "init"}),
                      *symbols.misnamed("libhaul.so.0.3.1", "libhaul.so.0", "0.3.1"),
                      *symbols.misnamed("libhaul.so.1", "libhaul.so.1", "1.0.0")])
    for expected in "oops: exported", "haul_gone: declared", "init: a global name", \
            "its name for the loader is libhaul.so.0", "libhaul.so.1: not named after":
        tap.ok(expected in said, f"symbols: {expected}", said)
    tap.ok(not [*symbols.misnamed("libhaul.so.0.3.1", "libhaul.so.0.3", "0.3.1"),
                *symbols.misnamed("libhaul.so.2.0.1", "libhaul.so.2", "2.0.1")],
           "symbols: names that are right")
    tap.done()


main()
