/* SPDX-License-Identifier: BSD-3-Clause */
/* A carrier: a thread with its run queue, inbox, timers and poller. The last word of a field's
 * comment, such as "Owner" or "Thieves", says who writes it. */
#ifndef HAULI_SCHED_STATE_CARRIER_H
#define HAULI_SCHED_STATE_CARRIER_H

#include <haul/carrier.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/counter.h"
#include "base/delay.h"
#include "base/simulated.h"
#include "base/stopwatch.h"
#include "conc/inbox.h"
#include "conc/wish.h"
#include "conc/word.h"
#include "sched/state/coroutine.h"
#include "sched/state/fds.h"
#include "sched/state/marks.h"
#include "sched/state/msg.h"
#include "sched/state/policy.h"
#include "sched/state/runq.h"
#include "sched/state/slices.h"
#include "sched/state/spin.h"
#include "sched/state/wait_list.h"

/* The phase of a carrier, for its owner. */
enum hauli_carrier_phase {
	HAULI_PHASE_RUNS,
	HAULI_PHASE_CANCELS, /* its coroutines are being cancelled, spawns fail */
	HAULI_PHASE_DRAINS, /* all its coroutines are cancelled */
	HAULI_PHASE_DRAINED, /* all its coroutines have ended */
	HAULI_PHASE_FINISHED, /* its loop ends */
};

/* The progress of a carrier's stop, for other threads. */
enum hauli_stop_step {
	HAULI_STOP_UNHANDLED, /* the stop message has not been handled */
	HAULI_STOP_HANDLED,
	HAULI_STOP_DRAINED,
};

/* The path by which the running coroutine spawns and wakes others. */
enum hauli_path {
	HAULI_PATH_SLOW, /* the general path */
	HAULI_PATH_FAST,
	HAULI_PATH_NOTIFY, /* as FAST, and offers the coroutine to thieves */
};

typedef uint8_t hauli_order_key_fn(const void *arg);

/* The coroutines of one order key. order.c */
struct hauli_order {
	struct haul_coro
		/* Stolen coroutines, in the order of the thefts, until they withdraw or enter the
		 * line. Linked by order_next. */
		*remote;
	/* coroutines at home that have entered or wait to enter; sorted by rank */
	struct hauli_wait_list line;
};

struct hauli_orders {
	/* Rank of the last theft of an ordered coroutine from here. Thieves */
	HAULI_LINE struct hauli_u32_published taken;
	struct hauli_u64_owned members; /* entries of all lists. Under the guard */
	uint32_t seen; /* value of `taken` when the running batch began. Owner */
	/* each coroutine gets its key as it begins, since it may be left behind (run/stray.c).
	 * Constant */
	bool asks_always;
	/* The last coroutine that left the line, its rank, and the ring's count of pops then: while
	 * that count is unchanged, the same slice runs. Owner */
	const struct haul_coro *left;
	uint32_t left_rank, left_pops;
	hauli_order_key_fn *ask; /* gives the keys for HAULI_ORDER_KEY_ASK, or NULL */
	struct hauli_order of[HAUL_ORDER_KEYS]; /* under the guard of the carrier's ring */
};

struct hauli_exceptions;

/* What the rooms of lib/sched keep in a carrier. Written by its owner, unless a comment says
 * otherwise. */

/* Objects whose records a coroutine runs at once (spawn_records.c). Owner. */
struct hauli_at_once {
	struct haul_coro *coro; /* NULL: none does */
	const struct hauli_prototype *prototype;
	ptrdiff_t at; /* of the record in an object */
	void *const *first; /* of those that counts.ended lacks. Read by a dump, too */
	void *const *next; /* the next object. Read by the watchdog and a dump, too */
	void *const *chunk, *const *end; /* the end of the present chunk, and of all */
	/* where coro pauses and looks around: the chunk's end, or NULL, which is at once */
	void *const *stop;
};

struct hauli_carrier_spawn {
	enum hauli_path path; /* of the running coroutine */
	/* True if path is HAULI_PATH_NOTIFY. A field of its own, so that the test of path for FAST
	 * compiles to the same code as without stealing. */
	bool notifies;
	/* coroutines of records begin cancelled. Where carriers steal, written under the ring's
	 * guard, whose holder may read it */
	bool records_cancelled;
	/* of coroutines spawned without options. Constant */
	const struct hauli_prototype *prototype;
	/* A coroutine that has ended at the end of a batch, with its stack, for the next record of
	 * its stack class; NULL: none (record.c). */
	struct haul_coro *spare;
	/* A stack on which a coroutine has ended, switched out in the loop that runs the next one
	 * there (life.c): the prototype of those that may begin on it, or NULL: there is none. */
	const struct hauli_prototype *warm_of;
	struct hauli_co warm;
	struct haul_coro *as_new; /* an object for the next call that begins; or NULL (life.c) */
	struct hauli_at_once at_once;
	unsigned put_off, put_off_left; /* calls; and those that have not begun yet (record.c) */
};

struct hauli_carrier_wait {
	enum hauli_path path; /* by which the running coroutine wakes others */
	/* joins that did not suspend, times 4; the batch ends when it overflows (join.c) */
	uint8_t joins;
	uint8_t spins; /* waits that might have spun, modulo 256 (sync/spin.h) */
	struct hauli_spin spin; /* of coroutines that wait for another carrier's */
	/* The innermost block in which the running coroutine must not suspend, or NULL. */
	struct hauli_no_suspend *no_suspend;
};

struct hauli_carrier_run {
	struct hauli_co loop;
	struct hauli_slices lately;
	unsigned slices_per_batch; /* HAULI_SLICES_PER_BATCH, or 1 (record.c) */
	struct hauli_spin spin;
	/* Other threads read these two while the carrier sleeps (quiet.c): the time of its next
	 * timer, in ticks; how many times it fell asleep, or tried to. */
	struct hauli_u64_owned wakes_at;
	struct hauli_u32_published sleeps;
	unsigned passed_over; /* consecutive rounds in which it left a non-empty injector alone */
	struct hauli_u32_published tid; /* of its thread; 0: the thread has not begun */
	uint64_t round_ticks, poll_ticks; /* constant */
	uint32_t popped; /* from the run queue when the batch began */
	struct { /* the last slice that began behind the end of a long batch (suspend.c) */
		uint32_t popped;
		uint64_t at; /* ticks */
	} gone_on;
	bool batch_works; /* the running batch has started the stopwatch of work, and stops it */
};

/* Read by any thread. */
struct hauli_carrier_counts {
	struct hauli_counter rounds, slices, spawned, ended, messages, parks;
	struct hauli_counter no_suspends;
	struct hauli_counter long_slices, foreign_waits; /* written by the watchdog's thread */
	struct hauli_counter arrived; /* spawn messages received */
	struct hauli_counter stolen, steals_failed, searches;
	struct hauli_counter hibernations, thaws;
	struct hauli_counter placed_yields;
	struct hauli_counter rescues, rescues_refused; /* written by the thread that asks */
	/* The time spent in coroutines, and in a poller that reports its work (glue.h). */
	struct hauli_stopwatch work;
};

/* Any thread. */
struct hauli_carrier_mail {
	struct hauli_inbox inbox;
	struct hauli_detached_mail detached;
	/* Spawn messages sent to this carrier; counts.arrived of them have arrived. */
	HAULI_LINE struct hauli_ticket placed;
};

struct hauli_carrier_poller {
	struct haul_coro *coro; /* NULL: none */
	struct hauli_trylock lock; /* held from a poller's registration to its end */
	bool rests; /* where time is virtual: the poller's last turn found nothing to do */
#if HAULI_SIM
	bool only_spins; /* this cycle has looked for input, and will not sleep. Poller */
	bool acted; /* since the end of the last cycle without input. Poller */
#endif
	/* A waker calls this while the poller blocks (POLLING_WAIT). Written by the holder of the
	 * lock. */
	struct hauli_wakeup {
		void (*fn)(void *arg);
		void *arg;
	} wakeup;
	/* the poller's count of its cycles, if it runs handlers; else NULL. Under the watchdog's
	 * lock */
	const struct hauli_counter *cycles;
};

/* Any thread reads batch_began and slice_average. */
struct hauli_carrier_steal {
	struct hauli_thief thief;
	uint64_t barrier_at; /* ticks: earliest time of its next barrier (steal.c) */
	bool before_barrier; /* its present sleep is without a barrier, and ends at barrier_at */
	bool has_stolen; /* ready coroutines here may be stolen ones */
	bool lacks_memory; /* the theft under way takes no more */
	bool rests; /* it takes nothing from others (rest.c) */
	/* it stands in for a carrier that has left a coroutine behind (run/stray.c). Constant */
	bool stray;
	struct hauli_wish wish; /* that it rests: 0 or 1, by any thread */
	struct hauli_msg wish_msg; /* tells of it */
	struct hauli_u64_owned batch_began; /* ticks. Where carriers steal, 0 between batches */
	struct hauli_u64_owned slice_average; /* ticks */
	struct hauli_orders orders; /* of the coroutines at home here */
	struct hauli_group *group; /* NULL: stealing is off. Constant */
	/* its index in the group; a copy of thief.group_idx, read by any thread. Constant */
	unsigned group_idx;
};

struct hauli_carrier_stop {
	struct hauli_msg msg, finish_msg; /* sent by haul_stop() */
	struct hauli_slab_walk cancelled; /* the progress of HAULI_PHASE_CANCELS */
	struct hauli_u8_owned step; /* enum hauli_stop_step */
	struct hauli_delay delay_seen; /* the thread in haul_stop() */
};

struct hauli_hibernator;
struct hauli_rescued;
struct hauli_stray_ask;
struct hauli_timeline;

struct haul_carrier {
	/* The cache line that a switch uses. Owner */
	HAULI_LINE struct haul_coro *current; /* NULL: the loop runs */
	/* the coroutine that was switched out and is to be published by the context that runs next;
	 * or NULL. Read by thieves */
	struct hauli_ptr_published left;
	struct hauli_timers timers;
	enum hauli_carrier_phase phase;
	/* a suspension has more to do, for exceptions or for the timeline; its fast path tests
	 * this. Constant, but for no_suspend.c */
	bool careful;
	/* of its thread; NULL: the program has no C++. Constant */
	struct hauli_exceptions *exceptions;
	struct hauli_timeline *timeline; /* of its events (traced.h). NULL: off. Constant */
	struct hauli_carrier_spawn spawn;
	struct hauli_carrier_wait wait;
	struct hauli_runq runq; /* owner */

	HAULI_LINE struct hauli_carrier_run run;
	struct hauli_carrier_fds fds;

	/* Owner. */
	HAULI_LINE struct hauli_slab_cache coros;
	struct hauli_stack_cache stacks;
	/* For random choices of its coroutines (sync/select.c). Owner; that of hauli_nowhere, any
	 * thread */
	struct hauli_u64_shared random;

	HAULI_LINE struct hauli_carrier_counts counts;
	HAULI_LINE struct hauli_carrier_mail mail;
	struct hauli_carrier_poller poller;
	HAULI_LINE struct hauli_carrier_steal steal;

	/* Set before the carrier runs. */
	HAULI_LINE struct haul_runtime *rt;
	struct hauli_marks *marks; /* the runtime's */
	struct hauli_cluster *cluster;
	unsigned cluster_idx; /* its index in the cluster */
	unsigned id;
	struct hauli_u8_owned spared; /* place/placing.c; also while it runs */
	/* when the carrier falls asleep it checks whether all carriers sleep (quiet.c); time is
	 * virtual */
	bool watched, virtual_time;
	struct haul_place place;

	struct hauli_carrier_stop stop;
	struct hauli_hibernator *hibernator; /* run/hibernate.c. NULL: none hibernates. Constant */
	/* the coroutine whose context changes while it freezes, or NULL. Owner, for handlers of
	 * signals */
	const struct haul_coro *freezes;
	void *locals[HAUL_LOCALS_MAX]; /* values, by the index of their key (local.c). Owner */
	/* The last slice that has asked for a local, by the pops: nothing may run in its midst.
	 * Owner */
	uint32_t locals_at;
	bool notes_locals; /* locals_at is kept. Constant */
	/* NULL: it is never rescued. Constant */
	struct hauli_rescued *rescue; /* run/rescue.c */
	struct hauli_stray_ask *stray_ask; /* run/stray.c */
};

HAULI_ASSERT_LINE(struct haul_carrier, run);
HAULI_ASSERT_LINE(struct haul_carrier, coros);
HAULI_ASSERT_LINE(struct haul_carrier, counts);
HAULI_ASSERT_LINE(struct haul_carrier, mail);
HAULI_ASSERT_LINE(struct haul_carrier, steal);
HAULI_ASSERT_LINE(struct haul_carrier, rt);

/* Of a mistake (HAUL_MISUSE_IF()). */
#define HAULI_NO_CARRIER                                                               \
	"the carrier is NULL; haul_carrier_self() returns that on other threads, and " \
	"haul_carrier() beyond the last one"

/* 0 or -ENOMEM. */
int hauli_carrier_init(struct haul_carrier *c, struct haul_runtime *rt, struct hauli_slab *coros,
	struct hauli_stacks *stacks, unsigned id, const struct haul_place *place,
	const struct haul_runtime_opts *opts);
void hauli_carrier_fini(struct haul_carrier *c);

/* Owner. The stack of co, which has ended, goes to the cache. co may still run on it (stack.h). */
static inline void hauli_coro_drop_stack(struct haul_carrier *c, struct haul_coro *co)
{
	if (hauli_unlikely(co->co.stack->checks))
		hauli_marks_check(c->marks, co);
	hauli_stack_put_checked(&c->stacks, co->co.stack);
	co->co.stack = NULL;
}

/* The part of hauli_coro_free() for a co to which a request message is under way. */
void hauli_coro_free_later(struct haul_coro *co);

/* Owner. Frees co, which has no stack: at once, or when a request message that is under way has
 * arrived. */
static inline void hauli_coro_free(struct haul_carrier *c, struct haul_coro *co)
{
	if (hauli_unlikely(hauli_requests_pending(&co->requests))) {
		hauli_coro_free_later(co);
		return;
	}
	hauli_ptr_published_set(&co->home, NULL);
	hauli_slab_put(&c->coros, co);
}

/* Owner. Queues co, which is ready, and a poller, stolen or kept. Only a kept one goes into the run
 * queue, by push(): the loop resumes a poller, and a stolen one is queued elsewhere. */
void hauli_coro_ready_slow(struct haul_carrier *c, struct haul_coro *co, hauli_runq_push_fn *push);

/* Owner. If the running coroutine runs objects at once, it looks around before the next one: it is
 * not as new any more, or another thread may come to know it, or it has woken another. */
static inline void hauli_at_once_pauses(struct haul_carrier *c)
{
	c->spawn.at_once.stop = NULL;
}

/* The number of coroutines at home here that have not ended. A guess on other threads. */
static inline uint64_t hauli_live(const struct haul_carrier *c)
{
	return hauli_counter_read(&c->counts.spawned) - hauli_counter_read(&c->counts.ended);
}

/* How many of these have run at once, and are not in counts.ended yet. A guess on other threads. */
HAULI_MAY_RACE static inline uint32_t hauli_ended_at_once(const struct haul_carrier *c)
{
	const struct hauli_at_once *a = &c->spawn.at_once;

	HAULI_RACES(c);
	return a->coro && a->next > a->first ? (uint32_t)(a->next - a->first) - 1 : 0;
}

/* The coroutine that seems to run on c, or NULL. A guess on other threads, which may ask c itself
 * later (look/snapshot.h). */
HAULI_MAY_RACE static inline const struct haul_coro *hauli_running_on(const struct haul_carrier *c)
{
	HAULI_RACES(c);
	return c->current;
}

/* True if c may steal and be stolen from. Constant once c runs. */
static inline bool hauli_steals(const struct haul_carrier *c)
{
	return HAUL_STEALING && c->steal.group != NULL;
}

/* Owner. True while c searches for carriers that want help. */
static inline bool hauli_searches(const struct haul_carrier *c)
{
	return HAUL_STEALING && hauli_unlikely(c->steal.thief.search != 0);
}

/* When a wait began, for timer.since: in units of 2^HAULI_SINCE_SHIFT ticks, modulo 2^32. */
#define HAULI_SINCE_SHIFT 20
static inline uint32_t hauli_since(uint64_t ticks)
{
	return (uint32_t)(ticks >> HAULI_SINCE_SHIFT);
}

/* How long a wait has lasted, in ns. 0 for a wait that began after the caller had read the clock,
 * by up to 2^16 units or half a minute. The count of units wraps, so a wait of over two weeks is
 * reported too short. */
static inline uint64_t hauli_since_ns(uint32_t since, uint64_t now)
{
	uint32_t units = hauli_since(now) - since;

	return units >> 16 == UINT16_MAX
		? 0
		: hauli_ns_from_ticks((uint64_t)units << HAULI_SINCE_SHIFT);
}

/* Owner. co, which runs here or has come home to wait, begins to wait. The start of the running
 * batch counts as the time of that. */
static inline void hauli_coro_waits(
	const struct haul_carrier *c, struct haul_coro *co, enum hauli_coro_state state)
{
	co->timer.since = hauli_since(hauli_u64_owned_get(&c->steal.batch_began));
	hauli_coro_set_state(co, state);
}

/* The same, until timer.at, which may be HAULI_NEVER. kind: with HAULI_CORO_CANCELLABLE or not. */
static inline void hauli_coro_waits_until(
	struct haul_carrier *c, struct haul_coro *co, enum hauli_coro_state kind)
{
	if (hauli_likely(co->timer.at == HAULI_NEVER)) {
		hauli_coro_waits(c, co, kind);
		return;
	}
	hauli_timer_arm(&c->timers, &co->timer);
	hauli_coro_waits(c, co, kind | HAULI_CORO_ARMED);
}

/* Owner, when something other than its timer ends the wait of co. */
static inline void hauli_coro_disarm(struct haul_carrier *c, struct haul_coro *co)
{
	if (hauli_coro_state(co) & HAULI_CORO_ARMED)
		hauli_timer_disarm(&c->timers, &co->timer);
}

#endif
