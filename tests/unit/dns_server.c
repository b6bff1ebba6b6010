/* SPDX-License-Identifier: BSD-3-Clause */
/* haul-dns: which server is asked, how long its reply is waited for, when it rests. */
#include "../../apps/haul-dns/server.h"

#include <errno.h>

#include "base/random.h"
#include "support/suite.h"

enum { N = 3 };

START_TEST(unknown_ones_first_then_the_fastest)
{
	struct dns_server s[N] = {0};

	for (unsigned i = 0; i < N; i++) {
		int chosen = dns_server_choose(s, N, 0);

		ck_assert_int_eq(chosen, (int)i);
		dns_server_replied(&s[chosen], (N - i) * 10 * HAUL_MS, HAUL_S);
	}
	ck_assert_int_eq(dns_server_choose(s, N, 0), 2);
	ck_assert_int_eq(dns_server_choose(s, N, 1u << 2), 1);
	ck_assert_int_eq(dns_server_choose(s, N, 1u << 2 | 1u << 1), 0);
	ck_assert_int_eq(dns_server_choose(s, N, 7), -1);
}
END_TEST

START_TEST(slow_ones_are_measured_again)
{
	struct dns_server s[2] = {0};
	unsigned asked[2] = {0};

	for (unsigned i = 0; i < 10000; i++) {
		int chosen = dns_server_choose(s, 2, 0);

		asked[chosen]++;
		dns_server_replied(&s[chosen], chosen ? 100 * HAUL_MS : HAUL_MS, HAUL_S);
	}
	/* Rarely; and when the slow one has become the faster one, it is found. */
	ck_assert_uint_ge(asked[1], 10);
	ck_assert_uint_le(asked[1], 200);
	for (unsigned i = 0; i < 3000; i++) {
		int chosen = dns_server_choose(s, 2, 0);

		asked[chosen]++;
		dns_server_replied(&s[chosen], chosen ? HAUL_MS / 4 : HAUL_MS, HAUL_S);
	}
	ck_assert_int_eq(dns_server_choose(s, 2, 0), 1);
}
END_TEST

START_TEST(how_long)
{
	struct dns_server s = {0};

	ck_assert_uint_eq(dns_server_patience(&s, 0), DNS_RTO_FIRST);
	ck_assert_uint_eq(dns_server_patience(&s, 1), 2 * DNS_RTO_FIRST);
	ck_assert_uint_eq(dns_server_patience(&s, 60), DNS_RTO_MAX);
	for (unsigned i = 0; i < 50; i++)
		dns_server_replied(&s, HAUL_MS, HAUL_S);
	ck_assert_uint_eq(dns_server_patience(&s, 0), DNS_RTO_MIN);
	for (unsigned i = 0; i < 50; i++)
		dns_server_replied(&s, 500 * HAUL_MS, HAUL_S);
	ck_assert_uint_ge(s.round_trip, 495 * HAUL_MS);
	ck_assert_uint_le(s.round_trip, 500 * HAUL_MS);
	ck_assert_uint_ge(dns_server_patience(&s, 0), 500 * HAUL_MS);
	ck_assert_uint_le(dns_server_patience(&s, 0), 900 * HAUL_MS);
	for (unsigned i = 0; i < 50; i++)
		dns_server_replied(&s, 60 * HAUL_S, HAUL_S);
	ck_assert_uint_eq(dns_server_patience(&s, 0), DNS_RTO_MAX);
}
END_TEST

START_TEST(silence_ends_in_a_rest)
{
	struct dns_server s[2] = {0};
	uint64_t now = 100 * HAUL_S;

	dns_server_replied(&s[0], HAUL_MS, now);
	dns_server_replied(&s[1], 50 * HAUL_MS, now);
	/* One reply that is missing is enough for others to be asked. */
	dns_server_was_silent(&s[0], now);
	ck_assert_int_eq(dns_server_choose(s, 2, 0), 1);
	/* It replied a moment ago, so it does not rest yet. */
	for (unsigned i = 0; i < 5; i++)
		dns_server_was_silent(&s[0], now);
	ck_assert_uint_eq(s[0].rest, 0);
	now += DNS_SILENCE;
	dns_server_was_silent(&s[0], now);
	ck_assert_uint_eq(s[0].rest, DNS_REST_MIN);
	ck_assert_int_eq(dns_server_choose(s, 2, 0), 1);
	/* Better one that rests than none. */
	ck_assert_int_eq(dns_server_choose(s, 2, 2), 0);
	/* More of the same time does not make the rest longer. */
	dns_server_was_silent(&s[0], now);
	ck_assert_uint_eq(s[0].rest, DNS_REST_MIN);
	ck_assert_int_eq(dns_server_to_probe(s, 2, now), -1);
	for (uint64_t rest = DNS_REST_MIN; rest < 4 * DNS_REST_MAX; rest *= 2) {
		now += s[0].rest;
		ck_assert_int_eq(dns_server_to_probe(s, 2, now), 0);
		ck_assert_int_eq(dns_server_to_probe(s, 2, now), -1); /* one is enough */
		dns_server_was_silent(&s[0], now);
		s[0].is_probed = false;
		ck_assert_uint_eq(s[0].rest, 2 * rest < DNS_REST_MAX ? 2 * rest : DNS_REST_MAX);
	}
	now += DNS_REST_MAX;
	ck_assert_int_eq(dns_server_to_probe(s, 2, now), 0);
	dns_server_replied(&s[0], HAUL_MS, now);
	s[0].is_probed = false;
	ck_assert_int_eq(dns_server_to_probe(s, 2, now), -1);
	ck_assert_int_eq(dns_server_choose(s, 2, 0), 0);
}
END_TEST

/* Neither silence nor the choice of another server changes how long a question waits at first. */
START_TEST(only_replies_change_the_patience)
{
	struct dns_server s[2] = {0};
	uint64_t now = 100 * HAUL_S, patience;

	for (unsigned i = 0; i < 50; i++)
		dns_server_replied(&s[0], 300 * HAUL_MS + i * HAUL_MS, now);
	dns_server_replied(&s[1], HAUL_MS, now);
	patience = dns_server_patience(&s[0], 0);
	for (unsigned i = 0; i < 100; i++)
		dns_server_was_silent(&s[0], now);
	ck_assert_uint_eq(dns_server_patience(&s[0], 0), patience);
	for (unsigned i = 0; i < 1000; i++)
		dns_server_choose(s, 2, 0);
	ck_assert_uint_eq(dns_server_patience(&s[0], 0), patience);
}
END_TEST

START_TEST(of_those_that_rest_the_one_whose_rest_ends_first)
{
	struct dns_server s[N] = {{.rest = 1, .rests_until = 30}, {.rest = 1, .rests_until = 10},
		{.rest = 1, .rests_until = 20}};

	ck_assert_int_eq(dns_server_choose(s, N, 0), 1);
	ck_assert_int_eq(dns_server_choose(s, N, 2), 2);
	ck_assert_int_eq(dns_server_to_probe(s, N, 9), -1);
	ck_assert_int_eq(dns_server_to_probe(s, N, 10), 1);
	/* A slow one is better than one that was fast. */
	s[0].rank = 1;
	s[2].rest = 0;
	s[2].rank = HAUL_S;
	ck_assert_int_eq(dns_server_choose(s, N, 0), 2);
}
END_TEST

/* Whatever comes: times stay within their limits, and somebody is chosen. */
START_TEST(random_lives)
{
	struct hauli_random random;
	struct dns_server s[N] = {0};
	uint64_t now = HAUL_S;

	hauli_random_init(&random, (uint64_t)_i + 1);
	for (unsigned step = 0; step < 20000; step++) {
		uint64_t tried = hauli_random_below(&random, 8);
		int chosen = dns_server_choose(s, N, tried);

		ck_assert_int_eq(chosen < 0, tried == 7);
		now += hauli_random_below(&random, 3 * HAUL_S);
		if (chosen < 0)
			continue;
		ck_assert(!(tried >> chosen & 1));
		if (hauli_random_below(&random, 3) == 0)
			dns_server_replied(
				&s[chosen], hauli_random_below(&random, 3 * HAUL_S), now);
		else
			dns_server_was_silent(&s[chosen], now);
		ck_assert_uint_le(s[chosen].rest, DNS_REST_MAX);
		for (unsigned n = 0; n < 70; n += 10) {
			uint64_t ns = dns_server_patience(&s[chosen], n);

			ck_assert(ns >= DNS_RTO_MIN && ns <= DNS_RTO_MAX);
		}
	}
}
END_TEST

START_TEST(endpoints)
{
	static const struct {
		const char *text, *shown; /* NULL: wrong */
	} cases[] = {
		{"10.0.0.1", "10.0.0.1:53"},
		{"10.0.0.1:5353", "10.0.0.1:5353"},
		{"fd00::1", "[fd00::1]:53"},
		{"[fd00::1]", "[fd00::1]:53"},
		{"[fd00::1]:65535", "[fd00::1]:65535"},
		{"::1", "[::1]:53"},
		{"", NULL},
		{"10.0.0.1:", NULL},
		{"10.0.0.1:0", NULL},
		{"10.0.0.1:65536", NULL},
		{"10.0.0.1:+53", NULL},
		{"10.0.0.1:0000053", NULL},
		{"10.0.0.1:53 ", NULL},
		{"10.0.0:53", NULL},
		{":53", NULL},
		{"[fd00::1", NULL},
		{"[fd00::1]53", NULL},
		{"[fd00::1]:", NULL},
		{"[]:53", NULL},
		{"[10.0.0.1]:53", "10.0.0.1:53"},
		{"]:53", NULL},
		{"example.org", NULL},
	};
	char text[DNS_ENDPOINT_TEXT];
	struct dns_endpoint e;

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t n = strlen(cases[i].text);
		char *copy = malloc(n > 0 ? n : 1); /* without an end */

		memcpy(copy, cases[i].text, n);
		if (cases[i].shown) {
			ck_assert_int_eq(dns_endpoint_parse(&e, copy, n), 0);
			ck_assert_str_eq(dns_endpoint_text(&e, text), cases[i].shown);
		} else {
			ck_assert_msg(
				dns_endpoint_parse(&e, copy, n) == -EINVAL, "%s", cases[i].text);
		}
		free(copy);
	}
}
END_TEST

SUITE_MAIN("dns_server", {endpoints, 1}, {unknown_ones_first_then_the_fastest, 1},
	{slow_ones_are_measured_again, 1}, {how_long, 1}, {silence_ends_in_a_rest, 1},
	{only_replies_change_the_patience, 1},
	{of_those_that_rest_the_one_whose_rest_ends_first, 1}, {random_lives, 8})
