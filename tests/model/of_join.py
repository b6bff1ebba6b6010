# SPDX-License-Identifier: BSD-3-Clause
"""Mutations of joins with deadlines, and of their pile. For mutations.py."""

MUTATIONS = [
    ('join_until', 'lib/sched/wait/join.c', 'a deadline ends a join that has ended',
     'if (hauli_claim_take(&hauli_timed_join_of(j)->ended))', 'if (true)'),
    ('join_until', 'lib/sched/wait/join.c', 'a dump sees a join that is gone',
     'waiter->arg = NULL; if (hauli_claim_take(&hauli_timed_join_of(j)->ended)) return true;',
     'if (hauli_claim_take(&hauli_timed_join_of(j)->ended)) {\n'
     '\t\twaiter->arg = NULL;\n\t\treturn true;\n\t}'),
    ('join_until', 'lib/sched/wait/join.c', 'a target that has ended serves a join that is over',
     'if (hauli_claim_take(&j->ended)) return true;', 'return true;'),
    ('join_until_other', 'lib/sched/wait/join.c', 'nobody looks whether a join that comes is over',
     'if (!hauli_join_is_over(j) && hauli_join_here(c, j))', 'if (hauli_join_here(c, j))'),
    ('join_until', 'lib/sched/wait/join.c',
     'the next join takes one that is over for one that waits',
     'if (j->target->detached || hauli_join_waits(j->target))', 'if (true)'),
    ('join_until', 'lib/sched/wait/joined.c', 'a join that is over stays at its target',
     'if (target->joiner && hauli_join_is_over(target->joiner)) target->joiner = NULL;',
     'if (target->joiner)\n\t\thauli_join_is_over(target->joiner);'),
    ('join_until', 'lib/sched/wait/joined.c', 'the timer of a join that has ended stays armed',
     'hauli_coro_disarm(c, waiter); hauli_ready(c, waiter);', 'hauli_ready(c, waiter);'),
    ('join_until', 'lib/sched/wait/join.c', 'the waiter is ready when its deadline comes too late',
     'hauli_coro_set_state(waiter, HAULI_CORO_JOINING); return false;', 'return true;'),
    ('join_until', 'lib/conc/word.h', 'a claim publishes nothing',
     'memory_order_acq_rel /* word.E5:R word.E5:A */', 'memory_order_acquire'),
    ('join_until', 'lib/conc/word.h', 'a claim that fails acquires nothing',
     'memory_order_acq_rel /* word.E5:R word.E5:A */', 'memory_order_release'),
    ('join_until', 'lib/conc/word.h', 'a look at a claim acquires nothing',
     'return atomic_load_explicit(&c->taken, memory_order_acquire',
     'return atomic_load_explicit(&c->taken, memory_order_relaxed'),
    ('join_thread', 'lib/sched/wait/join.c', 'a thread whose deadline comes too late does not wait',
     'hauli_event_wait(&t->event); return true;', 'return true;'),
    ('join_thread', 'lib/sched/wait/join.c', 'the deadline of a thread ends a join that has ended',
     'if (hauli_claim_take(&t->ended)) return false;', 'return false;'),
    ('pile', 'lib/conc/pile.h', 'an add publishes nothing',
     'memory_order_release /* pile.E1:R */', 'memory_order_relaxed'),
    ('pile', 'lib/conc/pile.h', 'a take acquires nothing',
     'memory_order_acquire /* pile.E1:A */', 'memory_order_relaxed'),
    ('pile', 'lib/conc/pile.h', 'a take is a load and a store instead of one exchange',
     'return atomic_exchange_explicit(&p->top, NULL, memory_order_acquire /* pile.E1:A */);',
     'struct hauli_node *top = atomic_load_explicit(&p->top, memory_order_acquire);\n\n'
     '\tatomic_store_explicit(&p->top, NULL, memory_order_relaxed);\n\treturn top;'),
    ('pile', 'lib/conc/pile.h', 'an add that fails once forgets the node on top',
     'do { node->next = top; } while (', 'node->next = top;\n\tdo {\n\t} while ('),
    ('homeless_until', 'lib/sched/wait/request.c', 'a join that is over counts as misuse',
     'if (bits & HAULI_REQ_JOIN) hauli_join_asked_here(c, co); if (bits & HAULI_REQ_DETACH)'
     ' hauli_handle_is_used_up(co, "haul_detach");',
     'if (bits & (HAULI_REQ_JOIN | HAULI_REQ_DETACH))\n'
     '\t\thauli_handle_is_used_up(co, "haul_join");'),
    ('homeless_detached', 'lib/sched/wait/request.c',
     'a join of a target that is gone is forgotten',
     'if (bits & HAULI_REQ_JOIN) hauli_join_asked_here(c, co); if (bits & HAULI_REQ_DETACH)'
     ' hauli_handle_is_used_up(', 'if (bits & HAULI_REQ_DETACH)\n\t\thauli_handle_is_used_up('),
    ('homeless_until', 'lib/sched/wait/joined.c', 'joins that were asked for are not looked at',
     'next = node->next; msg->kind->handle(c, msg);', 'next = NULL;\n\t\t(void)msg;'),
]

USED = ['lib/conc/event.c', 'lib/conc/fence.c', 'lib/conc/inbox.c', 'lib/conc/ring.c',
        'lib/sched/wait/request.c', 'lib/sched/wait/wake.c']
HOMELESS = USED + ['lib/conc/injector.c', 'lib/sched/state/carrier.c', 'lib/sched/place/cluster.c']
SOURCES = {'homeless_detached': HOMELESS, 'homeless_until': HOMELESS,
           'join_thread': USED, 'join_until': USED, 'join_until_other': USED, 'pile': []}
