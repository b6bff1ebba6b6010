# SPDX-License-Identifier: BSD-3-Clause
"""Mutations of what threads share of records: their push, theft and cancel. For mutations.py."""

MUTATIONS = [
    ('records', 'lib/sched/wait/record.c', 'a cancel does not hold the guard',
     'if (hauli_steals(c)) hauli_ring_hold(&c->runq.ring); c->spawn.records_cancelled = cancelled;'
     ' if (hauli_steals(c)) hauli_ring_release(&c->runq.ring);',
     'c->spawn.records_cancelled = cancelled;'),
    ('records', 'lib/sched/wait/record.c', 'a cancelled record begins as any other',
     'if (hauli_unlikely(home->spawn.records_cancelled))', 'if (0)'),
    ('ring_many', 'lib/conc/ring.h', 'push of many publishes nothing',
     'atomic_store_explicit(&r->tail, tail + n, memory_order_release /* ring.E1:R */);',
     'atomic_store_explicit(&r->tail, tail + n, memory_order_relaxed);'),
]

SOURCES = {
    'records': ['lib/conc/fence.c', 'lib/conc/ring.c', 'lib/sched/wait/record.c'],
    'ring_many': ['lib/conc/fence.c', 'lib/conc/ring.c'],
}
