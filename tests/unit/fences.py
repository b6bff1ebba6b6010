#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks the barriers whose absence no running program shows, in the compiler's output.

A light fence costs no instruction, but keeps the compiler from merging the accesses around it. A
full fence, and the fence between arming a queue and polling it, is an instruction. Speaks TAP.
usage: fences.py SOURCE_ROOT COMPILER
"""
import os
import re
import subprocess
import sys
import tempfile

PROBE = '''
#include "conc/fence.h"
int word;
void none(void);
void light(void);
void full(void);
void none(void) { word = 1; word = 2; }
void light(void) { word = 1; hauli_fence_light(); word = 2; }
void full(void) { word = 1; hauli_fence_full(); word = 2; }
'''
BARRIER = re.compile(r'\t(lock|xchg|mfence|dmb)')


def functions(root, compiler, source):
    """{name: its instructions}"""
    dpdk = subprocess.run(['pkg-config', '--cflags', 'libdpdk'], check=True, capture_output=True,
                          text=True).stdout.split()
    includes = ['-I' + os.path.join(root, f)
                for f in ('lib', 'lib/include', 'drivers-glue', 'drivers-glue/include')]
    made = subprocess.run(compiler + ['-std=gnu17', '-D_GNU_SOURCE', '-O3', '-w', '-S', '-o', '-'] +
                          includes + dpdk + [source], check=True, capture_output=True, text=True)
    found, name = {}, None
    for line in made.stdout.splitlines():
        label = re.match(r'([a-z]\w*):', line)
        if label:
            name = found[label[1]] = []
        elif name is not None and re.match(r'\t[a-z]', line):
            name.append(line)
    return found


def main():
    root, compiler = sys.argv[1], sys.argv[2].split()
    with tempfile.TemporaryDirectory() as work:
        probe = os.path.join(work, 'probe.c')
        with open(probe, 'w') as f:
            f.write(PROBE)
        made = functions(root, compiler, probe)
    source = os.path.join(root, 'drivers-glue/io/wait.c')
    armed = functions(root, compiler, source)['hauli_io_wait_armed']

    def has_barrier(code):
        return any(BARRIER.match(line) for line in code)

    results = [
        ('a light fence keeps what is before it', len(made['light']) > len(made['none'])),
        ('a light fence is no barrier', not has_barrier(made['light'])),
        ('a full fence is a barrier', has_barrier(made['full'])),
        ('an armed queue is looked at behind a barrier', has_barrier(armed)),
    ]
    print(f'1..{len(results)}')
    for i, (what, holds) in enumerate(results, 1):
        print(f'{"ok" if holds else "not ok"} {i} - {what}')
    sys.exit(not all(holds for _, holds in results))


if __name__ == '__main__':
    main()
