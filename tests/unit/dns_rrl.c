/* SPDX-License-Identifier: BSD-3-Clause */
/* haul-dns: limits of answers, by hand, and against a table without limits of its own. */
#include "../../apps/haul-dns/rrl.h"

#include <errno.h>
#include <haul/base.h>
#include <pthread.h>

#include "../../apps/haul-dns/address.h"
#include "conc/word.h"
#include "dns_bed.h"

static struct dns_rrl *rrl;

static void create(struct dns_rrl_opts opts)
{
	ck_assert_int_eq(dns_rrl_create(&rrl, &opts, &bed_secret), 0);
}

static enum dns_rrl_verdict check(
	const char *client, enum dns_rrl_kind kind, uint64_t name, uint64_t now)
{
	struct haul_addr address;

	ck_assert_int_eq(dns_address_parse(&address, client, strlen(client)), 0);
	return dns_rrl_check(rrl, &address, kind, name, now);
}

static unsigned sent(
	const char *client, enum dns_rrl_kind kind, uint64_t name, uint64_t now, unsigned n)
{
	unsigned sum = 0;

	while (n-- > 0)
		sum += check(client, kind, name, now) == DNS_RRL_SEND;
	return sum;
}

START_TEST(a_second_s_worth_at_once_and_the_rate_after_it)
{
	create((struct dns_rrl_opts){.rate = 5, .window = 1});
	ck_assert_uint_eq(sent("10.0.0.1", DNS_RRL_ANSWER, 1, HAUL_S, 100), 5);
	/* It owes for a second. */
	ck_assert_uint_eq(sent("10.0.0.1", DNS_RRL_ANSWER, 1, 2 * HAUL_S, 1), 0);
	ck_assert_uint_eq(sent("10.0.0.1", DNS_RRL_ANSWER, 1, 3 * HAUL_S, 1), 1);
	ck_assert_uint_eq(sent("10.0.0.1", DNS_RRL_ANSWER, 1, 100 * HAUL_S, 100), 5);
	dns_rrl_free(rrl);
}
END_TEST

START_TEST(it_owes_for_no_more_than_the_window)
{
	create((struct dns_rrl_opts){.rate = 1, .window = 1});
	ck_assert_uint_eq(sent("10.0.0.1", DNS_RRL_ANSWER, 1, HAUL_S, 1), 1);
	/* Half a second owed, and then a whole one, for two answers that are not sent. */
	ck_assert_uint_eq(sent("10.0.0.1", DNS_RRL_ANSWER, 1, 1500 * HAUL_MS, 2), 0);
	ck_assert_uint_eq(sent("10.0.0.1", DNS_RRL_ANSWER, 1, 3500 * HAUL_MS, 1), 1);
	dns_rrl_free(rrl);
}
END_TEST

/* It pays for what is not sent, too: a flood above the rate gets nothing more. */
START_TEST(a_flood_is_limited_until_it_ends)
{
	unsigned sum = 0;

	create((struct dns_rrl_opts){.rate = 5});
	for (unsigned ms = 1000; ms < 61000; ms += 100)
		sum += sent("10.0.0.1", DNS_RRL_ANSWER, 1, ms * HAUL_MS, 1);
	ck_assert_uint_le(sum, 11);
	/* What it owes is at most that of the window: 15 s. */
	ck_assert_uint_eq(sent("10.0.0.1", DNS_RRL_ANSWER, 1, 75 * HAUL_S, 1), 0);
	ck_assert_uint_eq(sent("10.0.0.1", DNS_RRL_ANSWER, 1, 77 * HAUL_S, 1), 1);
	dns_rrl_free(rrl);
}
END_TEST

/* A query that has waited for a server comes with an older time than those before it. */
START_TEST(older_times)
{
	create((struct dns_rrl_opts){.rate = 5});
	ck_assert_uint_eq(sent("10.0.0.1", DNS_RRL_ANSWER, 1, 100 * HAUL_S, 1000), 5);
	for (unsigned s = 0; s <= 60; s++)
		ck_assert_uint_eq(sent("10.0.0.1", DNS_RRL_ANSWER, 1, (100 - s) * HAUL_S, 10), 0);
	ck_assert_uint_eq(sent("10.0.0.1", DNS_RRL_ANSWER, 1, 114 * HAUL_S, 1), 0);
	dns_rrl_free(rrl);
}
END_TEST

/* And one that was not used for long is full. */
START_TEST(the_longest_times)
{
	create((struct dns_rrl_opts){.rate = 5});
	for (uint64_t days = 0; days < 2000; days += 49)
		ck_assert_uint_eq(
			sent("10.0.0.1", DNS_RRL_ANSWER, 1, HAUL_S + days * 86400 * HAUL_S, 100),
			5);
	dns_rrl_free(rrl);
}
END_TEST

START_TEST(networks_kinds_and_names_are_apart)
{
	create((struct dns_rrl_opts){.rate = 1, .nxdomain_rate = 1, .error_rate = 1});
	ck_assert_uint_eq(sent("10.0.0.1", DNS_RRL_ANSWER, 1, HAUL_S, 2), 1);
	ck_assert_uint_eq(sent("10.0.0.255", DNS_RRL_ANSWER, 1, HAUL_S, 1), 0);
	ck_assert_uint_eq(sent("10.0.1.1", DNS_RRL_ANSWER, 1, HAUL_S, 1), 1);
	ck_assert_uint_eq(sent("a00::1", DNS_RRL_ANSWER, 1, HAUL_S, 1), 1);
	ck_assert_uint_eq(sent("10.0.0.1", DNS_RRL_ANSWER, 2, HAUL_S, 1), 1);
	/* Random names that do not exist are one. */
	ck_assert_uint_eq(sent("10.0.0.1", DNS_RRL_NXDOMAIN, 1, HAUL_S, 1), 1);
	ck_assert_uint_eq(sent("10.0.0.1", DNS_RRL_NXDOMAIN, 2, HAUL_S, 1), 0);
	ck_assert_uint_eq(sent("10.0.0.1", DNS_RRL_ERROR, 1, HAUL_S, 2), 1);
	ck_assert_uint_eq(sent("fd00:0:0:aa::1", DNS_RRL_ANSWER, 1, HAUL_S, 1), 1);
	ck_assert_uint_eq(sent("fd00:0:0:bb::2", DNS_RRL_ANSWER, 1, HAUL_S, 1), 0);
	ck_assert_uint_eq(sent("fd00:0:0:1bb::2", DNS_RRL_ANSWER, 1, HAUL_S, 1), 1);
	dns_rrl_free(rrl);
	create((struct dns_rrl_opts){.rate = 1});
	ck_assert_uint_eq(sent("10.0.0.1", DNS_RRL_ERROR, 0, HAUL_S, 100), 100);
	dns_rrl_free(rrl);
}
END_TEST

/* By chance: 4,000 answers, and seven deviations of their number. */
START_TEST(some_are_truncated_instead)
{
	for (unsigned slip = 0; slip < 5; slip++) {
		unsigned slips = 0;

		create((struct dns_rrl_opts){.rate = 1, .slip = slip});
		check("10.0.0.1", DNS_RRL_ANSWER, 1, HAUL_S);
		for (unsigned i = 0; i < 4000; i++)
			slips += check("10.0.0.1", DNS_RRL_ANSWER, 1, HAUL_S + i * 1000) ==
				DNS_RRL_SLIP;
		if (slip < 2)
			ck_assert_uint_eq(slips, 4000 * slip);
		else
			ck_assert(slips > 4000 / slip - 220 && slips < 4000 / slip + 220);
		dns_rrl_free(rrl);
	}
}
END_TEST

START_TEST(wrong_options)
{
	ck_assert_int_eq(
		dns_rrl_create(&rrl, &(struct dns_rrl_opts){.rate = 100001}, &bed_secret), -EINVAL);
	ck_assert_int_eq(
		dns_rrl_create(&rrl, &(struct dns_rrl_opts){.prefix_4 = 33}, &bed_secret), -EINVAL);
	ck_assert_int_eq(
		dns_rrl_create(&rrl, &(struct dns_rrl_opts){.window = 3601}, &bed_secret), -EINVAL);
	ck_assert_int_eq(
		dns_rrl_create(&rrl, &(struct dns_rrl_opts){.slip = 256}, &bed_secret), -EINVAL);
	dns_rrl_free(NULL);
}
END_TEST

/* Other networks, in a table much too small, do not free one that is limited: theirs have more. */
START_TEST(a_flood_from_anywhere_frees_nobody)
{
	struct hauli_random r;
	unsigned sum = 0;

	hauli_random_init(&r, stress_seed());
	create((struct dns_rrl_opts){.rate = 2, .entries = 64});
	for (unsigned ms = 1000; ms < 11000; ms++) {
		for (int i = 0; i < 20; i++) {
			struct haul_addr other = {6, {0x20, 1}};

			dns_put32(other.bytes + 2, (uint32_t)hauli_random_next(&r));
			dns_rrl_check(rrl, &other, DNS_RRL_ANSWER, 1, ms * HAUL_MS);
		}
		sum += sent("10.0.0.1", DNS_RRL_ANSWER, 1, ms * HAUL_MS, 1);
	}
	ck_assert_uint_le(sum, 4);
	dns_rrl_free(rrl);
}
END_TEST

/* A few networks with random gaps, against the definition in fractions. */
START_TEST(random_queries)
{
	uint64_t deadline = stress_deadline();
	struct hauli_random r;

	hauli_random_init(&r, stress_seed());
	do {
		const unsigned rate = 1 + hauli_random_below(&r, 20),
			       window = 1 + hauli_random_below(&r, 20);
		double balance[4], seen[4] = {1, 1, 1, 1};
		uint64_t ms = 1000;

		for (int i = 0; i < 4; i++)
			balance[i] = rate;
		create((struct dns_rrl_opts){.rate = rate, .window = window});
		for (int i = 0; i < 300; i++) {
			unsigned c = hauli_random_below(&r, 4);
			char client[32];
			bool sends, sent;

			ms += hauli_random_below(&r, hauli_random_below(&r, 10) ? 100 : 20000);
			sprintf(client, "10.0.%u.%u", c, hauli_random_below(&r, 256));
			balance[c] += ((double)ms / 1000 - seen[c]) * rate;
			seen[c] = (double)ms / 1000;
			balance[c] = (balance[c] > rate ? rate : balance[c]) - 1;
			sends = balance[c] > -1e-6;
			/* Prices are whole numbers of 250 ns, debts of milliseconds. */
			sent = check(client, DNS_RRL_ANSWER, 7, ms * HAUL_MS) == DNS_RRL_SEND;
			ASSERT_EACH(sent == sends || (balance[c] > -0.04 && balance[c] < 0.04));
			if (balance[c] < -(double)rate * window)
				balance[c] = -(double)rate * window;
		}
		dns_rrl_free(rrl);
	} while (haul_now() < deadline);
}
END_TEST

enum { THREADS = 4, CHECKS = 500, RATE = 800 };

static struct {
	pthread_barrier_t begins, ends;
	struct hauli_u64_shared now, sent; /* 0: the threads end */
	uint64_t seed;
} many;

static void *check_many(void *arg)
{
	struct hauli_random r;
	uint64_t now;

	hauli_random_init(&r, many.seed + (uintptr_t)arg);
	while (pthread_barrier_wait(&many.begins), now = hauli_u64_shared_get(&many.now)) {
		unsigned sum = 0;

		for (int i = 0; i < CHECKS; i++) {
			struct haul_addr other = {4, {10, 1, (uint8_t)hauli_random_next(&r)}};

			sum += check("10.0.0.1", DNS_RRL_ANSWER, 1, now) == DNS_RRL_SEND;
			dns_rrl_check(rrl, &other, DNS_RRL_ANSWER, 1, now);
		}
		hauli_u64_shared_add(&many.sent, sum);
		pthread_barrier_wait(&many.ends);
	}
	return NULL;
}

/* A second's worth for all threads together, to an answer, each hour. */
START_TEST(threads_share_the_rate)
{
	uint64_t deadline = stress_deadline(), now = 3600 * HAUL_S;
	pthread_t threads[THREADS];

	many.seed = stress_seed();
	pthread_barrier_init(&many.begins, NULL, THREADS + 1);
	pthread_barrier_init(&many.ends, NULL, THREADS + 1);
	create((struct dns_rrl_opts){.rate = RATE});
	for (uintptr_t i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, check_many, (void *)i), 0);
	do {
		now += 3600 * HAUL_S;
		/* So that it is there, once. */
		hauli_u64_shared_set(&many.sent, sent("10.0.0.1", DNS_RRL_ANSWER, 1, now, 1));
		hauli_u64_shared_set(&many.now, now);
		pthread_barrier_wait(&many.begins);
		pthread_barrier_wait(&many.ends);
		ASSERT_EACH(hauli_u64_shared_get(&many.sent) == RATE);
	} while (haul_now() < deadline);
	hauli_u64_shared_set(&many.now, 0);
	pthread_barrier_wait(&many.begins);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	dns_rrl_free(rrl);
}
END_TEST

SUITE_MAIN("dns_rrl", {a_second_s_worth_at_once_and_the_rate_after_it},
	{it_owes_for_no_more_than_the_window}, {a_flood_is_limited_until_it_ends}, {older_times},
	{the_longest_times}, {networks_kinds_and_names_are_apart}, {some_are_truncated_instead},
	{wrong_options}, {a_flood_from_anywhere_frees_nobody}, {random_queries},
	{threads_share_the_rate})
