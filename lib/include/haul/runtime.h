/* SPDX-License-Identifier: BSD-3-Clause */
/* The runtime: all carriers of a process, started and stopped together. */
#ifndef HAUL_RUNTIME_H
#define HAUL_RUNTIME_H

#include <stdio.h>

#include <haul/base.h>
#include <haul/coro.h>
#include <haul/topo.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * How carriers get their threads. launch() runs fn(arg) on a thread for carrier i, pinned as
 * place says, and returns 0 or -errno; join() waits until that fn has returned. Both are
 * called from the thread that starts or stops the runtime. NULL in haul_runtime_opts means
 * plain POSIX threads; haul-dpdk/eal.h has one that uses EAL's lcores.
 */
struct haul_launcher {
	int (*launch)(void *ctx, unsigned i, const struct haul_place *place, int (*fn)(void *),
		void *arg);
	void (*join)(void *ctx, unsigned i);
	void *ctx;
};

/*
 * Whether a carrier that has nothing to do takes coroutines from one that has more than it can
 * run, for one slice each. Their home stays where it is: what they spawn is at home there, and
 * they are back after the slice. Pinned coroutines, pollers, and whoever sleeps are never taken.
 */
enum haul_steal {
	HAUL_STEAL_OFF,
	HAUL_STEAL_CLUSTER, /* from carriers of the same cluster */
	HAUL_STEAL_GLOBAL, /* from all */
};

/* NULL in place of it, or all zero, means the defaults. */
struct haul_runtime_opts {
	const struct haul_plan *plan; /* NULL: haul_plan_create()'s default; copied */
	const struct haul_launcher *launcher;
	size_t stack_size; /* of a coroutine by default; 0: 24 KiB */
	uint64_t round_ns; /* the most time for ready coroutines per round; 0: 50 us */
	uint64_t poll_interval_ns; /* wished bound on the time between two polls; 0: 20 us */
	enum haul_steal steal;
	unsigned steal_most; /* coroutines in one theft, 1 to 128, of at most half; 0: 128 */
	unsigned steal_depth; /* how many must wait, 1 to 256, but behind a hog; 0: 1 */
	uint64_t steal_worth_ns; /* how long they must take, but behind a hog; 0: 10 us, and more
				  * with many carriers, all of which a theft interrupts */
	unsigned searchers; /* of a cluster at a time, 1 to 32; 0: 1 */
};

/*
 * Starts one carrier per place of the plan; all are known to each other before the first
 * runs. Any thread that is no carrier. 0, -EPERM (a carrier's thread), -ENOMEM, -EAGAIN (no
 * thread), -ENOTSUP (stealing needs membarrier(2), Linux 4.14, and a haul that was built with it:
 * -Dstealing=true), -EINVAL (stack_size, steal and what follows out of range; a plan of no
 * carriers, or whose tables lead beyond them; a launcher without a function; more than 256 carriers
 * that steal from each other), or what the launcher returned. More than one runtime may exist.
 * A child of fork() has none: it may start one of its own (not on EAL's lcores); of those of its
 * parent, spawns, joins and the stop are refused with -EPERM.
 */
HAUL_API int haul_start(struct haul_runtime **rt, const struct haul_runtime_opts *opts);

/*
 * Refuses new spawns, cancels every coroutine and poller, waits until all have ended and joins
 * the carriers, then frees the runtime. 0; -ETIMEDOUT when some have not ended after timeout_ns:
 * they are listed on stderr, with the carriers that do not answer; the runtime stays as it is and
 * haul_stop() may be called again. How many had ended before and were never joined or detached is
 * told on stderr. At once, and with a line there: -EDEADLK on a carrier, -EINVAL when rt does not
 * run (it was stopped before), -EBUSY before haul_io_stop(), -EPERM in a child of fork(). Any
 * thread that is no carrier.
 */
HAUL_API int haul_stop(struct haul_runtime *rt, uint64_t timeout_ns);

/* Prints each coroutine that has not ended: carrier, name, state; and how many have, and were
 * neither joined nor detached. Any thread. */
HAUL_API void haul_dump(struct haul_runtime *rt, FILE *out);

/* Gives the memory of unused stacks back to the kernel. Any thread. Bytes given back. */
HAUL_API size_t haul_trim(struct haul_runtime *rt);

/* How many carriers, and the i-th (NULL beyond). Any thread. */
HAUL_API unsigned haul_carriers(const struct haul_runtime *rt);
HAUL_API struct haul_carrier *haul_carrier(struct haul_runtime *rt, unsigned i);

/*
 * The carrier nearest to a NIC, an interface name or a PCI address: for haul_coro_opts.near. NULL
 * when there is no such NIC, or when it hangs on no device (veth, TAP), which is near to all.
 * Reads a few files. Any thread.
 */
HAUL_API struct haul_carrier *haul_carrier_near(struct haul_runtime *rt, const char *nic);

/* The carrier whose thread this is; NULL on other threads. Never kept over a suspension. */
HAUL_API struct haul_carrier *haul_carrier_self(void);

/* Fixed facts of a carrier. Any thread. */
HAUL_API unsigned haul_carrier_id(const struct haul_carrier *c);
HAUL_API const struct haul_place *haul_carrier_place(const struct haul_carrier *c);
HAUL_API struct haul_runtime *haul_carrier_runtime(const struct haul_carrier *c);

/* Counters since the start; each is exact, the set is not a snapshot. */
struct haul_carrier_stats {
	uint64_t rounds; /* turns of the carrier's loop */
	uint64_t slices; /* times that a coroutine was resumed, pollers not counted */
	uint64_t spawned; /* coroutines that came to be at home here */
	uint64_t ended;
	uint64_t messages; /* received from other threads */
	uint64_t wakeups; /* calls made by other threads to wake it when it slept */
	uint64_t parks; /* times that the carrier slept */
	uint64_t stolen; /* coroutines that it took from others */
	uint64_t steals_failed; /* tries that found nothing, or the victim busy with itself */
	uint64_t searches; /* times that it was woken to look for work */
};

/* Any thread. */
HAUL_API void haul_carrier_get_stats(const struct haul_carrier *c, struct haul_carrier_stats *st);

#ifdef __cplusplus
}
#endif

#endif
