/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rescue: a carrier whose slice lasts too long is served by a spare thread until the slice has
 * ended. rescue.c
 */
#ifndef HAULI_SCHED_RUN_RESCUE_H
#define HAULI_SCHED_RUN_RESCUE_H

#include "sched/run/stray.h"
#include "sched/state/carrier.h"

struct hauli_rescue;
struct hauli_rescuer;

/* Of a carrier that may be rescued. */
struct hauli_rescued {
	struct hauli_stray_ask ask;
	struct hauli_rescuer *own, *server; /* its own thread, and the one that serves it. Server */
	/* its own thread has lost it, and can take it back. Not set while that serves it */
	struct hauli_u32_published wanted;
	struct hauli_requests wish; /* msg, which says so to a server, is under way */
	struct hauli_msg msg;
	void (*rounds)(struct haul_carrier *c); /* of round.c. Constant once it runs */
	/* What the watching thread has seen. */
	uint64_t rounds_seen, ask_at; /* ask_at: ticks */
	uint32_t popped;
	struct hauli_u32_published asks; /* another thread does, and has what is above and below */
};

/* Before the carriers run, where the options ask for it. 0 or -errno. */
int hauli_rescue_init(struct haul_runtime *rt, const struct haul_runtime_opts *opts);
/* After the last carrier has ended. */
void hauli_rescue_fini(struct haul_runtime *rt);

/* The thread of c: calls rounds(c), which returns when hauli_rescue_is_over(), until c has
 * finished. */
void hauli_rescue_run(struct haul_carrier *c, void (*rounds)(struct haul_carrier *c));

/* Owner, between two rounds: this thread does not go on with c. */
bool hauli_rescue_is_over(const struct haul_carrier *c);

#endif
