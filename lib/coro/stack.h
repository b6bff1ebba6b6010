/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stacks: an arena of guarded slots in size classes, and a cache for each thread that spawns.
 *
 * A slot, from low to high addresses: guard | stack, growing down | head | colour. The arena hands
 * out the head (head_size bytes, starting with a struct hauli_co). Its offset within the last 4 KiB
 * varies from slot to slot (the colour), so that the heads and hot frames of many coroutines spread
 * over all sets of the CPU's cache. At least 1 KiB of stack is in the page of the head, so a parked
 * coroutine with small frames keeps one page resident.
 *
 * Guards are set when slots are carved out of a chunk, many at a time: by MADV_GUARD_INSTALL
 * (Linux 6.13), which costs no mapping; else by mprotect while mappings last; else by a canary,
 * with one notice: the memory stays accessible and zero, and is checked when the slot comes back.
 * Getting and putting a stack makes no system call while the cache or the arena has one of the
 * class.
 */
#ifndef HAULI_CORO_STACK_H
#define HAULI_CORO_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cacheline.h"
#include "coro/coro.h"
#include "coro/guard.h"

#define HAULI_STACK_CLASSES 8
#define HAULI_STACK_USABLE(cls) (((size_t)16 << 10 << (cls)) - ((size_t)8 << 10))

struct hauli_stacks;

/* Unused slots of one class: those in use for get and put, and a full set in reserve. */
struct hauli_stack_set {
	struct hauli_co *free; /* linked through ctx.sp */
	struct hauli_co *spare; /* HAULI_STACK_SET of them, or NULL */
	unsigned count; /* of free */
};

/* Slots. They move between caches and the arena a whole set at a time. */
#define HAULI_STACK_SET 64

/* One for each thread that spawns, which alone uses it. */
struct hauli_stack_cache {
	struct hauli_stacks *arena;
	struct hauli_stack_set classes[HAULI_STACK_CLASSES];
};

/*
 * Any thread. head_size: a multiple of the cache line, sizeof(struct hauli_co) to 3 KiB. 0,
 * -ENOMEM, -EINVAL (head_size), or -EOPNOTSUPP (guard is MADVISE and the kernel has no such thing).
 * destroy() unmaps all memory: no slot may be in use, and no cache may hold any.
 */
int hauli_stacks_create(struct hauli_stacks **arena, size_t head_size, enum hauli_guard guard);
void hauli_stacks_destroy(struct hauli_stacks *arena);

/* The smallest class with that many usable bytes, or -EINVAL; and the usable bytes of a class. */
int hauli_stack_class(size_t usable);
size_t hauli_stack_usable(unsigned cls);

void hauli_stack_cache_init(struct hauli_stack_cache *cache, struct hauli_stacks *arena);
/* Gives all cached slots to the arena. */
void hauli_stack_cache_fini(struct hauli_stack_cache *cache);

/* The slow paths of get and put below. refill: takes a set from the arena and returns one slot of
 * it; NULL: no memory. spill: the set is full, and one goes to the arena. check: for a slot with a
 * canary; ends the program with a line if it was overrun. */
struct hauli_co *hauli_stack_refill(struct hauli_stack_cache *cache, unsigned cls);
void hauli_stack_spill(struct hauli_stack_cache *cache, unsigned cls);
void hauli_stack_check(const struct hauli_co *co);

/*
 * Returns a slot's head; its stack ends where the head begins. The stack_ fields and fiber are set,
 * ctx is undefined, and the bytes after struct hauli_co are as the last user left them, or zero.
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

/* Get and put directly in the arena, for threads without a cache. */
struct hauli_co *hauli_stack_get_shared(struct hauli_stacks *arena, unsigned cls);
void hauli_stack_put_shared(struct hauli_stacks *arena, struct hauli_co *co);

/*
 * Calls fn for the head of each slot that was ever handed out, and of some that were not yet (all
 * zero after struct hauli_co). fn must tell from the head if the slot is in use. Any thread, also
 * while other threads get and put.
 */
void hauli_stacks_for_each(
	struct hauli_stacks *arena, void (*fn)(struct hauli_co *co, void *arg), void *arg);

/* The progress of a walk over all slots. All zero: at its beginning. */
struct hauli_stack_walk {
	uint32_t chunk, slot; /* the next */
};

/* As hauli_stacks_for_each(), for the next n slots. False: there are no more; at the end of the
 * walk or later slots may have been handed out that it has not visited. */
bool hauli_stacks_walk(struct hauli_stacks *arena, struct hauli_stack_walk *at, unsigned n,
	void (*fn)(struct hauli_co *co, void *arg), void *arg);

/* Gives the pages of unused slots back to the kernel, but for slots in caches. Returns the bytes
 * that were resident. Any thread. */
size_t hauli_stacks_trim(struct hauli_stacks *arena);

/* The kind of guard that the next slot gets. */
enum hauli_guard hauli_stacks_guard(const struct hauli_stacks *arena);

/* True if co, which may be any address, is the head of a slot. Any thread. */
bool hauli_stacks_have(const struct hauli_stacks *arena, const struct hauli_co *co);

#endif
