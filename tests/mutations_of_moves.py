# SPDX-License-Identifier: BSD-3-Clause
"""Mutations of changes while pollers run: moves of queues between carriers (move.c in
drivers-glue/io), what decides on them (balance.c), calls on carriers (on_carrier.c). See
mutations.py."""

SOURCES = {'unit/balance': ['drivers-glue/io/balance.c']}

MUTATIONS = [
    ('net/io_move', 'drivers-glue/io/move.c', 'the first carrier polls on',
     'take_out(p, r); hauli_stopwatch_stop', 'hauli_stopwatch_stop'),
    ('net/io_move', 'drivers-glue/io/move.c', 'what a cycle has left is not waited for',
     'wait_for_cycles(p, cycle + 2);', ';'),
    ('net/io_move', 'drivers-glue/io/move.c', 'handlers are not waited for',
     'while (!is_through(p, r) && haul_now() < until)', 'while (false)'),
    ('net/io_move', 'drivers-glue/io/move.c', 'a move waits for handlers without end',
     'while (!is_through(p, r) && haul_now() < until)', 'while (!is_through(p, r))'),
    ('net/io_move', 'drivers-glue/io/move.c', 'a place behind the list keeps a queue',
     'for (; *at; at++) at[0] = at[1];', 'while (at[1])\n\t\tat++;\n\tp->active[0] = *at;'),
    ('net/io_move', 'drivers-glue/io/move.c', 'the second carrier does not poll',
     'put_in(p, r); hauli_io_share_limit', 'hauli_io_share_limit'),
    ('net/io_move', 'drivers-glue/io/move.c', 'a queue that comes has a limit of its own',
     'put_in(p, r); hauli_io_share_limit(io, p, m->port);', 'put_in(p, r);'),
    ('net/io_move', 'drivers-glue/io/move.c', 'polls are counted where the queue was',
     'hauli_stopwatch_stop(&r->polls, cycle + 1);', ';'),
    ('net/io_move', 'drivers-glue/io/move.c', 'nobody hears who polls the queue',
     'hauli_u32_published_set(&io->owners[m->port][m->queue], carrier);', ';'),
    ('net/io_stuck', 'drivers-glue/io/on_carrier.c', 'a change that was given up is made later',
     'if (move_on(call, ASKED, BEGUN)) return call->fn(call->arg);',
     'if (move_on(call, ASKED, BEGUN) || call->fn)\n\t\treturn call->fn(call->arg);'),
    ('net/io_stuck', 'drivers-glue/io/stats.c', 'a queue has the policy of any carrier',
     'if (r && c == st->carrier)', 'if (r)'),
    ('unit/balance', 'drivers-glue/io/balance.c', 'any gain is enough',
     'if (before > FULL) gain /= 4;', 'gain = 0;'),
    ('unit/balance', 'drivers-glue/io/balance.c', 'a queue that has moved does not stay',
     'return !q->moved_at || s->now - q->moved_at >= hold_ns;', 'return hold_ns > 0;'),
    ('unit/balance', 'drivers-glue/io/balance.c', 'only the busiest carrier is relieved',
     'while (made < n && (c = next_busiest(s, tried)) < s->in_use) {',
     'if ((c = next_busiest(s, tried)) < s->in_use) {'),
    ('unit/balance', 'drivers-glue/io/balance.c', 'moves that gain too little are not taken back',
     'move(s, &s->queues[m->queue], m->from);', '(void)m;'),
    ('unit/balance', 'drivers-glue/io/balance.c', 'a carrier more is used in vain',
     'if (n > 0 || s.in_use < b->in_use) b->in_use', 'b->in_use'),
    ('unit/balance', 'drivers-glue/io/balance.c', 'carriers that are not needed are left at once',
     'if (s->now - b->low_since >= shrink_ns)', 'if (shrink_ns)'),
    ('unit/balance', 'drivers-glue/io/balance.c', 'carriers come slowly',
     'if (s->in_use < s->nb_carriers && s->work[busiest(s)] > or_default(o->grow_at, 0.8))',
     'if (s->in_use < s->nb_carriers && s->work[busiest(s)] > 2)'),
]
