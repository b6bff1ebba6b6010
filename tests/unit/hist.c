/* SPDX-License-Identifier: BSD-3-Clause */
/* Histograms: the edges of buckets, the error over the whole range, quantiles against a sorted
 * array, sums and differences, the text parsed back, and a reader beside the writer. */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <haul/hist.h>

#include "base/random.h"
#include "support/suite.h"

#define VALUES 20000u

static struct haul_hist h; /* too large for a stack */
static uint64_t values[VALUES];

static void clear(void)
{
	memset(&h, 0, sizeof(h));
}

/* The bucket that haul_hist_add() finds: for the largest value so far, and for one below it. */
static unsigned bucket_of(uint64_t value)
{
	static struct haul_hist one;
	unsigned i = 0;

	memset(&one, 0, sizeof(one));
	haul_hist_add(&one, value, 1);
	haul_hist_add(&one, value, 2);
	while (one.counts[i] == 0)
		i++;
	ck_assert_uint_eq(one.counts[i], 3);
	return i;
}

START_TEST(buckets_follow_each_other_without_a_gap)
{
	uint64_t next = 0;

	for (unsigned i = 0; i < HAUL_HIST_BUCKETS; i++) {
		uint64_t first = next;
		uint64_t last = haul_hist_bucket_last(i);

		ck_assert_uint_ge(last, first);
		ck_assert_uint_eq(bucket_of(first), i);
		ck_assert_uint_eq(bucket_of(last), i);
		/* No wider than a thirty-second of its smallest value. */
		ck_assert_uint_le((last - first) * 32, first);
		next = last + 1;
	}
	ck_assert_uint_eq(next, HAUL_HIST_LIMIT);
}
END_TEST

START_TEST(small_values_are_exact)
{
	for (unsigned v = 0; v < 64; v++) {
		ck_assert_uint_eq(bucket_of(v), v);
		ck_assert_uint_eq(haul_hist_bucket_last(v), v);
	}
	ck_assert_uint_eq(bucket_of(64), bucket_of(65));
}
END_TEST

START_TEST(values_beyond_the_limit_are_in_the_last_bucket)
{
	clear();
	haul_hist_add(&h, HAUL_HIST_LIMIT, 1);
	haul_hist_add(&h, UINT64_MAX - 1, 2);
	ck_assert_uint_eq(h.counts[HAUL_HIST_BUCKETS - 1], 3);
	ck_assert_uint_eq(haul_hist_max(&h), UINT64_MAX - 1);
	ck_assert_uint_eq(haul_hist_quantile(&h, 0.5), UINT64_MAX - 1);
}
END_TEST

START_TEST(one_value_is_every_quantile)
{
	clear();
	ck_assert_uint_eq(haul_hist_quantile(&h, 0.5), 0);
	ck_assert_uint_eq(haul_hist_count(&h), 0);
	haul_hist_add(&h, 123456789, 7);
	ck_assert_uint_eq(haul_hist_count(&h), 7);
	for (unsigned i = 0; i <= 10; i++)
		ck_assert_uint_eq(haul_hist_quantile(&h, i / 10.0), 123456789);
}
END_TEST

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Values of every magnitude below the limit. */
static void fill(uint64_t seed)
{
	struct hauli_random r;

	hauli_random_init(&r, seed);
	clear();
	for (unsigned i = 0; i < VALUES; i++) {
		values[i] = hauli_random_next(&r) >> (24 + hauli_random_next(&r) % 40);
		haul_hist_add(&h, values[i], 1);
	}
}

START_TEST(quantiles_are_those_of_the_sorted_values)
{
	static const double shares[] = {
		0, 0.0001, 0.01, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 0.9999, 1};

	fill((uint64_t)_i + 1);
	qsort(values, VALUES, sizeof(values[0]), compare);
	for (unsigned i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		double rank = shares[i] * VALUES;
		unsigned at = (unsigned)rank + (rank > (unsigned)rank); /* rounded up, from 1 */
		uint64_t exact = values[at ? at - 1 : 0];
		uint64_t told = haul_hist_quantile(&h, shares[i]);

		ck_assert_msg(told >= exact && (told - exact) * 32 <= exact,
			"%g: %" PRIu64 " is told for %" PRIu64, shares[i], told, exact);
	}
	ck_assert_uint_eq(haul_hist_quantile(&h, 1), values[VALUES - 1]);
	ck_assert_uint_eq(haul_hist_max(&h), values[VALUES - 1]);
	ck_assert_uint_eq(haul_hist_count(&h), VALUES);
}
END_TEST

START_TEST(a_sum_has_the_values_of_both)
{
	static struct haul_hist both, one;

	memset(&both, 0, sizeof(both));
	fill(1);
	one = h;
	haul_hist_merge(&both, &h);
	fill(2);
	haul_hist_merge(&both, &h);
	for (unsigned i = 0; i < HAUL_HIST_BUCKETS; i++)
		ck_assert_uint_eq(both.counts[i], one.counts[i] + h.counts[i]);
	ck_assert_uint_eq(both.max, one.max > h.max ? one.max : h.max);

	haul_hist_subtract(&both, &one);
	for (unsigned i = 0; i < HAUL_HIST_BUCKETS; i++)
		ck_assert_uint_eq(both.counts[i], h.counts[i]);
	ck_assert_uint_ge(both.max, h.max);
	ck_assert_uint_le(bucket_of(both.max), bucket_of(h.max));
	haul_hist_subtract(&both, &h);
	ck_assert_uint_eq(haul_hist_count(&both), 0);
	ck_assert_uint_eq(haul_hist_max(&both), 0);
}
END_TEST

START_TEST(a_difference_has_the_largest_value_that_is_left)
{
	static struct haul_hist earlier;

	clear();
	haul_hist_add(&h, 1000, 1);
	earlier = h;
	haul_hist_add(&h, 10, 1);
	haul_hist_subtract(&h, &earlier);
	ck_assert_uint_eq(haul_hist_max(&h), 10);
}
END_TEST

START_TEST(a_quantile_between_two_values_is_the_larger_one)
{
	clear();
	for (unsigned v = 1; v <= 3; v++)
		haul_hist_add(&h, v, 1);
	ck_assert_uint_eq(haul_hist_quantile(&h, 0.33), 1);
	ck_assert_uint_eq(haul_hist_quantile(&h, 0.34), 2);
	ck_assert_uint_eq(haul_hist_quantile(&h, 0.67), 3);
}
END_TEST

/* Reads a histogram out of its text: each line's growth of TotalCount is the count of a bucket. */
static void parse(FILE *in, double unit, struct haul_hist *back, double *max, uint64_t *total)
{
	char line[160];
	double value, share, inverse;
	uint64_t below, before = 0;
	int columns;

	memset(back, 0, sizeof(*back));
	*max = -1;
	*total = 0;
	while (fgets(line, sizeof(line), in)) {
		if (sscanf(line, "#[Max = %lf, Total count = %" SCNu64 "]", max, total) > 0)
			continue;
		columns = sscanf(line, "%lf %lf %" SCNu64 " %lf", &value, &share, &below, &inverse);
		if (columns < 3)
			continue;
		if (columns == 4 && share > 0)
			ck_assert_double_eq_tol(inverse, 1 / (1 - share), 0.01 * inverse);
		ck_assert_uint_ge(below, before);
		haul_hist_add(back, (uint64_t)(value * unit + 0.5), below - before);
		before = below;
	}
	ck_assert_uint_eq(before, *total);
}

START_TEST(the_text_has_every_bucket)
{
	static struct haul_hist back;
	FILE *f = tmpfile();
	uint64_t total;
	double max;

	fill(3);
	ck_assert_int_eq(haul_hist_write_hgrm(&h, 1000, f), 0);
	rewind(f);
	parse(f, 1000, &back, &max, &total);
	fclose(f);
	ck_assert_mem_eq(back.counts, h.counts, sizeof(h.counts));
	ck_assert_double_eq_tol(max, (double)h.max / 1000, 0.001);
	ck_assert_uint_eq(total, VALUES);
}
END_TEST

/* Byte for byte what HdrHistogram's outputPercentileDistribution() prints around the lines. */
START_TEST(the_text_has_the_form_of_hdrhistogram)
{
	static const char expected[] = "       Value     Percentile TotalCount 1/(1-Percentile)\n"
				       "\n"
				       "       0.010 0.000000000000          3           1.00\n"
				       "       0.010 0.750000000000          3           4.00\n"
				       "       0.030 1.000000000000          4\n"
				       "#[Mean    =        0.015, StdDeviation   =        0.009]\n"
				       "#[Max     =        0.030, Total count    =            4]\n"
				       "#[Buckets =           36, SubBuckets     =           32]\n";
	char text[1024] = "";
	FILE *f = fmemopen(text, sizeof(text), "w");

	clear();
	haul_hist_add(&h, 10, 3);
	haul_hist_add(&h, 30, 1);
	ck_assert_int_eq(haul_hist_write_hgrm(&h, 1000, f), 0);
	fclose(f);
	ck_assert_str_eq(text, expected);
}
END_TEST

START_TEST(an_output_without_room_is_an_error)
{
	FILE *f = fopen("/dev/full", "w");

	ck_assert_ptr_nonnull(f);
	setvbuf(f, NULL, _IONBF, 0);
	ck_assert_int_eq(haul_hist_write_hgrm(&h, 1, f), -EIO);
	fclose(f);
}
END_TEST

static void *write_all(void *arg)
{
	for (unsigned i = 0; i < 1000000; i++)
		haul_hist_add(&h, i % 4096, 1);
	return arg;
}

/* ThreadSanitizer sees the accesses; each count only grows. */
START_TEST(a_reader_sees_counts_that_only_grow)
{
	static struct haul_hist before, copy;
	pthread_t writer;
	uint64_t n = 0;

	clear();
	memset(&before, 0, sizeof(before));
	ck_assert_int_eq(pthread_create(&writer, NULL, write_all, NULL), 0);
	while (n < 1000000) {
		memset(&copy, 0, sizeof(copy));
		haul_hist_merge(&copy, &h);
		for (unsigned i = 0; i < HAUL_HIST_BUCKETS; i++)
			ck_assert_uint_ge(copy.counts[i], before.counts[i]);
		n = haul_hist_count(&copy);
		before = copy;
	}
	ck_assert_int_eq(pthread_join(writer, NULL), 0);
	ck_assert_uint_eq(haul_hist_max(&h), 4095);
	ck_assert_uint_eq(n, 1000000);
}
END_TEST

SUITE_MAIN("hist", {buckets_follow_each_other_without_a_gap}, {small_values_are_exact},
	{values_beyond_the_limit_are_in_the_last_bucket}, {one_value_is_every_quantile},
	{quantiles_are_those_of_the_sorted_values, .runs = 20}, {a_sum_has_the_values_of_both},
	{a_difference_has_the_largest_value_that_is_left},
	{a_quantile_between_two_values_is_the_larger_one}, {the_text_has_every_bucket},
	{the_text_has_the_form_of_hdrhistogram}, {an_output_without_room_is_an_error},
	{a_reader_sees_counts_that_only_grow})
