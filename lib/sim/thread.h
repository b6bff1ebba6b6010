/* SPDX-License-Identifier: BSD-3-Clause */
/* A simulated thread, and the lists of those of a host. */
#ifndef HAULI_SIM_THREAD_H
#define HAULI_SIM_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coro/fiber.h"
#include "coro/switch.h"
#include "sched/state/exceptions.h"
#include "sim/heap.h"

struct hauli_sim_thread {
	struct hauli_sim_timer timer; /* first */
	struct hauli_ctx ctx;
	struct hauli_sim_thread *next; /* of those that wait in the same bucket, or rest */
	struct hauli_sim_thread *next_of_host, **prev_of_host;
	const void *waits_for;
	const char *waits_in; /* the function that waits */
	uint64_t waits_since;
	bool timed_out, has_ended, is_detached, rests;
	bool looks; /* since its last rest it has only looked, or is about to act */
	unsigned id, host;
	int holds; /* mutexes */
	uint64_t seen; /* of the host's `acts`, when it began to look */
	struct haul_carrier *carrier;
	int err; /* errno */
	struct hauli_exceptions exceptions; /* of C++ */
	void *(*fn)(void *);
	void *arg, *result;
	void *stack;
#if HAULI_ASAN
	void *fake;
	const void *lo;
	size_t size;
#endif
	uint64_t slow_until, slow_ns; /* of a CPU that is slow: time for each switch */
	char name[16];
	/* A signal that its handler is to take on this thread, and the thread that goes on then. */
	int signal;
	struct hauli_sim_thread *signaller;
	uint64_t blocked, pending; /* signals, a bit of each */
	struct hauli_sim_thread *newer, *older; /* of all */
};

/* The first that was started, of those that are not freed. */
struct hauli_sim_thread *hauli_sim_oldest(void);

/* Of all hosts. */
struct hauli_sim_hosts {
	struct hauli_sim_host {
		const char *name;
		struct hauli_sim_thread *resting, *threads;
		uint64_t acts; /* that those who rest may want to see */
		uint64_t signals; /* that were sent and not taken, a bit of each */
		void *pool; /* for offloaded calls, in the host's memory */
		unsigned next_free;
	} * all;
	unsigned n, free; /* free: the first number that may be given again; 0: none */
};

/* The number of a new one; UINT_MAX: no memory. */
unsigned hauli_sim_hosts_add(struct hauli_sim_hosts *h, const char *name);
/* Nobody refers to the number any more. */
void hauli_sim_hosts_remove(struct hauli_sim_hosts *h, unsigned host);
void hauli_sim_hosts_join(struct hauli_sim_hosts *h, struct hauli_sim_thread *t, unsigned host);
void hauli_sim_hosts_leave(struct hauli_sim_thread *t);
void hauli_sim_hosts_rest(struct hauli_sim_hosts *h, struct hauli_sim_thread *t);
void hauli_sim_hosts_rest_ends(struct hauli_sim_hosts *h, struct hauli_sim_thread *t);

#endif
