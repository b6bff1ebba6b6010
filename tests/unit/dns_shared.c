/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * haul-dns: the cache that carriers share. Questions that are merged, prefetched, answered by
 * expired answers; then many coroutines on four carriers, with stealing, deadlines and cancels,
 * which count what is asked of a server.
 */
#include "../../apps/haul-dns/shared.h"

#include <errno.h>
#include <haul/haul.h>

#include "../../apps/haul-dns/reply.h"
#include "dns_bed.h"
#include "support/runtime.h"

enum { OUT = 1232 };

static struct dns_shared *shared;

static void create(unsigned shards, unsigned flights, unsigned waiters)
{
	struct dns_shared_opts opts = {
		{1 << 22, 4096}, .shards = shards, .flights_max = flights, .waiters_max = waiters};

	ck_assert_int_eq(dns_shared_create(&shared, &opts), 0);
}

/* A client with its query, for a name with a number. */
struct asker {
	struct dns_client client;
	struct dns_query query;
	uint8_t msg[64], out[OUT];
};

static void init(struct asker *a, unsigned name, uint64_t now)
{
	char question[64];
	struct bed_msg *m = malloc(sizeof(*m));

	sprintf(question, "n%u A", name);
	m->compress = false;
	bed_begin(m, name & 0xffff, DNS_RD, question);
	memcpy(a->msg, m->bytes, m->n);
	if (dns_query_parse(&a->query, a->msg, m->n, &bed_secret) != 0)
		abort();
	a->client = (struct dns_client){.msg = a->msg,
		.query = &a->query,
		.out = a->out,
		.opts = {.now = now, .max = OUT, .ede = DNS_EDE_NONE}};
	free(m);
}

/* An address that is the number of the name. */
static struct dns_answer *answer_of(unsigned name, uint32_t ttl, uint32_t stale, uint64_t now)
{
	uint8_t record[16] = {0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4};
	uint16_t at = 6;
	struct dns_answer *a;

	dns_put32(record + 6, ttl);
	dns_put32(record + 12, name);
	a = dns_answer_create(record, sizeof(record), &at, 1);
	a->nb_answers = 1;
	a->ttl = ttl;
	a->made = now;
	a->expires = now + ttl * HAUL_S;
	a->prefetch_at = a->expires - ttl * HAUL_S / 10;
	a->dead_at = a->expires + stale * HAUL_S;
	return a;
}

static bool is_answer_of(const struct asker *a, unsigned name)
{
	return a->client.n >= 28 && dns_get16(a->out + 6) == 1 &&
		dns_get16(a->out) == (name & 0xffff) && dns_get32(a->out + a->client.n - 4) == name;
}

static unsigned rcode(const struct asker *a)
{
	return dns_get16(a->out + 2) & DNS_RCODE;
}

static uint32_t ttl(const struct asker *a)
{
	return dns_get32(a->out + a->client.n - 10);
}

/* Steps run in a coroutine, and return what is wrong, or NULL. */
static void run_steps(haul_fn *steps)
{
	struct haul_runtime *rt = runtime_start(1);
	const char *wrong = run_on(rt, 0, steps, NULL);

	runtime_stop(rt);
	dns_shared_free(shared);
	ck_assert_msg(wrong == NULL, "%s", wrong);
}

static enum dns_look look(struct asker *a, struct dns_flight **flight)
{
	return dns_shared_look(shared, &a->client, flight);
}

static void *misses_hits_and_ages(void *arg)
{
	const uint64_t t0 = 1000 * HAUL_S;
	struct dns_shared_stats stats;
	struct dns_flight *f, *g;
	struct asker a, b;

	init(&a, 7, t0);
	EXPECT(look(&a, &f) == DNS_LOOK_ASK);
	init(&b, 8, t0);
	EXPECT(look(&b, &g) == DNS_LOOK_ASK);
	dns_shared_land(shared, f, answer_of(7, 100, 50, t0), t0, &a.client);
	EXPECT(is_answer_of(&a, 7) && ttl(&a) == 100);
	dns_shared_land(shared, g, answer_of(8, 0, 0, t0), t0, &b.client);
	EXPECT(is_answer_of(&b, 8) && ttl(&b) == 0);
	dns_shared_get_stats(shared, &stats);
	EXPECT(stats.cache.entries == 1 && stats.flights == 0);
	init(&a, 7, t0 + 89 * HAUL_S);
	EXPECT(look(&a, &f) == DNS_LOOK_HIT && is_answer_of(&a, 7) && ttl(&a) == 11);
	/* Nothing with a time of 0 is kept. */
	init(&b, 8, t0);
	EXPECT(look(&b, &g) == DNS_LOOK_ASK);
	dns_shared_fail(shared, g, -EIO, t0, NULL);
	/* In its last tenth one asks again, and the others use it. */
	init(&a, 7, t0 + 95 * HAUL_S);
	EXPECT(look(&a, &f) == DNS_LOOK_REFRESH && is_answer_of(&a, 7) && ttl(&a) == 5);
	EXPECT(look(&a, &g) == DNS_LOOK_HIT && !g);
	dns_shared_land(
		shared, f, answer_of(7, 100, 50, a.client.opts.now), a.client.opts.now, NULL);
	EXPECT(look(&a, &f) == DNS_LOOK_HIT && ttl(&a) == 100);
	/* If that fails, not each one tries again. */
	init(&a, 7, t0 + 187 * HAUL_S);
	EXPECT(look(&a, &f) == DNS_LOOK_REFRESH);
	dns_shared_fail(shared, f, -EIO, a.client.opts.now, NULL);
	EXPECT(look(&a, &f) == DNS_LOOK_HIT && is_answer_of(&a, 7) && ttl(&a) == 8);
	/* Dead. */
	init(&a, 7, t0 + 245 * HAUL_S);
	EXPECT(look(&a, &f) == DNS_LOOK_ASK);
	dns_shared_land(shared, f, answer_of(7, 100, 50, t0), t0, NULL);
	dns_shared_clear(shared);
	EXPECT(look(&a, &f) == DNS_LOOK_ASK);
	dns_shared_fail(shared, f, -EIO, t0, NULL);
	return NULL;
}

START_TEST(misses_hits_and_answers_that_expire)
{
	create(4, 100, 100);
	run_steps(misses_hits_and_ages);
}
END_TEST

/* RFC 8767: an expired answer is sent if no server answers, and for a while without asking. */
static void *stale(void *arg)
{
	const uint64_t t0 = 1000 * HAUL_S;
	struct dns_flight *f;
	struct asker a;

	init(&a, 7, t0);
	EXPECT(!dns_shared_write_stale(shared, &a.client));
	EXPECT(look(&a, &f) == DNS_LOOK_ASK);
	dns_shared_land(shared, f, answer_of(7, 100, 1000, t0), t0, NULL);
	EXPECT(!dns_shared_write_stale(shared, &a.client)); /* it is fresh */
	init(&a, 7, t0 + 200 * HAUL_S);
	EXPECT(look(&a, &f) == DNS_LOOK_ASK);
	EXPECT(dns_shared_write_stale(shared, &a.client));
	EXPECT(is_answer_of(&a, 7) && ttl(&a) == DNS_STALE_TTL);
	a.client.n = 0;
	dns_shared_fail(shared, f, -EIO, a.client.opts.now, &a.client);
	EXPECT(is_answer_of(&a, 7) && ttl(&a) == DNS_STALE_TTL);
	a.client.opts.now += (DNS_STALE_RETRY - 1) * HAUL_S;
	EXPECT(look(&a, &f) == DNS_LOOK_HIT && is_answer_of(&a, 7) && ttl(&a) == DNS_STALE_TTL);
	a.client.opts.now += 2 * HAUL_S;
	EXPECT(look(&a, &f) == DNS_LOOK_ASK);
	dns_shared_land(shared, f, answer_of(7, 10, 0, t0 + 300 * HAUL_S), t0 + 300 * HAUL_S, NULL);
	init(&a, 7, t0 + 300 * HAUL_S);
	EXPECT(look(&a, &f) == DNS_LOOK_HIT && ttl(&a) == 10);
	return NULL;
}

START_TEST(expired_answers)
{
	create(1, 100, 100);
	run_steps(stale);
}
END_TEST

/* RFC 9520. */
static void *failures(void *arg)
{
	uint64_t now = 1000 * HAUL_S;
	struct dns_flight *f;
	struct asker a;

	for (uint32_t time = DNS_FAILURE_MIN; time <= 80; time *= 2) {
		init(&a, 7, now);
		EXPECT(look(&a, &f) == DNS_LOOK_ASK);
		dns_shared_fail(shared, f, -EIO, now, &a.client);
		EXPECT(rcode(&a) == DNS_SERVFAIL);
		init(&a, 7, now + time * HAUL_S - 1);
		EXPECT(look(&a, &f) == DNS_LOOK_HIT && rcode(&a) == DNS_SERVFAIL);
		now += time * HAUL_S;
		a.client.opts.now = now;
		EXPECT(!dns_shared_write_stale(shared, &a.client)); /* not that */
	}
	init(&a, 7, now);
	EXPECT(look(&a, &f) == DNS_LOOK_ASK);
	dns_shared_land(shared, f, answer_of(7, 100, 0, now), now, &a.client);
	EXPECT(look(&a, &f) == DNS_LOOK_HIT && is_answer_of(&a, 7));
	return NULL;
}

START_TEST(failures_are_kept)
{
	create(1, 100, 100);
	run_steps(failures);
}
END_TEST

/* Those of our own are not: the next client asks again. */
static void *own_failures(void *arg)
{
	uint64_t now = 1000 * HAUL_S;
	struct dns_flight *f, *g;
	struct asker a, b;

	init(&a, 7, now);
	init(&b, 7, now);
	for (int i = 0; i < 3; i++) {
		a.client.n = b.client.n = 0;
		EXPECT(look(&a, &f) == DNS_LOOK_ASK && look(&b, &g) == DNS_LOOK_WAIT);
		dns_shared_fail(shared, f, -ENOBUFS, now, &a.client);
		EXPECT(dns_shared_wait(shared, g, &b.client, HAUL_FOREVER, HAUL_FOREVER) == 0);
		EXPECT(a.client.n > 0 && rcode(&a) == DNS_SERVFAIL);
		EXPECT(b.client.n > 0 && rcode(&b) == DNS_SERVFAIL);
	}
	/* Nor do they put off what is to be asked again. */
	EXPECT(look(&a, &f) == DNS_LOOK_ASK);
	dns_shared_land(shared, f, answer_of(7, 100, 1000, now), now, NULL);
	a.client.opts.now = now += 95 * HAUL_S;
	EXPECT(look(&a, &f) == DNS_LOOK_REFRESH);
	dns_shared_fail(shared, f, -ENOMEM, now, NULL);
	EXPECT(look(&a, &f) == DNS_LOOK_REFRESH);
	dns_shared_fail(shared, f, -ENOMEM, now, NULL);
	a.client.opts.now = now += 100 * HAUL_S;
	for (int i = 0; i < 2; i++) {
		a.client.n = 0;
		EXPECT(look(&a, &f) == DNS_LOOK_ASK);
		dns_shared_fail(shared, f, -EPERM, now, &a.client);
		EXPECT(is_answer_of(&a, 7) && ttl(&a) == DNS_STALE_TTL);
	}
	return NULL;
}

START_TEST(failures_of_our_own_are_not_kept)
{
	create(1, 100, 100);
	run_steps(own_failures);
}
END_TEST

static void *limits(void *arg)
{
	struct dns_flight *f[3], *g;
	struct asker a;

	for (unsigned i = 0; i < 3; i++) {
		init(&a, i, 1);
		EXPECT(look(&a, &f[i]) == DNS_LOOK_ASK);
	}
	init(&a, 3, 1);
	EXPECT(look(&a, &g) == DNS_LOOK_BUSY && !g);
	init(&a, 0, 1);
	EXPECT(look(&a, &g) == DNS_LOOK_WAIT && g == f[0]);
	EXPECT(look(&a, &g) == DNS_LOOK_WAIT && g == f[0]);
	EXPECT(look(&a, &g) == DNS_LOOK_BUSY && !g);
	/* A waiter is gone after its deadline, and another may wait. */
	EXPECT(dns_shared_wait(shared, f[0], &a.client, HAUL_FOREVER, haul_now() + 1) ==
		-ETIMEDOUT);
	EXPECT(look(&a, &g) == DNS_LOOK_WAIT && g == f[0]);
	for (unsigned i = 0; i < 3; i++)
		dns_shared_land(shared, f[i], answer_of(i, 100, 0, 1), 1, NULL);
	for (unsigned i = 0; i < 2; i++) {
		a.client.n = 0;
		EXPECT(dns_shared_wait(shared, g, &a.client, HAUL_FOREVER, HAUL_FOREVER) == 0);
		EXPECT(is_answer_of(&a, 0));
	}
	return NULL;
}

START_TEST(limits_of_what_is_under_way)
{
	create(1, 3, 2);
	run_steps(limits);
}
END_TEST

struct follower {
	struct asker asker;
	uint64_t patience, deadline;
	int rc;
	bool waits;
};

static void *follows(void *arg)
{
	struct follower *w = arg;
	struct dns_flight *f;

	w->waits = look(&w->asker, &f) == DNS_LOOK_WAIT;
	if (w->waits)
		w->rc = dns_shared_wait(shared, f, &w->asker.client, w->patience, w->deadline);
	return NULL;
}

static void wait_for_joined(uint64_t n)
{
	struct dns_shared_stats stats;

	do {
		haul_yield();
		dns_shared_get_stats(shared, &stats);
	} while (stats.joined < n);
}

/* An answer, a deadline, a cancel; an expired answer for the impatient. */
static void *waits(void *arg)
{
	const uint64_t t0 = 1000 * HAUL_S;
	struct follower w[4];
	struct haul_coro *co[4];
	struct dns_flight *f;
	struct asker a;

	init(&a, 7, t0);
	EXPECT(look(&a, &f) == DNS_LOOK_ASK);
	for (int i = 0; i < 4; i++) {
		w[i] = (struct follower){.patience = HAUL_FOREVER, .deadline = HAUL_FOREVER};
		init(&w[i].asker, 7, t0);
		EXPECT(haul_spawn(&co[i], follows, &w[i], NULL) == 0);
	}
	w[1].deadline = haul_in(HAUL_MS);
	wait_for_joined(4);
	haul_cancel(co[2]);
	EXPECT(haul_join(co[1], NULL, HAUL_FOREVER) == 0 && w[1].waits);
	EXPECT(haul_join(co[2], NULL, HAUL_FOREVER) == 0 && w[2].waits);
	dns_shared_land(shared, f, answer_of(7, 100, 1000, t0), t0, &a.client);
	EXPECT(haul_join(co[0], NULL, HAUL_FOREVER) == 0 && w[0].waits);
	EXPECT(haul_join(co[3], NULL, HAUL_FOREVER) == 0 && w[3].waits);
	EXPECT(w[0].rc == 0 && is_answer_of(&w[0].asker, 7));
	EXPECT(w[1].rc == -ETIMEDOUT && w[2].rc == -ECANCELED);
	EXPECT(w[3].rc == 0 && is_answer_of(&w[3].asker, 7));
	/* Expired: one is impatient, the other is told what the leader is. */
	init(&a, 7, t0 + 200 * HAUL_S);
	EXPECT(look(&a, &f) == DNS_LOOK_ASK);
	for (int i = 0; i < 2; i++) {
		init(&w[i].asker, 7, t0 + 200 * HAUL_S);
		w[i].patience = i == 0 ? haul_in(HAUL_MS) : HAUL_FOREVER;
		w[i].deadline = HAUL_FOREVER;
		EXPECT(haul_spawn(&co[i], follows, &w[i], NULL) == 0);
	}
	EXPECT(haul_join(co[0], NULL, HAUL_FOREVER) == 0 && w[0].rc == 0);
	EXPECT(is_answer_of(&w[0].asker, 7) && ttl(&w[0].asker) == DNS_STALE_TTL);
	wait_for_joined(6);
	dns_shared_land(shared, f, answer_of(7, 50, 0, t0), t0, NULL);
	EXPECT(haul_join(co[1], NULL, HAUL_FOREVER) == 0 && w[1].rc == 0);
	return NULL;
}

START_TEST(equal_questions_wait_for_one_answer)
{
	create(1, 100, 100);
	run_steps(waits);
}
END_TEST

enum { CARRIERS = 4, ASKERS = 200, STEPS = 60, NAMES = 40 };

/* Written by coroutines of all carriers, under a lock of their own. */
static struct {
	struct haul_mutex lock;
	unsigned asking[NAMES], asked, answered, failed, waited, late, cancelled;
	unsigned wrong;
} world;

static void count(unsigned *counter)
{
	haul_mutex_lock(&world.lock);
	++*counter;
	haul_mutex_unlock(&world.lock);
}

/* Two that ask for one name at a time are an error. */
static void begin_asking(unsigned name)
{
	haul_mutex_lock(&world.lock);
	world.asked++;
	if (world.asking[name]++ > 0)
		world.wrong++;
	haul_mutex_unlock(&world.lock);
}

static void end_asking(unsigned name)
{
	haul_mutex_lock(&world.lock);
	world.asking[name]--;
	haul_mutex_unlock(&world.lock);
}

static void lead(
	struct asker *a, struct dns_flight *f, unsigned name, struct hauli_random *r, bool answered)
{
	bool fails = hauli_random_below(r, 10) == 0;
	uint64_t now = haul_now();

	begin_asking(name);
	if (hauli_random_below(r, 2))
		haul_yield();
	else /* a cancel ends it early, and the answer is landed all the same */
		haul_sleep_until(haul_in(hauli_random_below(r, 300) * HAUL_US));
	end_asking(name);
	if (fails)
		dns_shared_fail(shared, f, hauli_random_below(r, 2) ? -ETIMEDOUT : -ENOMEM, now,
			answered ? NULL : &a->client);
	else
		dns_shared_land(shared, f, answer_of(name, hauli_random_below(r, 3), 0, now), now,
			answered ? NULL : &a->client);
	if (!answered && rcode(a) == DNS_NOERROR && !is_answer_of(a, name))
		count(&world.wrong);
}

static void step(struct asker *a, struct hauli_random *r)
{
	unsigned name = hauli_random_below(r, NAMES);
	struct dns_flight *f;
	int rc = 0;

	init(a, name, haul_now());
	switch (look(a, &f)) {
	case DNS_LOOK_HIT:
		break;
	case DNS_LOOK_REFRESH:
		lead(a, f, name, r, true);
		break;
	case DNS_LOOK_ASK:
		lead(a, f, name, r, false);
		break;
	case DNS_LOOK_WAIT:
		count(&world.waited);
		rc = dns_shared_wait(shared, f, &a->client, HAUL_FOREVER,
			hauli_random_below(r, 3) ? HAUL_FOREVER
						 : haul_in(hauli_random_below(r, 200) * HAUL_US));
		break;
	case DNS_LOOK_BUSY:
		count(&world.wrong);
		return;
	}
	if (rc == -ETIMEDOUT)
		count(&world.late);
	else if (rc == -ECANCELED)
		count(&world.cancelled);
	else if (rcode(a) == DNS_SERVFAIL)
		count(&world.failed);
	else if (is_answer_of(a, name))
		count(&world.answered);
	else
		count(&world.wrong);
}

static void *asks(void *arg)
{
	struct asker *a = malloc(sizeof(*a));
	struct hauli_random r;

	hauli_random_init(&r, (uintptr_t)arg);
	for (int i = 0; i < STEPS; i++)
		step(a, &r);
	free(a);
	return NULL;
}

static void *get_stats(void *stats)
{
	dns_shared_get_stats(shared, stats);
	return NULL;
}

/* Everybody gets an answer, a failure, or the end of the wait: in sum as many as asked. */
static void run_many(enum haul_steal steal, bool cancels, uint64_t seed)
{
	struct haul_runtime *rt = runtime_start_stealing(CARRIERS, NULL, steal);
	struct haul_coro *co[ASKERS];
	struct dns_shared_stats stats;
	unsigned sum;

	memset(&world, 0, sizeof(world));
	create(8, 1000, 1000);
	for (unsigned i = 0; i < ASKERS; i++)
		ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, i % CARRIERS), &co[i], asks,
					 (void *)(uintptr_t)(seed + i), NULL),
			0);
	for (unsigned i = 0; cancels && i < ASKERS; i += 3)
		haul_cancel(co[i]);
	for (unsigned i = 0; i < ASKERS; i++)
		ck_assert_int_eq(haul_join(co[i], NULL, HAUL_FOREVER), 0);
	sum = world.answered + world.failed + world.late + world.cancelled;
	run_on(rt, 0, get_stats, &stats);
	runtime_stop(rt);
	ck_assert_uint_eq(world.wrong, 0);
	ck_assert_uint_eq(sum, ASKERS * STEPS);
	for (unsigned i = 0; i < NAMES; i++)
		ck_assert_uint_eq(world.asking[i], 0);
	ck_assert_uint_eq(stats.flights, 0);
	ck_assert_uint_eq(stats.misses + stats.refreshed, world.asked);
	ck_assert_uint_eq(stats.hits + stats.misses + stats.joined + stats.stale, ASKERS * STEPS);
	ck_assert_uint_eq(stats.joined, world.waited);
	ck_assert(cancels || world.cancelled == 0);
	dns_shared_free(shared);
}

START_TEST(many_carriers)
{
	uint64_t seed = stress_seed();

	run_many(_i & 1 ? HAUL_STEAL_GLOBAL : HAUL_STEAL_OFF, _i & 2, seed);
}
END_TEST

/* All caches together have what one had. */
START_TEST(wrong_options)
{
	struct dns_shared_opts opts = {
		{1 << 20, 1024}, .shards = 3, .flights_max = 1, .waiters_max = 1};

	ck_assert_int_eq(dns_shared_create(&shared, &opts), -EINVAL);
	opts.shards = 0;
	ck_assert_int_eq(dns_shared_create(&shared, &opts), -EINVAL);
	opts.shards = 2048;
	ck_assert_int_eq(dns_shared_create(&shared, &opts), -EINVAL);
	opts.shards = 128; /* fewer entries a shard than a cache has */
	ck_assert_int_eq(dns_shared_create(&shared, &opts), -EINVAL);
	dns_shared_free(NULL);
}
END_TEST

/* What the program's options allow has a cache, and one that keeps long answers. */
START_TEST(shards_that_are_large_enough)
{
	static const size_t megabytes[] = {1, 2, 64, 1 << 20};
	static const unsigned entries[] = {1024, 2000, 128000, 1 << 28};

	for (unsigned carriers = 1; carriers <= 1024; carriers += 1 + carriers / 3) {
		for (unsigned i = 0; i < 16; i++) {
			const struct dns_cache_opts c = {megabytes[i / 4] << 20, entries[i % 4]};
			unsigned n = dns_shared_shards(&c, carriers);

			ck_assert(n >= 1 && n <= 1024 && (n & (n - 1)) == 0);
			ck_assert(n < 8 * carriers);
			ck_assert_uint_ge(c.entries_max / n, 256);
			ck_assert_uint_ge(c.bytes_max / n / 8, DNS_MESSAGE_MAX);
		}
	}
	ck_assert_uint_eq(dns_shared_shards(&(struct dns_cache_opts){64 << 20, 128000}, 1), 4);
	ck_assert_uint_eq(dns_shared_shards(&(struct dns_cache_opts){64 << 20, 128000}, 3), 16);
	ck_assert_uint_eq(dns_shared_shards(&(struct dns_cache_opts){64 << 20, 128000}, 99), 128);
	ck_assert_uint_eq(dns_shared_shards(&(struct dns_cache_opts){64 << 20, 1024}, 99), 4);
	ck_assert_uint_eq(dns_shared_shards(&(struct dns_cache_opts){1 << 20, 2000}, 99), 2);
}
END_TEST

SUITE_MAIN("dns_shared", {misses_hits_and_answers_that_expire}, {expired_answers},
	{failures_are_kept}, {failures_of_our_own_are_not_kept}, {limits_of_what_is_under_way},
	{equal_questions_wait_for_one_answer}, {many_carriers, 4}, {wrong_options},
	{shards_that_are_large_enough})
