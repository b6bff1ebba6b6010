/* SPDX-License-Identifier: BSD-3-Clause */
/* Long ones in the run queue, by random batches: each has its turns, in order, and the others have
 * theirs in between. */
#include "sched/state/runq.h"

#include <inttypes.h>
#include <string.h>

#include "support/stress.h"
#include "support/suite.h"

#define COROS 600
#define STEPS 50000

static struct {
	struct hauli_runq q;
	struct hauli_random random;
	struct haul_coro co[COROS];
	enum { AWAY, READY, LONG } where[COROS];
	uint64_t since[COROS]; /* it was pushed, or has become long */
	uint64_t now;
	unsigned nb[LONG + 1];
	unsigned longs_in_a_row; /* turns of long ones while others were ready */
	unsigned without; /* batches without a long one while there was one */
} s;

static unsigned below(unsigned n)
{
	return hauli_random_below(&s.random, n);
}

static void put(struct haul_coro *co, int where)
{
	unsigned i = (unsigned)(co - s.co);

	s.nb[s.where[i]]--;
	s.where[i] = where;
	s.nb[where]++;
	s.since[i] = ++s.now;
}

static void push(void)
{
	struct haul_coro *co = &s.co[below(COROS)];

	if (s.where[co - s.co] != AWAY)
		return;
	co->pinned = below(4) == 0;
	if (co->pinned && s.q.shared)
		hauli_runq_push_pinned(&s.q, hauli_entry_of_begun(co), hauli_runq_push);
	else
		hauli_runq_push(&s.q, hauli_entry_of_begun(co));
	put(co, READY);
}

static void comes_home_long(void)
{
	struct haul_coro *co = &s.co[below(COROS)];

	if (s.where[co - s.co] != AWAY)
		return;
	co->pinned = below(2) == 0;
	hauli_runq_push_long(&s.q, hauli_entry_of_begun(co));
	put(co, LONG);
}

static void check_oldest(const struct haul_coro *co, bool stealable)
{
	unsigned n = (unsigned)(co - s.co);

	for (unsigned i = 0; i < COROS; i++)
		if (s.where[i] == s.where[n] && s.since[i] < s.since[n] &&
			!(stealable && s.co[i].pinned))
			ck_abort_msg("step %" PRIu64 ": %u before %u, place %d", s.now, n, i,
				s.where[n]);
}

static bool may(const void *item)
{
	return hauli_coro_is_stealable(item);
}

static void steal(void)
{
	struct haul_coro *co = NULL;

	ck_assert(hauli_ring_try_steal(&s.q.ring));
	if (hauli_runq_has_stealable(&s.q))
		co = hauli_entry_begun(hauli_runq_steal(&s.q, may));
	hauli_ring_end_steal(&s.q.ring);
	if (!co) {
		for (unsigned i = 0; i < COROS; i++)
			ck_assert(s.where[i] == AWAY || s.co[i].pinned);
		return;
	}
	ck_assert(!co->pinned);
	check_oldest(co, true);
	s.without = 0;
	put(co, AWAY);
	if (s.nb[READY] == 0)
		s.longs_in_a_row = 0;
}

static void count_turn(const struct haul_coro *co, bool others)
{
	if (s.where[co - s.co] == LONG)
		s.without = 0;
	if (s.where[co - s.co] == READY || !others)
		s.longs_in_a_row = 0;
	else
		ck_assert_uint_lt(s.longs_in_a_row++, 1);
}

/* Runs some, of which the last one may become long. */
static void batch(void)
{
	unsigned n = 1 + below(8);
	bool others = s.nb[READY] > 0;
	bool any_long = s.nb[LONG] > 0;
	struct haul_coro *co = NULL;

	if (hauli_runq_is_empty(&s.q))
		(void)hauli_runq_fetch_long(&s.q);
	if (s.q.shared)
		hauli_runq_open(&s.q, n);
	else
		hauli_runq_open_unshared(&s.q, n);
	for (; n > 0; n--) {
		struct hauli_entry *entry = hauli_runq_pop(&s.q);

		if (!entry)
			break;
		co = hauli_entry_begun(entry);
		check_oldest(co, false);
		count_turn(co, others);
		if (below(3) == 0) { /* else it ends */
			hauli_ring_close(&s.q.ring);
			hauli_runq_leave_long(&s.q, entry);
			put(co, LONG);
			n = 0;
			break;
		}
		put(co, AWAY);
	}
	if (s.q.shared)
		hauli_runq_close(&s.q);
	else
		hauli_runq_close_unshared(&s.q);
	s.without = any_long ? s.without + 1 : 0;
	ck_assert_uint_lt(s.without, 5);
	ck_assert(hauli_runq_has_some(&s.q) || s.nb[READY] + s.nb[LONG] == 0);
}

static void start(bool shared)
{
	memset(&s, 0, sizeof(s));
	hauli_random_init(&s.random, stress_seed());
	ck_assert_int_eq(hauli_fence_init(), 0);
	ck_assert_int_eq(hauli_runq_init(&s.q), 0);
	s.q.shared = shared;
	s.nb[AWAY] = COROS;
}

START_TEST(long_ones_have_their_turns)
{
	bool shared = _i;

	start(shared);
	for (unsigned i = 0; i < STEPS; i++) {
		/* Phases in which there are many, up to a backlog, and few. */
		unsigned pushes = i / 1000 % 2 ? below(6) : below(2);

		while (pushes-- > 0)
			push();
		if (shared && below(4) == 0)
			steal();
		if (shared && below(8) == 0)
			comes_home_long();
		batch();
	}
	while (hauli_runq_has_some(&s.q))
		batch();
	ck_assert_uint_eq(s.nb[AWAY], COROS);
	ck_assert_uint_eq(hauli_runq_longs(&s.q), 0);
	hauli_runq_fini(&s.q);
}
END_TEST

START_TEST(pinned_long_ones_attract_no_thief)
{
	start(true);
	for (unsigned i = 0; i < 3; i++) {
		s.co[i].pinned = true;
		hauli_runq_push_long(&s.q, hauli_entry_of_begun(&s.co[i]));
		ck_assert(!hauli_runq_has_stealable(&s.q));
	}
	s.co[3].pinned = false;
	hauli_runq_push_long(&s.q, hauli_entry_of_begun(&s.co[3]));
	ck_assert(hauli_runq_has_stealable(&s.q));
	hauli_runq_fini(&s.q);
}
END_TEST

SUITE_MAIN("runq_long", {long_ones_have_their_turns, 2}, {pinned_long_ones_attract_no_thief, 1})
