# SPDX-License-Identifier: BSD-3-Clause
"""Mutations of offloaded calls, by the models offload*. For mutations.py."""

MUTATIONS = [
    ('offload', 'lib/pool/queue.c', 'a job is withdrawn though a worker has it',
     'there = !job->taken;', 'there = true;'),
    ('offload', 'lib/pool/queue.c', 'a job that a worker has taken does not say so',
     'job->taken = true;', ''),
    ('offload', 'lib/pool/queue.c', 'a job that was withdrawn stays in the queue',
     'if (there) { leave_queue(p, job);', 'if (there) {'),
    ('offload', 'lib/pool/queue.c', 'an idle worker that gets a job is not woken',
     'if (w) hauli_completion_set(&w->go);', ''),
    ('offload', 'lib/pool/queue.c', 'a worker sees its job before it is woken, and goes on',
     'if (w->waits && !wait_until_taken_out(p, w))',
     'if (w->waits && !w->job && !wait_until_taken_out(p, w))'),
    ('offload', 'lib/pool/queue.c', 'a worker ends its job before it can have the next',
     'job->run(job); hauli_pool_lock(p); p->running--; p->done++; go_on(p, w);'
     ' hauli_pool_unlock(p); job->end(job, 0);',
     'job->run(job);\n\tjob->end(job, 0);\n\thauli_pool_lock(p);\n\tp->running--;\n'
     '\tp->done++;\n\tgo_on(p, w);\n\thauli_pool_unlock(p);'),
    ('offload', 'lib/pool/queue.c', 'idle workers that are to end are not woken',
     'first = w->below; hauli_completion_set(&w->go);', 'first = w->below;'),
    ('offload', 'lib/conc/completion.c', 'a set publishes nothing',
     'memory_order_release /* completion.E1:R */', 'memory_order_relaxed'),
    ('offload', 'lib/conc/completion.c', 'a wait takes in nothing',
     'memory_order_acquire /* completion.E1:A */', 'memory_order_relaxed'),
    ('offload', 'lib/offload/offload.c', 'one that expired does not wait for its worker',
     'hauli_block_wait_served(&call->block);', ''),
    ('offload', 'lib/offload/offload.c', 'one that expired leaves its job in the queue',
     'if (err && hauli_pool_take_back(&call->job)) return err;',
     'if (err)\n\t\t\treturn err;'),
    ('offload_cancel', 'lib/offload/offload.c', 'a cancel ends a call that has begun',
     'if (err && hauli_pool_take_back(&call->job)) return err;',
     'if (err) {\n\t\t\t(void)hauli_pool_take_back(&call->job);\n\t\t\treturn err;\n\t\t}'),
    ('offload_idle', 'lib/pool/queue.c', 'a worker that ends stays among the idle ones',
     '*at = w->below;', ''),
    ('offload_idle', 'lib/pool/queue.c', 'the last idle worker ends, too',
     'ends = w->idle && (p->idle != w || w->below);', 'ends = w->idle;'),
    ('offload_idle', 'lib/pool/queue.c', 'a worker whose time is over forgets that it has a job',
     'if (gives_up(p, w, &idle))', 'if (gives_up(p, w, &idle) || !idle)'),
]

OFFLOAD = ['lib/conc/completion.c', 'lib/conc/lockword.c', 'lib/pool/queue.c']
HOME = ['lib/conc/fence.c', 'lib/conc/inbox.c', 'lib/conc/ring.c', 'lib/offload/offload.c',
        'lib/sched/wait/block.c', 'lib/sched/wait/request.c', 'lib/sched/wait/wake.c']
SOURCES = {'offload': OFFLOAD + HOME, 'offload_cancel': OFFLOAD + HOME, 'offload_idle': OFFLOAD}
