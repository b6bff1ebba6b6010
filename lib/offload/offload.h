/* SPDX-License-Identifier: BSD-3-Clause */
/* haul_offload(), for other calls of haul that may block their thread. */
#ifndef HAULI_OFFLOAD_OFFLOAD_H
#define HAULI_OFFLOAD_OFFLOAD_H

#include <haul/offload.h>

#include "pool/queue.h"
#include "sched/wait/block.h"

struct hauli_offload {
	void (*fn)(void *arg);
	void *arg;
	const char *call; /* the public call, for a line about misuse */
	/* for a dump: what the coroutine waits for, and which; as hauli_block */
	const char *what;
	const void *object;
};

/* As haul_offload(). */
int hauli_offload(const struct hauli_offload *o, uint64_t deadline);

/* The state of a call. */
struct hauli_offloaded {
	struct hauli_job job;
	struct hauli_block block;
	const struct hauli_offload *o;
	int err; /* by the job's end */
};

/* The same by me, the running coroutine, after the check whether it may wait. */
int hauli_offload_with(struct haul_coro *me, const struct hauli_offload *o, uint64_t deadline,
	struct hauli_offloaded *call);

#endif
