/* SPDX-License-Identifier: BSD-3-Clause */
/* When the packets are through that a carrier has, and gets no more of: what moves have in
 * common. */
#ifndef HAULI_IO_THROUGH_H
#define HAULI_IO_THROUGH_H

#include "io/state.h"

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

/* A step of a move on a carrier: fn is called there (on_carrier.h), also if the caller runs there.
 * 0; or an error, and why has a line. */
int hauli_move_on(const struct haul_io *io, unsigned carrier, haul_fn *fn, void *arg,
	uint64_t timeout_ns, char *why, size_t len);

/* True if the poller has packets of r to receive. */
typedef bool hauli_left_fn(const struct hauli_rxq *r, const void *arg);

/* In a coroutine of p's carrier: until nothing of r is left. -EBUSY and a line: the poller has
 * received nothing for HAUL_IO_MOVE_MAX, as too many handlers wait. */
int hauli_take_all(const struct hauli_poller *p, const struct hauli_rxq *r, hauli_left_fn *is_left,
	const void *arg, char *why, size_t len);

/*
 * In a coroutine of p's carrier: until the packets that it has received are through, of whatever
 * queue:
 *	two cycles have ended, and what these left in the run queue has begun (move.c).
 *	no handler is stolen, or in line behind a stolen one: those that have begun at home have now
 *	ended, or wait, and so have given up their position (HAUL_ORDER_FLOW, design/0006).
 *	the packets that were in the carrier's transmit queues have left these.
 * Handlers of other packets begin all the time, so the number of those in flight says nothing here.
 * The last two steps wait for HAUL_IO_MOVE_MAX together, and for HAULI_MOVE_CYCLES cycles.
 */
void hauli_get_through(const struct hauli_poller *p);

/* After that: until each proxy that sends for the carrier, on any port, has passed on what it has
 * got. As hauli_move_on(). */
int hauli_pass_all_on(
	const struct haul_io *io, unsigned from, uint64_t timeout_ns, char *why, size_t len);

#endif
