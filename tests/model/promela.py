#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Has Spin search a Promela model, and each of its variants that are broken on purpose.

The model must pass a complete search without an error; each variant -DBROKEN=n, n from 1 to the
highest listed at the model's head, must fail in the search (HAUL_MUTATIONS=N: every Nth of them).
PARTS replace a search that is too long for every day: the model is searched with each of them,
unless HAUL_WHOLE is set. Speaks TAP.
usage: promela.py MODEL.pml SPIN COMPILER [FLAGS_OF_THE_SEARCH [PARTS]]
"""
import os
import re
import subprocess
import sys
import tempfile


def search(model, spin, compiler, flags, *defines):
    """(errors, states) of a complete search; errors is None if it was not completed."""
    # A broken variant fails in less time than the compiler's optimization takes.
    level = '-O2' if '-DBROKEN=0' in defines else '-O0'
    with tempfile.TemporaryDirectory() as work:
        def run(*command):
            return subprocess.run(command, cwd=work, check=True, capture_output=True,
                                  text=True).stdout
        run(spin, *defines, '-a', model)
        run(*compiler, level, '-w', '-DSAFETY', *flags, '-o', 'pan', 'pan.c')
        out = run('./pan', '-m100000')
    found = re.search(r'errors: (\d+)', out)
    states = re.search(r'(\d+) states, stored', out)
    if not found or 'max search depth too small' in out:
        return None, out
    return int(found[1]), int(states[1]) if states else 0


def main():
    model, spin, compiler = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3].split()
    flags = sys.argv[4].split() if len(sys.argv) > 4 else []
    with open(model) as f:
        variants = re.findall(r'^ \*\t(\d+)  (.*)$', f.read(), re.M)
    parts = sys.argv[5].split() if len(sys.argv) > 5 and 'HAUL_WHOLE' not in os.environ else []
    searches = [(f'as it is, {part}', False, ['-DBROKEN=0', part]) for part in parts] or \
        [('as it is', False, ['-DBROKEN=0'])]
    every = int(os.environ.get('HAUL_MUTATIONS', 1))
    searches += [(what, True, [f'-DBROKEN={n}']) for n, what in variants[::every]]
    failed = 0
    print(f'1..{len(searches)}')
    for i, (what, broken, defines) in enumerate(searches, 1):
        errors, states = search(model, spin, compiler, flags, *defines)
        good = errors is not None and (errors > 0) == broken
        failed += not good
        print(f'{"ok" if good else "not ok"} {i} - {os.path.basename(model)}: {what}')
        print(f'# errors: {errors}, states: {states}', flush=True)
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()
