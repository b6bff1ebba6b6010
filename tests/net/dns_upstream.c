/* SPDX-License-Identifier: BSD-3-Clause */
/* haul-dns asks servers: which one, how often, how long; what they cannot do; in virtual time. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../apps/haul-dns/server.h"
#include "base/random.h"
#include "dns_net.h"

static struct dns_net_server *const at = dns_net_servers;

/* The last byte of the address that comes back, 1000 more by TCP; or an error. */
static int ask_until(struct dns_upstreams *u, const char *name, uint64_t deadline)
{
	struct dns_key key = dns_net_key(name);
	struct dns_question q = {.upstreams = u, .key = &key};
	struct dns_answer *a = NULL;
	int rc = dns_upstreams_ask(&q, &a, deadline);

	if (rc == 0) {
		const uint8_t *address = a->bytes + a->size - 4;

		rc = address[3] + (address[0] == 198 ? 1000 : 0);
		if (a->nb_answers != 1)
			rc = -EPROTO;
		dns_answer_release(a);
	}
	return rc;
}

static int ask(struct dns_upstreams *u)
{
	return ask_until(u, "www.example.org", haul_in(4 * HAUL_S));
}

static struct dns_upstream_stats stats_of(struct dns_upstreams *u, unsigned i)
{
	struct dns_upstream_stats st = {0};

	if (!dns_upstreams_get_stats(u, i, &st))
		dns_net_wrong = "there is no such server";
	return st;
}

static void fastest(void)
{
	struct dns_upstreams *u = dns_net_upstreams(3, 0, NULL);
	struct dns_upstream_stats st;

	at[0].delay = 30 * HAUL_MS;
	at[1].delay = 10 * HAUL_MS;
	at[2].delay = 20 * HAUL_MS;
	for (int i = 0; i < 3; i++)
		FAIL_UNLESS(ask(u) == i);
	for (int i = 0; i < 20; i++)
		FAIL_UNLESS(ask(u) == 1);
	st = stats_of(u, 1);
	FAIL_UNLESS(st.asked == 21 && st.answered == 21 && st.timeouts == 0 && !st.rests);
	FAIL_UNLESS(st.round_trip_ns > 9 * HAUL_MS && st.round_trip_ns < 11 * HAUL_MS);
	FAIL_UNLESS(at[1].with_edns == 21);
	FAIL_UNLESS(!dns_upstreams_get_stats(u, 3, &st));
	dns_upstreams_release(u);
}

static void lost_packets(void)
{
	struct dns_upstreams *u = dns_net_upstreams(1, 0, NULL);
	uint64_t began = haul_now();

	at[0].lost = 2;
	FAIL_UNLESS(ask(u) == 0);
	FAIL_UNLESS(haul_now() - began >= 3 * DNS_RTO_FIRST);
	FAIL_UNLESS(haul_now() - began < 3 * DNS_RTO_FIRST + 10 * HAUL_MS);
	FAIL_UNLESS(at[0].asked == 3 && stats_of(u, 0).timeouts == 2 && !stats_of(u, 0).rests);
	dns_upstreams_release(u);
}

static void a_dead_one(void)
{
	struct dns_upstreams *u = dns_net_upstreams(2, 0, NULL);
	unsigned asked;
	uint64_t began;

	at[0].does = DOES_NOTHING;
	at[1].delay = 5 * HAUL_MS;
	began = haul_now();
	FAIL_UNLESS(ask(u) == 1);
	FAIL_UNLESS(haul_now() - began >= DNS_RTO_FIRST);
	/* It has not been asked often enough to rest, but others are faster now. */
	for (unsigned i = 0; i < 20; i++) {
		began = haul_now();
		FAIL_UNLESS(ask(u) == 1 && haul_now() - began < 10 * HAUL_MS);
	}
	/* For a day, it costs no client more than it has cost the first ones. */
	asked = at[0].asked;
	for (unsigned i = 0; i < 5000; i++) {
		FAIL_UNLESS(ask(u) == 1);
		FAIL_UNLESS(haul_sleep(HAUL_S) == 0);
	}
	FAIL_UNLESS(stats_of(u, 0).rests);
	FAIL_UNLESS(at[0].asked > asked && at[0].asked < asked + 5000 / 64 + 20);
	/* It is back: found by a probe, for which no client waits. */
	at[0].does = DOES_ANSWER;
	at[0].delay = HAUL_MS;
	for (unsigned i = 0; i < 70; i++) {
		began = haul_now();
		FAIL_UNLESS(ask(u) >= 0 && haul_now() - began < 10 * HAUL_MS);
		FAIL_UNLESS(haul_sleep(HAUL_S) == 0);
	}
	FAIL_UNLESS(!stats_of(u, 0).rests);
	for (unsigned i = 0; i < 500 && ask(u) != 0; i++)
		;
	FAIL_UNLESS(ask(u) == 0);
	dns_upstreams_release(u);
}

static void all_dead(void)
{
	struct dns_upstreams *u = dns_net_upstreams(3, 0, NULL);
	uint64_t began, asked = 0;

	for (unsigned i = 0; i < 3; i++)
		at[i].does = DOES_NOTHING;
	for (unsigned i = 0; i < 20; i++) {
		began = haul_now();
		FAIL_UNLESS(ask(u) == -ETIMEDOUT);
		FAIL_UNLESS(haul_now() - began == 4 * HAUL_S);
	}
	for (unsigned i = 0; i < 3; i++)
		asked += at[i].asked;
	FAIL_UNLESS(asked <= 20 * 12 && stats_of(u, 0).rests);
	/* A server that replies after all is found by the question itself. */
	at[2].does = DOES_ANSWER;
	FAIL_UNLESS(ask(u) == 2);
	dns_upstreams_release(u);
}

static void failures(void)
{
	struct dns_upstreams *u = dns_net_upstreams(3, 0, NULL);
	uint64_t began = haul_now();

	at[0].does = DOES_FAIL;
	at[1].does = DOES_CONTRADICT;
	FAIL_UNLESS(ask(u) == 2);
	FAIL_UNLESS(haul_now() - began < HAUL_MS);
	FAIL_UNLESS(stats_of(u, 0).failed == 1 && stats_of(u, 1).failed == 1);
	FAIL_UNLESS(stats_of(u, 0).answered == 0 && stats_of(u, 1).answered == 0);
	at[2].does = DOES_FAIL;
	FAIL_UNLESS(ask(u) == -EIO);
	FAIL_UNLESS(haul_now() - began < HAUL_MS);
	dns_upstreams_release(u);
}

static void old_ones(void)
{
	struct dns_upstreams *u = dns_net_upstreams(1, 0, NULL);

	for (unsigned i = 0; i < 2; i++) {
		at[0].does = i ? DOES_REFUSE_EDNS_BARELY : DOES_REFUSE_EDNS;
		at[0].asked = at[0].with_edns = 0;
		FAIL_UNLESS(ask(u) == 0 && at[0].asked == 2 && at[0].with_edns == 1);
		FAIL_UNLESS(ask(u) == 0 && at[0].asked == 3 && at[0].with_edns == 1);
		/* It may have learned. */
		FAIL_UNLESS(haul_sleep(DNS_FORGIVEN) == 0);
	}
	at[0].does = DOES_ANSWER;
	FAIL_UNLESS(ask(u) == 0 && at[0].with_edns == 2);
	dns_upstreams_release(u);
}

static void tcp(void)
{
	struct dns_upstreams *u = dns_net_upstreams(1, 0, NULL);

	at[0].does = DOES_TRUNCATE;
	FAIL_UNLESS(ask(u) == 1000 && at[0].asked == 1 && at[0].asked_tcp == 1);
	/* A server that loses the case of letters is asked by TCP, and later on as it likes. */
	at[0].does = DOES_FOLD;
	at[0].asked_tcp = 0;
	for (unsigned i = 0; i < 4; i++)
		FAIL_UNLESS(ask(u) == 1000);
	for (unsigned i = 0; i < 10; i++)
		FAIL_UNLESS(ask(u) == 0);
	FAIL_UNLESS(at[0].asked_tcp == 4 && stats_of(u, 0).asked_tcp == 5);
	dns_upstreams_release(u);
}

static void cookies(void)
{
	struct dns_upstreams *u = dns_net_upstreams(1, 0, NULL);

	at[0].does = DOES_WANT_COOKIES;
	FAIL_UNLESS(ask(u) == 0 && at[0].asked == 2);
	FAIL_UNLESS(ask(u) == 0 && at[0].asked == 3);
	/* A server that sent cookies is not believed without: TCP tells whether it still does. */
	at[0].does = DOES_ANSWER;
	at[0].does_tcp = DOES_WANT_COOKIES;
	FAIL_UNLESS(ask(u) == 1000 && ask(u) == 1000 && ask(u) == 1000);
	at[0].does = DOES_WANT_COOKIES;
	FAIL_UNLESS(ask(u) == 0 && at[0].asked == 7 && at[0].asked_tcp == 3);
	/* It is another one now. */
	at[0].does = at[0].does_tcp = DOES_ANSWER;
	FAIL_UNLESS(ask(u) == 1000 && at[0].asked_tcp == 4);
	FAIL_UNLESS(ask(u) == 0 && at[0].asked == 9 && at[0].asked_tcp == 4);
	at[0].does = DOES_WANT_COOKIES;
	FAIL_UNLESS(ask(u) == 0 && at[0].asked == 11 && at[0].asked_tcp == 4);
	/* Nobody can tell: not for ever. */
	at[0].does = DOES_ANSWER;
	at[0].tcp_error = -ECONNREFUSED;
	for (unsigned i = 0; i < 4; i++)
		FAIL_UNLESS(ask(u) == -EIO);
	FAIL_UNLESS(ask(u) == 0 && at[0].asked_tcp == 8);
	dns_upstreams_release(u);
}

/* A server that knew cookies has become one that does not know EDNS. */
static void older_ones(void)
{
	struct dns_upstreams *u = dns_net_upstreams(1, 0, NULL);

	for (unsigned i = 0; i < 2; i++) {
		at[0].does = DOES_WANT_COOKIES;
		FAIL_UNLESS(ask(u) == 0);
		at[0].asked = at[0].asked_tcp = 0;
		at[0].does = at[0].does_tcp = i ? DOES_REFUSE_EDNS_BARELY : DOES_REFUSE_EDNS;
		FAIL_UNLESS(ask(u) == 0 && at[0].asked == 2 && at[0].asked_tcp == 1);
		FAIL_UNLESS(ask(u) == 0 && at[0].asked == 3 && at[0].asked_tcp == 1);
		FAIL_UNLESS(haul_sleep(DNS_FORGIVEN) == 0); /* virtual */
	}
	dns_upstreams_release(u);
}

/* What we lack says nothing about the server; nor does a deadline that ends the question early. */
static void own_failures(void)
{
	struct dns_upstreams *u = dns_net_upstreams(1, 0, NULL);
	const int errors[] = {-EMFILE, -ENFILE, -ENOMEM, -ENOBUFS, -EADDRNOTAVAIL};

	at[0].does = DOES_TRUNCATE;
	for (unsigned i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		at[0].tcp_error = errors[i];
		FAIL_UNLESS(ask(u) == errors[i]);
	}
	at[0].tcp_error = -ETIMEDOUT;
	FAIL_UNLESS(ask_until(u, "www.example.org", haul_in(HAUL_S)) == -ETIMEDOUT);
	FAIL_UNLESS(stats_of(u, 0).failed == 0);
	FAIL_UNLESS(ask(u) == -EIO && stats_of(u, 0).failed == 1);
	dns_upstreams_release(u);
}

static void forgeries(void)
{
	struct dns_upstreams *u = dns_net_upstreams(1, 0, NULL);

	at[0].does = DOES_FORGE;
	for (unsigned i = 0; i < 10; i++) {
		int found = ask(u);

		/* A changed case of a letter is as good as a guessed port and id: TCP tells. */
		FAIL_UNLESS(found == 0 || found == 1000);
	}
	FAIL_UNLESS(stats_of(u, 0).answered == 10);
	dns_upstreams_release(u);
}

static void reloads(void)
{
	struct dns_upstreams *u = dns_net_upstreams(2, 0, NULL), *next;
	const struct dns_secret other = {{3, 4}};
	const struct dns_upstream_opts opts = {.host = dns_net_host, .secret = &other};
	struct dns_endpoint servers[2] = {stats_of(u, 1).addr};

	at[0].delay = 3 * HAUL_MS;
	at[1].delay = HAUL_MS;
	FAIL_UNLESS(ask(u) == 0 && ask(u) == 1);
	dns_endpoint_parse(&servers[1], "10.0.0.12", 9);
	next = dns_upstreams_create(servers, 2, &opts, u);
	FAIL_UNLESS(stats_of(next, 0).round_trip_ns == stats_of(u, 1).round_trip_ns);
	FAIL_UNLESS(stats_of(next, 1).round_trip_ns == 0);
	dns_upstreams_hold(u);
	dns_upstreams_release(u);
	FAIL_UNLESS(ask(u) == 1); /* by who holds the old list */
	dns_upstreams_release(u);
	dns_upstreams_release(next);
}

static void *stop_later(void *arg)
{
	haul_sleep(100 * HAUL_MS); /* virtual */
	haul_host_stop(dns_net_host);
	return arg;
}

static void stops(void)
{
	struct dns_upstreams *u = dns_net_upstreams(1, 0, NULL);
	struct haul_coro *co;
	uint64_t began = haul_now();

	at[0].does = DOES_NOTHING;
	FAIL_UNLESS(haul_spawn(&co, stop_later, NULL, NULL) == 0);
	FAIL_UNLESS(ask(u) == -ECANCELED);
	FAIL_UNLESS(haul_now() - began == 100 * HAUL_MS && stats_of(u, 0).timeouts == 0);
	haul_join(co, NULL, HAUL_FOREVER);
	dns_upstreams_release(u);
}

/* Servers that do anything, for a while each: every question ends in time, and who answers is
 * found as soon as there is one. */
static uint64_t seed;

static void anything(void)
{
	struct dns_upstreams *u = dns_net_upstreams(4, 0, NULL);
	struct hauli_random random;

	hauli_random_init(&random, seed);
	for (unsigned i = 0; i < 300; i++) {
		struct dns_net_server *s = &at[hauli_random_below(&random, 4)];
		uint64_t began;
		int found;

		s->does = hauli_random_below(&random, DOES_CONTRADICT + 1);
		s->does_tcp = s->does == DOES_FAIL ? DOES_FAIL : DOES_ANSWER;
		s->delay = hauli_random_below(&random, 400) * HAUL_MS / 10;
		s->lost = hauli_random_below(&random, 3);
		began = haul_now();
		found = ask(u);
		FAIL_UNLESS(haul_now() - began <= 4 * HAUL_S);
		FAIL_UNLESS(found >= 0 || found == -EIO || found == -ETIMEDOUT);
		if (found >= 0)
			FAIL_UNLESS(found % 1000 < 4 && at[found % 1000].does != DOES_FAIL);
		/* virtual */
		FAIL_UNLESS(haul_sleep(hauli_random_below(&random, 3000) * HAUL_MS) == 0);
	}
	dns_upstreams_release(u);
}

#define TEST(name)                       \
	START_TEST(test_##name)          \
	{                                \
		seed = (uint64_t)_i + 1; \
		dns_net_run(name);       \
	}                                \
	END_TEST

TEST(fastest)
TEST(lost_packets)
TEST(a_dead_one)
TEST(all_dead)
TEST(failures)
TEST(old_ones)
TEST(tcp)
TEST(cookies)
TEST(older_ones)
TEST(own_failures)
TEST(forgeries)
TEST(reloads)
TEST(stops)
TEST(anything)

SUITE_MAIN("dns_upstream", {test_fastest, 1}, {test_lost_packets, 1}, {test_a_dead_one, 1},
	{test_all_dead, 1}, {test_failures, 1}, {test_old_ones, 1}, {test_tcp, 1},
	{test_cookies, 1}, {test_older_ones, 1}, {test_own_failures, 1}, {test_forgeries, 1},
	{test_reloads, 1}, {test_stops, 1}, {test_anything, 8})
