/* SPDX-License-Identifier: BSD-3-Clause */
/* haul-dns: from a query to its answer, in virtual time, with servers that do as they are told. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../apps/haul-dns/about.h"
#include "../../apps/haul-dns/stats.h"
#include "base/random.h"
#include "dns_client.h"

static struct dns_net_server *const at = dns_net_servers;
static struct dns_service *const service = &dns_client_service;

static void begin(unsigned servers)
{
	dns_client_begin(servers, "10.0.0.0/8");
}

static void ask_type(struct dns_client_visit *c, const char *name, unsigned type)
{
	dns_client_init(c, name, type, 0);
	dns_client_serve(c);
}

static void ask(struct dns_client_visit *c, const char *name)
{
	ask_type(c, name, DNS_A);
}

static unsigned code(const struct dns_client_visit *c)
{
	return c->served == DNS_SERVED ? c->msg[3] & DNS_RCODE : 100;
}

static unsigned answers(const struct dns_client_visit *c)
{
	return dns_get16(c->msg + 6);
}

/* Of the first record, which is behind the question. */
static uint32_t ttl(const struct dns_client_visit *c)
{
	return dns_get32(c->msg + DNS_HEADER + c->v.query.question + 6);
}

/* The reason that the OPT at the end has; -1: none. */
static int reason(const struct dns_client_visit *c)
{
	const uint8_t *end = c->msg + c->v.reply.n;

	return dns_get16(end - 6) == DNS_OPTION_EDE ? dns_get16(end - 2) : -1;
}

static bool pass(uint64_t ns)
{
	return haul_sleep(ns) == 0;
}

static void hits(void)
{
	struct dns_client_visit c;

	begin(1);
	ask(&c, "www.example.org");
	FAIL_UNLESS(code(&c) == DNS_NOERROR && answers(&c) == 1 && ttl(&c) == 300);
	FAIL_UNLESS(pass(10 * HAUL_S));
	ask(&c, "WWW.Example.ORG");
	FAIL_UNLESS(code(&c) == DNS_NOERROR && answers(&c) == 1 && ttl(&c) == 290);
	FAIL_UNLESS(memcmp(c.msg + DNS_HEADER + 1, "WWW", 3) == 0 && c.began == c.ended);
	FAIL_UNLESS(at[0].asked == 1);
	FAIL_UNLESS(dns_net_counts[DNS_COUNT_MISSES] == 1 && dns_net_counts[DNS_COUNT_HITS] == 1);
	FAIL_UNLESS(dns_net_counts[DNS_COUNT_NOERROR] == 2);
	/* AD and AA are never set, and RA is. */
	FAIL_UNLESS((dns_get16(c.msg + 2) & (DNS_AD | DNS_AA | DNS_RA)) == DNS_RA);
	dns_client_end();
}

static void *serve_one(void *arg)
{
	dns_client_serve(arg);
	return NULL;
}

enum { MANY = 100 };

static void equal_ones(void)
{
	static struct dns_client_visit clients[MANY];
	struct haul_coro *cos[MANY];

	begin(1);
	at[0].delay = 50 * HAUL_MS;
	for (unsigned i = 0; i < MANY; i++) {
		dns_client_init(&clients[i], "www.example.org", DNS_A, 0);
		FAIL_UNLESS(haul_spawn(&cos[i], serve_one, &clients[i], NULL) == 0);
	}
	for (unsigned i = 0; i < MANY; i++)
		haul_join(cos[i], NULL, HAUL_FOREVER);
	for (unsigned i = 0; i < MANY; i++)
		FAIL_UNLESS(code(&clients[i]) == DNS_NOERROR && answers(&clients[i]) == 1);
	FAIL_UNLESS(at[0].asked == 1 && dns_net_counts[DNS_COUNT_JOINED] == MANY - 1);
	dns_client_end();
}

static void nobody_answers(void)
{
	struct dns_client_visit c;

	begin(2);
	at[0].does = at[1].does = DOES_NOTHING;
	ask(&c, "www.example.org");
	FAIL_UNLESS(code(&c) == DNS_SERVFAIL && c.ended - c.began == 4 * HAUL_S);
	FAIL_UNLESS(reason(&c) == DNS_EDE_NO_REACHABLE);
	/* That is remembered, for a while. */
	at[0].does = DOES_ANSWER;
	ask(&c, "www.example.org");
	FAIL_UNLESS(code(&c) == DNS_SERVFAIL && c.ended == c.began);
	FAIL_UNLESS(reason(&c) == DNS_EDE_CACHED_ERROR);
	FAIL_UNLESS(pass(6 * HAUL_S));
	ask(&c, "www.example.org");
	FAIL_UNLESS(code(&c) == DNS_NOERROR);
	dns_client_end();
}

/* What is not the servers' fault is not told to later clients. */
static void own_failures(void)
{
	struct dns_client_visit c;

	begin(1);
	at[0].does = DOES_TRUNCATE;
	at[0].tcp_error = -EMFILE;
	ask(&c, "www.example.org");
	FAIL_UNLESS(code(&c) == DNS_SERVFAIL && reason(&c) == DNS_EDE_OTHER);
	at[0].tcp_error = 0;
	ask(&c, "www.example.org");
	FAIL_UNLESS(code(&c) == DNS_NOERROR && at[0].asked == 2);
	dns_client_end();
}

static void expired_ones(void)
{
	struct dns_client_visit c, d;
	struct haul_coro *co;

	begin(1);
	at[0].ttl = 2;
	ask(&c, "www.example.org");
	FAIL_UNLESS(code(&c) == DNS_NOERROR && ttl(&c) == 2);
	FAIL_UNLESS(pass(3 * HAUL_S));
	at[0].does = DOES_NOTHING;
	/* The client that has waited gets the expired one, and so does the one beside it. */
	dns_client_init(&d, "www.example.org", DNS_A, 0);
	FAIL_UNLESS(haul_spawn(&co, serve_one, &d, NULL) == 0);
	ask(&c, "www.example.org");
	haul_join(co, NULL, HAUL_FOREVER);
	FAIL_UNLESS(code(&c) == DNS_NOERROR && ttl(&c) == DNS_STALE_TTL);
	FAIL_UNLESS(c.ended - c.began == 1800 * HAUL_MS && reason(&c) == DNS_EDE_STALE);
	FAIL_UNLESS(code(&d) == DNS_NOERROR && d.ended - d.began == 1800 * HAUL_MS);
	FAIL_UNLESS(reason(&d) == DNS_EDE_STALE);
	/* Then nobody waits, for a while. */
	ask(&c, "www.example.org");
	FAIL_UNLESS(code(&c) == DNS_NOERROR && c.ended == c.began);
	at[0].does = DOES_ANSWER;
	FAIL_UNLESS(pass(31 * HAUL_S));
	ask(&c, "www.example.org");
	FAIL_UNLESS(code(&c) == DNS_NOERROR && ttl(&c) == 2);
	dns_client_end();
}

static void asked_in_advance(void)
{
	struct dns_client_visit c;

	begin(1);
	at[0].ttl = 100;
	at[0].delay = 20 * HAUL_MS;
	ask(&c, "www.example.org");
	FAIL_UNLESS(pass(95 * HAUL_S));
	ask(&c, "www.example.org");
	FAIL_UNLESS(code(&c) == DNS_NOERROR && c.ended == c.began && ttl(&c) == 5);
	FAIL_UNLESS(at[0].asked == 2 && dns_net_counts[DNS_COUNT_REFRESHED] == 1);
	ask(&c, "www.example.org");
	FAIL_UNLESS(code(&c) == DNS_NOERROR && ttl(&c) == 100);
	/* For who cannot wait: in a coroutine of its own. */
	FAIL_UNLESS(pass(95 * HAUL_S));
	dns_client_init(&c, "www.example.org", DNS_A, 0);
	FAIL_UNLESS(dns_serve(service, &c.v) == DNS_SERVED && c.v.flight);
	dns_serve_rest_later(service, &c.v);
	memset(&c, 0, sizeof(c));
	FAIL_UNLESS(pass(2 * HAUL_S));
	ask(&c, "www.example.org");
	FAIL_UNLESS(at[0].asked == 3 && ttl(&c) == 100 - 1);
	dns_client_end();
}

static void special_ones(void)
{
	struct dns_client_visit c;

	begin(1);
	ask(&c, "local.example");
	FAIL_UNLESS(code(&c) == DNS_NOERROR && answers(&c) == 1 && ttl(&c) == DNS_HOSTS_TTL);
	ask_type(&c, "local.example", DNS_MX);
	FAIL_UNLESS(code(&c) == DNS_NOERROR && answers(&c) == 0);
	ask_type(&c, "www.example.org", DNS_ANY);
	FAIL_UNLESS(code(&c) == DNS_NOERROR && answers(&c) == 1 && c.v.reply.n < 100);
	ask_type(&c, "www.example.org", DNS_AXFR);
	FAIL_UNLESS(code(&c) == DNS_NOTIMP);
	dns_client_init(&c, "www.example.org", DNS_A, 0);
	c.msg[2] = 0; /* no RD */
	dns_client_serve(&c);
	FAIL_UNLESS(code(&c) == DNS_REFUSED);
	dns_client_init(&c, "www.example.org", DNS_A, -1);
	c.msg[c.v.n - 1] = DNS_CH;
	dns_client_serve(&c);
	FAIL_UNLESS(code(&c) == DNS_REFUSED);
	dns_client_init(&c, "www.example.org", DNS_A, 0);
	c.msg[2] |= 0x28; /* UPDATE */
	dns_client_serve(&c);
	FAIL_UNLESS(code(&c) == DNS_NOTIMP);
	dns_client_init(&c, "www.example.org", DNS_A, 0);
	c.msg[2] |= 0x80; /* an answer */
	dns_client_serve(&c);
	FAIL_UNLESS(c.served == DNS_NO_QUERY);
	dns_client_init(&c, "www.example.org", DNS_A, 0);
	haul_addr_parse(&c.v.client, "11.1.1.1");
	dns_client_serve(&c);
	FAIL_UNLESS(code(&c) == DNS_REFUSED && reason(&c) == DNS_EDE_PROHIBITED);
	FAIL_UNLESS(at[0].asked == 0);
	dns_client_end();
}

static bool tells(struct dns_client_visit *c, const char *name, unsigned type, unsigned want,
	const char *text)
{
	size_t n = text ? strlen(text) : 0;
	uint8_t *record;

	dns_client_init(c, name, type, -1);
	c->msg[2] = 0; /* no RD, as of dig +norec */
	c->msg[c->v.n - 1] = DNS_CH;
	record = c->msg + c->v.n;
	dns_client_serve(c);
	return c->served == DNS_SERVED && code(c) == want && answers(c) == (text != NULL) &&
		(!text ||
			(record[12] == n && memcmp(record + 13, text, n) == 0 &&
				c->msg + c->v.reply.n == record + 13 + n));
}

/* What the server says of itself. */
static void about(void)
{
	char most[DNS_TEXT_MAX + 1] = "";
	struct dns_client_visit c;

	begin(1);
	service->id = NULL;
	FAIL_UNLESS(tells(&c, "id.server", DNS_TXT, DNS_REFUSED, NULL));
	service->id = "node1";
	FAIL_UNLESS(tells(&c, "ID.Server", DNS_TXT, DNS_NOERROR, "node1"));
	FAIL_UNLESS(tells(&c, "id.server", DNS_A, DNS_REFUSED, NULL));
	FAIL_UNLESS(tells(&c, "id.servers", DNS_TXT, DNS_REFUSED, NULL));
	FAIL_UNLESS(tells(&c, "health.server", DNS_TXT, DNS_NOERROR, "serving"));
	dns_net_state = "draining";
	FAIL_UNLESS(tells(&c, "health.server", DNS_TXT, DNS_SERVFAIL, "draining"));
	FAIL_UNLESS(tells(&c, "id.server", DNS_TXT, DNS_NOERROR, "node1"));
	dns_net_state = "serving";
	service->id = memset(most, 'x', DNS_TEXT_MAX);
	FAIL_UNLESS(tells(&c, "id.server", DNS_TXT, DNS_NOERROR, most));
	service->id = NULL;
	FAIL_UNLESS(dns_about_is_id(most) && dns_about_is_id("Node_1.a-b"));
	FAIL_UNLESS(!dns_about_is_id("") && !dns_about_is_id("a b") && !dns_about_is_id("\xe9"));
	FAIL_UNLESS(at[0].asked == 0);
	dns_client_end();
}

static void full(void)
{
	struct dns_client_visit c, d;
	struct haul_coro *co;

	begin(1);
	ask(&c, "known.example.org");
	service->waiting_max = 2; /* and 1 of a network */
	at[0].delay = HAUL_S;
	at[0].lost = 0;
	dns_client_init(&c, "slow.example.org", DNS_A, 0);
	FAIL_UNLESS(haul_spawn(&co, serve_one, &c, NULL) == 0);
	FAIL_UNLESS(pass(HAUL_MS));
	ask(&d, "other.example.org");
	FAIL_UNLESS(code(&d) == DNS_SERVFAIL && d.ended == d.began);
	dns_client_init(&d, "other.example.org", DNS_A, 0);
	haul_addr_parse(&d.v.client, "10.7.1.1");
	dns_client_serve(&d);
	FAIL_UNLESS(code(&d) == DNS_NOERROR && d.ended > d.began);
	ask(&d, "known.example.org");
	FAIL_UNLESS(code(&d) == DNS_NOERROR && d.ended == d.began);
	FAIL_UNLESS(dns_net_counts[DNS_COUNT_BUSY] == 1);
	haul_join(co, NULL, HAUL_FOREVER);
	FAIL_UNLESS(code(&c) == DNS_NOERROR);
	/* Nor is anything asked for in advance; and what is, counts. */
	at[0].delay = 0;
	service->waiting_max = 0;
	FAIL_UNLESS(pass(290 * HAUL_S));
	ask(&d, "known.example.org");
	FAIL_UNLESS(code(&d) == DNS_NOERROR && dns_net_counts[DNS_COUNT_REFRESHED] == 0);
	service->waiting_max = 2;
	at[0].does = DOES_NOTHING;
	dns_client_init(&c, "known.example.org", DNS_A, 0);
	FAIL_UNLESS(haul_spawn(&co, serve_one, &c, NULL) == 0);
	FAIL_UNLESS(pass(HAUL_MS));
	FAIL_UNLESS(code(&c) == DNS_NOERROR && dns_net_counts[DNS_COUNT_REFRESHED] == 1);
	FAIL_UNLESS(hauli_u64_shared_get(&service->waiting[0]) == 1);
	ask(&d, "other2.example.org");
	FAIL_UNLESS(code(&d) == DNS_SERVFAIL && d.ended == d.began);
	haul_join(co, NULL, HAUL_FOREVER);
	dns_client_end();
}

/* How many of n answers to a name a client gets whole, and truncated. */
static void count(unsigned n, int cookie, unsigned *whole, unsigned *truncated)
{
	struct dns_client_visit c;
	uint8_t known[16] = {0};

	*whole = *truncated = 0;
	for (unsigned i = 0; i < n; i++) {
		dns_client_init(&c, "www.example.org", DNS_A, cookie);
		if (cookie > 8 && i > 0)
			memcpy(c.msg + c.v.n - 16, known, 16);
		dns_client_serve(&c);
		if (c.served == DNS_SERVED && c.msg[2] & DNS_TC >> 8)
			++*truncated;
		else if (c.served == DNS_SERVED)
			++*whole;
		if (cookie > 0)
			memcpy(known, c.v.cookie, 16);
		haul_sleep(HAUL_US);
	}
}

static void limits(void)
{
	const struct dns_rrl_opts opts = {
		.rate = 10, .nxdomain_rate = 10, .error_rate = 10, .slip = 2};
	unsigned whole, truncated;

	begin(1);
	FAIL_UNLESS(dns_rrl_create(&service->rrl, &opts, &service->hash) == 0);
	count(110, 0, &whole, &truncated);
	FAIL_UNLESS(whole >= 10 && whole <= 12);
	FAIL_UNLESS(truncated >= 20 && truncated <= 80); /* by chance */
	FAIL_UNLESS(dns_net_counts[DNS_COUNT_LIMITED] == 110 - whole);
	/* A client with a cookie of ours has the address that it claims. */
	count(100, 24, &whole, &truncated);
	FAIL_UNLESS(whole >= 99);
	dns_rrl_free(service->rrl);
	dns_client_end();
}

static void the_end(void)
{
	struct dns_client_visit c;

	begin(1);
	hauli_u64_shared_set(&service->is_ending, 1);
	at[0].does = DOES_NOTHING;
	ask(&c, "www.example.org");
	FAIL_UNLESS(c.served == DNS_ENDING);
	dns_client_end();
}

/* Nothing that comes in is answered by more than is allowed, or twice, or not in time. */
static uint64_t seed;

static void random_queries(void)
{
	static const unsigned types[] = {DNS_A, DNS_AAAA, DNS_MX, DNS_ANY, DNS_OPT_TYPE, 0, 65535};
	struct hauli_random random;
	struct dns_client_visit c;

	begin(2);
	at[0].does = DOES_TRUNCATE;
	hauli_random_init(&random, seed);
	for (unsigned i = 0; i < 3000; i++) {
		char name[16];
		unsigned changes = hauli_random_below(&random, 4);
		size_t max, came;

		snprintf(name, sizeof(name), "n%u.example", hauli_random_below(&random, 50));
		dns_client_init(&c, name, types[hauli_random_below(&random, 7)],
			(int)hauli_random_below(&random, 42) - 1);
		while (changes-- > 0)
			c.msg[hauli_random_below(&random, (uint32_t)c.v.n)] ^=
				(uint8_t)(1 << hauli_random_below(&random, 8));
		if (hauli_random_below(&random, 10) == 0)
			c.v.n = hauli_random_below(&random, (uint32_t)c.v.n + 1);
		came = c.v.n;
		dns_client_serve(&c);
		FAIL_UNLESS(c.ended - c.began <= 4 * HAUL_S);
		if (c.served != DNS_SERVED) {
			FAIL_UNLESS(
				c.served == DNS_NO_QUERY && (came < DNS_HEADER || c.msg[2] & 0x80));
			continue;
		}
		max = c.v.query.edns.is_there ? c.v.query.edns.size : 512;
		FAIL_UNLESS(c.v.reply.n <= (max < 1232 ? max : 1232));
		FAIL_UNLESS(c.v.reply.n >= DNS_HEADER && c.msg[2] & 0x80);
		FAIL_UNLESS((dns_get16(c.msg + 2) & DNS_AD) == 0);
	}
	dns_client_end();
}

#define TEST(name)                       \
	START_TEST(test_##name)          \
	{                                \
		seed = (uint64_t)_i + 1; \
		dns_net_run(name);       \
	}                                \
	END_TEST

TEST(hits)
TEST(equal_ones)
TEST(nobody_answers)
TEST(own_failures)
TEST(expired_ones)
TEST(asked_in_advance)
TEST(special_ones)
TEST(about)
TEST(full)
TEST(limits)
TEST(the_end)
TEST(random_queries)

SUITE_MAIN("dns_serve", {test_hits, 1}, {test_equal_ones, 1}, {test_nobody_answers, 1},
	{test_own_failures, 1}, {test_expired_ones, 1}, {test_asked_in_advance, 1},
	{test_special_ones, 1}, {test_about, 1}, {test_full, 1}, {test_limits, 1},
	{test_the_end, 1}, {test_random_queries, 8})
