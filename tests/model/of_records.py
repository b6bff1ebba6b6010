# SPDX-License-Identifier: BSD-3-Clause
"""Mutations of what threads share of records: their push, theft and cancel. For mutations.py."""

MUTATIONS = [
    ('records', 'lib/sched/wait/record.c', 'a cancel does not hold the guard',
     'if (hauli_steals(c)) hauli_ring_hold(&c->runq.ring); c->spawn.records_cancelled = cancelled;'
     ' if (hauli_steals(c)) hauli_ring_release(&c->runq.ring);',
     'c->spawn.records_cancelled = cancelled;'),
    ('records', 'lib/sched/wait/record.c', 'a cancelled record begins as any other',
     'if (hauli_unlikely(home->spawn.records_cancelled))', 'if (0)'),
    ('records', 'lib/sched/wait/record.c',
     'a thief makes the home known before the coroutine is set up',
     'hauli_coro_set_up(co, prototype->fn,',
     'hauli_ptr_published_set(&co->home, home);\n\thauli_coro_set_up(co, prototype->fn,'),
    ('ring_many', 'lib/conc/ring.h', 'push of many publishes nothing',
     'atomic_store_explicit(&r->tail, tail + n, memory_order_release /* ring.E1:R */);',
     'atomic_store_explicit(&r->tail, tail + n, memory_order_relaxed);'),
]

SOURCES = {
    'records': ['lib/conc/fence.c', 'lib/conc/ring.c', 'lib/sched/wait/record.c'],
    'ring_many': ['lib/conc/fence.c', 'lib/conc/ring.c'],
}
