# SPDX-License-Identifier: BSD-3-Clause
"""Builds models from a tree with one broken file, and as they are."""
import collections
import os
import re
import subprocess
import threading

from support.objects import Objects

FOLDERS = ('lib', 'drivers-glue', 'apps/haul-dns', 'tests/model')


class Models:
    def __init__(self, root, compiler, explorer, sources, work):
        """sources: the sources of lib for each model. work: a folder for the objects that mutations
        share."""
        self.compiler, self.explorer, self.sources = compiler, explorer, sources
        flags = ['-std=gnu17', '-D_GNU_SOURCE', '-O1', '-fsanitize=thread', '-w',
                 '-DHAULI_LOCKWORD_PAUSES=0']
        flags += subprocess.run(['pkg-config', '--cflags', 'libdpdk'], check=True,
                                capture_output=True, text=True).stdout.split()
        self.objects = Objects(root, compiler + flags,
                               FOLDERS + ('lib/include', 'drivers-glue/include'), work)
        self.work = work
        self.found = {}  # for each model and memory, what its search finds with nothing broken
        self.locks = collections.defaultdict(threading.Lock)

    def build(self, work, model, broken):
        sources = [f'tests/model/{model}.c'] + self.sources[model]
        objects = [self.objects.of(work, s, broken) for s in sources]
        program = os.path.join(work, 'model')
        subprocess.run(self.compiler + objects + [self.explorer, '-o', program], check=True,
                       capture_output=True, text=True)
        return [program]

    def found_unbroken(self, model, memory):
        """The violation that the search under this memory finds with nothing broken, or None."""
        with self.locks[model]:
            if (model, memory) not in self.found:
                folder = os.path.join(self.work, model)
                os.makedirs(folder, exist_ok=True)
                self.found[model, memory] = search(self.build(folder, model, None) + [memory])[1]
            return self.found[model, memory]

    def verdict(self, model, command, memories):
        """(caught, why). Runs a broken model; no violation counts that the model
        shows with nothing broken."""
        try:
            memory, found = search(command + memories)
            if not found:
                return False, 'the search found nothing'
            unbroken = self.found_unbroken(model, memory)
        except Incomplete as e:
            return False, str(e)
        if unbroken:
            return False, f'with nothing broken {memory} shows: {unbroken}'
        return True, found


class Incomplete(Exception):
    """A search that did not end."""


def search(command):
    """(memory, violation) of a model's program, or (None, None)."""
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=300)
    except subprocess.TimeoutExpired as e:
        raise Incomplete('the search did not end') from e
    found = re.search(r'^not ok \d+ - .* (\w+): .*\n# (violation: .*)', run.stdout, re.M)
    if run.returncode == 3 and found:
        return found.groups()
    if run.returncode != 0:
        raise Incomplete('it did not complete')
    return None, None
