/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of haul-fwd's generator that need no EAL: times of arrival, sizes, and the receiver's
 * counts. Random numbers have a fixed seed, so that a statistical test has one result. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../apps/haul-fwd/arrivals.h"
#include "../../apps/haul-fwd/receiver.h"
#include "../../apps/haul-fwd/sizes.h"
#include "support/suite.h"

#define N 200000

static char errbuf[256];
static uint64_t times[N];

static struct arrivals_plan plan_of(const char *rate, const char *kind)
{
	struct arrivals_plan plan = {.seed = 42};

	ck_assert_msg(arrivals_parse_rate(&plan, rate, errbuf, sizeof(errbuf)) == 0, "%s", errbuf);
	ck_assert_msg(arrivals_parse_kind(&plan, kind, errbuf, sizeof(errbuf)) == 0, "%s", errbuf);
	return plan;
}

/* Fills times from one stream; returns the number of arrivals, at most N. */
static unsigned run(const struct arrivals_plan *plan, unsigned stream, unsigned streams)
{
	struct arrivals a;
	unsigned i;

	arrivals_init(&a, plan, stream, streams);
	for (i = 0; i < N; i++) {
		times[i] = arrivals_next(&a);
		if (times[i] == ARRIVALS_END)
			break;
		ASSERT_EACH(i == 0 || times[i] >= times[i - 1]);
	}
	return i;
}

START_TEST(constant_gaps_do_not_add_up)
{
	/* A gap of 333.33 ns, which no integer number of ns is. */
	struct arrivals_plan plan = plan_of("3M", "constant");

	ck_assert_uint_eq(run(&plan, 0, 1), N);
	for (unsigned i = 0; i < N; i++)
		ASSERT_EACH(times[i] == ((uint64_t)i * 2000 + 3) / 6);
}
END_TEST

START_TEST(streams_share_the_times)
{
	struct arrivals_plan plan = plan_of("1M", "constant");

	for (unsigned stream = 0; stream < 3; stream++) {
		ck_assert_uint_eq(run(&plan, stream, 3), N);
		for (unsigned i = 0; i < N; i++)
			ASSERT_EACH(llabs((int64_t)times[i] - (3 * i + stream) * 1000ll) <= 1);
	}
}
END_TEST

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Kolmogorov and Smirnov's distance of gaps from the exponential distribution of that mean. */
static double distance(const uint64_t *at, unsigned n, double mean)
{
	double *gaps = malloc(n * sizeof(*gaps));
	double most = 0;
	unsigned i;

	for (i = 0; i < n; i++)
		gaps[i] = (double)(at[i] - (i > 0 ? at[i - 1] : 0));
	qsort(gaps, n, sizeof(*gaps), by_value);
	for (i = 0; i < n; i++) {
		double f = 1 - exp(-gaps[i] / mean);

		most = fmax(most, fmax(f - (double)i / n, (double)(i + 1) / n - f));
	}
	free(gaps);
	return most;
}

START_TEST(poisson_gaps_are_exponential)
{
	struct arrivals_plan plan = plan_of("10k", "poisson");
	unsigned i, n;

	/* The distance is above 1.63 / sqrt(n) in 1 of 100 true samples. A constant gap fails. */
	for (unsigned stream = 0; stream < 2; stream++) {
		n = run(&plan, stream, 2);
		ck_assert_uint_eq(n, N);
		ck_assert_double_lt(distance(times, n, 2e5), 1.63 / sqrt(n));
	}
	for (i = 0; i < N; i++)
		times[i] = (i + 1) * 200000;
	ck_assert_double_gt(distance(times, N, 2e5), 1.63 / sqrt(N));
}
END_TEST

START_TEST(poisson_counts_are_those_of_a_poisson_process)
{
	/* The variance of counts in 10,000 intervals of 20 arrivals is their mean: an index of
	 * dispersion of 1 +- 0.014. */
	struct arrivals_plan plan = plan_of("1M", "poisson");
	static unsigned counts[9000];
	double mean = 0, square = 0;
	unsigned i;

	memset(counts, 0, sizeof(counts));
	run(&plan, 0, 1);
	for (i = 0; i < N && times[i] / 20000 < 9000; i++)
		counts[times[i] / 20000]++;
	for (i = 0; i < 9000; i++) {
		mean += counts[i] / 9000.0;
		square += counts[i] * (double)counts[i] / 9000.0;
	}
	ck_assert_double_eq_tol(mean, 20, 0.2);
	ck_assert_double_eq_tol((square - mean * mean) / mean, 1, 0.05);
}
END_TEST

START_TEST(bursts_are_due_at_once)
{
	struct arrivals_plan plan = plan_of("1M", "burst:4");

	for (unsigned stream = 0; stream < 2; stream++) {
		ck_assert_uint_eq(run(&plan, stream, 2), N);
		for (unsigned i = 0; i < N; i++)
			ASSERT_EACH(times[i] == (i / 4 * 8 + stream * 4) * 1000ull);
	}
}
END_TEST

START_TEST(a_ramp_has_the_area_below_it)
{
	/* 1k to 9k in 2 s: 10,000 arrivals; after half the time (1 + 5) / 2 k of them. */
	struct arrivals_plan plan = plan_of("1k-9k/2s", "constant");
	unsigned i, n = run(&plan, 0, 1);

	ck_assert_uint_eq(n, 10000);
	for (i = 0; i < n && times[i] < 1000000000; i++)
		;
	ck_assert_int_le(abs((int)i - 3000), 1);
	ck_assert_uint_lt(times[n - 1], 2000000000);
	plan = plan_of("9k-0/1s", "constant");
	ck_assert_int_le(abs((int)run(&plan, 0, 1) - 4500), 1);
}
END_TEST

START_TEST(phases_follow_each_other)
{
	struct arrivals_plan plan = plan_of("1k/500ms,0/1s,2k/0.5s,10k", "constant");
	unsigned i, n = run(&plan, 0, 1);

	ck_assert_uint_eq(n, N);
	for (i = 0; i < 500; i++)
		ck_assert_uint_eq(times[i], i * 1000000ull);
	for (; i < 1500; i++)
		ck_assert_int_le(
			llabs((int64_t)times[i] - (1500000000ll + (i - 500) * 500000ll)), 1);
	for (; i < 2000; i++)
		ck_assert_int_le(
			llabs((int64_t)times[i] - (2000000000ll + (i - 1500) * 100000ll)), 1);
}
END_TEST

/* Reads rates from a file with that text. */
static int read_rates(struct arrivals_plan *plan, const char *text)
{
	static const char path[] = "rates";
	FILE *file = tmpfile();
	int err;

	ck_assert_ptr_nonnull(file);
	ck_assert_int_ge(fputs(text, file), 0);
	rewind(file);
	err = arrivals_read_rates(plan, file, path, errbuf, sizeof(errbuf));
	fclose(file);
	return err;
}

START_TEST(rates_of_a_file_are_those_of_the_option)
{
	struct arrivals_plan of_option = plan_of("1k/500ms,0/1s,2k-4k/0.5s,10k", "constant");
	struct arrivals_plan of_file = {0};

	ck_assert_int_eq(read_rates(&of_file,
				 "# a load\n1k/500ms\n\n0/1s  # a pause\n"
				 "  2k-4k/0.5s\r\n10k"),
		0);
	ck_assert_uint_eq(of_file.nb_phases, 4);
	ck_assert_mem_eq(of_file.phases, of_option.phases, 4 * sizeof(of_file.phases[0]));
}
END_TEST

START_TEST(wrong_files_of_rates_have_a_line)
{
	static const char *const wrong[] = {"", "# nothing\n", "1k/1s\nx\n", "1k\n2k\n", "max\n"};
	struct arrivals_plan plan = {0};

	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		errbuf[0] = '\0';
		ck_assert_msg(read_rates(&plan, wrong[i]) == -EINVAL, "%s", wrong[i]);
		ck_assert_ptr_eq(strstr(errbuf, "--rate @"), errbuf);
	}
	ck_assert_ptr_nonnull(strstr(errbuf, "phase 1: "));
}
END_TEST

START_TEST(wrong_rates_have_a_line)
{
	static const char *const wrong[] = {"", "x", "-1", "1k-", "1k-2k", "1k,2k", "1k/0", "1k/x",
		"1k/1s,", "2G", "1e400", "nan", "1k/1s,0", "1kk", "max,1k", "1k/1e400"};
	struct arrivals_plan plan = {0};

	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		errbuf[0] = '\0';
		ck_assert_msg(
			arrivals_parse_rate(&plan, wrong[i], errbuf, sizeof(errbuf)) == -EINVAL,
			"%s", wrong[i]);
		ck_assert_ptr_eq(strstr(errbuf, "--rate "), errbuf);
	}
	ck_assert_int_eq(arrivals_parse_kind(&plan, "burst:0", errbuf, sizeof(errbuf)), -EINVAL);
	ck_assert_int_eq(arrivals_parse_kind(&plan, "burst:", errbuf, sizeof(errbuf)), -EINVAL);
	ck_assert_int_eq(arrivals_parse_kind(&plan, "burst:4x", errbuf, sizeof(errbuf)), -EINVAL);
	ck_assert_int_eq(arrivals_parse_kind(&plan, "bursts", errbuf, sizeof(errbuf)), -EINVAL);
}
END_TEST

START_TEST(sizes_are_those_of_the_list)
{
	struct sizes s;
	unsigned sum = 0;

	ck_assert_int_eq(sizes_parse(&s, NULL, 60, 1518, errbuf, sizeof(errbuf)), 0);
	ck_assert_uint_eq(sizes_pick(&s, 7, 0), 60);
	ck_assert_int_eq(sizes_parse(&s, "64,512,1518", 60, 1518, errbuf, sizeof(errbuf)), 0);
	ck_assert_uint_eq(sizes_pick(&s, 3, 0), 64);
	ck_assert_uint_eq(sizes_pick(&s, 5, 0), 1518);
	ck_assert_int_eq(sizes_parse(&s, "100-103", 60, 1518, errbuf, sizeof(errbuf)), 0);
	ck_assert_uint_eq(sizes_pick(&s, 0, 0), 100);
	ck_assert_uint_eq(sizes_pick(&s, 0, UINT64_MAX), 103);
	ck_assert_int_eq(sizes_parse(&s, "imix", 84, 1518, errbuf, sizeof(errbuf)), 0);
	for (unsigned i = 0; i < 12; i++)
		sum += sizes_pick(&s, i, 0);
	ck_assert_uint_eq(sum, 7 * 84 + 4 * 590 + 1514);
}
END_TEST

START_TEST(wrong_sizes_have_a_line)
{
	static const char *const wrong[] = {"", "59", "1519", "64,", ",64", "64-", "100-64", "x",
		"64x", "64-1519", "65600", "64,64,64,64,64,64,64,64,64,64,64,64,64,64,64,64,64"};
	struct sizes s;

	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		ck_assert_msg(
			sizes_parse(&s, wrong[i], 60, 1518, errbuf, sizeof(errbuf)) == -EINVAL,
			"%s", wrong[i]);
}
END_TEST

static struct receiver_flow flow;

static void note(uint32_t sequence, enum receiver_verdict expected)
{
	ck_assert_int_eq(receiver_note(&flow, sequence), expected);
}

START_TEST(each_packet_is_counted_once)
{
	memset(&flow, 0, sizeof(flow));
	note(2, RECEIVER_NEW);
	note(3, RECEIVER_NEW);
	note(3, RECEIVER_DUPLICATED);
	note(0, RECEIVER_REORDERED);
	note(0, RECEIVER_DUPLICATED);
	note(9, RECEIVER_NEW);
	note(6, RECEIVER_REORDERED);
	note(10, RECEIVER_NEW);
	ck_assert_uint_eq(flow.received, 6);
	ck_assert_uint_eq(flow.reordered, 2);
	ck_assert_uint_eq(flow.duplicated, 2);
	ck_assert_uint_eq(flow.next - flow.first, 11);
}
END_TEST

START_TEST(the_window_moves)
{
	memset(&flow, 0, sizeof(flow));
	note(0, RECEIVER_NEW);
	note(RECEIVER_WINDOW, RECEIVER_NEW); /* at the place of 0 */
	note(1, RECEIVER_REORDERED);
	note(1, RECEIVER_DUPLICATED);
	note(0, RECEIVER_REORDERED); /* forgotten */
	note(10 * RECEIVER_WINDOW + 5, RECEIVER_NEW);
	note(10 * RECEIVER_WINDOW, RECEIVER_REORDERED);
	note(9 * RECEIVER_WINDOW + 6, RECEIVER_REORDERED);
	note(9 * RECEIVER_WINDOW + 6, RECEIVER_DUPLICATED);
}
END_TEST

START_TEST(numbers_wrap)
{
	memset(&flow, 0, sizeof(flow));
	note(UINT32_MAX - 1, RECEIVER_NEW);
	note(0, RECEIVER_NEW);
	note(UINT32_MAX, RECEIVER_REORDERED);
	note(1, RECEIVER_NEW);
	note(0, RECEIVER_DUPLICATED);
	ck_assert_uint_eq(flow.next - flow.first, 4);
	ck_assert_uint_eq(flow.received, 4);
}
END_TEST

/* Against sets of plain arrays. */
START_TEST(random_orders_are_counted_right)
{
	static uint32_t sent[3000];
	static bool seen[3000];
	unsigned n = 0, received = 0, reordered = 0, duplicated = 0, next = 0, i;
	struct arrivals_random r;

	arrivals_random_init(&r, (uint64_t)_i);
	memset(&flow, 0, sizeof(flow));
	memset(seen, 0, sizeof(seen));
	for (i = 0; n < 3000; i++) {
		unsigned roll = (unsigned)(arrivals_random_next(&r) % 10);

		if (roll == 0)
			continue; /* lost */
		sent[n] = roll == 1 && n > 0 ? sent[n - 1] : i;
		n++;
		if (roll == 2 && n > 1) {
			uint32_t last = sent[n - 1];

			sent[n - 1] = sent[n - 2];
			sent[n - 2] = last;
		}
	}
	for (i = 0; i < n && sent[i] < 3000; i++) {
		bool duplicate = seen[sent[i]];

		seen[sent[i]] = true;
		duplicated += duplicate;
		received += !duplicate;
		reordered += !duplicate && sent[i] < next;
		next = sent[i] >= next ? sent[i] + 1 : next;
		receiver_note(&flow, sent[i]);
	}
	ck_assert_uint_eq(flow.received, received);
	ck_assert_uint_eq(flow.reordered, reordered);
	ck_assert_uint_eq(flow.duplicated, duplicated);
	ck_assert_uint_gt(reordered, 0);
	ck_assert_uint_gt(duplicated, 0);
}
END_TEST

START_TEST(a_sum_of_flows_is_that_of_all_their_packets)
{
	struct receiver_flow sum = {0}, low = {0}, high = {0}, none = {0};

	for (uint32_t i = 0; i < 5; i++) {
		receiver_note(&low, 100 + i);
		receiver_note(&high, 105 + i);
	}
	receiver_merge(&sum, &low);
	receiver_merge(&sum, &high);
	receiver_merge(&sum, &none);
	ck_assert_uint_eq(sum.next - sum.first, 10);
	ck_assert_uint_eq(sum.received, 10);
	receiver_merge(&high, &low);
	ck_assert_uint_eq(high.next - high.first, 10);
}
END_TEST

SUITE_MAIN("generator", {constant_gaps_do_not_add_up}, {streams_share_the_times},
	{poisson_gaps_are_exponential}, {poisson_counts_are_those_of_a_poisson_process},
	{bursts_are_due_at_once}, {a_ramp_has_the_area_below_it}, {phases_follow_each_other},
	{rates_of_a_file_are_those_of_the_option}, {wrong_files_of_rates_have_a_line},
	{wrong_rates_have_a_line}, {sizes_are_those_of_the_list}, {wrong_sizes_have_a_line},
	{each_packet_is_counted_once}, {the_window_moves}, {numbers_wrap},
	{a_sum_of_flows_is_that_of_all_their_packets},
	{random_orders_are_counted_right, .runs = 20})
