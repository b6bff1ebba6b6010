/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts of sources (net/sketch.h) beside exact ones, at random. HAUL_TEST_SEED replays them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/random.h"
#include "net/sketch.h"
#include "support/suite.h"

#define SOURCES 3000

static struct hauli_sketch sketch;
static struct hauli_random rnd;

static void begin(const char *name, int run)
{
	const char *text = getenv("HAUL_TEST_SEED");
	uint64_t seed = text ? strtoull(text, NULL, 0) : (uint64_t)time(NULL) + (uint64_t)run;

	fprintf(stderr, "sketch: %s: HAUL_TEST_SEED=%" PRIu64 "\n", name, seed);
	hauli_random_init(&rnd, seed);
	hauli_sketch_init(&sketch, hauli_random_next(&rnd), hauli_random_next(&rnd));
}

/* Sources as they are: a few send most. */
static unsigned draw(void)
{
	unsigned most = hauli_random_below(&rnd, SOURCES) + 1;

	return hauli_random_below(&rnd, most);
}

START_TEST(counts_are_never_too_small_and_seldom_too_large)
{
	static uint32_t exact[SOURCES];
	const unsigned n = 20000;
	unsigned wrong = 0;

	begin("counts", _i);
	memset(exact, 0, sizeof(exact));
	for (unsigned i = 0; i < n; i++) {
		unsigned source = draw();
		uint32_t count = hauli_sketch_add(&sketch, source);

		ASSERT_EACH(count >= ++exact[source]);
		/* e / width of all packets, at most once in e^rows = 55 */
		wrong += count - exact[source] > 3 * n / (1 << HAULI_SKETCH_BITS);
	}
	ck_assert_uint_le(wrong, n / 55);
}
END_TEST

START_TEST(one_that_floods_is_told_from_the_others)
{
	begin("flood", _i);
	for (unsigned i = 0; i < 20000; i++) {
		uint32_t flood = hauli_sketch_add(&sketch, UINT64_MAX);
		uint32_t other = hauli_sketch_add(&sketch, hauli_random_below(&rnd, 100));

		ASSERT_EACH(flood >= i + 1);
		if (i > 1000)
			ASSERT_EACH(other < flood / 4);
	}
}
END_TEST

START_TEST(halving_and_clearing_forget)
{
	begin("halving", _i);
	for (unsigned i = 0; i < 1000; i++)
		(void)hauli_sketch_add(&sketch, 7);
	hauli_sketch_halve(&sketch);
	ck_assert_uint_eq(hauli_sketch_add(&sketch, 7), 501);
	hauli_sketch_clear(&sketch);
	ck_assert_uint_eq(hauli_sketch_add(&sketch, 7), 1);
}
END_TEST

START_TEST(sources_are_counted)
{
	begin("sources", _i);
	ck_assert_uint_eq(hauli_sketch_sources(&sketch), 0);
	for (unsigned n = 1; n <= 2000; n++) {
		uint32_t sources;

		for (unsigned k = 0; k <= n % 3; k++)
			(void)hauli_sketch_add(&sketch, n);
		sources = hauli_sketch_sources(&sketch);
		ASSERT_EACH(sources * 5 + 40 >= n * 4 && sources * 4 <= n * 5 + 40);
	}
}
END_TEST

/* An attacker who knows which sources share counters under one secret knows nothing about another
 * secret. */
START_TEST(another_secret_is_another_hash)
{
	static struct hauli_sketch other;
	unsigned same = 0, n = 0;

	begin("secret", _i);
	hauli_sketch_init(&other, hauli_random_next(&rnd), hauli_random_next(&rnd));
	for (unsigned i = 0; i < 1000; i++) {
		hauli_sketch_clear(&sketch);
		hauli_sketch_clear(&other);
		(void)hauli_sketch_add(&sketch, i);
		(void)hauli_sketch_add(&other, i);
		for (unsigned k = 0; k < 1 << HAULI_SKETCH_BITS; k++) {
			n += sketch.counts[0][k];
			same += sketch.counts[0][k] && other.counts[0][k];
		}
	}
	ck_assert_uint_eq(n, 1000);
	ck_assert_uint_le(same, 20);
}
END_TEST

SUITE_MAIN("sketch", {counts_are_never_too_small_and_seldom_too_large, 20},
	{one_that_floods_is_told_from_the_others, 20}, {halving_and_clearing_forget},
	{sources_are_counted, 20}, {another_secret_is_another_hash, 20})
