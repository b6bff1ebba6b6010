/* SPDX-License-Identifier: BSD-3-Clause */
/* Which queues haul_balance_step() moves, and how many carriers it uses: cases, and loads at
 * random. */
#include <string.h>

#include <haul-dpdk/balance.h>

#include "base/random.h"
#include "support/suite.h"

#define CARRIERS_MAX 12
#define QUEUES_MAX 60

static struct {
	struct haul_balance b;
	struct haul_balance_queue queues[QUEUES_MAX];
	struct haul_balance_carrier carriers[CARRIERS_MAX];
	struct haul_balance_move moves[QUEUES_MAX];
	unsigned nb_queues, nb_carriers, nb_groups;
	uint64_t now;
} k;

/* A queue may go to the carriers of its group only, as a bucket may. */
static bool may_go(void *arg, unsigned queue, unsigned carrier)
{
	ck_assert_ptr_eq(arg, &k);
	return queue % k.nb_carriers % k.nb_groups == carrier % k.nb_groups;
}

static void use_groups(unsigned groups)
{
	k.nb_groups = groups;
	k.b.opts.may_go = may_go;
	k.b.opts.arg = &k;
}

/* Queue i is polled by carrier i % carriers. */
static void begin(unsigned carriers, unsigned queues, bool all)
{
	memset(&k, 0, sizeof(k));
	k.nb_carriers = carriers;
	k.nb_queues = queues;
	k.now = HAUL_S;
	k.b.opts.all = all;
	for (unsigned i = 0; i < queues; i++)
		k.queues[i].carrier = i % carriers;
}

/* Each queue gets so many packets, of which 100 are all the time of a carrier. */
static unsigned step(const unsigned *packets)
{
	for (unsigned c = 0; c < k.nb_carriers; c++)
		k.carriers[c].work = 0;
	for (unsigned i = 0; i < k.nb_queues; i++) {
		k.queues[i].packets = packets[i];
		k.carriers[k.queues[i].carrier].work += packets[i] / 100.0;
	}
	for (unsigned c = 0; c < k.nb_carriers; c++)
		if (k.carriers[c].work > 1)
			k.carriers[c].work = 1;
	k.now += HAUL_S / 10;
	return haul_balance_step(
		&k.b, k.now, k.queues, k.nb_queues, k.carriers, k.nb_carriers, k.moves);
}

START_TEST(a_queue_leaves_the_busy_carrier)
{
	begin(2, 4, true);
	ck_assert_uint_eq(step((unsigned[]){50, 5, 40, 5}), 1);
	ck_assert_uint_eq(k.moves[0].queue, 2);
	ck_assert_uint_eq(k.moves[0].from, 0);
	ck_assert_uint_eq(k.moves[0].to, 1);
	ck_assert_uint_eq(k.queues[2].carrier, 1);
	ck_assert_double_eq_tol(k.b.before, 0.9, 1e-9);
	ck_assert_double_eq_tol(k.b.after, 0.5, 1e-9);
	ck_assert_uint_eq(step((unsigned[]){50, 5, 40, 5}), 0);
}
END_TEST

START_TEST(a_small_gain_moves_nothing)
{
	begin(2, 4, true);
	ck_assert_uint_eq(step((unsigned[]){50, 30, 10, 10}), 0); /* 60 and 40: at best 50 */
	ck_assert_uint_eq(k.queues[2].carrier, 0);
	k.b.opts.gain = 0.1;
	ck_assert_uint_eq(step((unsigned[]){50, 30, 10, 10}), 1);
}
END_TEST

/* What cannot be split gets a carrier of its own. */
START_TEST(an_elephant_is_left_alone)
{
	begin(2, 6, true);
	ck_assert_uint_gt(step((unsigned[]){70, 5, 15, 5, 15, 0}), 0);
	for (unsigned i = 1; i < 5; i++)
		ck_assert_uint_ne(k.queues[i].carrier, k.queues[0].carrier);
	k.now += 10 * HAUL_S;
	ck_assert_uint_eq(step((unsigned[]){90, 5, 15, 5, 15, 0}), 0);
}
END_TEST

/* Nothing helps carrier 0. */
START_TEST(the_next_busiest_is_relieved)
{
	begin(3, 9, true);
	ck_assert_uint_gt(step((unsigned[]){100, 30, 0, 0, 30, 0, 0, 30, 0}), 0);
	ck_assert_uint_eq(k.queues[0].carrier, 0);
	ck_assert_double_eq_tol(k.b.before, 0.9, 1e-9);
	ck_assert_double_eq_tol(k.b.after, 0.6, 1e-9);
}
END_TEST

START_TEST(a_queue_that_has_moved_stays_for_a_time)
{
	begin(2, 4, true);
	ck_assert_uint_eq(step((unsigned[]){50, 5, 40, 5}), 1);
	k.queues[1].moved_at = k.queues[3].moved_at = k.queues[2].moved_at;
	ck_assert_uint_eq(step((unsigned[]){0, 30, 30, 30}), 0);
	k.now += HAUL_S;
	ck_assert_uint_gt(step((unsigned[]){0, 30, 30, 30}), 0);
}
END_TEST

/* As few carriers as the load needs: at once more, one less after some time. */
START_TEST(carriers_come_and_go)
{
	const unsigned little[] = {10, 10, 10, 10}, much[] = {40, 40, 40, 40};
	unsigned used = 4;

	begin(4, 4, false);
	ck_assert_uint_eq(step(little), 0);
	ck_assert_uint_eq(k.b.in_use, 4);
	for (unsigned i = 0; i < 400; i++) {
		(void)step(little);
		ck_assert_uint_le(k.b.in_use, used);
		ck_assert_uint_ge(k.b.in_use + 1, used);
		used = k.b.in_use;
		if (i < 90)
			ck_assert_uint_eq(used, 4);
	}
	ck_assert_uint_eq(used, 1);
	for (unsigned q = 0; q < 4; q++)
		ck_assert_uint_eq(k.queues[q].carrier, 0);
	ck_assert_uint_gt(step(much), 0);
	ck_assert_uint_eq(k.b.in_use, 2);
	for (unsigned i = 0; i < 30; i++)
		(void)step(much);
	ck_assert_uint_ge(k.b.in_use, 2);
	ck_assert_uint_le(k.b.in_use, 4);
}
END_TEST

START_TEST(a_carrier_more_that_helps_nobody_is_not_used)
{
	begin(2, 1, false);
	for (unsigned i = 0; i < 10; i++)
		ck_assert_uint_eq(step((unsigned[]){100}), 0);
	ck_assert_uint_eq(k.b.in_use, 1);
}
END_TEST

/* Carrier 2 is the idlest, and of another group. */
START_TEST(a_queue_goes_where_it_may)
{
	begin(4, 8, true);
	use_groups(2);
	ck_assert_uint_eq(step((unsigned[]){2, 50, 0, 20, 2, 40, 0, 0}), 1);
	ck_assert_uint_eq(k.moves[0].queue, 5);
	ck_assert_uint_eq(k.moves[0].to, 3);
	use_groups(4);
	k.now += 10 * HAUL_S;
	ck_assert_uint_eq(step((unsigned[]){2, 50, 0, 20, 2, 40, 0, 0}), 0);
}
END_TEST

START_TEST(some_carriers_are_always_in_use)
{
	begin(4, 4, false);
	k.b.opts.least = 2;
	for (unsigned i = 0; i < 1000; i++)
		(void)step((unsigned[]){10, 10, 10, 10});
	ck_assert_uint_eq(k.b.in_use, 2);
	k.b.opts.least = 3;
	(void)step((unsigned[]){10, 10, 10, 10});
	ck_assert_uint_eq(k.b.in_use, 3);
}
END_TEST

static double busiest_now(const unsigned *packets)
{
	double work[CARRIERS_MAX] = {0}, most = 0;

	for (unsigned i = 0; i < k.nb_queues; i++)
		work[k.queues[i].carrier] += packets[i] / 100.0;
	for (unsigned c = 0; c < k.nb_carriers; c++)
		most = work[c] > most ? work[c] : most;
	return most;
}

/* Follows the moves of a step from where queues were before. */
static void follow(unsigned *carriers, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		const struct haul_balance_move *m = &k.moves[i];

		ASSERT_EACH(m->queue < k.nb_queues);
		ASSERT_EACH(carriers[m->queue] == m->from);
		ASSERT_EACH(m->from != m->to);
		ASSERT_EACH(m->to < k.b.in_use);
		if (k.nb_groups)
			ASSERT_EACH(may_go(&k, m->queue, m->to));
		carriers[m->queue] = m->to;
	}
	for (unsigned i = 0; i < k.nb_queues; i++)
		ASSERT_EACH(carriers[i] == k.queues[i].carrier);
}

static unsigned default_max(void)
{
	return k.nb_queues / 8 > k.nb_carriers ? k.nb_queues / 8 : k.nb_carriers;
}

/* One flow takes most of carrier 0; of its other buckets a few are no gain. */
START_TEST(many_small_ones_move_together)
{
	unsigned packets[QUEUES_MAX];

	begin(2, QUEUES_MAX, true);
	for (unsigned i = 0; i < QUEUES_MAX; i++)
		packets[i] = i == 0 ? 70 : 1;
	ck_assert_uint_eq(step(packets), QUEUES_MAX / 8);
	ck_assert_uint_eq(k.queues[0].carrier, 0);
}
END_TEST

START_TEST(loads_at_random)
{
	unsigned packets[QUEUES_MAX], carriers[QUEUES_MAX];
	struct hauli_random random;

	hauli_random_init(&random, (uint64_t)_i + 1);
	begin(1 + hauli_random_below(&random, CARRIERS_MAX),
		1 + hauli_random_below(&random, QUEUES_MAX), hauli_random_below(&random, 2));
	k.b.opts.moves_max = hauli_random_below(&random, 10);
	k.b.opts.least = hauli_random_below(&random, k.nb_carriers + 1);
	k.b.opts.shrink_ns = hauli_random_below(&random, HAUL_S);
	if (hauli_random_below(&random, 2))
		use_groups(1 + hauli_random_below(&random, 4));
	for (unsigned round = 0; round < 100; round++) {
		unsigned was = k.b.in_use,
			 most = k.b.opts.moves_max ? k.b.opts.moves_max : default_max(), n;
		bool leaves = false;
		double before;

		for (unsigned i = 0; i < k.nb_queues; i++) {
			packets[i] = hauli_random_below(&random, 200 / k.nb_queues + 2);
			carriers[i] = k.queues[i].carrier;
		}
		before = busiest_now(packets);
		n = step(packets);
		ASSERT_EACH(n <= most);
		ASSERT_EACH(k.b.in_use >= 1);
		ASSERT_EACH(k.b.in_use >= k.b.opts.least);
		ASSERT_EACH(k.b.in_use <= k.nb_carriers);
		if (was)
			ASSERT_EACH(k.b.in_use <= was + 1);
		for (unsigned i = 0; i < k.nb_queues; i++)
			leaves |= carriers[i] >= k.b.in_use;
		follow(carriers, n);
		if (n > 0 && !leaves && before <= 1) {
			ASSERT_EACH(busiest_now(packets) <= before + 1e-9);
			ASSERT_EACH(k.b.after < k.b.before);
		}
	}
}
END_TEST

SUITE_MAIN("balance", {a_queue_leaves_the_busy_carrier}, {a_small_gain_moves_nothing},
	{an_elephant_is_left_alone}, {the_next_busiest_is_relieved},
	{a_queue_that_has_moved_stays_for_a_time}, {carriers_come_and_go},
	{a_carrier_more_that_helps_nobody_is_not_used}, {a_queue_goes_where_it_may},
	{some_carriers_are_always_in_use}, {many_small_ones_move_together}, {loads_at_random, 200})
