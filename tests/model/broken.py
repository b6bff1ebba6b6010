# SPDX-License-Identifier: BSD-3-Clause
"""Builds models from a tree with one broken file; objects without that file are compiled once."""
import collections
import os
import subprocess
import threading

FOLDERS = ('lib', 'drivers-glue', 'tests/model')


class Models:
    def __init__(self, root, compiler, explorer, sources, work):
        """sources: by model, those of lib. work: a folder for the objects that mutations share."""
        self.root, self.compiler, self.explorer = root, compiler, explorer
        self.sources, self.work = sources, work
        self.flags = ['-std=gnu17', '-D_GNU_SOURCE', '-O1', '-fsanitize=thread', '-w'] + \
            subprocess.run(['pkg-config', '--cflags', 'libdpdk'], check=True, capture_output=True,
                           text=True).stdout.split()
        self.shared = {}  # source: (object, the files of the tree that it is made of)
        self.locks = collections.defaultdict(threading.Lock)

    def compile(self, root, source, out):
        includes = ['-I' + os.path.join(root, f) for f in FOLDERS +
                    ('lib/include', 'drivers-glue/include')]
        subprocess.run(self.compiler + self.flags + includes + ['-MMD', '-c'] +
                       [os.path.join(root, source), '-o', out],
                       check=True, capture_output=True, text=True)
        return out

    def unbroken(self, source):
        with self.locks[source]:
            if source not in self.shared:
                base = os.path.join(self.work, source.replace('/', '_'))
                self.compile(self.root, source, base + '.o')
                with open(base + '.d') as f:
                    names = f.read().replace('\\\n', ' ').split()[1:]
                self.shared[source] = base + '.o', {os.path.relpath(n, self.root) for n in names}
            return self.shared[source]

    def build(self, work, model, broken):
        """Compiles the model, and the sources that the broken file is part of, from work."""
        objects = [self.compile(work, f'tests/model/{model}.c', os.path.join(work, 'model.o'))]
        for i, source in enumerate(self.sources[model]):
            found, files = self.unbroken(source)
            if broken in files:
                found = self.compile(work, source, os.path.join(work, f'{i}.o'))
            objects.append(found)
        program = os.path.join(work, 'model')
        subprocess.run(self.compiler + objects + [self.explorer, '-o', program], check=True,
                       capture_output=True, text=True)
        return program
