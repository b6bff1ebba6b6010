/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stealing in virtual time: the library's own decisions (lib/sched/state/policy.c, lib/conc/help.c)
 * over simulated carriers on a machine planned by lib/topo. All times are nanoseconds.
 */
#ifndef PERF_SIM_H
#define PERF_SIM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <haul/runtime.h>

#include "base/random.h"
#include "sched/state/policy.h"
#include "sched/state/slices.h"

#define SIM_NEVER UINT64_MAX
#define SIM_CARRIERS_MAX HAULI_HELP_MEMBERS
#define SIM_RESCUERS_MAX 64

enum sim_idle { SIM_PARK, SIM_SPIN };
enum sim_whom { SIM_ALL, SIM_VICTIM, SIM_RING, SIM_GROUP, SIM_ASK };
enum sim_service { SIM_CONST, SIM_EXP, SIM_BIMODAL };
enum sim_arrive {
	SIM_POLL, /* packets, taken by each carrier's poller */
	SIM_MAIL, /* spawns by threads that are no carriers, into inboxes */
	SIM_SOURCE, /* a coroutine on each carrier spawns a burst each time it runs */
};

struct sim_opts {
	/* The machine. */
	uint64_t carriers, clusters;
	uint64_t idle; /* enum sim_idle */
	/* The policy. */
	uint64_t steal; /* enum haul_steal */
	uint64_t searchers, most, depth, naps, pull_every, least, hog, nap;
	uint64_t min_work, barrier_work, min_gap, barrier_gap;
	/* The load. */
	uint64_t arrive, service; /* enums */
	double load; /* as a part of all carriers' time */
	uint64_t mean, long_ns, slices, burst;
	double long_share;
	uint64_t longest_ns;
	double longest_share;
	uint64_t hot; /* number of hot carriers */
	double hot_share; /* part of the load for the hot carriers */
	double zipf;
	bool packed; /* the busiest carriers are neighbours, else in different clusters */
	uint64_t tasks; /* of all sources together */
	uint64_t us, seed;
	/* The costs. */
	uint64_t slice_cost, spawn_cost, send_cost, receive_cost, poll_cost;
	uint64_t look_cost, far_look_cost;
	uint64_t wake_call, wake; /* the waker's cost; the time until the wakee runs */
	uint64_t barrier, interrupt; /* a theft's costs: the thief's; the interrupt's */
	bool parallel; /* barriers run in parallel; else they queue */
	uint64_t whom; /* carriers interrupted by a theft: enum sim_whom */
	uint64_t theft; /* the thief's cost of a theft without a barrier */
	uint64_t fence; /* of a pop from a fenced ring */
	uint64_t lease; /* a ring stays fenced for so many pops; a group for so many ns */
	uint64_t answer; /* of a victim that is asked */
	uint64_t patience; /* of a thief that asks */
	uint64_t sleep_gap; /* ns between the barriers of a carrier that falls asleep; 0: none */
	uint64_t refill, far_refill; /* added to a stolen slice, in and between clusters */
	/* Long slices. */
	uint64_t yield; /* a slice is cut after that; 0: never */
	bool fifo; /* tasks with a slice that was cut have no queue of their own */
	uint64_t rescue, rescue_takes; /* a slice is left behind after that, and so much more */
	uint64_t rescuers; /* spare threads, each with a CPU */
	bool json;
};

/* Returns 0; 1 after --help; -1 after an error line. */
int sim_options(struct sim_opts *o, int argc, char **argv);
void sim_options_json(FILE *out, const struct sim_opts *o);

struct sim_task {
	struct sim_task *next;
	uint64_t came;
	uint64_t service; /* of one slice */
	uint64_t left, part; /* of the slice that runs: not done yet; up to the next yield */
	unsigned home;
	unsigned slices; /* slices left */
	bool ended;
	bool source; /* pinned; its slices left are the tasks that it will start */
	bool remote; /* stolen; its last slice may have ended */
	bool is_short; /* SIM_BIMODAL */
	bool is_cut; /* its last slice was cut */
};

struct sim_queue {
	struct sim_task *first, **end;
	unsigned length;
};

void sim_queue_init(struct sim_queue *q);
void sim_queue_push(struct sim_queue *q, struct sim_task *t);
void sim_queue_push_first(struct sim_queue *q, struct sim_task *t);
struct sim_task *sim_queue_pop(struct sim_queue *q);
/* Pops the oldest task that is not a source. */
struct sim_task *sim_queue_steal(struct sim_queue *q);

/* The machine; NULL, with a line on stderr. */
struct haul_plan *sim_plan(const struct sim_opts *o);

/* Arrival, carrier and duration of each task: the same for each policy. */
struct sim_load {
	const struct sim_opts *o;
	struct hauli_random random;
	double between; /* mean time between two arrivals */
	double upto[SIM_CARRIERS_MAX]; /* sums of the carriers' shares */
	uint64_t next_at; /* SIM_NEVER: no further arrival */
	double at;
};

void sim_load_init(struct sim_load *l, const struct sim_opts *o, const struct haul_plan *plan);
void sim_load_next(struct sim_load *l);
unsigned sim_load_carrier(struct sim_load *l);
uint64_t sim_load_service(struct sim_load *l);

/* Durations, in buckets of 1/64 of their size. */
#define SIM_BUCKETS (59 * 64)

struct sim_times {
	uint64_t n, sum, most;
	uint64_t buckets[SIM_BUCKETS];
};

void sim_times_add(struct sim_times *h, uint64_t ns);
uint64_t sim_times_at(const struct sim_times *h, double q);

enum sim_state { SIM_RUNS, SIM_LOOPS, SIM_IDLES, SIM_SLEEPS, SIM_WAKES };

struct sim_group;

struct sim_carrier {
	struct sim_world *w;
	unsigned id, cluster;
	enum sim_state state;
	uint64_t next_at; /* time of its next step */
	unsigned in_heap; /* its index in the heap */
	uint64_t cost; /* of its last actions */
	uint64_t debt; /* cost of interrupts not yet charged */

	struct sim_queue ring, nic;
	struct sim_queue cut; /* tasks whose slice was cut (lib/sched/state/runq.h) */
	bool cut_has_run; /* the batch began with one of these */
	struct sim_queue stolen_tasks; /* stolen tasks, until the theft ends */
	struct sim_queue mail; /* in its inbox: tasks that start or return */
	unsigned notes, notes_seen; /* of tasks that ended elsewhere; read by thieves */
	int search; /* the token of a search in its inbox, or -1 */
	uint64_t pushed, seen; /* the ring is stealable if they differ */
	uint64_t guarded; /* end of the thief's stay in the ring */
	bool closed; /* a thief has ended the batch */
	uint64_t lease; /* pops left until the ring is no longer fenced */
	uint64_t barrier_at; /* earliest time of its next barrier before a sleep */
	bool passed; /* it has passed one before this sleep */

	struct sim_task *current;
	struct sim_carrier *rescuer; /* takes the slice that runs; NULL: none does */
	unsigned batch, ran; /* slices */
	struct hauli_slices lately;
	uint64_t round_began, batch_began, slice_average;

	struct sim_group *group; /* NULL: stealing is off */
	struct hauli_thief thief;
};

struct sim_group {
	struct hauli_policy policy;
	unsigned carriers[SIM_CARRIERS_MAX]; /* by group_idx */
	uint64_t fenced_until;
	struct sim_world *w;
};

struct sim_counts {
	uint64_t came, ended, twice, slices; /* tasks; tasks that ended again; slices run */
	uint64_t offered, worked; /* ns of work requested by tasks, and ns of work done */
	uint64_t thefts, stolen, crossed, failed, looks, far_looks, searches, wakes;
	uint64_t barriers, interrupts, overhead; /* number; ns that carriers spent on stealing */
	uint64_t rescues;
};

struct sim_world {
	const struct sim_opts *o;
	uint64_t now;
	struct sim_load load;
	struct sim_carrier carriers[SIM_CARRIERS_MAX], outside;
	struct sim_carrier *payer; /* the carrier charged for the current action */
	/* Threads that run slices which carriers have left behind, in a carrier's place. */
	struct sim_carrier rescuers[SIM_RESCUERS_MAX];
	struct sim_carrier *heap[SIM_CARRIERS_MAX + SIM_RESCUERS_MAX]; /* ordered by next_at */
	unsigned nb_heap;
	struct sim_group *groups;
	unsigned nb_groups;
	struct sim_task *free;
	uint64_t barriers_until; /* end of the last requested barrier */
	struct sim_counts counts;
	struct sim_times times, short_times;
};

/* groups.c: the policy's view. 0 or -ENOMEM. */
int sim_groups_init(struct sim_world *w, const struct haul_plan *plan);
void sim_groups_fini(struct sim_world *w);
void sim_offer(struct sim_carrier *c);
/* The thief or sleeper c has all running carriers pass a barrier. */
void sim_barrier(struct sim_world *w, struct sim_carrier *c, const struct sim_carrier *victim);
bool sim_is_fenced(const struct sim_carrier *c, uint64_t now);

/* carrier.c */
void sim_carrier_init(struct sim_carrier *c, struct sim_world *w, unsigned id, unsigned cluster);
void sim_rescuer_init(struct sim_carrier *c, struct sim_world *w, unsigned id);
/* Of a rescuer, too. */
void sim_carrier_step(struct sim_carrier *c);
void sim_carrier_push(struct sim_carrier *c, struct sim_task *t);
/* A task arrives from outside. */
void sim_carrier_arrive(struct sim_carrier *c, struct sim_task *t);
/* Wakes the carrier if it sleeps; true if it slept. w->payer pays. */
bool sim_carrier_wake(struct sim_carrier *c);

/* world.c */
void sim_schedule(struct sim_carrier *c, uint64_t at);
struct sim_task *sim_task_new(struct sim_world *w, unsigned home, uint64_t service);
void sim_task_end(struct sim_world *w, struct sim_task *t, uint64_t at);
/* report.c: the figures, on stdout. */
void sim_report(const struct sim_world *w);

/* Runs the simulation. 0, or -1 with a line on stderr. */
int sim_run(struct sim_world *w);

#endif
