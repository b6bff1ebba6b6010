/* SPDX-License-Identifier: BSD-3-Clause */
/* What a carrier's poller does when it finds nothing: goes on, pauses, sleeps, or blocks. */
#ifndef HAULI_IO_IDLE_H
#define HAULI_IO_IDLE_H

#include <haul-dpdk/io.h>

#include "base/counter.h"
#include "io/wait.h"

struct hauli_poller;

/* The poller's, but for the counters, which may be read by any thread. */
struct hauli_idle {
	struct hauli_wait wait;

	/* What the policies of its queues come to, and the queues to. hauli_idle_settle() */
	uint64_t spin_ticks; /* so long without packets before it waits */
	uint64_t pause_ns; /* it pauses so long, and does nothing else; HAUL_FOREVER: it does not */
	uint64_t longest_ns; /* bound of a wait; HAUL_FOREVER: none */
	uint64_t fill_time; /* a sleep that is longer may overflow a queue */

	/* How it stands. */
	uint64_t cycle; /* number of the last empty cycle */
	uint64_t since; /* of the first of a row; ticks, 0: not looked at */
	unsigned empties; /* in a row */
	unsigned in_vain; /* waits in a row that a queue ended without packets */
	bool lost; /* a queue cannot be waited on any more */
	uint64_t step_ns; /* of the last sleep, 0: none since packets came */
	uint64_t late_ns; /* how much longer than asked a sleep takes, on average */
	uint64_t woke_at; /* the last wait's end; ticks */

	struct hauli_counter sleeps, wakes, slept_ns;
	struct hauli_counter latency[HAUL_LATENCY_BUCKETS];
};

/* One round over all queues: true when there were packets. woken: the first after a wait, which
 * calls hauli_idle_handles() when it comes to the first packet. */
typedef bool hauli_cycle_fn(struct hauli_poller *p, bool woken);

/* Opens what is waited on. 0 or -errno. The thread that starts and stops, as the next. */
int hauli_idle_open(struct hauli_poller *p);
void hauli_idle_close(struct hauli_poller *p);

/* Takes over the policies of the queues. The carrier's thread, or before the poller. */
void hauli_idle_settle(struct hauli_poller *p);

/* After an empty cycle of a poller that does not spin; true when there are packets after all, and
 * they were handled. */
bool hauli_idle(struct hauli_poller *p, hauli_cycle_fn *cycle);

/* A handler is called for the first packet after a wait. */
void hauli_idle_handles(struct hauli_poller *p);

/* The poller's wakeup; arg: struct hauli_poller. */
void hauli_idle_wakeup(void *arg);

#endif
