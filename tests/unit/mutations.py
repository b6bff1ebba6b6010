#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Breaks steps of the scheduler, one at a time, and has a unit test find each.

A mutation is caught when the test compiled with it fails, or does not end: a lost wakeup is to
hang. The rest comes from the library that is there. Speaks TAP.
usage: mutations.py SOURCE_ROOT COMPILER LIBRARY UNIT_TESTS [TESTS_THAT_BEGIN_SO]
"""
import os
import subprocess
import sys
import time

from support import mutate

# test: (file, what is broken, text, its replacement)
MUTATIONS = [
    ('wait', 'lib/sched/join.c', 'a slot is freed with a request under way',
     'if (hauli_unlikely(hauli_requests_pending(&co->requests)))', 'if (0)'),
    ('runq', 'lib/sched/runq.h', 'a push overtakes the backlog',
     'if (hauli_unlikely(hauli_mark_get(&q->behind)) ||', 'if ('),
    ('stop', 'lib/sched/runtime.c', 'a stop does not wait for who is amid a spawn',
     'while (!hauli_gate_is_quiet(&rt->gate)) sched_yield();', ''),
    ('policy', 'lib/sched/policy.c', 'who takes the mark away does not look once more',
     'hauli_help_forget(&p->help, w); if (has_surplus(p, w)) return wanted;',
     'hauli_help_forget(&p->help, w);'),
    ('policy', 'lib/sched/policy.c', 'who gives the search back does not look once more',
     'hauli_help_give_token(&p->help, token);',
     'hauli_help_give_token(&p->help, token);\n\t\tif (p)\n\t\t\treturn;'),
    ('policy', 'lib/sched/policy.c', 'who lies down does not look at the others',
     'if (!has_surplus(p, v) || !hauli_help_call(&p->help, v)) continue;', 'continue;'),
    ('fences', 'lib/conc/fence.h', 'a light fence is nothing',
     'atomic_signal_fence(memory_order_seq_cst /* fence.E1:F of the compiler only */);', ''),
    ('fences', 'lib/conc/fence.h', 'a full fence is one of the compiler only',
     'atomic_thread_fence(memory_order_seq_cst /* fence.E1:F */);',
     'atomic_signal_fence(memory_order_seq_cst);'),
    ('fences', 'drivers-glue/wait.c', 'no barrier between arming and looking', 'rte_smp_mb();', ''),
    ('steal_steps', 'lib/sched/wait.c', 'who cancels calls nobody',
     'hauli_ready(c, co); hauli_steal_offer_here(c);', 'hauli_ready(c, co);'),
    ('steal_steps', 'lib/sched/stolen.c', 'who comes back calls nobody',
     'if (hauli_mail_send(home, &co->back_msg) && yields) hauli_steal_offer(home);',
     'hauli_mail_send(home, &co->back_msg);'),
    ('steal_steps', 'lib/sched/steal.c', 'who begins to run keeps its search',
     'if (c->thief.search) hauli_policy_end(&c->thief);', ''),
    ('steal_steps', 'lib/sched/steal.c', 'a theft takes one too many',
     'while (n < most &&', 'while (n <= most &&'),
    ('steal_steps', 'lib/sched/groups.c', 'a theft may take one too many',
     'r.most = opts->steal_most;', 'r.most = opts->steal_most + 1;'),
    ('steal_steps', 'lib/sched/stolen.c', 'who is back to sleep does so although it is cancelled',
     'if (hauli_coro_is_cancelled(co)) { hauli_ready(c, co); return; }', ''),
    ('steal_steps', 'lib/sched/wait.c', 'who takes a permit away from home leaves it',
     'hauli_permit_take_away(&me->permit);', ''),
    ('steal_steps', 'lib/sched/poller.c', 'a poller with input does not give way to a search',
     'if (has_napped(c)) return give_way(c, me);',
     'if (!had_io && has_napped(c))\n\t\treturn give_way(c, me);'),
]


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()


def script_of(root, test):
    """For a test that is a script, which looks at the sources in root."""
    path = os.path.join(root, 'tests/unit', test + '.py')
    return path if os.path.exists(path) else None


class Tests:
    def __init__(self, root, compiler, library, programs):
        self.root, self.compiler, self.library, self.programs = root, compiler, library, programs
        self.flags = ['-std=gnu17', '-D_GNU_SOURCE', '-O2', '-w'] + output_of(
            'pkg-config', '--cflags', 'check', 'hwloc', 'libdpdk')
        self.libs = output_of('pkg-config', '--libs', 'check', 'hwloc') + ['-pthread']

    def build(self, work, test, broken):
        if script_of(work, test):
            return [sys.executable, script_of(work, test), work, ' '.join(self.compiler)]
        program = os.path.join(work, 'test')
        sources = [os.path.join(work, 'tests/unit', test + '.c')]
        # What it has in common with the library's takes its place there.
        if broken.endswith('.c'):
            sources.append(os.path.join(work, broken))
        includes = ['-I' + os.path.join(work, f) for f in ('lib', 'lib/include', 'tests')]
        subprocess.run(self.compiler + self.flags + includes + sources + [self.library] +
                       self.libs + ['-o', program],
                       check=True, capture_output=True, text=True)
        return [program]

    def whole(self, test):
        if script_of(self.root, test):
            return [sys.executable, script_of(self.root, test), self.root, ' '.join(self.compiler)]
        return [os.path.join(self.programs, 'unit_' + test)]

    def is_caught(self, test, command):
        env = os.environ | {'CK_TAP_LOG_FILE_NAME': '-', 'CK_VERBOSITY': 'silent'}
        begin = time.monotonic()
        if subprocess.run(self.whole(test), capture_output=True, env=env).returncode != 0:
            return False, 'the test fails with nothing broken'
        limit = 3 + 10 * (time.monotonic() - begin)
        try:
            run = subprocess.run(command, capture_output=True, text=True, env=env, timeout=limit)
        except subprocess.TimeoutExpired:
            return True, f'does not end: {limit:.1f} s'
        failed = [line for line in run.stdout.splitlines() if line.startswith('not ok')]
        if run.returncode == 0:
            return False, 'the test passes'
        return True, failed[0] if failed else f'ends with {run.returncode}'


def main():
    root, compiler, library, programs = sys.argv[1:5]
    tests = Tests(root, compiler.split(), library, programs)
    chosen = [m for m in MUTATIONS if len(sys.argv) < 6 or m[0].startswith(sys.argv[5])]
    sys.exit(mutate.run_all(chosen, lambda m: mutate.verdict(
        root, ('lib', 'drivers-glue', 'tests'), m, tests.build, tests.is_caught)))


if __name__ == '__main__':
    main()
