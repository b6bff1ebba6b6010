# SPDX-License-Identifier: BSD-3-Clause
"""Builds models from a tree with one broken file."""
import os
import subprocess

from support.objects import Objects

FOLDERS = ('lib', 'drivers-glue', 'tests/model')


class Models:
    def __init__(self, root, compiler, explorer, sources, work):
        """sources: the sources of lib for each model. work: a folder for the objects that mutations
        share."""
        self.compiler, self.explorer, self.sources = compiler, explorer, sources
        flags = ['-std=gnu17', '-D_GNU_SOURCE', '-O1', '-fsanitize=thread', '-w']
        flags += subprocess.run(['pkg-config', '--cflags', 'libdpdk'], check=True,
                                capture_output=True, text=True).stdout.split()
        self.objects = Objects(root, compiler + flags,
                               FOLDERS + ('lib/include', 'drivers-glue/include'), work)

    def build(self, work, model, broken):
        objects = [self.objects.compile(work, f'tests/model/{model}.c', work + '/model.o')]
        objects += [self.objects.of(work, s, broken) for s in self.sources[model]]
        program = os.path.join(work, 'model')
        subprocess.run(self.compiler + objects + [self.explorer, '-o', program], check=True,
                       capture_output=True, text=True)
        return program
