/* SPDX-License-Identifier: BSD-3-Clause */
/* The run queue: order, overflow into the backlog, pushes to the front, thieves in the same
 * thread. */
#include "sched/state/runq.h"

#include <string.h>

#include "support/suite.h"

#define MANY 5000

static struct haul_coro coros[MANY];

static void *pop(struct hauli_ring *r)
{
	struct hauli_ring_ahead ahead;

	hauli_ring_open(r, 1);
	return hauli_ring_pop(r, &ahead);
}

static struct haul_coro *pop_one(struct hauli_runq *q)
{
	hauli_runq_open(q, 1);
	return hauli_entry_begun(hauli_runq_pop(q));
}

static struct hauli_runq *queue(void)
{
	static struct hauli_runq q;

	ck_assert_int_eq(hauli_fence_init(), 0); /* thieves use the heavy fence */
	ck_assert_int_eq(hauli_runq_init(&q), 0);
	return &q;
}

START_TEST(empty_gives_nothing)
{
	struct hauli_runq *q = queue();

	ck_assert(hauli_runq_is_empty(q));
	ck_assert_ptr_null(pop_one(q));
	hauli_runq_fini(q);
}
END_TEST

START_TEST(oldest_comes_first_past_the_ring)
{
	struct hauli_runq *q = queue();

	for (int i = 0; i < MANY; i++)
		hauli_runq_push(q, hauli_entry_of_begun(&coros[i]));
	for (int i = 0; i < MANY; i++) {
		hauli_runq_top_up(q);
		ck_assert_ptr_eq(pop_one(q), &coros[i]);
	}
	ck_assert(hauli_runq_is_empty(q));
	hauli_runq_fini(q);
}
END_TEST

/* Also between two checks of the backlog, while the ring has room. */
START_TEST(pushed_coroutines_do_not_overtake_the_backlog)
{
	struct hauli_runq *q = queue();
	int in = 0, out = 0;

	while (in < 300)
		hauli_runq_push(q, hauli_entry_of_begun(&coros[in++]));
	for (; out < 10; out++)
		ck_assert_ptr_eq(pop_one(q), &coros[out]);
	hauli_runq_push(q, hauli_entry_of_begun(&coros[in++]));
	for (; out < in; out++) {
		if (hauli_runq_is_empty(q))
			hauli_runq_top_up(q);
		ck_assert_ptr_eq(pop_one(q), &coros[out]);
	}
	hauli_runq_fini(q);
}
END_TEST

/* Repeats the same pops and pushes, so that all indices wrap and the backlog grows while it is
 * wrapped itself. */
START_TEST(order_holds_while_it_turns_and_grows)
{
	struct hauli_runq *q = queue();
	int in = 0, out = 0;

	for (int round = 0; round < 40000; round++) {
		/* Grows by one every 10 rounds up to nearly MANY. */
		int depth = 200 + round / 10;

		hauli_runq_top_up(q);
		while (in - out < depth)
			hauli_runq_push(q, hauli_entry_of_begun(&coros[in++ % MANY]));
		for (int i = 0; i < 7; i++)
			if (pop_one(q) != &coros[out++ % MANY])
				ck_abort_msg("out of order at %d", out);
	}
	hauli_runq_fini(q);
}
END_TEST

START_TEST(full_ring_is_exact)
{
	static struct hauli_ring r;

	hauli_ring_init(&r);
	for (int turn = 0; turn < 3; turn++) {
		for (unsigned i = 0; i < HAULI_RING_SIZE; i++) {
			ck_assert_uint_eq(hauli_ring_depth(&r), i);
			ck_assert(hauli_ring_push(&r, &coros[i]));
		}
		ck_assert(!hauli_ring_push(&r, &coros[0]));
		for (unsigned i = 0; i < HAULI_RING_SIZE; i++)
			ck_assert_ptr_eq(pop(&r), &coros[i]);
		ck_assert_ptr_null(pop(&r));
		/* The next turn starts in the middle of the ring. */
		for (int i = 0; i < 100; i++) {
			ck_assert(hauli_ring_push(&r, &coros[i]));
			ck_assert_ptr_eq(pop(&r), &coros[i]);
		}
	}
}
END_TEST

START_TEST(pop_tells_what_comes_after)
{
	static struct hauli_ring r;
	struct hauli_ring_ahead ahead;

	hauli_ring_init(&r);
	for (unsigned i = 0; i < 10; i++)
		ck_assert(hauli_ring_push(&r, &coros[i]));
	hauli_ring_open(&r, 20);
	for (unsigned i = 0; i < 10; i++) {
		bool many = 10 - i > HAULI_RING_FEW;

		ck_assert_ptr_eq(hauli_ring_pop(&r, &ahead), &coros[i]);
		ck_assert_int_eq(ahead.many, many);
		if (many) {
			ck_assert_ptr_eq(ahead.second, &coros[i + 1]);
			ck_assert_ptr_eq(ahead.fourth, &coros[i + 3]);
		}
	}
}
END_TEST

START_TEST(pops_end_with_the_batch)
{
	struct hauli_runq *q = queue();

	for (int i = 0; i < 5; i++)
		hauli_runq_push(q, hauli_entry_of_begun(&coros[i]));
	ck_assert_ptr_null(hauli_runq_pop(q));
	hauli_runq_open(q, 2);
	ck_assert_ptr_eq(hauli_entry_begun(hauli_runq_pop(q)), &coros[0]);
	ck_assert_ptr_eq(hauli_entry_begun(hauli_runq_pop(q)), &coros[1]);
	ck_assert_ptr_null(hauli_runq_pop(q));
	hauli_runq_open(q, 9);
	hauli_runq_push(q, hauli_entry_of_begun(&coros[9]));
	ck_assert_ptr_eq(hauli_entry_begun(hauli_runq_pop(q)), &coros[2]);
	hauli_runq_close(q);
	ck_assert_ptr_null(hauli_runq_pop(q));
	hauli_runq_push_lifo(q, hauli_entry_of_begun(&coros[8]));
	ck_assert_ptr_null(hauli_runq_pop(q));
	hauli_runq_open(q, 9);
	ck_assert_ptr_eq(hauli_entry_begun(hauli_runq_pop(q)), &coros[8]);
	hauli_runq_fini(q);
}
END_TEST

START_TEST(woken_goes_first_and_one_at_a_time)
{
	struct hauli_runq *q = queue();

	hauli_runq_push(q, hauli_entry_of_begun(&coros[0]));
	hauli_runq_push_lifo(q, hauli_entry_of_begun(&coros[1]));
	hauli_runq_push_lifo(q, hauli_entry_of_begun(&coros[2]));
	ck_assert_ptr_eq(pop_one(q), &coros[1]);
	ck_assert_ptr_eq(pop_one(q), &coros[0]);
	ck_assert_ptr_eq(pop_one(q), &coros[2]);
	hauli_runq_fini(q);
}
END_TEST

static bool may(const void *item)
{
	return hauli_coro_is_stealable(item);
}

/* Thieves take what they may while the owner pushes and pops, and the rest stays in order. Every
 * pinned_every-th coroutine is pinned. */
START_TEST(pinned_coroutines_stay_in_order_past_the_ring)
{
	static const unsigned pinned_every[] = {1, 2, 3, 100};
	struct hauli_runq *q = queue();
	unsigned every = pinned_every[_i], stolen = 0, popped = 0;

	q->shared = true;
	for (unsigned i = 0; i < MANY; i++)
		coros[i].pinned = i % every == 0;
	/* Repeated, so that the backlog wraps, and grows while it has holes. */
	for (unsigned turn = 0; turn < 4; turn++) {
		unsigned taken = MANY, next = 0;

		for (unsigned i = 0; i < MANY; i++)
			hauli_runq_push(q, hauli_entry_of_begun(&coros[i]));
		ck_assert(hauli_ring_try_steal(&q->ring));
		while (taken > MANY / 2) {
			struct haul_coro *co = hauli_entry_begun(hauli_runq_steal(q, may));

			if (!co)
				break;
			ck_assert(!co->pinned);
			stolen++;
			taken--;
		}
		hauli_ring_end_steal(&q->ring);
		for (;;) {
			struct haul_coro *co;

			hauli_runq_top_up(q);
			co = pop_one(q);
			if (!co && hauli_runq_is_empty(q) && !hauli_ring_is_shut(&q->ring))
				break;
			if (!co)
				continue;
			ck_assert_uint_ge((unsigned)(co - coros), next);
			next = (unsigned)(co - coros) + 1;
			popped++;
		}
		ck_assert_uint_eq(popped + stolen, (turn + 1) * MANY);
		ck_assert_uint_eq(hauli_u64_owned_get(&q->backlog.loose), 0);
	}
	ck_assert_uint_eq(stolen > 0, every > 1);
	memset(coros, 0, sizeof(coros));
	hauli_runq_fini(q);
}
END_TEST

static void push_pinned(struct hauli_runq *q, unsigned i)
{
	coros[i].pinned = true;
	hauli_runq_push_pinned(q, hauli_entry_of_begun(&coros[i]), hauli_runq_push);
}

static struct haul_coro *steal(struct hauli_runq *q)
{
	struct haul_coro *co;

	ck_assert(hauli_ring_try_steal(&q->ring));
	co = hauli_entry_begun(hauli_runq_steal(q, may));
	ck_assert_ptr_null(co ? hauli_runq_steal(q, may) : NULL);
	hauli_ring_end_steal(&q->ring);
	return co;
}

/* In the ring alone, and with a backlog: only a stealable coroutine attracts thieves. */
START_TEST(pinned_coroutines_do_not_look_stealable)
{
	const unsigned n = _i ? MANY - 1 : 100;
	struct hauli_runq *q = queue();
	struct haul_coro *loose = &coros[MANY - 1];

	q->shared = true;
	for (unsigned i = 0; i < n; i++)
		push_pinned(q, i);
	ck_assert(!hauli_runq_has_stealable(q));
	for (unsigned turn = 0; turn < 1000; turn++) { /* the oldest run and are pushed again */
		bool is_loose = turn % 100 == 50;

		hauli_runq_top_up(q);
		push_pinned(q, (unsigned)(pop_one(q) - coros));
		if (is_loose)
			hauli_runq_push(q, hauli_entry_of_begun(loose));
		ck_assert(hauli_runq_has_stealable(q) == is_loose);
		push_pinned(q, (unsigned)(pop_one(q) - coros));
		ck_assert(hauli_runq_has_stealable(q) == is_loose);
		if (is_loose)
			ck_assert_ptr_eq(steal(q), loose);
		if (is_loose)
			ck_assert_ptr_null(steal(q));
		ck_assert(!hauli_runq_has_stealable(q));
	}
	memset(coros, 0, sizeof(coros));
	hauli_runq_fini(q);
}
END_TEST

static bool is_even(const void *item)
{
	return ((const struct haul_coro *)item - coros) % 2 == 0;
}

START_TEST(thieves_take_the_oldest_they_may_and_the_rest_stays_in_order)
{
	static struct hauli_ring r;

	ck_assert_int_eq(hauli_fence_init(), 0);
	hauli_ring_init(&r);
	for (unsigned turn = 0; turn < 300; turn++) { /* so that all indices wrap */
		for (unsigned i = 0; i < 7; i++)
			ck_assert(hauli_ring_push(&r, &coros[i + 1]));
		ck_assert(hauli_ring_push_front(&r, &coros[0]));
		ck_assert(hauli_ring_has_stealable(&r));
		ck_assert(hauli_ring_try_steal(&r));
		ck_assert(!hauli_ring_try_steal(&r));
		ck_assert_ptr_eq(hauli_ring_steal(&r, is_even), &coros[0]);
		ck_assert_ptr_eq(hauli_ring_steal(&r, is_even), &coros[2]);
		hauli_ring_end_steal(&r);
		ck_assert(hauli_ring_has_stealable(&r));
		/* The owner's pushes between two thefts. */
		ck_assert(hauli_ring_push(&r, &coros[8]));
		ck_assert(hauli_ring_push_front(&r, &coros[9]));
		ck_assert(hauli_ring_try_steal(&r));
		ck_assert_ptr_eq(hauli_ring_steal(&r, is_even), &coros[4]);
		ck_assert_ptr_eq(hauli_ring_steal(&r, is_even), &coros[6]);
		ck_assert_ptr_eq(hauli_ring_steal(&r, is_even), &coros[8]);
		ck_assert_ptr_null(hauli_ring_steal(&r, is_even));
		hauli_ring_end_steal(&r);
		ck_assert(!hauli_ring_has_stealable(&r));
		for (unsigned i = 0; i < 5; i++)
			ck_assert_ptr_eq(pop(&r), &coros[i == 0 ? 9 : 2 * i - 1]);
		ck_assert_ptr_null(pop(&r));
		ck_assert_uint_eq(hauli_ring_depth(&r), 0);
	}
}
END_TEST

START_TEST(a_thief_closes_the_batch)
{
	static struct hauli_ring r;
	struct hauli_ring_ahead ahead;

	ck_assert_int_eq(hauli_fence_init(), 0);
	hauli_ring_init(&r);
	for (unsigned i = 0; i < 5; i++)
		ck_assert(hauli_ring_push(&r, &coros[2 * i]));
	hauli_ring_open(&r, 5);
	ck_assert_ptr_eq(hauli_ring_pop(&r, &ahead), &coros[0]);
	ck_assert(hauli_ring_try_steal(&r));
	ck_assert_ptr_null(hauli_ring_pop(&r, &ahead));
	ck_assert_ptr_eq(hauli_ring_steal(&r, is_even), &coros[2]);
	ck_assert(hauli_ring_push_front(&r, &coros[0]));
	ck_assert_ptr_null(hauli_ring_pop(&r, &ahead));
	hauli_ring_end_steal(&r);
	hauli_ring_open(&r, 9);
	ck_assert_ptr_eq(hauli_ring_pop(&r, &ahead), &coros[0]);
	ck_assert_ptr_eq(hauli_ring_pop(&r, &ahead), &coros[4]);
}
END_TEST

/* Two coroutines that keep waking each other must let a third one run. */
START_TEST(lifo_slot_starves_no_coroutine)
{
	struct hauli_runq *q = queue();
	struct haul_coro *first;
	int streak = 0;

	hauli_runq_push(q, hauli_entry_of_begun(&coros[0]));
	for (;;) {
		hauli_runq_push_lifo(q, hauli_entry_of_begun(&coros[1]));
		first = pop_one(q);
		if (first != &coros[1])
			break;
		streak++;
	}
	ck_assert_ptr_eq(first, &coros[0]);
	ck_assert_int_eq(streak, (int)HAULI_LIFO_RUN);
	hauli_runq_fini(q);
}
END_TEST

SUITE_MAIN("runq", {empty_gives_nothing, 1}, {oldest_comes_first_past_the_ring, 1},
	{pushed_coroutines_do_not_overtake_the_backlog, 1},
	{order_holds_while_it_turns_and_grows, 1}, {full_ring_is_exact, 1},
	{pop_tells_what_comes_after, 1}, {pops_end_with_the_batch, 1},
	{woken_goes_first_and_one_at_a_time, 1}, {lifo_slot_starves_no_coroutine, 1},
	{thieves_take_the_oldest_they_may_and_the_rest_stays_in_order, 1},
	{a_thief_closes_the_batch, 1}, {pinned_coroutines_stay_in_order_past_the_ring, 4},
	{pinned_coroutines_do_not_look_stealable, 2})
