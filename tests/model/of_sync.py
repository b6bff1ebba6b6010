# SPDX-License-Identifier: BSD-3-Clause
"""Mutations of waits for the objects of lib/sync, by the model of a semaphore. For mutations.py."""

MUTATIONS = [
    ('sync_sem', 'lib/conc/lockword.h', 'unlock publishes nothing',
     'memory_order_release /* lockword.E1:R */', 'memory_order_relaxed'),
    ('sync_sem', 'lib/conc/lockword.h', 'a lock takes in nothing of the last holder',
     'v | HAULI_LOCKWORD_LOCKED, memory_order_acquire /* lockword.E1:A */,',
     'v | HAULI_LOCKWORD_LOCKED, memory_order_relaxed,'),
    ('sync_sem', 'lib/conc/lockword.h', 'the lock excludes nobody',
     'v | HAULI_LOCKWORD_LOCKED, memory_order_acquire', 'v, memory_order_acquire'),
    ('sync_sem', 'lib/sync/waitq.c', 'a waiter leaves though it was served',
     'bool there = !w->waiter.served;', 'bool there = true;'),
    ('sync_sem', 'lib/sync/waitq.c', 'a waiter that was served does not say so',
     'w->waiter.served = true;', ''),
    ('sync_sem', 'lib/sync/waitq.c', 'one that expired does not wait for its server',
     'hauli_block_wait_served(&w->block);', ''),
    ('sync_sem', 'lib/sync/waitq.c', 'one that expired stays in the list',
     'if (there) leave(q, w);', ''),
    ('sync_sem', 'lib/sync/sem.c', 'the unit is added though it was handed over',
     'hauli_waitq_serve(&q->list, 0); else units += HAULI_WAITQ_UNIT;',
     'hauli_waitq_serve(&q->list, 0);\n\tunits += HAULI_WAITQ_UNIT;'),
    ('sync_sem', 'lib/sync/sem.c', 'a waiter does not look again under the lock',
     'if (units > 0) {', 'if (0) {'),
    ('sync_sem', 'lib/sched/block.c', 'a served coroutine stays asleep',
     'hauli_wake_last_here(c, co);', ';'),
    ('sync_sem', 'lib/sched/block.c', 'the timer of a served coroutine stays armed',
     'if (blocked) disarm(c, co);', ''),
    ('sync_sem_cancel', 'lib/sched/block.c', 'a cancel leaves the timer armed',
     'disarm(c, co); set_end(block_of(co), HAULI_BLOCK_CANCELLED);',
     'set_end(block_of(co), HAULI_BLOCK_CANCELLED);'),
    ('sync_sem_cancel', 'lib/sched/request.c', 'a request to serve is ignored',
     'if (bits & HAULI_REQ_SERVED)', 'if (0)'),
]

SYNC = ['lib/conc/fence.c', 'lib/conc/inbox.c', 'lib/conc/lockword.c', 'lib/conc/ring.c',
        'lib/sched/block.c', 'lib/sched/request.c', 'lib/sched/serve.c', 'lib/sched/wake.c',
        'lib/sync/sem.c', 'lib/sync/waitq.c']
SOURCES = {'sync_sem': SYNC, 'sync_sem_cancel': SYNC}
