/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A coroutine, as the scheduler sees it.
 *
 * The home carrier, on its own thread, decides everything about a coroutine: whether it is ready,
 * parked, asleep or ended, whether it has a permit, and which join waits for it. Other threads send
 * requests (request.h). So a wake-up, a time-out and a cancel of one coroutine never race, and
 * coroutines of one carrier need no atomics among themselves. docs/design/0001-home-decides.md
 * compares this with a shared state word.
 */
#ifndef HAULI_SCHED_STATE_COROUTINE_H
#define HAULI_SCHED_STATE_COROUTINE_H

#include <haul/coro.h>

#include "base/cacheline.h"
#include "base/race.h"
#include "conc/injector.h"
#include "conc/requests.h"
#include "conc/word.h"
#include "coro/slab.h"
#include "coro/stack.h"
#include "sched/state/msg.h"
#include "sched/state/timer.h"

#ifndef HAUL_STEALING /* meson's option stealing */
#define HAUL_STEALING 1
#endif

enum hauli_coro_state {
	HAULI_CORO_READY, /* running, queued, or about to be; a poller: to be resumed */
	HAULI_CORO_HOMELESS, /* in the injector of a cluster (cluster.c) */
	HAULI_CORO_ENDED, /* its body has returned; kept until joined */
	HAULI_CORO_ZOMBIE, /* to be freed when the request message that is under way arrives */
	/* It waits, in one of these kinds of waits: */
	HAULI_CORO_PARKED, /* in haul_park() */
	HAULI_CORO_SLEEPING, /* in haul_sleep() */
	HAULI_CORO_JOINING, /* in haul_join() */
	HAULI_CORO_BLOCKED, /* in a wait that another coroutine ends (block.h) */
	HAULI_CORO_ORDER_WAIT, /* waits for earlier ones of its order key (order.h) */
	/* Flags that are added to a kind of wait: */
	HAULI_CORO_ARMED = 1 << 4, /* its timer is armed */
	HAULI_CORO_CANCELLABLE = 1 << 5, /* a cancel ends the wait */
};

#define HAULI_CORO_KIND (HAULI_CORO_ARMED - 1) /* mask: the state without these flags */

/* Requests by other threads (conc/requests.h). */
enum {
	HAULI_REQ_UNPARK = 1 << 0,
	HAULI_REQ_CANCEL = 1 << 1,
	HAULI_REQ_DETACH = 1 << 2,
	HAULI_REQ_JOINED = 1 << 3, /* its join's target has ended on another carrier */
	/* a join from elsewhere has set `joiner`, with HAULI_JOIN_ASKED (joined.h) */
	HAULI_REQ_JOIN = 1 << 4,
	/* no request: set from the start, so that no requester sends a message (cluster.c) */
	HAULI_REQ_HOMELESS = 1 << 5,
	HAULI_REQ_SERVED = 1 << 6, /* its wait has ended (block.h) */
};

/* Flags. A coroutine with a flag other than KEPT waits and ends by the slow path. One with POLLER,
 * STOLEN or KEPT is queued by the slow path when it becomes ready. */
enum {
	HAULI_FLAG_CANCELLED = 1 << 0, /* cleared by a shield only (extent.h). Set by the home */
	/* from its theft until it is back home. Set by the thief, cleared by the home */
	HAULI_FLAG_STOLEN = 1 << 1,
	HAULI_FLAG_POLLER = 1 << 2,
	/* a poller whose haul_maybe_yield() takes the slow path: to look for work to steal, or
	 * because time is virtual. Set by the home */
	HAULI_FLAG_PULLS = 1 << 3,
	/* must not suspend: in a block of HAUL_NO_SUSPEND(), or a poller that calls handlers. Set
	 * and cleared by itself */
	HAULI_FLAG_HANDLES = 1 << 4,
	/* the stand-in on a thread that is no carrier (self.c). Constant */
	HAULI_FLAG_NOBODY = 1 << 5,
	/* pinned for long, where carriers steal. Set by the spawner, and by itself */
	HAULI_FLAG_KEPT = 1 << 6,
	/* a deadline or a shield is around its waits (extent.h). Set and cleared by itself */
	HAULI_FLAG_BOUNDED = 1 << 7,
};

/* Why a coroutine must not be stolen. */
enum {
	HAULI_PINNED_BY_SPAWN = 1 << 0, /* haul_coro_opts.pinned. Constant */
	HAULI_PINNED_BY_CALL = 1 << 1, /* haul_pin() */
	HAULI_PINNED_FOR_NOW = 1 << 2, /* while it goes home, or sends */
};

_Static_assert(HAULI_PINNED_BY_SPAWN == true, "it is haul_coro_opts.pinned");

/* What a coroutine is from its spawn on. */
enum {
	HAULI_TRAIT_HIBERNATES = 1 << 0, /* haul_coro_opts.hibernates */
	HAULI_TRAIT_POLLER = 1 << 1,
};

_Static_assert(HAULI_TRAIT_HIBERNATES == true, "it is haul_coro_opts.hibernates");

/*
 * In place of an order key: the key function of the home computes the key from the coroutine's
 * argument, if it is needed by the time the coroutine begins. One that has begun without a key gets
 * none later.
 */
#define HAULI_ORDER_KEY_ASK 255

struct hauli_join;
struct hauli_prototype;

/* A coroutine that has not begun (entry.h). */
struct hauli_record {
	const struct hauli_prototype *prototype; /* not read once fn has been called */
};

/* A coroutine lies in a slab, so its memory can still be read after it was freed. */
struct haul_coro {
	/* Line 0: used by a switch and the run queue. Written by the home. */
	HAULI_LINE struct hauli_co co;
	struct hauli_record record; /* queued in place of the coroutine while that has no stack */
	struct hauli_u8_owned state; /* enum hauli_coro_state */
	struct hauli_u8_shared flags; /* HAULI_FLAG_ */
	struct hauli_permit permit; /* taken by haul_park(). Given by the home */
	bool detached;
	uint8_t pinned; /* HAULI_PINNED_; 0: it may be stolen. Written by itself */
	uint8_t traits; /* HAULI_TRAIT_. Constant once it is spawned */
	uint8_t back; /* enum hauli_back, while stolen. Set by the thief, and by itself */
	uint8_t order_key; /* haul_coro_opts.order_key, or HAULI_ORDER_KEY_ASK */

	/* Line 1: spawn, waits and end. Written by the spawner, then by the home. */
	/* struct haul_carrier; NULL: free, HOMELESS, or a spare */
	HAULI_LINE struct hauli_ptr_published home;
	haul_fn *fn; /* NULL: it had ended, and was not joined, when the stop visited it (stop.c) */
	void *arg; /* in a join: its struct hauli_join; BLOCKED: its struct hauli_block; after the
		    * end: the result of the body */
	struct hauli_tagged joiner; /* the join that waits for it (join.c) */
	/* the innermost extent (extent.h); NULL: none, or co is free */
	struct hauli_ptr_published extent;
	union {
		struct hauli_timer timer;
		struct hauli_item item; /* HOMELESS */
	};

	/* Line 2: written by other threads. */
	HAULI_LINE struct hauli_requests requests;
	uint32_t rank; /* its rank (order.c); 0: it is in no list there */
	struct hauli_msg request_msg;
	struct hauli_msg spawn_msg; /* spawned by another thread */
	struct hauli_msg back_msg; /* brings it home when it is stolen; the thief sets the kind */
	struct haul_coro *order_next;
};

HAULI_ASSERT_LINE(struct haul_coro, home);
HAULI_ASSERT_LINE(struct haul_coro, requests);
_Static_assert(sizeof(struct haul_coro) == 3 * HAULI_CACHE_LINE, "three lines");

static inline enum hauli_coro_state hauli_coro_state(const struct haul_coro *co)
{
	return (enum hauli_coro_state)hauli_u8_owned_get(&co->state);
}

static inline void hauli_coro_set_state(struct haul_coro *co, enum hauli_coro_state state)
{
	hauli_u8_owned_set(&co->state, (uint8_t)state);
}

/* The state without the flags of a wait: for a coroutine that waits, the kind of wait. */
static inline enum hauli_coro_state hauli_coro_kind(const struct haul_coro *co)
{
	return hauli_coro_state(co) & HAULI_CORO_KIND;
}

/* The next two are for a co that has a home. The result is a hint on threads other than the
 * home's. */
static inline bool hauli_state_waits(enum hauli_coro_state state)
{
	return state >= HAULI_CORO_PARKED;
}

static inline bool hauli_state_lives(enum hauli_coro_state state)
{
	return state != HAULI_CORO_ENDED && state != HAULI_CORO_ZOMBIE;
}

/* The fields of a coroutine from its state to its order key: eight bytes, compared and stored as
 * one word. */
union hauli_fresh {
	struct {
		struct hauli_u8_owned state;
		struct hauli_u8_shared flags;
		struct hauli_permit permit;
		bool detached;
		uint8_t pinned;
		uint8_t traits;
		uint8_t back, order_key;
	};
	uint64_t word;
};

_Static_assert(offsetof(struct haul_coro, order_key) - offsetof(struct haul_coro, state) == 7 &&
		sizeof(union hauli_fresh) == sizeof(uint64_t),
	"struct haul_coro has these fields in this order");

/* The word of a coroutine that begins without options: ready, and all else 0 but `detached`. */
#define HAULI_CORO_FRESH(is_detached) ((is_detached) ? UINT64_C(1) << 24 : 0)

_Static_assert(offsetof(struct haul_coro, detached) - offsetof(struct haul_coro, state) == 3 &&
		__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && HAULI_CORO_READY == 0,
	"HAULI_CORO_FRESH");

/* Owner, of a running coroutine. The home of a stolen one may write its flags at the same time, but
 * STOLEN stays set. */
HAULI_MAY_RACE static inline uint64_t hauli_coro_word(const struct haul_coro *co)
{
	uint64_t word;

	HAULI_RACES(co);
	__builtin_memcpy(&word, &co->state, sizeof(word));
	return word;
}

/* Of a free object or a spare coroutine, which nobody else writes. */
HAULI_MAY_RACE static inline void hauli_coro_set_word(struct haul_coro *co, uint64_t word)
{
	HAULI_RACES(co);
	__builtin_memcpy(&co->state, &word, sizeof(word));
}

/* Makes a free object a ready coroutine that has no home and no stack yet. opts may be NULL. */
static inline void hauli_coro_set_up(struct haul_coro *co, haul_fn *fn, void *arg,
	const struct haul_coro_opts *opts, bool detached)
{
	co->co.name = "-";
	hauli_coro_set_word(co, HAULI_CORO_FRESH(detached));
	if (opts) {
		if (opts->name)
			co->co.name = opts->name;
		co->pinned = opts->pinned;
		co->traits = opts->hibernates;
		co->order_key = opts->order_key;
	}
	co->fn = fn;
	co->arg = arg;
	hauli_tagged_set(&co->joiner, 0);
}

/* Gives co a stack, on which it will begin with entry(). */
static inline void hauli_coro_prepare(
	struct haul_coro *co, struct hauli_stack *stack, void (*entry)(void *pass))
{
	hauli_co_prepare(&co->co, stack, stack, entry);
}

/* A guess for other threads. */
HAULI_MAY_RACE static inline bool hauli_coro_is_poller(const struct haul_coro *co)
{
	HAULI_RACES(co);
	return co->traits & HAULI_TRAIT_POLLER;
}

static inline struct haul_coro *hauli_coro_of_record(struct hauli_record *r)
{
	return (struct haul_coro *)((char *)r - offsetof(struct haul_coro, record));
}

static inline bool hauli_coro_is_cancelled(const struct haul_coro *co)
{
	return hauli_u8_shared_get(&co->flags) & HAULI_FLAG_CANCELLED;
}

static inline bool hauli_coro_is_stolen(const struct haul_coro *co)
{
	return HAUL_STEALING && hauli_u8_shared_get(&co->flags) & HAULI_FLAG_STOLEN;
}

/* True if co has ended and is kept until it is joined or detached. A hint on threads other than the
 * home's. */
HAULI_MAY_RACE static inline bool hauli_coro_is_unjoined(const struct haul_coro *co)
{
	HAULI_RACES(co);
	return hauli_coro_state(co) == HAULI_CORO_ENDED && !co->detached;
}

/* True if a thief may take co while co is ready. */
static inline bool hauli_coro_is_stealable(const struct haul_coro *co)
{
	return !co->pinned;
}

/* True if co takes the slow path when it waits or ends. */
static inline bool hauli_coro_needs_slow_path(const struct haul_coro *co)
{
	return hauli_u8_shared_get(&co->flags) & (uint8_t)~HAULI_FLAG_KEPT;
}

/* The state, and the flags times 256, as one word. The home of a stolen one may write its flags at
 * the same time. */
HAULI_MAY_RACE static inline uint16_t hauli_coro_state_and_flags(const struct haul_coro *co)
{
	uint16_t word;

	HAULI_RACES(co);
	_Static_assert(offsetof(struct haul_coro, flags) == offsetof(struct haul_coro, state) + 1 &&
			__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
		"the state is the low byte");
	__builtin_memcpy(&word, &co->state, sizeof(word));
	return word;
}

/* Of the running coroutine: 0 if it has no flag; else a number that is neither an address nor one
 * with tags. A compare-and-swap that expects this word fails for a coroutine with flags, so it
 * needs no test of them. */
static inline uintptr_t hauli_coro_flags_word(const struct haul_coro *co)
{
	_Static_assert(HAULI_CORO_READY == 0, "it is the state of a running coroutine");
	return hauli_coro_state_and_flags(co);
}

/* True if co, when ready, goes into its home's run queue by the fast path. The exceptions: the loop
 * resumes a poller, a stolen coroutine is in the thief's queue, and pushes of kept ones are
 * counted. */
static inline bool hauli_coro_queues(const struct haul_coro *co)
{
	const uint8_t steals = HAUL_STEALING ? HAULI_FLAG_STOLEN | HAULI_FLAG_KEPT : 0;

	return !(hauli_u8_shared_get(&co->flags) & (HAULI_FLAG_POLLER | steals));
}

/* The same for a co that has ended its slice here: true if it is ready, too. */
static inline bool hauli_coro_is_ready_and_queues(const struct haul_coro *co)
{
	const uint16_t steals = HAUL_STEALING ? HAULI_FLAG_STOLEN | HAULI_FLAG_KEPT : 0;

	return (hauli_coro_state_and_flags(co) & (0xffu | (HAULI_FLAG_POLLER | steals) << 8)) ==
		HAULI_CORO_READY;
}

/* For a co that hauli_coro_queues() excludes: true if co is kept, and goes into the run queue by
 * the slow path. */
static inline bool hauli_coro_is_kept(const struct haul_coro *co)
{
	const uint8_t elsewhere = HAULI_FLAG_POLLER | HAULI_FLAG_STOLEN;

	return !(hauli_u8_shared_get(&co->flags) & elsewhere);
}

static inline struct haul_carrier *hauli_coro_home(const struct haul_coro *co)
{
	return hauli_ptr_published_get(&co->home);
}

static inline struct haul_coro *hauli_coro_of_timer(struct hauli_timer *t)
{
	return (struct haul_coro *)((char *)t - offsetof(struct haul_coro, timer));
}

static inline struct haul_coro *hauli_coro_of_item(struct hauli_item *item)
{
	return (struct haul_coro *)((char *)item - offsetof(struct haul_coro, item));
}

#endif
