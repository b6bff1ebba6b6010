/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Balancing: which receive queues (haul_io_move_queue()) or buckets of flows
 * (haul_io_move_bucket()) should move to which carriers, from what they did in the last interval,
 * and how many carriers the load needs. The decision is a function of its arguments alone: it knows
 * no port and no clock, so perf/balance runs it in simulated time.
 *
 *	needs	At once one carrier more, if one in use works for more than grow_at of its time.
 *		 One less, once the others would have worked for less than shrink_at of theirs,
 *		 through all of the last shrink_ns.
 *	moves	From the busiest carrier to the idlest, one after another, as long as that helps the
 *		first one; then from the next busiest. Those of a carrier are made if afterwards
 *		neither it nor any that got a queue works for more than 1 - gain of what it did;
 *		a quarter of the gain is enough for a carrier that works for 95 % of its time or
 *		more, as it may drop what it has no time for.
 *		A flow is not split: a queue that takes a carrier's whole time stays, alone.
 *
 * The rule of the minimum gain is that of Open vSwitch's pmd-auto-lb, which looks once a minute,
 * and at the variance of all threads.
 */
#ifndef HAUL_DPDK_BALANCE_H
#define HAUL_DPDK_BALANCE_H

#include <stdbool.h>
#include <stdint.h>

#include <haul/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All zero: the defaults. */
struct haul_balance_opts {
	double grow_at; /* 0: 0.8 */
	double shrink_at; /* 0: 0.5 */
	double gain; /* 0: 0.25 */
	uint64_t shrink_ns; /* 0: 10 s */
	uint64_t hold_ns; /* a queue that has moved stays for that long; 0: 1 s */
	unsigned moves_max; /* in a step; 0: as carriers, or 1/8 of the queues */
	bool all; /* all carriers stay in use */
	unsigned least; /* so many carriers are always in use; 0: one */
	/* True if a queue may move to a carrier: a bucket may not go to all. NULL: each may go
	 * everywhere. Called by haul_balance_step(), with indexes. */
	bool (*may_go)(void *arg, unsigned queue, unsigned carrier);
	void *arg;
};

/* A receive queue, or a bucket. */
struct haul_balance_queue {
	unsigned carrier; /* that has it; haul_balance_step() sets it to where it moves */
	uint64_t packets; /* received in the interval */
	double load; /* set by haul_balance_step(): the part of a carrier's time that it took */
	uint64_t moved_at; /* of haul_balance_step(); 0: not yet */
};

/* A carrier. */
struct haul_balance_carrier {
	double work; /* the part of the interval in which it worked, 0 to 1 */
};

struct haul_balance_move {
	unsigned queue, from, to; /* indexes */
};

struct haul_balance {
	struct haul_balance_opts opts;
	/* Of haul_balance_step(). */
	unsigned in_use; /* carriers 0 to in_use - 1; 0: not yet known */
	uint64_t low_since; /* 0: now more carriers are needed than in_use - 1 */
	/* The work of the busiest carrier that the last step relieves, and the most of all that
	 * take part with its moves. */
	double before, after;
};

/*
 * A step: sets *b, and the carriers of queues that are to move. now: time of any clock, in
 * nanoseconds, of which the first is not 0. Returns the number of moves in moves, which has room
 * for moves_max of them. The caller makes them in this order, and puts back the carrier of a queue
 * whose move has failed. Uses no memory of its own. Any thread; one at a time for each b.
 */
HAUL_API unsigned haul_balance_step(struct haul_balance *b, uint64_t now,
	struct haul_balance_queue *queues, unsigned nb_queues,
	const struct haul_balance_carrier *carriers, unsigned nb_carriers,
	struct haul_balance_move *moves);

#ifdef __cplusplus
}
#endif

#endif
