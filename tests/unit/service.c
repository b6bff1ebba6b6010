/* SPDX-License-Identifier: BSD-3-Clause */
/* Service times of haul-fwd: what --service takes, and the distributions that it draws from. */
#include <math.h>
#include <stdlib.h>

#include "../../apps/haul-fwd/service_dist.h"
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

SUITE_MAIN("service", {times_are_read_with_their_unit}, {wrong_texts_are_refused},
	{the_mean_is_the_time_given}, {long_times_are_a_multiple_of_short_ones},
	{extreme_random_numbers_give_finite_times})
