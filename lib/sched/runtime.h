/* SPDX-License-Identifier: BSD-3-Clause */
/* The runtime: what all carriers share. */
#ifndef HAULI_SCHED_RUNTIME_H
#define HAULI_SCHED_RUNTIME_H

#include <pthread.h>

#include "conc/gate.h"
#include "sched/carrier.h"

struct haul_runtime {
	struct haul_runtime *next; /* runtime.c's list of all */
	struct haul_carrier *carriers; /* fixed once started */
	unsigned nb_carriers;
	unsigned default_class; /* of stacks */
	struct hauli_stacks *stacks;
	struct hauli_cluster *clusters;
	unsigned nb_clusters;
	struct haul_carrier **nearest; /* the one nearest to OS CPU i, of nb_cpus */
	unsigned nb_cpus;
	struct hauli_group *groups; /* of carriers that steal from each other; NULL: none */
	unsigned nb_groups;
	struct haul_launcher launcher;
	struct hauli_threads *threads; /* of the default launcher; else NULL */

	/* Any thread. */
	struct hauli_gate gate; /* spawns by mail pass through it */
	struct hauli_turn turn; /* haul_spawn_any() from outside */

	/* haul_stop(), under the lock. */
	pthread_mutex_t lock;
	pthread_cond_t drained_more;
	unsigned nb_drained;
	bool stop_sent;
	unsigned holders; /* haul_stop() is refused while there are any; under the lock */
};

/* For an owner of pollers and of the memory that they use: haul_stop() is refused until the owner
 * releases rt. Any thread that is no carrier. */
void hauli_runtime_hold(struct haul_runtime *rt);
void hauli_runtime_let_go(struct haul_runtime *rt);

/* True in a child of fork() that has started no runtime since: the runtimes in its memory have no
 * threads, and a wait for one would not end. For threads that are no carriers. */
bool hauli_runtimes_are_copies(void);

/* Called once by each carrier when none of its coroutines is left. */
void hauli_runtime_drained(struct haul_runtime *rt);

/* "carrier 1 does not answer: hog 0x... does not suspend", with what runs there. Any thread. */
void hauli_tell_silent(const struct haul_carrier *c, char *buf, size_t len);

/* During a stop. A line for each carrier that the stop waits for although all its coroutines have
 * ended; the dump shows the other carriers. Any thread. */
void hauli_dump_unfinished(const struct haul_runtime *rt, FILE *out);

/* The default launcher: POSIX threads, pinned and named as their places say. */
int hauli_threads_create(
	struct hauli_threads **threads, unsigned n, struct haul_launcher *launcher);
void hauli_threads_destroy(struct hauli_threads *threads);

#endif
