/* SPDX-License-Identifier: BSD-3-Clause */
/* The run queue: order, overflow into the backlog, the next-slot. */
#include "sched/runq.h"

#include "support/suite.h"

#define MANY 5000

static struct haul_coro coros[MANY];

static void *pop(struct hauli_ring *r)
{
	void *second, *fourth;

	return hauli_ring_pop(r, &second, &fourth);
}

static struct hauli_runq *queue(void)
{
	static struct hauli_runq q;

	ck_assert_int_eq(hauli_runq_init(&q), 0);
	return &q;
}

START_TEST(empty_gives_nothing)
{
	struct hauli_runq *q = queue();

	ck_assert(hauli_runq_is_empty(q));
	ck_assert_ptr_null(hauli_runq_pop(q));
	hauli_runq_fini(q);
}
END_TEST

START_TEST(oldest_comes_first_past_the_ring)
{
	struct hauli_runq *q = queue();

	for (int i = 0; i < MANY; i++)
		hauli_runq_push(q, &coros[i]);
	for (int i = 0; i < MANY; i++) {
		hauli_runq_top_up(q);
		ck_assert_ptr_eq(hauli_runq_pop(q), &coros[i]);
	}
	ck_assert(hauli_runq_is_empty(q));
	hauli_runq_fini(q);
}
END_TEST

/* Pops and pushes the same over and over, so that all indices wrap and the backlog grows while it
 * is wrapped itself. */
START_TEST(order_holds_while_it_turns_and_grows)
{
	struct hauli_runq *q = queue();
	int in = 0, out = 0;

	for (int round = 0; round < 40000; round++) {
		/* Grows by one every 10 rounds up to nearly MANY. */
		int depth = 200 + round / 10;

		hauli_runq_top_up(q);
		while (in - out < depth)
			hauli_runq_push(q, &coros[in++ % MANY]);
		for (int i = 0; i < 7; i++)
			if (hauli_runq_pop(q) != &coros[out++ % MANY])
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
		/* The next turn starts in the middle. */
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
	void *second, *fourth;

	hauli_ring_init(&r);
	for (unsigned i = 0; i < 10; i++)
		ck_assert(hauli_ring_push(&r, &coros[i]));
	for (unsigned i = 0; i < 10; i++) {
		ck_assert_ptr_eq(hauli_ring_pop(&r, &second, &fourth), &coros[i]);
		ck_assert_ptr_eq(second, &coros[i + 1 < 10 ? i + 1 : i]);
		ck_assert_ptr_eq(fourth, &coros[i + 3 < 10 ? i + 3 : i]);
	}
}
END_TEST

START_TEST(newest_woken_goes_first_and_displaces)
{
	struct hauli_runq *q = queue();

	hauli_runq_push(q, &coros[0]);
	hauli_runq_push_next(q, &coros[1]);
	hauli_runq_push_next(q, &coros[2]);
	ck_assert_ptr_eq(hauli_runq_pop(q), &coros[2]);
	ck_assert_ptr_eq(hauli_runq_pop(q), &coros[0]);
	ck_assert_ptr_eq(hauli_runq_pop(q), &coros[1]);
	hauli_runq_fini(q);
}
END_TEST

/* Two that wake each other for ever must let a third run. */
START_TEST(next_slot_starves_nobody)
{
	struct hauli_runq *q = queue();
	struct haul_coro *first;
	int streak = 0;

	hauli_runq_push(q, &coros[0]);
	for (;;) {
		hauli_runq_push_next(q, &coros[1]);
		first = hauli_runq_pop(q);
		if (first != &coros[1])
			break;
		streak++;
	}
	ck_assert_ptr_eq(first, &coros[0]);
	ck_assert_int_eq(streak, HAULI_NEXT_STREAK_MAX);
	hauli_runq_fini(q);
}
END_TEST

SUITE_MAIN("runq", {empty_gives_nothing, 1}, {oldest_comes_first_past_the_ring, 1},
	{order_holds_while_it_turns_and_grows, 1}, {full_ring_is_exact, 1},
	{pop_tells_what_comes_after, 1}, {newest_woken_goes_first_and_displaces, 1},
	{next_slot_starves_nobody, 1})
