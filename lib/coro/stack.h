/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stacks: an arena of guarded slots in size classes, and a cache for each thread that spawns.
 *
 * A slot, from low to high addresses: guard | stack, growing down | head | colour. The arena hands
 * out the head (head_size bytes, starting with a struct hauli_stack). Its offset within the last 4
 * KiB varies from slot to slot (the colour), so that the heads and hot frames of many coroutines
 * spread over all sets of the CPU's cache. At least 1 KiB of stack is in the page of the head, so a
 * parked coroutine with small frames keeps one page resident.
 *
 * Guards are set when slots are carved out of a chunk, one by one, so that no get takes much longer
 * than the system call and the page fault of its own slot: by MADV_GUARD_INSTALL (Linux 6.13),
 * which costs no mapping; else by mprotect while mappings last; else by a canary, with one notice:
 * the memory stays accessible and zero, and is checked when the slot comes back.
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
	struct hauli_stack *free;
	struct hauli_stack *spare; /* HAULI_STACK_SET of them, or NULL */
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
 * Any thread. head_size: a multiple of the cache line, sizeof(struct hauli_stack) to 3 KiB. 0,
 * -ENOMEM, -EINVAL (head_size), or -EOPNOTSUPP (guard is MADVISE and the kernel has no such thing).
 * destroy() unmaps all memory: no slot may be in use, and no cache may hold any.
 */
int hauli_stacks_create(struct hauli_stacks **arena, size_t head_size, enum hauli_guard guard);
void hauli_stacks_destroy(struct hauli_stacks *arena);

/* Right after create: all slots will be HAULI_STACK_MARKED. */
void hauli_stacks_mark(struct hauli_stacks *arena);

/* The smallest class with that many usable bytes, or -EINVAL; and the usable bytes of a class. */
int hauli_stack_class(size_t usable);
size_t hauli_stack_usable(unsigned cls);

void hauli_stack_cache_init(struct hauli_stack_cache *cache, struct hauli_stacks *arena);
/* Gives all cached slots to the arena. */
void hauli_stack_cache_fini(struct hauli_stack_cache *cache);

/* The slow paths of get and put below. refill: takes a set from the arena and returns one slot of
 * it; NULL: no memory. spill: the set is full, and one goes to the arena. check: for a slot with a
 * canary; ends the program with a line if it was overrun by the coroutine of that name. */
struct hauli_stack *hauli_stack_refill(struct hauli_stack_cache *cache, unsigned cls);
void hauli_stack_spill(struct hauli_stack_cache *cache, unsigned cls);
void hauli_stack_check(const struct hauli_stack *stack, const char *name);

/* Returns a slot's head; its stack ends where the head begins. The bytes after struct hauli_stack
 * are as the last user left them, or zero. NULL: the cache has none. */
static inline struct hauli_stack *hauli_stack_try_get(struct hauli_stack_cache *cache, unsigned cls)
{
	struct hauli_stack_set *set = &cache->classes[cls];
	struct hauli_stack *stack = set->free;

	if (hauli_unlikely(!stack))
		return NULL;
	set->free = stack->next;
	set->count--;
	return stack;
}

/* The same; if the cache has none, from the arena. NULL: no memory. */
static inline struct hauli_stack *hauli_stack_get(struct hauli_stack_cache *cache, unsigned cls)
{
	struct hauli_stack *stack = hauli_stack_try_get(cache, cls);

	return hauli_likely(stack != NULL) ? stack : hauli_stack_refill(cache, cls);
}

/* The lowest byte of a slot's stack. */
static inline char *hauli_stack_lo(const struct hauli_stack *stack)
{
	return (char *)stack - stack->bytes;
}

/*
 * name: of the coroutine that has used it; put_checked: the caller has done all of stack->checks.
 * The caller may still run on it until it gets a stack of the class again: a slot that was put
 * reaches other threads only after a whole set of further puts.
 */
static inline void hauli_stack_put_checked(
	struct hauli_stack_cache *cache, struct hauli_stack *stack)
{
	unsigned cls = stack->cls;
	struct hauli_stack_set *set = &cache->classes[cls];

	/* Before the put, so that a get and a put in turn do not move a set each time. */
	if (hauli_unlikely(set->count == HAULI_STACK_SET))
		hauli_stack_spill(cache, cls);
	set->count++;
	stack->next = set->free;
	set->free = stack;
}

static inline void hauli_stack_put(
	struct hauli_stack_cache *cache, struct hauli_stack *stack, const char *name)
{
	if (hauli_unlikely(stack->checks))
		hauli_stack_check(stack, name);
	hauli_stack_put_checked(cache, stack);
}

/*
 * Get and put directly in the arena, for threads without a cache. Where the cgroup limits memory,
 * the cache has no more slots when only HAULI_KEPT_MOST is left; get_reserved goes on to
 * HAULI_KEPT_SOME, for coroutines that are not a packet's, so that packets do not keep these from
 * running; and get_shared asks for no limit.
 */
struct hauli_stack *hauli_stack_get_shared(struct hauli_stacks *arena, unsigned cls);
struct hauli_stack *hauli_stack_get_reserved(struct hauli_stacks *arena, unsigned cls);
void hauli_stack_put_shared(
	struct hauli_stacks *arena, struct hauli_stack *stack, const char *name);

/*
 * Calls fn for the head of each slot that was ever handed out, and of some that were not yet (all
 * zero after struct hauli_stack). fn must tell from the head if the slot is in use. Any thread,
 * also while other threads get and put.
 */
void hauli_stacks_for_each(
	struct hauli_stacks *arena, void (*fn)(struct hauli_stack *stack, void *arg), void *arg);

/* Gives the pages of unused slots back to the kernel, but for slots in caches. Returns the bytes
 * that were resident. Any thread. */
size_t hauli_stacks_trim(struct hauli_stacks *arena);

/* Stacks, in use, whose pages are about to go to the kernel. All zero: none. */
struct hauli_stack_release {
	char *lo, *hi; /* of slots side by side */
	bool canary; /* a slot without a guard, alone */
};

/* Gives the pages of a stack in use, head included, back to the kernel: at once, or together with
 * those of its neighbours, by a later call or by flush(). Owner of the stack; the head is read. */
void hauli_stack_release(const struct hauli_stacks *arena, struct hauli_stack_release *r,
	const struct hauli_stack *stack);
void hauli_stack_release_flush(struct hauli_stack_release *r);

/* The kind of guard that the next slot gets. */
enum hauli_guard hauli_stacks_guard(const struct hauli_stacks *arena);

#endif
