/* SPDX-License-Identifier: BSD-3-Clause */
/* haul-dns: the cache: random programs against a list, its bounds, and what a flood of names
 * does. */
#include "../../apps/haul-dns/cache.h"

#include <errno.h>
#include <haul/base.h>

#include "dns_bed.h"

static struct dns_cache *cache;

/* An answer of the size, which tells its number by its TTL. */
static struct dns_answer *answer_of(uint32_t number, size_t size)
{
	static const uint8_t zeroes[4096];
	struct dns_answer *a = dns_answer_create(zeroes, size, NULL, 0);

	a->ttl = number;
	a->prefetch_at = a->expires = a->dead_at = UINT64_MAX;
	return a;
}

static void key_of(struct dns_key *key, uint64_t name)
{
	char wire[32];

	sprintf(wire, "%c%016" PRIx64, 16, name);
	dns_key_make(key, (const uint8_t *)wire, 18, DNS_A, DNS_IN, 0, &bed_secret);
}

static struct dns_answer *find(uint64_t name)
{
	struct dns_key key;

	key_of(&key, name);
	return dns_cache_find(cache, &key);
}

static void put(uint64_t name, uint32_t number, size_t size)
{
	struct dns_answer *a = answer_of(number, size);
	struct dns_key key;

	key_of(&key, name);
	dns_cache_put(cache, &key, a, 0);
	dns_answer_release(a);
}

static void create(size_t bytes, unsigned entries)
{
	struct dns_cache_opts opts = {bytes, entries};

	ck_assert_int_eq(dns_cache_create(&cache, &opts), 0);
}

static struct dns_cache_stats stats(void)
{
	struct dns_cache_stats s;

	dns_cache_get_stats(cache, &s);
	return s;
}

START_TEST(what_was_put_is_found)
{
	size_t before;

	create(1 << 20, 1000);
	ck_assert_ptr_null(find(1));
	put(1, 10, 100);
	put(2, 20, 100);
	ck_assert_uint_eq(find(1)->ttl, 10);
	ck_assert_uint_eq(find(2)->ttl, 20);
	before = stats().bytes;
	put(1, 11, 200);
	ck_assert_uint_eq(find(1)->ttl, 11);
	ck_assert_uint_eq(stats().bytes, before + 100);
	ck_assert_uint_eq(stats().entries, 2);
	dns_cache_clear(cache);
	ck_assert_ptr_null(find(1));
	ck_assert_uint_eq(stats().bytes, 0);
	dns_cache_free(cache);
	dns_cache_free(NULL);
}
END_TEST

START_TEST(wrong_options)
{
	ck_assert_int_eq(dns_cache_create(&cache, &(struct dns_cache_opts){1, 15}), -EINVAL);
	ck_assert_int_eq(dns_cache_create(&cache, &(struct dns_cache_opts){0, 16}), -EINVAL);
}
END_TEST

/* It would replace many: it is not kept, and what it replaces is gone. */
START_TEST(the_largest_answer)
{
	create(8000, 100);
	put(1, 1, 100);
	put(1, 2, 1000);
	ck_assert_ptr_null(find(1));
	put(1, 3, 800);
	ck_assert_uint_eq(find(1)->ttl, 3);
	dns_cache_free(cache);
}
END_TEST

/* A holder of a reference still has the bytes when the entry is gone. */
START_TEST(references)
{
	struct dns_answer *a;

	create(1 << 20, 16);
	put(1, 7, 10);
	a = find(1);
	a->refs++;
	for (unsigned i = 2; i < 100; i++) {
		put(i, i, 10);
		find(i); /* so it is wanted more than the first one */
	}
	ck_assert_ptr_null(find(1));
	ck_assert_uint_eq(a->refs, 1);
	ck_assert_uint_eq(a->ttl, 7);
	dns_answer_release(a);
	dns_cache_free(cache);
}
END_TEST

enum { NAMES = 300 };

/* What is found is what was put last; nothing is lost below the limits, which are kept. */
START_TEST(random_programs)
{
	uint64_t deadline = stress_deadline();
	struct hauli_random r;

	hauli_random_init(&r, stress_seed());
	do {
		unsigned entries = 16 + hauli_random_below(&r, 400), present = 0, number = 0;
		size_t bytes = 20000 + hauli_random_below(&r, 200000);
		unsigned last[NAMES] = {0};

		create(bytes, entries);
		for (int i = 0; i < 3000; i++) {
			unsigned name = hauli_random_below(&r, NAMES);
			struct dns_answer *a;

			switch (hauli_random_below(&r, 4)) {
			case 0:
				last[name] = ++number;
				put(name, number, hauli_random_below(&r, 1000));
				break;
			case 1:
				if (hauli_random_below(&r, 500) == 0) {
					dns_cache_clear(cache);
					memset(last, 0, sizeof(last));
				}
				break;
			default:
				a = find(name);
				ASSERT_EACH(!a || a->ttl == last[name]);
				if (!a && stats().evicted == 0)
					ASSERT_EACH(last[name] == 0);
			}
			ASSERT_EACH(stats().bytes <= bytes && stats().entries <= entries);
		}
		for (unsigned name = 0; name < NAMES; name++)
			present += find(name) != NULL;
		ASSERT_EACH(present == stats().entries);
		dns_cache_clear(cache);
		ASSERT_EACH(stats().bytes == 0 && stats().entries == 0);
		dns_cache_free(cache);
	} while (haul_now() < deadline);
}
END_TEST

/* Names that nobody asks for again, a hundred for each query of a real client: what real clients
 * ask for stays, even what they ask for rarely. */
START_TEST(a_flood_of_random_names)
{
	enum { HOT = 500, ENTRIES = 1000 };
	unsigned missed = 0, asked = 0;
	struct hauli_random r;

	hauli_random_init(&r, stress_seed());
	create(1 << 22, ENTRIES);
	for (int round = 0; round < 4; round++)
		for (unsigned name = 0; name < HOT; name++)
			if (!find(name))
				put(name, 1, 100);
	for (int i = 0; i < 500000; i++) {
		uint64_t name = hauli_random_next(&r) | 1u << 20;

		if (i % 100 == 0) {
			name = hauli_random_below(&r, HOT);
			asked++;
			missed += i > 0 && find(name) == NULL;
		}
		if (!find(name))
			put(name, 1, 100);
	}
	ck_assert_msg(missed * 50 <= asked, "%u of %u", missed, asked);
	dns_cache_free(cache);
}
END_TEST

static bool ask(uint64_t name)
{
	bool hit = find(name) != NULL;

	if (!hit)
		put(name, 1, 100);
	return hit;
}

/* The n-th query of a flood: each name comes some times, with others in between. */
static uint64_t flood(unsigned times, unsigned between, uint64_t n)
{
	return 1u << 20 | (n / times / between * between + n % between);
}

/* Ten for each query of a client. Returns the clients' misses in a hundred queries. */
static unsigned misses_beside_a_flood(unsigned times, unsigned between, bool is_first)
{
	enum { HOT = 500, ENTRIES = 1000, QUERIES = 30 * HOT, RATIO = 10 };
	unsigned missed = 0;
	struct hauli_random r;
	uint64_t n = 0;

	hauli_random_init(&r, stress_seed());
	create(1 << 22, ENTRIES);
	for (int i = 0; i < 20 * HOT; i++)
		ask(is_first ? flood(times, between, n++) : hauli_random_below(&r, HOT));
	for (int i = 0; i < QUERIES; i++) {
		for (int j = 0; j < RATIO; j++)
			ask(flood(times, between, n++));
		if (!ask(hauli_random_below(&r, HOT)) && i > QUERIES / 3)
			missed++;
	}
	dns_cache_free(cache);
	return missed * 100 / (QUERIES * 2 / 3);
}

/* However often they come. */
START_TEST(a_flood_in_which_names_come_again)
{
	for (unsigned times = 1; times <= 4; times++) {
		static const unsigned betweens[] = {1, 50, 500, 3000};

		for (unsigned i = 0; i < 4; i++) {
			unsigned misses = misses_beside_a_flood(times, betweens[i], false);

			ck_assert_msg(misses <= 5, "%u times, %u: %u misses of 100", times,
				betweens[i], misses);
		}
	}
}
END_TEST

START_TEST(a_flood_that_is_there_before_the_clients)
{
	for (unsigned times = 1; times <= 4; times++) {
		unsigned misses = misses_beside_a_flood(times, 1, true);

		ck_assert_msg(misses <= 8, "%u times: %u misses of 100", times, misses);
	}
}
END_TEST

/* What was asked for often, and is not any more, makes room. */
START_TEST(other_names_than_before)
{
	enum { BEFORE = 1200, N = 800 };
	unsigned missed = 0;

	create(1 << 22, 1000);
	for (unsigned i = 0; i < 50 * BEFORE; i++)
		ask(i % BEFORE);
	for (unsigned i = 0; i < 100 * N; i++)
		if (!ask(BEFORE + i % N) && i >= 90 * N)
			missed++;
	ck_assert_msg(missed * 10 <= 10 * N, "%u of %u", missed, 10 * N);
	dns_cache_free(cache);
}
END_TEST

/* An eviction looks at a bounded number of entries, though all of them were asked for. */
START_TEST(all_are_asked_for)
{
	create(1 << 22, 1000);
	for (int round = 0; round < 5; round++)
		for (unsigned name = 0; name < 1000; name++)
			if (!find(name))
				put(name, 1, 100);
	for (unsigned name = 1000; name < 3000; name++) {
		put(name, 1, 100);
		ASSERT_EACH(find(name) != NULL);
		ASSERT_EACH(stats().entries <= 1000);
	}
	dns_cache_free(cache);
}
END_TEST

/* What cannot be used any more gets no other turn. */
START_TEST(the_dead_make_room)
{
	struct dns_answer *dead = answer_of(1, 100);
	struct dns_key key;

	create(1 << 22, 100);
	dead->prefetch_at = dead->expires = dead->dead_at = 1;
	for (unsigned name = 0; name < 90; name++) {
		key_of(&key, name);
		dns_cache_put(cache, &key, dead, 0);
	}
	for (unsigned name = 0; name < 90; name++)
		find(name);
	for (unsigned name = 90; name < 190; name++) {
		struct dns_answer *a = answer_of(2, 100);

		key_of(&key, name);
		dns_cache_put(cache, &key, a, 2);
		dns_answer_release(a);
	}
	for (unsigned name = 0; name < 90; name++)
		ASSERT_EACH(find(name) == NULL);
	ck_assert_uint_eq(stats().promoted, 0);
	ck_assert_uint_eq(dead->refs, 1);
	dns_answer_release(dead);
	dns_cache_free(cache);
}
END_TEST

/* Names as people ask for them, against the best that a cache of a size can do that always has the
 * most frequent ones: at least nine tenths of its hits. */
START_TEST(hits_of_a_usual_load)
{
	enum { N = 20000, ENTRIES = 1000, QUERIES = 300000 };
	static double sums[N];
	double best, sum = 0;
	struct hauli_random r;
	unsigned hits = 0;

	hauli_random_init(&r, stress_seed());
	for (unsigned i = 0; i < N; i++)
		sums[i] = sum += 1.0 / (i + 1);
	best = sums[ENTRIES - 1] / sum;
	create(1 << 22, ENTRIES);
	for (unsigned i = 0; i < QUERIES; i++) {
		double at = (double)hauli_random_next(&r) / 18446744073709551616.0 * sum;
		unsigned low = 0, high = N - 1;

		while (low < high) {
			unsigned middle = (low + high) / 2;

			if (sums[middle] < at)
				low = middle + 1;
			else
				high = middle;
		}
		if (find(low))
			hits++;
		else
			put(low, 1, 100);
	}
	ck_assert_msg(hits >= 0.9 * best * QUERIES, "%u hits, %f", hits, best * QUERIES);
	dns_cache_free(cache);
}
END_TEST

SUITE_MAIN("dns_cache", {what_was_put_is_found}, {wrong_options}, {the_largest_answer},
	{references}, {random_programs}, {a_flood_of_random_names},
	{a_flood_in_which_names_come_again}, {a_flood_that_is_there_before_the_clients},
	{other_names_than_before}, {all_are_asked_for}, {the_dead_make_room},
	{hits_of_a_usual_load})
