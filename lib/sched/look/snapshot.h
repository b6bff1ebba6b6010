/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What coroutines of a carrier do at one instant: their states and call stacks, taken by the
 * carrier's thread in a signal handler (snapshot.c).
 */
#ifndef HAULI_SCHED_LOOK_SNAPSHOT_H
#define HAULI_SCHED_LOOK_SNAPSHOT_H

#include <signal.h>

#include "sched/state/carrier.h"

#define HAULI_SHOT_DEPTH 24
/* glibc uses the first real-time signals, valgrind the last one. */
#define HAULI_SNAPSHOT_SIGNAL (SIGRTMAX - 2)
#define HAULI_STRAY_SIGNAL (SIGRTMAX - 3) /* of run/stray.c */

struct hauli_shot {
	/* set by the caller; NULL: the coroutine that runs, unless it is the poller */
	const struct haul_coro *co;
	bool taken; /* co is at home on the carrier, and has not ended */
	bool begun, runs, stolen, hibernates;
	enum hauli_coro_state state; /* without the bits beside the kind of wait */
	const char *name;
	/* Of a wait: what it is for, or NULL; the address of that object or coroutine. Below: its
	 * deadline in ticks, or HAULI_NEVER. */
	const char *what;
	const void *object;
	const void *holder; /* of a mutex: the coroutine that holds it, or NULL: not known */
	uint64_t until;
	uint32_t since; /* when its wait began (hauli_since()); 0: not known */
	unsigned n;
	void *pcs[HAULI_SHOT_DEPTH];
};

/*
 * Takes n shots of coroutines of carrier c, which stand still for about 2 us per shot. Any thread,
 * also c's own. False: the thread of c does not answer, within a second.
 */
bool hauli_snapshot(const struct haul_carrier *c, struct hauli_shot *shots, unsigned n);

/* The coroutine that holds a mutex now; NULL: none, or the program has freed it. Any thread. */
const void *hauli_snapshot_holder(const void *mutex);

#endif
