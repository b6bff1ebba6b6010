/* SPDX-License-Identifier: BSD-3-Clause */
/* What the operations of the soak share: the runtime of the round, the objects, and the books. */
#ifndef HAUL_TESTS_SOAK_H
#define HAUL_TESTS_SOAK_H

#include <errno.h>
#include <stdatomic.h>

#include <haul/haul.h>

#include "base/random.h"

#define SOAK_CARRIERS 4
#define SOAK_CHANS 4
#define SOAK_MUTEXES 3
#define SOAK_SEMS 2
#define SOAK_VALUES (1u << 16) /* sent in a round */

static const unsigned soak_units[SOAK_SEMS] = {1, 3};

struct soak {
	struct haul_runtime *rt;
	struct haul_runtime *other; /* stopped after rt; or NULL */
	uint64_t seed; /* of the round */
	unsigned carriers;
	bool has_pollers; /* all carriers: no operation registers one */
	bool hibernates; /* some waits are as long as that takes */
	bool rescues; /* some coroutines hog their carrier for as long as that takes */
	atomic_long alive; /* coroutines that have begun and not ended */
	atomic_uint draws; /* of coroutines without a seed */

	struct haul_chan *chans[SOAK_CHANS];
	atomic_uchar sent[SOAK_VALUES], received[SOAK_VALUES];
	atomic_uint values;
	struct haul_mutex mutexes[SOAK_MUTEXES];
	uint64_t guarded[SOAK_MUTEXES];
	atomic_ulong locks[SOAK_MUTEXES];
	struct haul_sem sems[SOAK_SEMS];
	atomic_uint in_use[SOAK_SEMS];
	struct haul_event event;
	struct haul_mutex queue_lock;
	struct haul_cond queue_grows;
	uint64_t queued, put, taken;
	atomic_ulong bumps, bumps_released; /* of the carriers' counters */
};
extern struct soak s;

/* A coroutine or a plain thread that does operations. */
struct actor {
	struct hauli_random random;
	unsigned depth; /* of scopes */
};

struct op {
	const char *name;
	void (*run)(struct actor *a);
	atomic_ulong times;
};
extern struct op soak_ops[];
extern const unsigned soak_nb_ops;

struct soak_fed { /* objects of all rounds (soak_records.c) */
	uint64_t handled, dropped, at_once;
	atomic_ulong remote;
};
extern struct soak_fed soak_fed;

/* Registers a poller that feeds objects to this carrier. */
void soak_feed(unsigned carrier, uint64_t seed);
/* After the stop. */
void soak_close_feeders(void);

void soak_is_known(struct actor *a);
void soak_pokes(struct actor *a);
void soak_changes_itself(struct actor *a);
void soak_goes_deep(struct actor *a);
void soak_spawns_and_goes_on(struct actor *a);
void soak_step_without_wait(struct actor *a);

void soak_uses_descriptors(struct actor *a);
/* For soak_open() and soak_close(). */
void soak_open_descriptors(void);
void soak_close_descriptors(void);

void soak_computes(struct actor *a);
/* Draws when slices are left behind, for a runtime that steals: 0, or ns. HAUL_RESCUE=MICROSECONDS
 * in the environment sets it instead. */
uint64_t soak_draw_rescue(struct hauli_random *random);
void soak_bumps(struct actor *a);
void soak_locks(struct actor *a);
void soak_sends(struct actor *a);
void *soak_leaf(void *seed);

void soak_opens_scope(struct actor *a);
void soak_is_shielded(struct actor *a);
void soak_has_value(struct actor *a);

/* A round of this seed: before the runtime starts, and after its stop. */
void soak_open(uint64_t seed);
void soak_close(void);

/* Ends the program with a line that has the round's seed, and a dump. */
void wrong(const char *what, const char *file, int line);
#define RIGHT(condition) ((condition) ? (void)0 : wrong(#condition, __FILE__, __LINE__))

struct actor actor(uint64_t seed, unsigned depth);

static inline unsigned below(struct actor *a, unsigned n)
{
	return hauli_random_below(&a->random, n);
}

/* Of a wait. */
static inline uint64_t draw_ns(struct actor *a)
{
	return below(a, s.hibernates && below(a, 4) == 0 ? 5000 : 300) * HAUL_US;
}

static inline uint64_t draw_deadline(struct actor *a)
{
	unsigned kind = below(a, 6);

	return kind == 0 ? 0 : haul_in(kind == 1 ? 0 : draw_ns(a));
}

static inline struct haul_coro_opts draw_opts(struct actor *a)
{
	return (struct haul_coro_opts){.name = "soak",
		.stack_size = below(a, 6) ? 0 : 50 << 10,
		.pinned = below(a, 6) == 0,
		.hibernates = below(a, 2),
		.order_key = (uint8_t)(below(a, 2) ? below(a, 4) : 0)};
}

/* True: done. A wait may end otherwise, but not by another error than these. */
static inline bool done(int err)
{
	RIGHT(err == 0 || err == -EAGAIN || err == -ETIMEDOUT || err == -ECANCELED);
	return err == 0;
}

static inline bool spawned(int err)
{
	RIGHT(err == 0 || err == -ECANCELED);
	return err == 0;
}

/* For a plain thread: asks for files of the timelines; and checks what is in them now. */
void soak_is_traced(struct actor *a);
void soak_check_timelines(void);
void soak_tell_timelines(void);

/* For a plain thread: those that do not need a coroutine. */
void soak_from_outside(struct actor *a);

/* Of a coroutine. */
void soak_steps(struct actor *a, unsigned n);

/* After the stop: a value that was left in a channel. */
void soak_has_received(unsigned value);

#endif
