/* SPDX-License-Identifier: BSD-3-Clause */
/* Moves of queues; and how a move of anything is called. */
#ifndef HAULI_IO_MOVE_H
#define HAULI_IO_MOVE_H

#include "io/state.h"
#include "port/kind.h"

/* A move, by a caller that holds haul_io.moving and gives numbers that exist. 0; or an error, and
 * why has a line. */
typedef int hauli_move_fn(struct haul_io *io, unsigned port, unsigned what, unsigned carrier,
	uint64_t timeout_ns, char *why, size_t len);

/* The carrier that polls a queue. Any thread. */
static inline unsigned hauli_io_owner(const struct haul_io *io, unsigned port, unsigned queue)
{
	return io->owners[port] ? hauli_u32_published_get(&io->owners[port][queue]) : queue;
}

/* True if the queue's carrier does not poll it, although the port has a device. */
static inline bool hauli_io_is_quiet(const struct haul_io *io, unsigned port, unsigned queue)
{
	return io->idle[port] || hauli_queue_own(io->ports[port], queue, true).stopped;
}

/* On the carrier, or while no poller runs: it polls the queue no more; it polls it again. */
void hauli_rxq_pause(struct hauli_poller *p, struct hauli_rxq *r);
void hauli_rxq_go_on(struct hauli_poller *p, struct hauli_rxq *r);

/* The same as a pause, for good: the carrier's other queues get its share of max_in_flight. */
void hauli_rxq_leave(const struct haul_io *io, struct hauli_poller *p, struct hauli_rxq *r);

/* The same: it polls the queue from now on. */
void hauli_rxq_enter(const struct haul_io *io, struct hauli_poller *p, struct hauli_rxq *r);

hauli_move_fn hauli_move_queue; /* as haul_io_move_queue() */

/* A move for a caller that holds nothing. The line in errbuf begins with caller. */
int hauli_move_one(struct haul_io *io, const char *caller, hauli_move_fn *move_to, unsigned port,
	unsigned what, unsigned carrier, uint64_t timeout_ns, char *errbuf, size_t errlen);

#endif
