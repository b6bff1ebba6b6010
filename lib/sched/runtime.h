/* SPDX-License-Identifier: BSD-3-Clause */
/* The runtime: what all carriers share. */
#ifndef HAULI_SCHED_RUNTIME_H
#define HAULI_SCHED_RUNTIME_H

#include <pthread.h>

#include <haul/runtime.h>

#include "conc/gate.h"
#include "conc/word.h"

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
	struct hauli_ticket ticket; /* haul_spawn_any() from outside */

	/* haul_stop(), under the lock. */
	pthread_mutex_t lock;
	pthread_cond_t drained_more;
	unsigned nb_drained;
	bool stop_sent;
	unsigned holders; /* haul_stop() is refused while there are any; under the lock */
};

/* The list of the runtimes that have started and not stopped. Any thread. */
void hauli_runtime_enlist(struct haul_runtime *rt);
void hauli_runtime_delist(struct haul_runtime *rt);
bool hauli_runtime_is_running(const struct haul_runtime *rt);

/* True in a child of fork() that has started no runtime since: the runtimes in its memory have no
 * threads, and a wait for one would not end. For threads that are no carriers. */
bool hauli_runtimes_are_copies(void);

/* In such a child, before its first start: the list becomes empty. */
void hauli_runtimes_forget_copies(void);

/* For an owner of pollers and of the memory that they use: haul_stop() is refused until the owner
 * releases rt. Any thread that is no carrier. */
void hauli_runtime_hold(struct haul_runtime *rt);
void hauli_runtime_let_go(struct haul_runtime *rt);
bool hauli_runtime_is_held(struct haul_runtime *rt);

#endif
