# SPDX-License-Identifier: BSD-3-Clause
"""Objects of a tree with one broken file; sources that do not include that file are compiled
once."""
import collections
import os
import subprocess
import threading


class Objects:
    def __init__(self, root, command, includes, work):
        """command: the compiler and its flags; includes: folders of the tree; work: a folder."""
        self.root, self.command, self.includes, self.work = root, command, includes, work
        self.shared = {}  # source: (object, the files that it was compiled from)
        self.locks = collections.defaultdict(threading.Lock)

    def compile(self, root, source, out):
        subprocess.run(self.command + ['-I' + os.path.join(root, f) for f in self.includes] +
                       ['-MMD', '-c', os.path.join(root, source), '-o', out],
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

    def of(self, work, source, broken):
        """A source's object; compiled from work, the broken tree, if the object depends on that
        file."""
        if broken != source:
            found, files = self.unbroken(source)
            if broken not in files:
                return found
        return self.compile(work, source, os.path.join(work, source.replace('/', '_') + '.o'))
