/* SPDX-License-Identifier: BSD-3-Clause */
/* Moves of queues; and what they and those of buckets (bucket.h) have in common. */
#ifndef HAULI_IO_MOVE_H
#define HAULI_IO_MOVE_H

#include "io/state.h"

/* A move, by a caller that holds haul_io.moving and gives numbers that exist. 0; or an error, and
 * why has a line. */
typedef int hauli_move_fn(struct haul_io *io, unsigned port, unsigned what, unsigned carrier,
	uint64_t timeout_ns, char *why, size_t len);

/* The end of a wait for handlers and the NIC: HAUL_IO_MOVE_MAX from its begin, but not before the
 * poller has made some cycles, as a carrier that has no CPU for a while sends nothing. */
struct hauli_move_limit {
	uint64_t at, cycle;
};

#define HAULI_MOVE_CYCLES 16

static inline struct hauli_move_limit hauli_move_limit(const struct hauli_poller *p)
{
	return (struct hauli_move_limit){
		haul_now() + HAUL_IO_MOVE_MAX, hauli_counter_read(&p->cycles) + HAULI_MOVE_CYCLES};
}

static inline bool hauli_move_limit_is_over(
	const struct hauli_poller *p, const struct hauli_move_limit *l)
{
	return !p->runs || (hauli_counter_read(&p->cycles) >= l->cycle && haul_now() >= l->at);
}

/* On the carrier, or while no poller runs: it polls the queue no more. */
void hauli_rxq_leave(const struct haul_io *io, struct hauli_poller *p, struct hauli_rxq *r);

hauli_move_fn hauli_move_queue; /* as haul_io_move_queue() */

/* A move for a caller that holds nothing. The line in errbuf begins with caller. */
int hauli_move_one(struct haul_io *io, const char *caller, hauli_move_fn *move_to, unsigned port,
	unsigned what, unsigned carrier, uint64_t timeout_ns, char *errbuf, size_t errlen);

#endif
