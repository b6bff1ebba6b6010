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
 * Whether an idle carrier takes ready coroutines from a carrier that has more than it can run, for
 * one slice each. A stolen coroutine keeps its home: it returns after the slice, and coroutines
 * that it spawns have the same home. Pinned coroutines, pollers and coroutines that wait are not
 * stolen.
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
	size_t stack_size; /* usable bytes of a coroutine's stack by default; 0: 24 KiB */
	uint64_t round_ns; /* the most time for ready coroutines per round; 0: 50 us */
	uint64_t poll_interval_ns; /* aim for the time between two polls; 0: 20 us */
	enum haul_steal steal;
	/* Bounds of a theft. The second and the third do not hold behind a coroutine that runs for
	 * long. */
	unsigned steal_most; /* coroutines that it takes, 1 to 128, and at most half; 0: 128 */
	unsigned steal_depth; /* coroutines that must be ready there, 1 to 256; 0: 1 */
	uint64_t steal_worth_ns; /* time that these must take; 0: 10 us, and more with many
				  * carriers, all of which a theft interrupts */
	unsigned searchers; /* idle carriers of a cluster that search at a time, 1 to 32; 0: 1 */
};

/*
 * Starts one carrier per place of the plan. Any thread that is no carrier. More than one runtime
 * may exist. 0, what the launcher returned, or:
 *	-EPERM		called on a carrier's thread
 *	-ENOMEM, -EAGAIN	no memory; no thread
 *	-ENOTSUP	stealing needs membarrier(2) (Linux 4.14) and a haul that was built with
 *			-Dstealing=true
 *	-EINVAL		rt is NULL; stack_size, steal or a field below it is out of range; the plan
 *			has no carriers, or its tables name carriers that it has not; the launcher
 *			lacks a function; more than 256 carriers steal from each other
 * A child of fork() has no runtime: spawns, joins and the stop of its parent's fail with -EPERM. It
 * may start one of its own, but not on EAL's lcores.
 */
HAUL_API int haul_start(struct haul_runtime **rt, const struct haul_runtime_opts *opts);

/*
 * Refuses new spawns, cancels every coroutine and poller, waits until all have ended, joins the
 * carriers and frees the runtime. Coroutines that had ended before and were neither joined nor
 * detached are counted on stderr. Any thread that is no carrier. 0, or with lines on stderr:
 *	-ETIMEDOUT	coroutines have not ended after timeout_ns: they are listed, with the
 *			carriers that do not answer. The runtime goes on; call haul_stop() again
 *	-EDEADLK	called on a carrier; nothing was done, as for the errors below
 *	-EINVAL		rt does not run; it was stopped before
 *	-EBUSY		haul_io_stop() comes first
 *	-EPERM		called in a child of fork()
 */
HAUL_API int haul_stop(struct haul_runtime *rt, uint64_t timeout_ns);

/* Prints each coroutine that has not ended (carrier, name, state), and how many have ended but were
 * neither joined nor detached. Any thread. */
HAUL_API void haul_dump(struct haul_runtime *rt, FILE *out);

/* Gives the memory of unused stacks back to the kernel. Any thread. Bytes given back. */
HAUL_API size_t haul_trim(struct haul_runtime *rt);

/* The number of carriers; the i-th of them, or NULL if there are not so many. Any thread. */
HAUL_API unsigned haul_carriers(const struct haul_runtime *rt);
HAUL_API struct haul_carrier *haul_carrier(struct haul_runtime *rt, unsigned i);

/*
 * The carrier nearest to a NIC, given by its interface name or PCI address: for
 * haul_coro_opts.near. NULL if there is no such NIC, or if the interface has no device (veth, TAP):
 * then no carrier is nearer than another. Reads a few files. Any thread.
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
	uint64_t spawned; /* coroutines whose home is this carrier */
	uint64_t ended;
	uint64_t messages; /* received from other threads */
	uint64_t wakeups; /* calls made by other threads to wake it when it slept */
	uint64_t parks; /* times that the carrier slept */
	uint64_t stolen; /* coroutines that it took from others */
	uint64_t steals_failed; /* tries that found nothing, or the victim busy with itself */
	uint64_t searches; /* times that it was woken to look for work to steal */
};

/* Any thread. */
HAUL_API void haul_carrier_get_stats(const struct haul_carrier *c, struct haul_carrier_stats *st);

#ifdef __cplusplus
}
#endif

#endif
