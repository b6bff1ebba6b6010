# SPDX-License-Identifier: BSD-3-Clause
"""Mutations of what is done about long slices: rescues, and long ones. For
mutations_of_records.py."""

# test: (file, error, text, its replacement)
MUTATIONS = [
    ('unit/rescue', 'lib/sched/run/stray.c', 'a pinned coroutine is left behind',
     'HAULI_FLAG_CANCELLED | HAULI_FLAG_BOUNDED)',
     'HAULI_FLAG_CANCELLED | HAULI_FLAG_BOUNDED | HAULI_FLAG_KEPT)'),
    ('unit/rescue', 'lib/sched/run/rescue.c', 'a carrier is not given back',
     'hauli_completion_set(&r->own->given);', ';'),
    ('unit/rescue', 'lib/sched/run/rescue.c', 'a carrier stays with its rescuer',
     '|| hauli_u32_published_get(&c->rescue->wanted)', ''),
    ('unit/rescue', 'lib/sched/wait/local.c', 'a local of one that was left behind is lost',
     'struct haul_carrier *c = hauli_real_carrier(hauli_here());',
     'struct haul_carrier *c = hauli_here();'),
    ('unit/rescue', 'lib/sched/steal/stolen.c', 'the carrier of one left behind is a stand-in',
     'return c ? hauli_real_carrier(c) : NULL;', 'return c;'),
    ('unit/rescue', 'lib/sched/steal/groups.c', 'a single carrier leaves nothing behind',
     'if (p->members == 1 && opts->rescue_after_ns == 0)', 'if (p->members == 1)'),
    ('unit/runq_long', 'lib/sched/state/runq.c', 'long ones go before all others',
     'q->first = HAULI_FIRST_OTHERS;', 'q->first = HAULI_FIRST_ANY;'),
    ('unit/runq_long', 'lib/sched/state/runq.c', 'long ones wait until nobody else is ready',
     'if (q->first == HAULI_FIRST_ANY && depth < HAULI_RING_SIZE)', 'if (depth == 0)'),
    ('unit/runq_long', 'lib/sched/state/runq.h', 'long ones alone are forgotten',
     'return !hauli_runq_is_empty(q) || hauli_unlikely(q->has_long);',
     'return !hauli_runq_is_empty(q);'),
    ('unit/runq_long', 'lib/sched/state/runq.c', 'thieves do not take long ones',
     'if (!entry && hauli_u64_owned_get(&q->longs.loose) > 0)', 'if (0)'),
    ('unit/runq_long', 'lib/sched/state/runq.c', 'a pinned long one is for all',
     'if (is_loose(tagged)) hauli_runq_push_first(', 'if (1)\n\t\thauli_runq_push_first('),
    ('unit/offer', 'lib/sched/wait/suspend.c', 'long slices go behind the others',
     'return hauli_ticks() - began >= c->run.poll_ticks / 2;', 'return false;'),
    ('unit/offer', 'lib/sched/wait/suspend.c', 'time that others have used counts',
     'else return false; return', 'else\n\t\treturn true;\n\treturn'),
    ('unit/offer', 'lib/sched/wait/suspend.c', 'when a slice goes on is not noted',
     'c->run.gone_on.popped = hauli_ring_popped(&c->runq.ring);', ';'),
]
