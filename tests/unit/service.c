/* SPDX-License-Identifier: BSD-3-Clause */
/* Service times of haul-fwd: what --service takes, and the distributions that it draws from. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include "../../apps/haul-fwd/work.h"
#include "support/suite.h"

#define DRAWS 1000000

/* Random numbers that are spread evenly: the means below are exact to some 1/DRAWS. */
static uint64_t even(uint32_t i)
{
	return (uint64_t)((i + 0.5) / DRAWS * 0x1p64);
}

static struct fwd_service_dist parsed(const char *text)
{
	struct fwd_service_dist dist;
	const char *wrong = fwd_service_parse(&dist, text);

	ck_assert_msg(!wrong, "%s: %s", text, wrong);
	return dist;
}

/* The mean of all draws; *above gets the share of those above ns. */
static double mean_of(const char *text, double ns, double *above)
{
	struct fwd_service_dist dist = parsed(text);
	double sum = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < DRAWS; i++) {
		double t = fwd_service_draw(&dist, even(i));

		ASSERT_EACH(t >= 0);
		sum += t;
		n += t > ns;
	}
	*above = (double)n / DRAWS;
	return sum / DRAWS;
}

START_TEST(times_are_read_with_their_unit)
{
	ck_assert_uint_eq(parsed("250ns").mean_ns, 250);
	ck_assert_uint_eq(parsed("2.5us").mean_ns, 2500);
	ck_assert_uint_eq(parsed("3ms,exp").mean_ns, 3000000);
	ck_assert_uint_eq(parsed("1s,constant").mean_ns, 1000000000);
	ck_assert_uint_eq(parsed("2,bimodal").mean_ns, 2000000000);
}
END_TEST

START_TEST(wrong_texts_are_refused)
{
	static const char *const texts[] = {"", "us", "-1us", "0", "0.5ns", "2000s", "1m", "1us,",
		"1us,uniform", "1us,exp:2", "1us,exponential", "1us,bimodal:", "1us,bimodal:1",
		"1us,bimodal:1:", "1us,bimodal:0:10", "1us,bimodal:100:10", "1us,bimodal:1:0.5",
		"1us,bimodal:nan:10", "1us,bimodal:1:10:3", "nan", "inf"};
	struct fwd_service_dist dist;

	for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		ck_assert_msg(fwd_service_parse(&dist, texts[i]) != NULL, "%s is taken", texts[i]);
}
END_TEST

START_TEST(the_mean_is_the_time_given)
{
	double above;

	ck_assert(fabs(mean_of("1us", 1000, &above) - 1000) < 0.001);
	ck_assert(above == 0);
	ck_assert(fabs(mean_of("1us,exp", 1000, &above) - 1000) < 0.1);
	ck_assert(fabs(above - exp(-1)) < 1e-5);
	ck_assert(fabs(mean_of("1us,exp", 5000, &above) - 1000) < 0.1);
	ck_assert(fabs(above - exp(-5)) < 1e-5);
	ck_assert(fabs(mean_of("1us,bimodal", 1000, &above) - 1000) < 0.1);
	ck_assert(fabs(above - 0.01) < 1e-5);
	ck_assert(fabs(mean_of("1us,bimodal:10:5", 1000, &above) - 1000) < 0.1);
	ck_assert(fabs(above - 0.1) < 1e-5);
}
END_TEST

START_TEST(long_times_are_a_multiple_of_short_ones)
{
	struct fwd_service_dist dist = parsed("1us,bimodal:10:5");
	double longest = fwd_service_draw(&dist, 0), shortest = fwd_service_draw(&dist, UINT64_MAX);

	ck_assert(fabs(longest / shortest - 5) < 1e-9);
}
END_TEST

START_TEST(extreme_random_numbers_give_finite_times)
{
	struct fwd_service_dist dist = parsed("1us,exp");

	ck_assert(isfinite(fwd_service_draw(&dist, 0)));
	ck_assert(fwd_service_draw(&dist, UINT64_MAX) >= 0);
}
END_TEST

/* The work of n packets with so much memory each. Returns the accesses that the table shows, and in
 * *lines the number of lines that were accessed. */
static uint64_t accesses(unsigned n, uint64_t memory, uint64_t seed, uint64_t *lines)
{
	struct fwd_work_plan plan;
	struct fwd_work work;
	uint64_t sum = 0, untouched, count;

	ck_assert_ptr_null(fwd_work_plan(&plan, NULL, memory, 1));
	ck_assert(fwd_work_is_any(&plan) == (memory > 0));
	ck_assert(fwd_work_init(&work, &plan, seed));
	memset(&untouched, 1, sizeof(untouched));
	fwd_work_do(&work, &plan, n);
	*lines = 0;
	for (uint64_t i = 0; work.table && i < plan.table_lines; i++) {
		memcpy(&count, work.table + 64 * i, sizeof(count));
		sum += count - untouched;
		*lines += count != untouched;
	}
	fwd_work_fini(&work);
	return sum;
}

START_TEST(memory_is_accessed_in_lines)
{
	uint64_t lines, again;

	ck_assert_uint_eq(accesses(10, 0, 1, &lines), 0);
	ck_assert_uint_eq(accesses(10, 1, 1, &lines), 10);
	ck_assert_uint_eq(accesses(10, 64, 1, &lines), 10);
	ck_assert_uint_eq(accesses(1000, 65, 1, &lines), 2000);
	ck_assert_uint_eq(accesses(1000, 65, 1, &again), 2000);
	ck_assert_uint_eq(lines, again); /* a seed gives the same lines again */
	/* Of 16,384 lines, 2,000 random accesses touch 1,883 on average. */
	ck_assert_uint_ge(lines, 1800);
	ck_assert_uint_le(lines, 1960);
}
END_TEST

START_TEST(a_time_is_worked_in_full)
{
	struct fwd_work_plan plan;
	struct fwd_work work;
	uint64_t start;

	ck_assert_ptr_null(fwd_work_plan(&plan, "100us", 0, 1));
	fwd_work_set_clock(&plan, UINT64_C(1000000000)); /* a tick is a ns */
	ck_assert(fwd_work_init(&work, &plan, 0));
	for (unsigned i = 0; i < 20; i++) {
		uint64_t late = work.late; /* at most 2 us: the next one is shorter by as much */

		start = rte_rdtsc();
		fwd_work_do(&work, &plan, 3);
		ck_assert_uint_ge(rte_rdtsc() - start, 300000 - late);
		ck_assert_uint_le(late, 2000);
	}
	fwd_work_fini(&work);
}
END_TEST

SUITE_MAIN("service", {times_are_read_with_their_unit}, {wrong_texts_are_refused},
	{the_mean_is_the_time_given}, {long_times_are_a_multiple_of_short_ones},
	{extreme_random_numbers_give_finite_times}, {memory_is_accessed_in_lines},
	{a_time_is_worked_in_full})
