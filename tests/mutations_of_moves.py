# SPDX-License-Identifier: BSD-3-Clause
"""Mutations of moves of queues between carriers (drivers-glue/io/move.c). See mutations.py."""

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
]
