# SPDX-License-Identifier: BSD-3-Clause
"""Breaks a copy of the sources at one place; a program must find it.

A mutation is (program, file, what is broken, text, its replacement).
"""
import multiprocessing.pool
import os
import re
import shutil
import subprocess
import tempfile


def broken_copy(root, work, folders, name, old, new):
    """Links these folders and breaks one file; returns an error if the file does not have the
    text."""
    for folder in folders:
        shutil.copytree(os.path.join(root, folder), os.path.join(work, folder),
                        copy_function=os.symlink)
    path = os.path.join(work, name)
    with open(path) as f:
        text = f.read()
    # White space does not count, so the layout may differ.
    places = list(re.finditer(r'\s*'.join(re.escape(c) for c in ''.join(old.split())), text))
    if len(places) != 1:
        return f'{name} has the text {len(places)} times: {old!r}'
    os.remove(path)
    with open(path, 'w') as f:
        f.write(text[:places[0].start()] + new + text[places[0].end():])
    return None


def verdict(root, folders, mutation, build, is_caught):
    """(caught, why). build(work, program): the command to run; is_caught(command): (caught,
    why)."""
    program, name, _, old, new = mutation
    with tempfile.TemporaryDirectory() as work:
        why = broken_copy(root, work, folders, name, old, new)
        if why:
            return False, why
        try:
            command = build(work, program, name)
        except subprocess.CalledProcessError as e:
            return False, 'does not compile: ' + e.stderr.strip().splitlines()[-1]
        return is_caught(program, command)


def run_all(mutations, judge):
    """Speaks TAP; returns 1 if judge() has missed a mutation. With HAUL_MUTATIONS=N in the
    environment it tries every Nth only; HAUL_MUTATIONS_FROM=K: from number K (0: the first) on."""
    missed, every = 0, int(os.environ.get('HAUL_MUTATIONS', 1))
    first = int(os.environ.get('HAUL_MUTATIONS_FROM', 0)) % max(1, min(every, len(mutations)))
    if every > 1:
        print(f"# every {every}th of {len(mutations)}, from number {first + 1} "
              "(HAUL_MUTATIONS=1 tries all)")
    mutations = mutations[first::every]
    print(f'1..{len(mutations)}')
    pool = multiprocessing.pool.ThreadPool(os.cpu_count())
    verdicts = pool.imap(judge, mutations)
    for i, (mutation, (caught, why)) in enumerate(zip(mutations, verdicts), 1):
        missed += not caught
        print(f'{"ok" if caught else "not ok"} {i} - {mutation[0]}, {mutation[1]}: {mutation[2]}',
              flush=True)
        print(f'# {why}', flush=True)
    return 1 if missed else 0
