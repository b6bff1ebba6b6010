/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stacks: an arena of guarded slots in size classes, and an owner-only cache in front of it.
 *
 * A slot, from low to high addresses: guard | stack, growing down | head | colour. The head
 * (head_size bytes, starting with a struct hauli_co) is what the arena hands out. Its place within
 * the last 4 KiB varies from slot to slot (the colour), so that the heads and hot frames of many
 * coroutines spread over the cache's sets instead of falling on a few; it leaves at least 1 KiB of
 * stack in the head's own page, so that a parked coroutine with small frames touches one page.
 *
 * Guards are set when slots are carved out of a chunk, in batches: by MADV_GUARD_INSTALL
 * (Linux 6.13), which costs no mapping; else by mprotect while mappings last; else the page stays
 * open, is known to be zero, and is looked at when the slot comes back, and one notice says so.
 * Getting and putting a stack makes no system call once the cache or the arena has one of the
 * class.
 */
#ifndef HAULI_CORO_STACK_H
#define HAULI_CORO_STACK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cacheline.h"
#include "coro/coro.h"
#include "coro/guard.h"

#define HAULI_STACK_CLASSES 8
#define HAULI_STACK_USABLE(cls) (((size_t)16 << 10 << (cls)) - ((size_t)8 << 10))

struct hauli_stacks;

/* Unused slots of one class: those at hand, and one full set that waits. */
struct hauli_stack_set {
	struct hauli_co *free; /* linked through ctx.sp */
	struct hauli_co *spare; /* HAULI_STACK_SET of them, or NULL */
	unsigned count; /* of free */
};

/* Slots move between caches and the arena a whole set at a time. */
#define HAULI_STACK_SET 64

/* One per thread that spawns; owner only. */
struct hauli_stack_cache {
	struct hauli_stacks *arena;
	struct hauli_stack_set classes[HAULI_STACK_CLASSES];
};

/*
 * Any thread. head_size is a multiple of the cache line, 2 KiB at most. 0, -ENOMEM, -EINVAL (head
 * size), -EOPNOTSUPP (no MADV_GUARD_INSTALL, and it was asked for by name).
 * destroy unmaps all: no slot may be in use, and no cache may hold any.
 */
int hauli_stacks_create(struct hauli_stacks **arena, size_t head_size, enum hauli_guard guard);
void hauli_stacks_destroy(struct hauli_stacks *arena);

/* The class for so many usable bytes, or -EINVAL. And the reverse. */
int hauli_stack_class(size_t usable);
size_t hauli_stack_usable(unsigned cls);

void hauli_stack_cache_init(struct hauli_stack_cache *cache, struct hauli_stacks *arena);
/* Hands all cached stacks to the arena. */
void hauli_stack_cache_fini(struct hauli_stack_cache *cache);

/* The slow halves of get and put below: take a set from the arena and one of it, NULL when
 * memory is out; a set is full, so hand one to the arena; see that a slot without a guard was
 * not overrun, else end the program with a line. */
struct hauli_co *hauli_stack_refill(struct hauli_stack_cache *cache, unsigned cls);
void hauli_stack_spill(struct hauli_stack_cache *cache, unsigned cls);
void hauli_stack_check(const struct hauli_co *co);

/*
 * A slot's head, with the stack_ fields and fiber set and ctx undefined; everything beyond
 * struct hauli_co is as the last user left it, or zero. Its stack ends where the head begins.
 */
static inline struct hauli_co *hauli_stack_get(struct hauli_stack_cache *cache, unsigned cls)
{
	struct hauli_stack_set *set = &cache->classes[cls];
	struct hauli_co *co = set->free;

	if (hauli_unlikely(!co))
		return hauli_stack_refill(cache, cls);
	set->free = (struct hauli_co *)co->ctx.sp;
	set->count--;
	return co;
}

/* The lowest byte of a slot's stack. */
static inline char *hauli_stack_lo(const struct hauli_co *co)
{
	return (char *)co - co->stack_bytes;
}

static inline void hauli_stack_put(struct hauli_stack_cache *cache, struct hauli_co *co)
{
	unsigned cls = co->stack_class;
	struct hauli_stack_set *set = &cache->classes[cls];

	if (hauli_unlikely(co->stack_canary))
		hauli_stack_check(co);
	co->ctx.sp = set->free;
	set->free = co;
	if (hauli_unlikely(++set->count == HAULI_STACK_SET))
		hauli_stack_spill(cache, cls);
}

/* The same straight from and to the arena, for threads without a cache. */
struct hauli_co *hauli_stack_get_shared(struct hauli_stacks *arena, unsigned cls);
void hauli_stack_put_shared(struct hauli_stacks *arena, struct hauli_co *co);

/*
 * Calls fn for the head of each slot that was ever handed out, and of some that were not yet (all
 * zero beyond struct hauli_co): which of them are in use the head must say. Any thread, while
 * others get and put.
 */
void hauli_stacks_for_each(
	struct hauli_stacks *arena, void (*fn)(struct hauli_co *co, void *arg), void *arg);

/* Gives the pages of unused slots in the arena, not in caches, back to the kernel; the bytes that
 * were resident. Any thread. */
size_t hauli_stacks_trim(struct hauli_stacks *arena);

/* How the guards of this arena are made at present. */
enum hauli_guard hauli_stacks_guard(const struct hauli_stacks *arena);

/* True if co, which may be any address, is the head of a slot. Any thread. */
bool hauli_stacks_have(const struct hauli_stacks *arena, const struct hauli_co *co);

#endif
