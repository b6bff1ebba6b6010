/* SPDX-License-Identifier: BSD-3-Clause */
/* haul-http: dates against those of the C library, and what is no date. */
#include "../../apps/haul-http/date.h"

#include <time.h>

#include "http_bed.h"
#include "support/stress.h"
#include "support/suite.h"

#define NOW INT64_C(1793664000) /* 2026 */
#define LAST INT64_C(253402300799) /* of the year 9999 */

static const char *const forms[] = {
	"%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y"};

static bool parse(const char *text, int64_t now, int64_t *seconds)
{
	size_t n = strlen(text);

	return http_date_parse((struct http_str){bed_copy(text, n), n}, now, seconds);
}

static void check_date(int64_t seconds, int64_t now)
{
	char printed[HTTP_DATE_LENGTH], text[64];
	time_t t = seconds;
	struct tm tm;
	int64_t back;

	gmtime_r(&t, &tm);
	for (unsigned i = 0; i < 3; i++) {
		if (i == 1 && (seconds < now - 1500000000 || seconds > now + 1500000000))
			continue; /* another century */
		strftime(text, sizeof(text), forms[i], &tm);
		if (!parse(text, now, &back) || back != seconds)
			ck_abort_msg("%s", text);
		http_date_print(printed, seconds);
		if (i == 0 && memcmp(printed, text, sizeof(printed)) != 0)
			ck_abort_msg("%.29s, not %s", printed, text);
	}
}

START_TEST(dates_are_those_of_the_library)
{
	struct hauli_random r;
	struct tm year1000 = {.tm_year = -900, .tm_mday = 1}; /* strftime() does not pad years */

	/* Without this, strftime() asks for the time zone's file each time. */
	ck_assert_int_eq(setenv("TZ", "UTC0", 1), 0);
	hauli_random_init(&r, stress_seed());
	check_date(timegm(&year1000), NOW);
	check_date(-1, NOW);
	check_date(0, NOW);
	check_date(LAST, NOW);
	/* Each day of 400 years. */
	for (int64_t s = timegm(&(struct tm){.tm_year = -100, .tm_mday = 1});
		s < INT64_C(10413792000); s += 86400)
		check_date(s + hauli_random_below(&r, 86400), NOW);
	for (unsigned i = 0; i < 10000; i++) {
		int64_t now = hauli_random_below(&r, UINT32_MAX);

		check_date(hauli_random_below(&r, UINT32_MAX), now);
	}
}
END_TEST

START_TEST(years_of_two_digits_are_near)
{
	int64_t seconds, earlier;

	ck_assert(parse("Sunday, 06-Nov-94 08:49:37 GMT", NOW, &seconds));
	ck_assert(parse("Sun, 06 Nov 1994 08:49:37 GMT", NOW, &earlier));
	ck_assert_int_eq(seconds, earlier);
	ck_assert(parse("Friday, 06-Nov-76 08:49:37 GMT", NOW, &seconds));
	ck_assert(parse("Fri, 06 Nov 2076 08:49:37 GMT", NOW, &earlier));
	ck_assert_int_eq(seconds, earlier);
	ck_assert(parse("Sunday, 06-Nov-77 08:49:37 GMT", NOW, &seconds));
	ck_assert(parse("Sun, 06 Nov 1977 08:49:37 GMT", NOW, &earlier));
	ck_assert_int_eq(seconds, earlier);
}
END_TEST

START_TEST(others_are_no_dates)
{
	static const char *const texts[] = {"", "0", "Sun, 06 Nov 1994 08:49:37",
		"Sun, 06 Nov 1994 08:49:37 CET", "Sun, 06 Nov 1994 08:49:37 GMT ",
		" Sun, 06 Nov 1994 08:49:37 GMT", "Sun,06 Nov 1994 08:49:37 GMT",
		"Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT",
		"Sun, 06 nov 1994 08:49:37 GMT", "sun, 06 Nov 1994 08:49:37 GMT",
		"Son, 06 Nov 1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT",
		"Sun, 31 Nov 1994 08:49:37 GMT", "Sun, 29 Feb 1994 08:49:37 GMT",
		"Sun, 29 Feb 1900 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT",
		"Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
		"Sun, 06 Nov +994 08:49:37 GMT", "Sun, 06-Nov-94 08:49:37 GMT",
		"Sunday, 06-Nov-1994 08:49:37 GMT", "Sun Nov 6 08:49:37 1994",
		"Sun Nov 06 08:49:37 1994 GMT", "Sun Nov  6 08:49:37 94", "1994-11-06T08:49:37Z"};
	int64_t seconds;

	for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		ck_assert_msg(!parse(texts[i], NOW, &seconds), "%s is taken", texts[i]);
	ck_assert(parse("Tue, 29 Feb 2000 08:49:37 GMT", NOW, &seconds));
	ck_assert(parse("Sat, 31 Dec 2016 23:59:60 GMT", NOW, &seconds));
}
END_TEST

SUITE_MAIN("http_date", {dates_are_those_of_the_library}, {years_of_two_digits_are_near},
	{others_are_no_dates})
