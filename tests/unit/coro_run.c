/* SPDX-License-Identifier: BSD-3-Clause */
/* Switches and stacks together: thousands of coroutines on several threads, repeatedly. Also tests
 * the annotations for sanitizers. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "coro/stack.h"
#include "support/suite.h"

#define HEAD ((size_t)256)

/* A head, as the scheduler has one. */
struct head {
	struct hauli_stack stack;
	struct hauli_co co;
	struct hauli_co *back; /* its resumer */
	uint64_t sum;
	_Atomic int in_use;
};

static struct hauli_stacks *arena_new(void)
{
	struct hauli_stacks *a = NULL;

	ck_assert_int_eq(hauli_stacks_create(&a, HEAD, HAULI_GUARD_BEST), 0);
	return a;
}

/* Adds up the values that it is passed, until one is 0. */
static void body(void *pass)
{
	struct head *h = pass;

	hauli_co_arrived(&h->co);
	h->sum = 0;
	while ((pass = hauli_co_switch(&h->co, h->back, NULL)))
		h->sum += (uintptr_t)pass;
	hauli_co_end(&h->co, h->back, h);
}

static struct head *spawn(struct hauli_stack_cache *cache, struct hauli_co *back)
{
	struct head *h = (struct head *)hauli_stack_get(cache, 1);

	if (!h)
		return NULL;
	h->in_use = 1;
	h->back = back;
	hauli_co_prepare(&h->co, &h->stack, h, body);
	hauli_co_switch(back, &h->co, h);
	return h;
}

/* Runs n coroutines at once, three turns each, and repeats that rounds times. False: a wrong
 * result. */
static bool generations(struct hauli_stacks *a, unsigned n, unsigned rounds)
{
	struct head **h = calloc(n, sizeof(*h));
	struct hauli_stack_cache cache;
	struct hauli_co me;
	bool ok = true;

	hauli_stack_cache_init(&cache, a);
	hauli_co_init_thread(&me);
	for (unsigned r = 0; r < rounds; r++) {
		for (unsigned i = 0; i < n; i++)
			h[i] = spawn(&cache, &me);
		for (uintptr_t turn = 1; turn <= 3; turn++)
			for (unsigned i = 0; i < n; i++)
				hauli_co_switch(&me, &h[i]->co, (void *)(turn * (i + 1)));
		for (unsigned i = 0; i < n; i++) {
			ok &= hauli_co_switch(&me, &h[i]->co, NULL) == h[i];
			ok &= h[i]->sum == 6 * (uint64_t)(i + 1);
			h[i]->in_use = 0;
			hauli_stack_put(&cache, &h[i]->stack, NULL);
		}
	}
	hauli_co_fini_thread(&me);
	hauli_stack_cache_fini(&cache);
	free(h);
	return ok;
}

START_TEST(two_thousand_at_once_again_and_again)
{
	struct hauli_stacks *a = arena_new();

	/* More coroutines in all than ThreadSanitizer has fibers at a time. */
	ck_assert(generations(a, 2000, 5));
	hauli_stacks_destroy(a);
}
END_TEST

static void *generations_of_one(void *arg)
{
	return generations(arg, 300, 10) ? arg : NULL;
}

static void count_in_use(struct hauli_stack *stack, void *arg)
{
	unsigned *n = arg;

	n[0]++;
	n[1] += ((struct head *)stack)->in_use == 1;
}

START_TEST(heads_are_readable_while_others_spawn)
{
	struct hauli_stacks *a = arena_new();
	pthread_t threads[3];
	unsigned seen[2] = {0};
	void *ok;

	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, generations_of_one, a), 0);
	for (int i = 0; i < 100; i++) {
		seen[0] = seen[1] = 0;
		hauli_stacks_for_each(a, count_in_use, seen);
		ck_assert_uint_le(seen[1], 900);
		hauli_stacks_trim(a);
	}
	for (int i = 0; i < 3; i++) {
		pthread_join(threads[i], &ok);
		ck_assert_ptr_eq(ok, a);
	}
	seen[0] = seen[1] = 0;
	hauli_stacks_for_each(a, count_in_use, seen);
	ck_assert_uint_ge(seen[0], 300);
	ck_assert_uint_eq(seen[1], 0);
	hauli_stacks_destroy(a);
}
END_TEST

/* Several threads resume one coroutine in turn. */
struct handoff {
	struct hauli_stacks *arena;
	pthread_barrier_t turn;
	struct head *h;
};

static void *resume_once(void *arg)
{
	struct handoff *r = arg;
	struct hauli_co me;

	hauli_co_init_thread(&me);
	pthread_barrier_wait(&r->turn);
	r->h->back = &me;
	hauli_co_switch(&me, &r->h->co, (void *)(uintptr_t)5);
	pthread_barrier_wait(&r->turn);
	hauli_co_fini_thread(&me);
	return NULL;
}

START_TEST(resumed_by_another_thread)
{
	struct handoff r = {.arena = arena_new()};
	struct hauli_stack_cache cache;
	struct hauli_co me;

	hauli_stack_cache_init(&cache, r.arena);
	hauli_co_init_thread(&me);
	r.h = spawn(&cache, &me);
	pthread_barrier_init(&r.turn, NULL, 2);
	for (int i = 0; i < 10; i++) {
		pthread_t t;

		ck_assert_int_eq(pthread_create(&t, NULL, resume_once, &r), 0);
		pthread_barrier_wait(&r.turn);
		pthread_barrier_wait(&r.turn);
		pthread_join(t, NULL);
	}
	pthread_barrier_destroy(&r.turn);
	r.h->back = &me;
	ck_assert_ptr_eq(hauli_co_switch(&me, &r.h->co, NULL), r.h);
	ck_assert_uint_eq(r.h->sum, 50);
	hauli_co_fini_thread(&me);
	hauli_stack_put(&cache, &r.h->stack, NULL);
	hauli_stack_cache_fini(&cache);
	hauli_stacks_destroy(r.arena);
}
END_TEST

/* Leaves by the last switch while the red zones of its frames are in the sanitizer's shadow
 * memory. */
static __attribute__((noinline)) int leave_from_deep(struct head *h, int depth)
{
	volatile char frame[64] = {0};

	if (depth)
		return leave_from_deep(h, depth - 1) + frame[depth];
	frame[depth] = 1;
	asm volatile("" : "+r"(depth)); /* the compiler must assume that it may return */
	if (!depth)
		hauli_co_end(&h->co, h->back, NULL);
	return frame[depth];
}

static void deep_body(void *pass)
{
	struct head *h = pass;

	hauli_co_arrived(&h->co);
	leave_from_deep(h, 40);
}

static void plain_body(void *pass)
{
	struct head *h = pass;
	char *sp = __builtin_frame_address(0);
	size_t free_below = (size_t)(sp - hauli_stack_lo(&h->stack)) - 4096;

	hauli_co_arrived(&h->co);
	/* A libc call that the sanitizer checks, at the addresses of those red zones. */
	memset(hauli_stack_lo(&h->stack), 0, free_below);
	hauli_co_end(&h->co, h->back, NULL);
}

START_TEST(stack_is_clean_for_the_next)
{
	struct hauli_stacks *a = arena_new();
	struct head *h = (struct head *)hauli_stack_get_shared(a, 1);
	struct hauli_co me;

	hauli_co_init_thread(&me);
	h->back = &me;
	hauli_co_prepare(&h->co, &h->stack, h, deep_body);
	hauli_co_switch(&me, &h->co, h);
	hauli_co_prepare(&h->co, &h->stack, h, plain_body);
	hauli_co_switch(&me, &h->co, h);
	hauli_co_fini_thread(&me);
	hauli_stack_put_shared(a, &h->stack, NULL);
	hauli_stacks_destroy(a);
}
END_TEST

SUITE_MAIN("coro_run", {two_thousand_at_once_again_and_again, 1},
	{heads_are_readable_while_others_spawn, 1}, {resumed_by_another_thread, 1},
	{stack_is_clean_for_the_next, 1})
