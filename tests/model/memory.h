/* SPDX-License-Identifier: BSD-3-Clause */
/* The explorer's memory: store buffers, C11's happens-before, what is freed. */
#ifndef HAUL_TESTS_MODEL_MEMORY_H
#define HAUL_TESTS_MODEL_MEMORY_H

#include "coro/switch.h"
#include "explorer.h"

/* A vector clock: how many steps of each thread happen before. */
struct clock {
	uint16_t at[MODEL_THREADS_MAX];
};

enum step_kind {
	STEP_LOAD,
	STEP_STORE,
	STEP_RMW,
	STEP_CAS,
	STEP_FENCE,
	STEP_FUTEX_WAIT,
	STEP_FUTEX_WAKE,
	STEP_AWAIT,
	STEP_DRAIN, /* another thread's store buffer: one of the barriers that membarrier makes */
	STEP_YIELD, /* sched_yield(): until the word that was loaded last is another one */
};

/* A visible step that a thread is about to do. */
struct step {
	enum step_kind kind;
	void *addr;
	unsigned size;
	uint64_t value; /* stored, operand, desired, awaited, futex's, not any more, or the drained
			 * thread's id */
	uint64_t expected; /* of a CAS */
	enum model_rmw rmw;
	int order, failure_order;
	bool timed;
};

#define BUFFER_MAX 4

struct buffered {
	void *addr;
	unsigned size;
	uint64_t value;
	struct clock release;
};

enum thread_status { THREAD_READY, THREAD_BLOCKED, THREAD_ENDED };

struct thread {
	struct hauli_ctx ctx;
	char *stack;
	unsigned id;
	bool direct; /* it runs init() or check(), and is no thread of the model */
	enum thread_status status;
	struct step step;
	uint64_t result; /* of the last step */
	uint64_t local; /* hash of its own variables; 0: not made yet */
	struct clock now;
	struct clock acquirable; /* by the next acquire fence */
	struct clock released; /* by the last release fence */
	struct buffered buffer[BUFFER_MAX];
	unsigned nb_buffered;
};

/* The memory of a model, all 0, for init(); tso: with store buffers. */
void memory_init(const struct model *model, bool tso);
/* After that: each run begins with the memory as it is now. */
void memory_keep_as_initial(void);
void memory_begin(void);

/* Whether the step can be done now: its store buffer is empty if it has to be, what it awaits is
 * so. */
bool memory_can_step(const struct thread *t);

/* Does the step; its result. FUTEX_WAIT: 1 when it blocks. */
uint64_t memory_step(struct thread *t);

/* The oldest store of t's buffer reaches memory. */
void memory_flush(struct thread *t);

/* t's clock takes in the orders by which a futex call returns to it: none. A plain access. */
void memory_plain(struct thread *t, const void *addr, unsigned size, bool write);
void memory_free(struct thread *t, const void *addr, size_t size);

enum memory_use { USE_ANY, USE_OWN, USE_PRIVATE, USE_CONSTANT };
void memory_own(const void *addr, size_t size, enum memory_use how, unsigned thread);
/* An access that nobody can come in between of. */
bool memory_is_apart(const struct thread *t, const struct step *s);

uint64_t memory_hash(void);

static inline uint64_t mix(uint64_t hash, uint64_t v)
{
	/* Never the hash itself, for any v: a load of 0 by who has read nothing yet is a step. */
	hash = (hash + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ v;
	hash = (hash ^ (hash >> 32)) * UINT64_C(0xd6e8feb86659fd93);
	return hash ^ (hash >> 29);
}

#endif
