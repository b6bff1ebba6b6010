/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A frozen coroutine: its live frames are in a copy, and the memory of its stack may be gone. Its
 * context is that of a thaw, so a switch to it needs no test: it continues in thaw_*.S, on an
 * unused part of its own stack, from where the frames are copied back to the same addresses.
 */
#ifndef HAULI_CORO_FROZEN_H
#define HAULI_CORO_FROZEN_H

#include "base/race.h"
#include "coro/coro.h"

/* More live bytes than that are not worth it: stack and copy differ too little. (A sanitizer makes
 * frames a few times as large.) */
#define HAULI_FROZEN_MOST (HAULI_ASAN || HAULI_TSAN ? 8192 : 2048)
#define HAULI_FROZEN_DEPTH 24

/* A call stack in which coroutines were frozen. Never freed before all of its table; or, if that
 * was full, of one coroutine, and freed with its frozen form. */
struct hauli_frozen_at {
	struct hauli_ctx ctx; /* of the first coroutine: pc, and fp relative to sp */
	uint32_t bytes; /* live ones */
	uint16_t n;
	bool alone; /* in no table */
	void *pcs[HAULI_FROZEN_DEPTH]; /* as of hauli_trace() */
	uint32_t words[HAULI_FROZEN_DEPTH]; /* offsets of the return addresses from sp; 0: none */
};

/* Call stacks, of one carrier. All zero: none. */
struct hauli_frozen_ats {
	struct hauli_frozen_at *of[256];
	unsigned n;
};

struct hauli_frozen {
	/* Called by hauli_coro_thaw() with what the switch passes. First, for thaw_*.S. */
	void (*thaw)(void *pass, struct hauli_frozen *f);
	struct hauli_co *co;
	struct hauli_ctx ctx; /* that of co before */
	struct hauli_frozen_at *at;
	uint32_t words; /* from the lowest live one of the stack to the end of its head */
	uint32_t cls; /* the caller's */
	/* A bit for each word, set if it is not zero; then those that are not. Frames are largely
	 * zeros. */
	uint64_t copy[];
};

/* Calls *(base)(pass, base), where base is that of the context; does not return. thaw_*.S */
__attribute__((visibility("hidden"))) void hauli_coro_thaw(void);

/* NULL: co is not frozen. A guess while a thread may switch to co. */
HAULI_MAY_RACE static inline struct hauli_frozen *hauli_frozen_of(const struct hauli_co *co)
{
	HAULI_RACES(co);
	return co->ctx.pc == (void *)hauli_coro_thaw ? co->ctx.base : NULL;
}

/* The bytes that the frozen form of co, which is suspended, needs; head: those of its stack's head.
 * 0: it has too many live bytes. */
size_t hauli_frozen_size(const struct hauli_co *co, size_t head);

/* The call stack of co, which is suspended, and stays so, for hauli_freeze(). Unwinds it, unless
 * one that looks alike is known. NULL: no memory. */
struct hauli_frozen_at *hauli_frozen_at(struct hauli_frozen_ats *ats, const struct hauli_co *co);
void hauli_frozen_ats_fini(struct hauli_frozen_ats *ats);
/* The call stack of one that was thawed, or did not freeze: frees it if it is in no table. */
void hauli_frozen_at_put(struct hauli_frozen_at *at);

/* Freezes co, in memory of hauli_frozen_size(). Sets all of *f but cls. */
void hauli_freeze(struct hauli_frozen *f, struct hauli_co *co, size_t head,
	struct hauli_frozen_at *at, void (*thaw)(void *pass, struct hauli_frozen *f));

/* In thaw(): puts frames and context back. f can be freed then. */
void hauli_frozen_restore(const struct hauli_frozen *f);

/* The end of thaw(): continues co, which was restored. */
__attribute__((noreturn)) void hauli_frozen_go_on(struct hauli_co *co, void *pass);

/* As hauli_trace(), for a coroutine that may be frozen. */
unsigned hauli_co_trace(const struct hauli_co *co, void **pcs, unsigned most);

#endif
