# SPDX-License-Identifier: BSD-3-Clause
"""Mutations of joins with deadlines. For mutations.py."""

MUTATIONS = [
    ('join_until', 'lib/sched/wait/join.c', 'a deadline ends a join that has ended',
     'while (hauli_join_of(word) == j)', 'while (true)'),
    ('join_until', 'lib/sched/wait/join.c', 'a deadline forgets that a request is under way',
     'HAULI_JOIN_GONE | (word & HAULI_JOIN_ASKED)', 'HAULI_JOIN_GONE'),
    ('join_until', 'lib/sched/wait/join.c', 'the next join forgets that a request is under way',
     '(uintptr_t)j | tag | word)) return;',
     '(uintptr_t)j | tag | HAULI_JOIN_GONE))\n\t\t\treturn;'),
    ('join_until', 'lib/sched/wait/join.c', 'a join hides that a request is under way',
     '(uintptr_t)j | tag | HAULI_JOIN_ASKED', '(uintptr_t)j | tag'),
    ('join_until_other', 'lib/sched/wait/join.c',
     'the next join takes one that is over for one that waits',
     'if (target->detached || hauli_join_waits(target))', 'if (true)'),
    ('join_until', 'lib/sched/wait/join.c', 'the waiter is ready when its deadline comes too late',
     'hauli_coro_set_state(waiter, HAULI_CORO_JOINING); return false;', 'return true;'),
    ('join_until', 'lib/sched/wait/request.c', 'a target that has ended serves a join that is over',
     'while (!hauli_tagged_swap(&target->joiner, &word, 0)) ;',
     'hauli_tagged_set(&target->joiner, 0);'),
    ('join_until', 'lib/sched/wait/request.c', 'the home looks before the request has come',
     'if (word & HAULI_JOIN_ASKED) return;', ''),
    ('join_until', 'lib/sched/wait/request.c', 'the home does not look when the request has come',
     'join_ended_here(c, target); return;', 'return;'),
    ('join_until', 'lib/sched/wait/request.c', 'the home waits for another request',
     'word & ~HAULI_JOIN_ASKED', 'word'),
    ('join_until', 'lib/sched/wait/request.c', 'the timer of a join that has ended stays armed',
     'hauli_coro_disarm(c, waiter); hauli_ready(c, waiter);', 'hauli_ready(c, waiter);'),
    ('join_until', 'lib/conc/word.h', 'a swap publishes nothing',
     'memory_order_acq_rel /* word.E5:R word.E5:A */', 'memory_order_acquire'),
    ('join_until', 'lib/conc/word.h', 'a swap acquires nothing',
     'memory_order_acq_rel /* word.E5:R word.E5:A */', 'memory_order_release'),
    ('join_thread', 'lib/sched/wait/join.c', 'a thread whose deadline comes too late does not wait',
     'hauli_completion_wait(j->done); return true;', 'return true;'),
    ('join_thread', 'lib/sched/wait/join.c', 'the deadline of a thread ends a join that has ended',
     'if (withdraw(j)) return false;', 'return false;'),
    ('homeless_until', 'lib/sched/wait/request.c', 'a join that is over counts as misuse',
     '(bits & HAULI_REQ_JOIN) && hauli_join_waits(co)', 'bits & HAULI_REQ_JOIN'),
]

USED = ['lib/conc/completion.c', 'lib/conc/fence.c', 'lib/conc/inbox.c', 'lib/conc/ring.c',
        'lib/sched/wait/request.c', 'lib/sched/wait/wake.c']
JOIN = USED + ['lib/sched/state/carrier.c']
HOMELESS = JOIN + ['lib/conc/injector.c', 'lib/sched/place/cluster.c']
SOURCES = {'homeless_detached': HOMELESS, 'homeless_until': HOMELESS,
           'join_thread': JOIN, 'join_until': JOIN, 'join_until_other': JOIN}
