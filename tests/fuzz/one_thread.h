/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the host's code needs of the scheduler, of io and of pools, in one thread and without EAL:
 * two carriers of which one runs, channels that nobody waits for, mbufs from malloc().
 */
#ifndef HAUL_FUZZ_ONE_THREAD_H
#define HAUL_FUZZ_ONE_THREAD_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "io/state.h"

#define ONE_CARRIERS 2u

#define REQUIRE(cond)            \
	do {                     \
		if (!(cond))     \
			abort(); \
	} while (0)

/* Writable. */
extern unsigned one_carrier; /* that runs */
extern uint64_t one_now; /* the time of haul_now() */
extern unsigned one_random; /* the next number of getrandom() */

extern struct haul_io one_io; /* one port */
extern unsigned one_pkts; /* mbufs that are not freed */

/* A frame whose data ends where readable memory does, but for `room` bytes behind it. It remembers
 * the frame as it came. */
struct one_pkt {
	struct rte_mbuf mbuf;
	size_t size;
	uint8_t came[];
};
struct rte_mbuf *one_make_pkt(const uint8_t *frame, size_t size, size_t room);

/* Runs the coroutine that was spawned on the carrier until it waits. */
void one_run(unsigned carrier);

/* What is sent: the caller's. */
void one_sends(struct rte_mbuf *pkt);

#endif
