/* SPDX-License-Identifier: BSD-3-Clause */
/* The runtime: what all carriers share. */
#ifndef HAULI_SCHED_STATE_RUNTIME_H
#define HAULI_SCHED_STATE_RUNTIME_H

#include <pthread.h>

#include <haul/runtime.h>

#include "conc/gate.h"
#include "conc/word.h"
#include "sched/state/left.h"

struct haul_runtime {
	struct haul_runtime *next; /* in the list of all runtimes (runtime.c) */
	struct haul_carrier *carriers; /* constant after the start */
	unsigned nb_carriers;
	unsigned default_class; /* stack class */
	struct hauli_slab *coros;
	struct hauli_stacks *stacks;
	struct hauli_marks *marks; /* NULL: they are off */
	struct hauli_hibernation *hibernation; /* run/hibernate.c. NULL: none hibernates */
	struct hauli_cluster *clusters;
	unsigned nb_clusters;
	struct haul_carrier **nearest; /* by OS CPU, below nb_cpus: the nearest carrier */
	unsigned nb_cpus;
	struct hauli_group *groups; /* NULL: stealing is off */
	unsigned nb_groups;
	bool virtual_time; /* constant */
	enum haul_fds fds; /* constant */
	struct hauli_timelines *timelines; /* constant. NULL: they are off */
	/* its pollers receive from coroutines only, so they may run in virtual time. Set before the
	 * first poller */
	bool quiet_pollers;
	/* a thread that is no carrier has woken a coroutine. Any thread */
	struct hauli_u8_shared woken_from_outside;
	/* coroutines in hauli_offload(). A carrier that runs one */
	struct hauli_u64_shared offloaded;
	bool told_deadlock; /* under quiet_lock */
	pthread_mutex_t quiet_lock;
	struct haul_launcher launcher;
	struct hauli_watchdog *watchdog; /* or NULL */
	struct hauli_pool_user *pool; /* of threads for calls that block */
	struct hauli_threads *threads; /* of the default launcher, or NULL */
	struct hauli_rescue *rescue; /* run/rescue.c; or NULL */
	unsigned rescuers; /* spare threads for it. Constant */
	struct hauli_left left;
	/* coroutines that run on a thread that has lost its carrier. Any thread */
	struct hauli_u64_shared strays;

	/* Any thread. */
	struct hauli_gate gate; /* passed by spawns from other threads */
	/* passed by haul_on_each() of a thread that is no carrier here, which is inside until it
	 * returns */
	struct hauli_gate callers;
	/* passed by haul_join() of threads that are no carriers, which are inside until it returns.
	 * Closed when all coroutines have ended */
	struct hauli_gate joins;
	struct hauli_ticket ticket; /* for haul_spawn_any() on threads that are no carriers */
	struct hauli_u64_shared nb_spared; /* carriers that it passes over */

	/* haul_stop(), under the lock. */
	pthread_mutex_t lock;
	pthread_cond_t drained_more;
	unsigned nb_drained;
	bool stop_sent;
	unsigned holders; /* haul_stop() is refused while this is not 0 */
};

/* The list of runtimes that are started and not stopped. Any thread. */
void hauli_runtime_enlist(struct haul_runtime *rt);
void hauli_runtime_delist(struct haul_runtime *rt);
bool hauli_runtime_is_running(const struct haul_runtime *rt);

/*
 * Lets the calling thread, which is no carrier, join p, which may be any address. Returns 0 if p
 * is, or was, a coroutine of a runtime in the list: *rt does not end until
 * hauli_runtime_has_joined(); -ECANCELED if another thread has stopped its runtime, or may have;
 * -ENOENT if p is no coroutine.
 */
int hauli_runtimes_join(const void *p, struct haul_runtime **rt);
void hauli_runtime_has_joined(struct haul_runtime *rt);

/* Calls fn for each runtime in the list, none of which ends meanwhile. */
void hauli_runtimes_for_each(void (*fn)(struct haul_runtime *rt));

/* True in a child of fork() that has not started a runtime: the runtimes in its memory have no
 * threads, so a wait for one would not end. For threads that are no carriers. */
bool hauli_runtimes_are_copies(void);

/* In such a child, before its first start: empties the list. */
void hauli_runtimes_forget_copies(void);

/* Called by a thread that is no carrier, before it wakes co. */
void hauli_runtime_is_woken(const struct haul_coro *co);

/* For code that owns pollers and the memory that they use: haul_stop() is refused from hold to
 * let_go. Any thread that is no carrier. */
void hauli_runtime_hold(struct haul_runtime *rt);
void hauli_runtime_let_go(struct haul_runtime *rt);
bool hauli_runtime_is_held(struct haul_runtime *rt);

#endif
