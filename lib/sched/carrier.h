/* SPDX-License-Identifier: BSD-3-Clause */
/* A carrier: a thread, its run queue, its poller's slot and its inbox. */
#ifndef HAULI_SCHED_CARRIER_H
#define HAULI_SCHED_CARRIER_H

#include <haul/runtime.h>

#include "base/assert.h"
#include "base/counter.h"
#include "conc/inbox.h"
#include "conc/word.h"
#include "sched/coroutine.h"
#include "sched/msg.h"
#include "sched/policy.h"
#include "sched/runq.h"
#include "sched/slices.h"
#include "sched/wait_list.h"

/* How a stopping carrier stands. */
enum hauli_carrier_phase {
	HAULI_PHASE_RUNS,
	HAULI_PHASE_DRAINS, /* all are cancelled, none may be spawned */
	HAULI_PHASE_DRAINED, /* none is left that has not ended */
	HAULI_PHASE_FINISHED, /* leaves its loop */
};

/* How far a carrier's stop has come, as other threads see it. */
enum hauli_stop_step {
	HAULI_STOP_UNHANDLED, /* the message has not been handled */
	HAULI_STOP_HANDLED,
	HAULI_STOP_DRAINED,
};

/* The path by which a coroutine that runs on a carrier spawns or wakes others. */
enum hauli_path {
	HAULI_PATH_SLOW, /* something is not as usual */
	HAULI_PATH_FAST,
	HAULI_PATH_NOTIFY, /* those who may steal it */
};

typedef uint8_t hauli_order_key_fn(const void *arg);

/* The coroutines of one order key. order.c */
struct hauli_order {
	struct haul_coro
		*remote; /* stolen, and not known to be done; the first stolen first. Linked by
				 * order_next */
	struct hauli_wait_list line; /* have entered, or wait to; by their places. Home */
};

struct hauli_orders {
	HAULI_LINE struct hauli_u32_published taken; /* thefts from this carrier. Thieves */
	struct hauli_u64_owned members; /* of all lists. Under the guard */
	uint32_t seen; /* taken, when the running batch began. Owner */
	hauli_order_key_fn *ask; /* for HAULI_ORDER_KEY_ASK, or NULL */
	struct hauli_order of[HAUL_ORDER_KEYS]; /* under the guard of the carrier's ring */
};

struct hauli_exceptions;

struct haul_carrier {
	/* The switch's line: owner. */
	HAULI_LINE struct haul_coro *current; /* NULL: the loop */
	struct haul_coro *left; /* switched out, to be published by who runs now; or NULL */
	struct haul_coro *poller;
	struct hauli_timers timers;
	enum hauli_carrier_phase phase;
	enum hauli_path spawn_path, wake_path; /* of the running coroutine */
	/* spawn_path is HAULI_PATH_NOTIFY: one test of that word leaves no trace in off */
	bool notifies;
	bool cxx; /* there are exceptions to look at: one test of it, and no load. Constant */
	struct hauli_exceptions *exceptions; /* its thread's; NULL: no C++. Constant */

	struct hauli_runq runq; /* owner */

	/* The loop's line: owner. */
	HAULI_LINE struct hauli_co loop;

	/* Owner. */
	HAULI_LINE struct hauli_stack_cache stacks;
	struct hauli_slices lately;
	unsigned passed_over; /* rounds in which it took nothing from the cluster's injector */

	/* Statistics: owner, read anywhere. */
	HAULI_LINE struct hauli_counter rounds, slices, spawned, ended, messages, parks;
	struct hauli_counter arrived; /* coroutines started by mail */

	/* Any thread. */
	struct hauli_inbox inbox;
	struct hauli_detached_mail detached;
	/* coroutines sent here to be started; with arrived */
	HAULI_LINE struct hauli_ticket placed;
	struct hauli_trylock poller_lock; /* taken by who registers, released at the poller's end */

	/* Wakes it while its poller blocks (POLLING_WAIT). Written by the claimer of the slot. */
	struct hauli_wakeup {
		void (*fn)(void *arg);
		void *arg;
	} poller_wakeup;

	/* Stealing. Owner; the averages are read by any. steal.c */
	HAULI_LINE struct hauli_thief thief;
	uint64_t barrier_at; /* not before it goes to sleep in earnest (steal.c); ticks */
	bool before_barrier; /* it sleeps until then only */
	bool has_stolen; /* what runs may have been stolen */
	struct hauli_u64_owned batch_began; /* ticks; 0: no batch runs */
	struct hauli_u64_owned slice_average; /* ticks */
	struct hauli_counter stolen, steals_failed, searches;
	struct hauli_orders orders; /* among those at home here */

	/* Set before the carrier runs. */
	HAULI_LINE struct haul_runtime *rt;
	struct hauli_cluster *cluster;
	unsigned cluster_idx; /* its number in the cluster */
	struct hauli_group *group; /* NULL: stealing is off */
	unsigned group_idx; /* its number in the group; as thief.group_idx, for others */
	unsigned id;
	struct haul_place place;
	uint64_t round_ticks, poll_ticks;
	struct hauli_msg stop_msg, finish_msg; /* haul_stop() */
	struct hauli_u8_owned stop_step; /* enum hauli_stop_step. Owner */
	uint64_t unjoined; /* coroutines that had ended before the stop, not joined. Owner */
};

HAULI_ASSERT_LINE(struct haul_carrier, loop);
HAULI_ASSERT_LINE(struct haul_carrier, stacks);
HAULI_ASSERT_LINE(struct haul_carrier, rounds);
HAULI_ASSERT_LINE(struct haul_carrier, inbox);
HAULI_ASSERT_LINE(struct haul_carrier, rt);

/* 0 or -ENOMEM. */
int hauli_carrier_init(struct haul_carrier *c, struct haul_runtime *rt, struct hauli_stacks *stacks,
	unsigned id, const struct haul_place *place, const struct haul_runtime_opts *opts);
void hauli_carrier_fini(struct haul_carrier *c);

/* Owner. Frees co's slot: at once, or when the request that is under way has come. */
void hauli_coro_free(struct haul_carrier *c, struct haul_coro *co);

/* Owner. co becomes ready and is a poller, stolen or kept. A kept one goes into the run queue, by
 * push. */
void hauli_coro_ready_slow(struct haul_carrier *c, struct haul_coro *co,
	void (*push)(struct hauli_runq *q, struct haul_coro *co));

/* Owner. How many are at home here and have not ended. */
static inline uint64_t hauli_live(const struct haul_carrier *c)
{
	return hauli_counter_read(&c->spawned) - hauli_counter_read(&c->ended);
}

/* True if c may steal and be stolen from; constant once it runs. */
static inline bool hauli_steals(const struct haul_carrier *c)
{
	return HAUL_STEALING && c->group != NULL;
}

/* Owner. True while it searches for carriers that want help. */
static inline bool hauli_searches(const struct haul_carrier *c)
{
	return HAUL_STEALING && hauli_unlikely(c->thief.search != 0);
}

/* Owner. Puts a ready coroutine that is at home here behind all others. */
static inline void hauli_queue(struct haul_carrier *c, struct haul_coro *co)
{
	if (hauli_likely(hauli_coro_queues(co)))
		hauli_runq_push(&c->runq, co);
	else
		hauli_coro_ready_slow(c, co, hauli_runq_push);
}

/* Owner. Makes a coroutine at home here ready, after all others. */
static inline void hauli_ready(struct haul_carrier *c, struct haul_coro *co)
{
	hauli_coro_set_state(co, HAULI_CORO_READY);
	hauli_queue(c, co);
}

/* The same, before all others: who wakes it is likely to be waiting for it, with warm data. */
static inline void hauli_ready_soon(struct haul_carrier *c, struct haul_coro *co)
{
	hauli_coro_set_state(co, HAULI_CORO_READY);
	if (hauli_likely(hauli_coro_queues(co)))
		hauli_runq_push_lifo(&c->runq, co);
	else
		hauli_coro_ready_slow(c, co, hauli_runq_push_lifo);
}

/* The same, even if others wait there: it goes on with what it began before them. */
static inline void hauli_ready_first(struct haul_carrier *c, struct haul_coro *co)
{
	hauli_coro_set_state(co, HAULI_CORO_READY);
	if (hauli_likely(hauli_coro_queues(co)))
		hauli_runq_push_first(&c->runq, co);
	else
		hauli_coro_ready_slow(c, co, hauli_runq_push_first);
}

#endif
