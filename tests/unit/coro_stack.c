/* SPDX-License-Identifier: BSD-3-Clause */
/* The arena of stacks: the layout of a slot, the movement of slots, and returned memory. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "coro/fiber.h"
#include "coro/stack.h"
#include "support/suite.h"

#define HEAD ((size_t)256)
#define PAGE ((uintptr_t)4096)

static struct hauli_stacks *arena_with(enum hauli_guard guard)
{
	struct hauli_stacks *a = NULL;

	ck_assert_int_eq(hauli_stacks_create(&a, HEAD, guard), 0);
	return a;
}

START_TEST(smallest_class_that_fits)
{
	size_t largest = hauli_stack_usable(HAULI_STACK_CLASSES - 1);

	ck_assert_uint_eq(hauli_stack_usable(0), 8 << 10);
	ck_assert_uint_eq(hauli_stack_usable(1), 24 << 10);
	ck_assert_uint_eq(largest, (2048 << 10) - (8 << 10));
	for (size_t n = 0; n <= largest; n++) {
		int cls = hauli_stack_class(n);

		if (cls < 0 || cls >= HAULI_STACK_CLASSES ||
			hauli_stack_usable((unsigned)cls) < n ||
			(cls > 0 && hauli_stack_usable((unsigned)cls - 1) >= n))
			ck_abort_msg("class %d for %zu bytes", cls, n);
	}
	ck_assert_int_eq(hauli_stack_class(largest + 1), -EINVAL);
	ck_assert_int_eq(hauli_stack_class(SIZE_MAX), -EINVAL);
}
END_TEST

START_TEST(head_sizes_that_cannot_be)
{
	static const size_t sizes[] = {0, 1, 255, 257, 4096, 3 * 1024 + 64};
	struct hauli_stacks *a;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		ck_assert_int_eq(hauli_stacks_create(&a, sizes[i], HAULI_GUARD_BEST), -EINVAL);
}
END_TEST

/* The number of bytes among n that differ from c. */
static size_t others(const void *p, char c, size_t n)
{
	size_t bad = 0;

	for (size_t i = 0; i < n; i++)
		bad += ((const char *)p)[i] != c;
	return bad;
}

/* Every promised byte is writable and belongs to one slot only. */
START_TEST(slots_are_whole_and_apart)
{
	struct hauli_stacks *a = arena_with(HAULI_GUARD_BEST);
	unsigned cls = (unsigned)_i;
	const size_t beyond = HEAD - sizeof(struct hauli_stack);
	int n = cls < 4 ? 100 : 5;
	struct hauli_stack *stack[100];

	for (int i = 0; i < n; i++) {
		stack[i] = hauli_stack_get_shared(a, cls);
		ck_assert_ptr_nonnull(stack[i]);
		ck_assert_uint_eq(stack[i]->cls, cls);
		ck_assert_ptr_null(stack[i]->fiber);
		ck_assert_uint_eq((uintptr_t)stack[i] % 64, 0);
		ck_assert_uint_eq((uintptr_t)hauli_stack_lo(stack[i]) % PAGE, 0);
		ck_assert((size_t)((char *)stack[i] - hauli_stack_lo(stack[i])) >=
			hauli_stack_usable(cls));
		/* A new head is zero beyond the arena's own fields. */
		ck_assert_uint_eq(others(stack[i] + 1, 0, beyond), 0);
		memset(stack[i] + 1, i, beyond);
		memset((char *)stack[i] - hauli_stack_usable(cls), i, hauli_stack_usable(cls));
	}
	for (int i = 0; i < n; i++) {
		size_t usable = hauli_stack_usable(cls);

		ck_assert_uint_eq(others((char *)stack[i] - usable, (char)i, usable), 0);
		ck_assert_uint_eq(others(stack[i] + 1, (char)i, beyond), 0);
		hauli_stack_put_shared(a, stack[i], NULL);
	}
	hauli_stacks_destroy(a);
}
END_TEST

/* Heads are spread evenly over the places of a page that leave room for small frames, and heads and
 * their frames do not overlap those of the next slots. */
START_TEST(heads_are_spread)
{
	enum { SLOTS = 4500 };
	struct hauli_stacks *a = arena_with(HAULI_GUARD_BEST);
	static struct hauli_stack *stack[SLOTS];
	unsigned lines[64] = {0}, used = 0, most = 0, least = SLOTS;

	for (unsigned i = 0; i < SLOTS; i++) {
		uintptr_t off;

		stack[i] = hauli_stack_get_shared(a, 1);
		off = (uintptr_t)stack[i] % PAGE;
		ck_assert_uint_ge(off, 1024);
		ck_assert_uint_le(off + HEAD, PAGE);
		lines[off / 64]++;
	}
	for (unsigned l = 0; l < 64; l++) {
		if (!lines[l])
			continue;
		used++;
		most = lines[l] > most ? lines[l] : most;
		least = lines[l] < least ? lines[l] : least;
	}
	ck_assert_uint_eq(used, (PAGE - 1024 - HEAD) / 64 + 1);
	ck_assert_uint_le(most, least + least / 10);
	for (unsigned i = 0; i < SLOTS; i++)
		hauli_stack_put_shared(a, stack[i], NULL);
	hauli_stacks_destroy(a);
}
END_TEST

static void count(struct hauli_stack *co, void *arg)
{
	++*(unsigned *)arg;
}

static unsigned carved(struct hauli_stacks *a)
{
	unsigned n = 0;

	hauli_stacks_for_each(a, count, &n);
	return n;
}

/* One thread gets slots from the arena, the other puts them into its cache, as a carrier does with
 * coroutines spawned by other threads. No slot is lost on the way. */
START_TEST(slots_are_reused)
{
	struct hauli_stacks *a = arena_with(HAULI_GUARD_BEST);
	struct hauli_stack_cache cache;
	struct hauli_stack *stack[200];
	unsigned n;

	hauli_stack_cache_init(&cache, a);
	for (unsigned round = 0; round < 100; round++) {
		for (unsigned i = 0; i < 200; i++)
			stack[i] = hauli_stack_get_shared(a, 0);
		for (unsigned i = 0; i < 200; i++)
			hauli_stack_put(&cache, stack[i], NULL);
	}
	/* The stacks in use at once, two sets in the cache, a third set that fills up, one more
	 * batch. */
	ck_assert_uint_le(carved(a), 200 + 4 * HAULI_STACK_SET);
	/* The same with the threads' parts exchanged. */
	for (unsigned round = 0; round < 100; round++) {
		for (unsigned i = 0; i < 200; i++)
			stack[i] = hauli_stack_get(&cache, 0);
		for (unsigned i = 0; i < 200; i++)
			hauli_stack_put_shared(a, stack[i], NULL);
	}
	ck_assert_uint_le(carved(a), 200 + 4 * HAULI_STACK_SET);

	/* Each slot is there exactly once. */
	hauli_stack_cache_fini(&cache);
	n = carved(a);
	for (unsigned i = 0; i < n; i++) {
		struct hauli_stack *one = hauli_stack_get_shared(a, 0);

		ck_assert_int_eq(*(char *)(one + 1), 0);
		*(char *)(one + 1) = 1;
	}
	ck_assert_uint_eq(carved(a), n);
	ck_assert_int_eq(*(char *)(hauli_stack_get_shared(a, 0) + 1), 0);
	hauli_stacks_destroy(a);
}
END_TEST

START_TEST(last_put_is_first_got)
{
	struct hauli_stacks *a = arena_with(HAULI_GUARD_BEST);
	struct hauli_stack_cache cache;
	struct hauli_stack *stack[HAULI_STACK_SET * 4];

	hauli_stack_cache_init(&cache, a);
	for (unsigned i = 0; i < 4 * HAULI_STACK_SET; i++)
		stack[i] = hauli_stack_get(&cache, 0);
	for (unsigned i = 0; i < 4 * HAULI_STACK_SET; i++) {
		hauli_stack_put(&cache, stack[i], NULL);
		ck_assert_ptr_eq(hauli_stack_get(&cache, 0), stack[i]);
		hauli_stack_put(&cache, stack[i], NULL);
	}
	hauli_stack_cache_fini(&cache);
	hauli_stacks_destroy(a);
}
END_TEST

/* Trimmed slots have lost their contents and are reused. (coro_overflow.c shows that their guards
 * still work.) */
START_TEST(trim_gives_memory_back)
{
	enum { SLOTS = 300 };
	static const enum hauli_guard guards[] = {
		HAULI_GUARD_BEST, HAULI_GUARD_MPROTECT, HAULI_GUARD_CANARY};
	struct hauli_stacks *a = arena_with(guards[_i]);
	static struct hauli_stack *stack[SLOTS];
	struct hauli_stack *kept;
	size_t usable = hauli_stack_usable(1);
	unsigned n;

	for (unsigned i = 0; i < SLOTS; i++) {
		stack[i] = hauli_stack_get_shared(a, 1);
		memset(hauli_stack_lo(stack[i]), 1, usable);
		memset(stack[i] + 1, 1, HEAD - sizeof(struct hauli_stack));
	}
	kept = stack[SLOTS / 2];
	for (unsigned i = 0; i < SLOTS; i++) {
		if (stack[i] != kept)
			hauli_stack_put_shared(a, stack[i], NULL);
	}
	n = carved(a);
	ck_assert_uint_ge(hauli_stacks_trim(a), (SLOTS - 1) * usable);
	ck_assert_uint_eq(hauli_stacks_trim(a), 0);
	ck_assert_uint_eq(others(hauli_stack_lo(kept), 1, usable), 0);
	for (unsigned i = 0; i < SLOTS - 1; i++) {
		stack[i] = hauli_stack_get_shared(a, 1);
		ck_assert_ptr_ne(stack[i], kept);
		ck_assert_int_eq(*(char *)(stack[i] + 1), 0);
		ck_assert_int_eq(*hauli_stack_lo(stack[i]), 0);
		ck_assert_uint_eq(stack[i]->cls, 1);
		*hauli_stack_lo(stack[i]) = 1; /* a slot handed out twice shows */
	}
	ck_assert_uint_eq(carved(a), n);
	hauli_stacks_destroy(a);
}
END_TEST

/* With AddressSanitizer: frames that never return leave red zones. */
static void leave_red_zones(struct hauli_stack *stack)
{
#if HAULI_ASAN
	__asan_poison_memory_region(hauli_stack_lo(stack), PAGE);
#endif
}

START_TEST(unmapped_stacks_leave_no_red_zones)
{
	struct hauli_stacks *a = arena_with(HAULI_GUARD_BEST);
	struct hauli_stack *stack = hauli_stack_get_shared(a, 0);
	void *lo = hauli_stack_lo(stack);
	void *p;

	leave_red_zones(stack);
	hauli_stacks_destroy(a);
	p = mmap(lo, PAGE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	ck_assert_ptr_eq(p, lo);
	memset(p, 1, PAGE);
	munmap(p, PAGE);
}
END_TEST

SUITE_MAIN("coro_stack", {smallest_class_that_fits, 1}, {head_sizes_that_cannot_be, 1},
	{slots_are_whole_and_apart, HAULI_STACK_CLASSES}, {heads_are_spread, 1},
	{slots_are_reused, 1}, {last_put_is_first_got, 1}, {trim_gives_memory_back, 3},
	{unmapped_stacks_leave_no_red_zones, 1})
