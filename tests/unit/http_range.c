/* SPDX-License-Identifier: BSD-3-Clause */
/* haul-http: the field Range, with the RFC's examples and against a slow reading of random ones. */
#include "../../apps/haul-http/range.h"

#include <stdio.h>

#include "http_bed.h"
#include "support/stress.h"
#include "support/suite.h"

static struct http_range ranges[HTTP_RANGES_MAX];

static int parse(const char *value, uint64_t size)
{
	size_t n = strlen(value);

	return http_ranges((struct http_str){bed_copy(value, n), n}, size, ranges);
}

/* "FROM+LENGTH ..." or the result alone. */
static const struct {
	const char *value;
	uint64_t size;
	const char *expected;
} rows[] = {
	{"bytes=0-499", 10000, "0+500"},
	{"bytes=500-999", 10000, "500+500"},
	{"bytes=-500", 10000, "9500+500"},
	{"bytes=9500-", 10000, "9500+500"},
	{"bytes=0-0,-1", 10000, "0+1 9999+1"},
	{"bytes= 0-999, 4500-5499, -1000", 10000, "0+1000 4500+1000 9000+1000"},
	{"bytes=500-700,601-999", 10000, "500+201 601+399"},
	{"Bytes=0-0", 1, "0+1"},
	{"bytes=0-", 10, "0+10"},
	{"bytes=0-100", 10, "0+10"},
	{"bytes=-100", 10, "0+10"},
	{"bytes=9-9", 10, "9+1"},
	{"bytes=,,1-2,,", 10, "1+2"},
	{"bytes=5-6,20-", 10, "5+2"},
	{"bytes=0-18446744073709551615", 10, "0+10"},
	{"bytes=0-99999999999999999999999", 10, "0+10"},
	{"bytes=-99999999999999999999999", 10, "0+10"},
	{"bytes=10-", 10, "416"},
	{"bytes=10-20, 30-", 10, "416"},
	{"bytes=99999999999999999999999-", 10, "416"},
	{"bytes=18446744073709551615-", UINT64_MAX, "416"},
	{"bytes=-0", 10, "416"},
	{"bytes=0-", 0, "416"},
	{"bytes=-5", 0, "416"},
	{"bytes=-0", 0, "416"},
	{"bytes=", 10, "0"},
	{"bytes=,", 10, "0"},
	{"", 10, "0"},
	{"items=0-1", 10, "0"},
	{"bytes 0-1", 10, "0"},
	{"bytes =0-1", 10, "0"},
	{"bytes=1", 10, "0"},
	{"bytes=-", 10, "0"},
	{"bytes=--1", 10, "0"},
	{"bytes=2-1", 10, "0"},
	{"bytes=1-2-3", 10, "0"},
	{"bytes=+1-2", 10, "0"},
	{"bytes=0x1-2", 10, "0"},
	{"bytes=1 - 2", 10, "0"},
	{"bytes=0-1,x", 10, "0"},
	{"bytes=0-9,0-0", 10, "0"},
	{"bytes=0-,0-,0-", 10, "0"},
	{"bytes=0-0,1-1,2-2,3-3,4-4,5-5,6-6,7-7,8-8,9-9,10-10,11-11,12-12,13-13,14-14,15-15,16-16",
		100, "0"},
};

START_TEST(ranges_of_the_rfc_and_wrong_ones)
{
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int rc = parse(rows[i].value, rows[i].size), n = 0;
		char text[256];

		snprintf(text, sizeof(text), "%d", rc < 0 ? -rc : rc);
		for (int j = 0; j < rc; j++)
			n += snprintf(text + n, sizeof(text) - (size_t)n, "%s%llu+%llu",
				j ? " " : "", (unsigned long long)ranges[j].from,
				(unsigned long long)ranges[j].n);
		ck_assert_msg(strcmp(text, rows[i].expected) == 0, "%s of %llu: %s", rows[i].value,
			(unsigned long long)rows[i].size, text);
	}
}
END_TEST

/* One byte at a time: is it asked for by the range? */
START_TEST(ranges_have_the_bytes_asked_for)
{
	uint64_t deadline = stress_deadline();
	struct hauli_random r;

	hauli_random_init(&r, stress_seed());
	do {
		const unsigned size = hauli_random_below(&r, 30), kind = hauli_random_below(&r, 3);
		const unsigned a = hauli_random_below(&r, 40), b = a + hauli_random_below(&r, 40);
		char value[64];
		unsigned n = 0, first = 0;
		int rc;

		sprintf(value,
			kind == 0           ? "bytes=-%u"
				: kind == 1 ? "bytes=%u-"
					    : "bytes=%u-%u",
			a, b);
		for (unsigned i = 0; i < size; i++) {
			bool asked = kind == 0 ? i + a >= size : i >= a && (kind == 1 || i <= b);

			if (asked && n++ == 0)
				first = i;
		}
		rc = parse(value, size);
		ASSERT_EACH(rc == (n > 0 ? 1 : -416));
		if (n > 0)
			ASSERT_EACH(ranges[0].from == first && ranges[0].n == n);
	} while (haul_now() < deadline);
}
END_TEST

SUITE_MAIN("http_range", {ranges_of_the_rfc_and_wrong_ones}, {ranges_have_the_bytes_asked_for})
