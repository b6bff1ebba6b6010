/* SPDX-License-Identifier: BSD-3-Clause */
/* What the simulation of threads (threads.c) and that of time and choices (world.c) share. */
#ifndef HAULI_SIM_STATE_H
#define HAULI_SIM_STATE_H

#include <haul-sim/sim.h>

#include "base/random.h"
#include "sim/heap.h"
#include "sim/thread.h"
#include "sim/world.h"

#define HAULI_SIM_STACK_BYTES (256 * 1024)
#define HAULI_SIM_GUARD_BYTES 4096
#define HAULI_SIM_BUCKETS 1024

struct hauli_sim_queue {
	struct hauli_sim_thread *first, **end;
};

struct hauli_sim_world {
	struct hauli_sim_thread *current, **ready, *over;
	size_t nb_ready, room;
	struct hauli_sim_hosts hosts;
	struct hauli_sim_queue waits[HAULI_SIM_BUCKETS];
	struct hauli_sim_heap timers;
	struct hauli_random random;
	struct hauli_exceptions *exceptions; /* the real thread's; NULL: no C++ */
	uint64_t now, reads, pauses, switches, hash, until;
	uint64_t seed, mark_at; /* the switch at which the next mark is due */
	unsigned steps, nb_threads, nb_ended;
	struct hauli_sim_thread control; /* who called haul_sim_run() */
	struct hauli_sim_thread *oldest, *newest;
	bool has_advanced; /* the clock, since checks (check.c) */
	enum haul_sim_end end;
	int (*fn)(void *arg);
	void *arg;
	int value;
};
extern struct hauli_sim_world hauli_world;

bool hauli_sim_add_ready(struct hauli_sim_thread *t);
/* It waits no more. */
void hauli_sim_rouse_thread(struct hauli_sim_thread *t);
/* Frees the stack of a thread that has just ended. */
void hauli_sim_free_over(void);
/* Somebody else runs. */
void hauli_sim_give_way(void);
void hauli_sim_switch_to(struct hauli_sim_thread *to);
/* The first thing on a stack; came_from: who switched here. */
void hauli_sim_arrive(struct hauli_sim_thread *self, struct hauli_sim_thread *came_from);
/* The handler runs here and now, and is no step. */
void hauli_sim_take_signal(struct hauli_sim_thread *me);

#endif
