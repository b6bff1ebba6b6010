/* SPDX-License-Identifier: BSD-3-Clause */
/* The explorer's memory: store buffers, C11's happens-before, freed memory. weak.h: reads of old
 * values. */
#ifndef HAUL_TESTS_MODEL_MEMORY_H
#define HAUL_TESTS_MODEL_MEMORY_H

#include "coro/switch.h"
#include "explorer.h"

#define MODEL_BYTES_MAX 65536

/* A vector clock: the number of each thread's steps that happen before. */
struct clock {
	uint16_t at[MODEL_THREADS_MAX];
};

enum step_kind {
	STEP_LOAD,
	STEP_STORE,
	STEP_RMW,
	STEP_CAS,
	STEP_FENCE,
	STEP_LIGHT_FENCE, /* the light side of conc/fence.h; a step of MEMORY_WEAK only */
	STEP_FUTEX_WAIT,
	STEP_FUTEX_WAKE,
	STEP_AWAIT,
	STEP_DRAIN, /* another thread passes a barrier, one of membarrier's */
	STEP_YIELD, /* sched_yield(): waits until the word that was loaded last has changed */
};

/* A visible step that a thread is about to do. */
struct step {
	enum step_kind kind;
	void *addr;
	unsigned size;
	uint64_t value; /* stored, operand, desired, awaited, futex's, no longer awaited, or a bit
	                 * for each thread that has not drained yet */
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

#define LOCATIONS_MAX 64 /* atomic words of a model */

/* MEMORY_WEAK: for each location the oldest message that may still be read. */
struct view {
	uint8_t at[LOCATIONS_MAX];
};

enum thread_status { THREAD_READY, THREAD_BLOCKED, THREAD_ENDED };

struct thread {
	struct hauli_ctx ctx;
	char *stack;
	unsigned id;
	bool direct; /* runs init() or check(), and is no thread of the model */
	enum thread_status status;
	struct step step;
	uint64_t result; /* of the last step */
	uint64_t local; /* hash of its local state; 0: not computed */
	struct clock now;
	struct clock acquirable; /* taken in by the next acquire fence */
	struct clock released; /* by the last release fence */
	struct buffered buffer[BUFFER_MAX];
	unsigned nb_buffered;
	struct views {
		struct view now;
		struct view acquirable; /* taken in by the next acquire fence */
		struct view released; /* by the last release fence */
		struct view lit; /* at the last light fence */
		struct view pending; /* taken in by the next light fence */
	} views;
	bool may_drain; /* no other thread could step since its last fence, or since it began */
};

/* Prepares the model's memory, all 0, for init(). */
void memory_init(const struct model *model, enum memory_kind kind);
/* After init(): each run begins with the current contents. */
void memory_keep_as_initial(void);
void memory_begin(struct thread *threads);
/* True if a conclusion from earlier runs does not hold in this run. */
bool memory_is_otherwise(void);

#define OPTIONS_MAX 64

/* The number of ways in which the step of a ready thread can be done now: 0 if its store buffer
 * must be empty and is not, or if the awaited value is not there. */
unsigned memory_options(const struct thread *t);

/* Does the step in one of these ways; returns its result. FUTEX_WAIT: 1 if it blocks; DRAIN: the
 * thread. */
uint64_t memory_step(struct thread *t, unsigned option);

/* Moves the oldest store of t's buffer to memory. */
void memory_flush(struct thread *t);

/* A plain access. (The return from a futex call acquires nothing.) */
void memory_plain(struct thread *t, const void *addr, unsigned size, bool write);
void memory_free(struct thread *t, const void *addr, size_t size);

enum memory_use { USE_ANY, USE_OWN, USE_PRIVATE, USE_CONSTANT };
void memory_own(const void *addr, size_t size, enum memory_use how, unsigned thread);
/* True if no other thread's access can interleave with it. */
bool memory_is_apart(const struct thread *t, const struct step *s);

uint64_t memory_hash(void);

/* For weak.c. The checks of an atomic access; the offset of an address in the model's memory. */
void memory_check_atomic(const struct thread *t, const void *addr, unsigned size, bool write);
size_t memory_offset(const void *addr);
void memory_join(struct clock *to, const struct clock *from);
struct clock memory_release_clock(const struct thread *t, int order);
void memory_fence(struct thread *t, int order);
/* The nth member of a set of threads. */
uint64_t memory_nth(uint64_t set, unsigned n);
uint64_t memory_combine(enum model_rmw op, uint64_t old, uint64_t v);

static inline bool is_acquire(int order)
{
	return order == __ATOMIC_ACQUIRE || order == __ATOMIC_CONSUME ||
		order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

static inline bool is_release(int order)
{
	return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

static inline uint64_t peek(const void *addr, unsigned size)
{
	uint64_t v = 0;

	__builtin_memcpy(&v, addr, size);
	return v;
}

static inline uint64_t mix(uint64_t hash, uint64_t v)
{
	/* Never returns hash for any v: a load of 0 by a thread that has read nothing is a step. */
	hash = (hash + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ v;
	hash = (hash ^ (hash >> 32)) * UINT64_C(0xd6e8feb86659fd93);
	return hash ^ (hash >> 29);
}

#endif
