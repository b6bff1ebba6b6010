# SPDX-License-Identifier: BSD-3-Clause
"""Programs of simulations with one broken source, which is compiled by the command that the build
has for it, and linked before the library, whose object it replaces."""
import os
import re
import subprocess
import threading

# A run takes from milliseconds to a second; so many find what is broken.
SEEDS = {'balancer': 6, 'dns': 6, 'echo': 4, 'fwd': 6, 'flows': 8, 'net_faults': 12, 'offload': 100,
         'pinger': 4, 'soak': 20, 'toptalkers': 20}
SEEDS_OF_OTHERS = 40
FIRST = 20786000000  # the same each day, or a row would fail on some
ARGUMENTS = {'flows': ['--test', 'in-order', '--test', 'no-memory', '--test', 'calm']}


class Simulated:
    def __init__(self, root, build):
        self.root, self.build_root = root, build
        self.commands = {}
        self.lock = threading.Lock()

    def commands_of(self, program):
        with self.lock:
            if program not in self.commands:
                self.commands[program] = subprocess.run(
                    ['ninja', '-C', self.build_root, '-t', 'commands', program], check=True,
                    capture_output=True, text=True).stdout.splitlines()
            return self.commands[program]

    def run(self, command):
        subprocess.run(command, shell=True, cwd=self.build_root, check=True, capture_output=True,
                       text=True)

    def compile(self, work, broken, commands):
        source = os.path.relpath(os.path.join(self.root, broken), self.build_root)
        command = next(c for c in commands if c.endswith(' -c ' + source))
        out = os.path.join(work, 'broken.o')
        command = re.sub(r' -o \S+', f' -o {out} -w', re.sub(r' -M(D|[QF] \S+)', '', command))
        self.run(command.replace(' -c ' + source, ' -c ' + os.path.join(work, broken)))
        return out

    def build(self, work, test, broken):
        """The command of a test 'sim/NAME'; broken: the source, in the tree work; '': none."""
        name = os.path.basename(test)
        target = program = 'tests/sim/sim_' + name
        if broken:
            commands = self.commands_of(target)
            program = os.path.join(work, 'test')
            self.run(commands[-1].replace(
                ' -o ' + target, f' -o {program} -Wl,--allow-multiple-definition ' +
                self.compile(work, broken, commands)))
        return [os.path.join(self.build_root, program), '--from', str(FIRST), '--seeds',
                str(SEEDS.get(name, SEEDS_OF_OTHERS)), '--twice', '0', '--shorten', '0',
                *ARGUMENTS.get(name, [])]
