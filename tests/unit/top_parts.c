/* SPDX-License-Identifier: BSD-3-Clause */
/* haul-top: texts, tables, samples and recordings, without a program or a terminal. */
#include "../../apps/haul-top/json.h"
#include "../../apps/haul-top/quantile.h"
#include "../../apps/haul-top/record.h"
#include "../../apps/haul-top/sample.h"
#include "../../apps/haul-top/tables.h"
#include "../../apps/haul-top/text.h"
#include "../../apps/haul-top/views.h"

#include <haul/base.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/suite.h"

START_TEST(numbers_are_short)
{
	static const struct {
		double n;
		const char *text;
	} cases[] = {{0, "0"}, {0.25, "0.25"}, {7, "7"}, {9.994, "9.99"}, {12.7, "13"},
		{999, "999"}, {999.4, "999"}, {999.6, "1.00k"}, {1234, "1.23k"}, {99949, "99.9k"},
		{999499, "999k"}, {999500, "1.00M"}, {26.1e6, "26.1M"}, {1e18, "1.00E"},
		{9.2e18, "9.20E"}, {NAN, "-"}, {-1, "-"}};
	char text[16];

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		top_text_number(text, sizeof(text), cases[i].n);
		ck_assert_str_eq(text, cases[i].text);
		ck_assert_uint_le(strlen(text), 5);
	}
}
END_TEST

START_TEST(times_are_short)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} cases[] = {{0, "0"}, {999, "999ns"}, {1000, "1.00us"}, {999499, "999us"},
		{999500, "1.00ms"}, {12345678, "12.3ms"}, {45 * HAUL_S, "45.0s"},
		{120 * HAUL_S, "2min"}, {3 * 3600 * HAUL_S, "3h"}, {10 * 86400 * HAUL_S, "10d"}};
	char text[16];

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		top_text_time(text, sizeof(text), cases[i].ns);
		ck_assert_str_eq(text, cases[i].text);
	}
	for (uint64_t ns = 1; ns < UINT64_MAX / 3; ns += ns / 2 + 1) {
		top_text_time(text, sizeof(text), ns);
		ck_assert_uint_le(strlen(text), 6);
	}
	top_text_clock(text, sizeof(text), 90061);
	ck_assert_str_eq(text, "1d 01:01:01");
}
END_TEST

START_TEST(texts_of_others_are_cleaned)
{
	char text[] = "a\x1b[31m\xc3\xa9\n";

	top_text_clean(text);
	ck_assert_str_eq(text, "a?[31m???");
}
END_TEST

static const struct top_column columns[] = {
	{"name", 4, TOP_WORDS}, {"n", 5, TOP_COUNT}, {"bar", 6, TOP_SHARES}, {NULL}};

static void add(struct top_table *t, const char *name, double n)
{
	top_table_row(t);
	top_table_words(t, "%s", name);
	top_table_number(t, n);
	top_table_bar(t, n / 10, 0.5);
}

static struct top_table a_table(void)
{
	struct top_table t;

	top_table_begin(&t, columns);
	add(&t, "beta", 2);
	add(&t, "alpha", NAN);
	add(&t, "Gamma", 5);
	return t;
}

/* The names in the order in which they are shown. */
static const char *names(const struct top_order *order, unsigned rows)
{
	struct top_table t = a_table();
	struct top_page p = {0};
	static char all[8];

	memset(all, 0, sizeof(all));
	top_page_clear(&p, 40);
	top_table_show(&t, order, &p, rows);
	for (unsigned i = 1; i < p.nb; i++) {
		all[i - 1] = p.lines[i].text[0];
		ck_assert_uint_le(p.lines[i].n, 40);
	}
	top_table_free(&t);
	top_page_free(&p);
	return all;
}

START_TEST(rows_are_sorted)
{
	ck_assert_str_eq(names(&(struct top_order){-1, false, ""}, 9), "baG");
	ck_assert_str_eq(names(&(struct top_order){0, false, ""}, 9), "abG");
	ck_assert_str_eq(names(&(struct top_order){1, false, ""}, 9), "Gba");
	ck_assert_str_eq(names(&(struct top_order){1, true, ""}, 9), "abG");
	ck_assert_str_eq(names(&(struct top_order){1, false, ""}, 1), "G");
}
END_TEST

START_TEST(rows_are_filtered)
{
	ck_assert_str_eq(names(&(struct top_order){0, false, "A"}, 9), "abG");
	ck_assert_str_eq(names(&(struct top_order){0, false, "gam"}, 9), "G");
	ck_assert_str_eq(names(&(struct top_order){0, false, "5"}, 9), "G");
	ck_assert_str_eq(names(&(struct top_order){0, false, "none"}, 9), "");
}
END_TEST

START_TEST(tables_fit)
{
	for (unsigned width = 1; width <= TOP_WIDTH; width++) {
		struct top_table t = a_table();
		struct top_page p = {0};

		top_page_clear(&p, width);
		top_table_show(&t, &(struct top_order){-1, false, ""}, &p, 9);
		for (unsigned i = 0; i < p.nb; i++) {
			ck_assert_uint_le(p.lines[i].n, width);
			ck_assert_uint_eq(strlen(p.lines[i].text), p.lines[i].n);
		}
		top_table_free(&t);
		top_page_free(&p);
	}
}
END_TEST

static json_t *sample(int64_t pid, int64_t at_s, int64_t packets, const char *spec)
{
	return json_pack("{s:i, s:I, s:{s:{s:I, s:{s:{s:I, s:s}}}}}", "at", 1, "pid",
		(json_int_t)pid, "answers", "/haul/ports", "at_ns",
		(json_int_t)at_s * (json_int_t)HAUL_S, "values", "0", "rx_packets",
		(json_int_t)packets, "spec", spec);
}

/* Of a port, from a sample of 100 packets at 10 s. */
static double rate_of(int64_t pid, int64_t at_s, int64_t packets, const char *spec)
{
	struct top_pair pair = {NULL, NULL};
	double rate;

	top_pair_push(&pair, sample(1, 10, 100, "null:"));
	ck_assert(isnan(top_rate(&pair, "/haul/ports", 0, "rx_packets")));
	top_pair_push(&pair, sample(pid, at_s, packets, spec));
	ck_assert(isnan(top_rate(&pair, "/haul/ports", 0, "none")));
	ck_assert(isnan(top_rate(&pair, "/haul/ports", 1, "rx_packets")));
	rate = top_rate(&pair, "/haul/ports", 0, "rx_packets");
	top_pair_clear(&pair);
	return rate;
}

START_TEST(rates_are_of_two_samples)
{
	ck_assert_double_eq(rate_of(1, 12, 300, "null:"), 100);
	ck_assert_double_eq(rate_of(1, 12, 100, "null:"), 0);
	ck_assert(isnan(rate_of(1, 12, 99, "null:"))); /* it began anew */
	ck_assert(isnan(rate_of(2, 12, 300, "null:"))); /* another program */
	ck_assert(isnan(rate_of(1, 12, 300, "ring:"))); /* another port */
	ck_assert(isnan(rate_of(1, 10, 300, "null:")));
}
END_TEST

START_TEST(the_last_figures_of_a_program_stay)
{
	struct top_pair pair = {NULL, NULL};

	top_pair_push(&pair, sample(1, 10, 100, "null:"));
	ck_assert(top_pair_push(&pair, sample(1, 12, 300, "null:")));
	ck_assert(!top_pair_push(&pair,
		json_pack("{s:i, s:{s:{s:i, s:{s:s}}}}", "pid", 1, "answers", "/haul/ports",
			"at_ns", 5, "values", "error", "it is about to end")));
	ck_assert_double_eq(top_rate(&pair, "/haul/ports", 0, "rx_packets"), 100);
	top_pair_push(&pair, sample(2, 14, 500, "null:"));
	ck_assert_int_eq(top_number(pair.now, "pid"), 2);
	top_pair_clear(&pair);
}
END_TEST

/* Shows the views of a sample, whatever it is. */
static void show_all(json_t *now)
{
	struct top_pair pair = {NULL, NULL};
	struct top_page p = {0};

	top_pair_push(&pair, json_incref(now));
	top_pair_push(&pair, json_incref(now));
	for (unsigned width = 1; width <= 120; width += 7)
		for (unsigned i = 0; i < TOP_VIEWS; i++) {
			const struct top_order order = {
				top_view_first((enum top_view)i), false, ""};

			top_page_clear(&p, width);
			top_view_summary(&pair, &p);
			top_view_show((enum top_view)i, &pair, &order, &p, 20);
			ck_assert_uint_gt(p.nb, 2);
		}
	top_page_free(&p);
	top_pair_clear(&pair);
}

START_TEST(views_take_any_values)
{
	static const char *const values[] = {"{}", "null", "5", "[]", "{\"error\": \"no\"}",
		"{\"error\": 1}", "{\"0\": 1, \"1\": {}}", "{\"0\": {\"ready\": -1}}",
		"{\"0\": {\"what\": \"\\u001b[31m\", \"name\": [], \"ns\": -9}, \"next\": 0}",
		"{\"0\": {\"spec\": \"\\u00e9\", \"rx_packets\": 1.5, \"handler\": {\"p50_ns\": "
		"9223372036854775807}}}"};

	for (unsigned i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		json_t *one = json_object(), *answers = json_object();

		for (unsigned c = 0; top_commands[c]; c++) {
			json_t *any = json_loads(values[i], JSON_DECODE_ANY, NULL);

			ck_assert_ptr_nonnull(any);
			json_object_set_new(answers, top_commands[c],
				json_pack("{s:i, s:o}", "at_ns", 5, "values", any));
		}
		json_object_set_new(one, "answers", answers);
		show_all(one);
		json_decref(one);
	}
	show_all(json_null());
}
END_TEST

START_TEST(waits_for_the_same_are_one_row)
{
	static const char *const shown[][6] = {
		{"a", "2", "-", "mutex held by b 0x1", "9.00s", "5ns"},
		{"a", "1", "0", "mutex 0x1", "1ns", "-"},
		{"b", "1", "1", "mutex held by b 0x1", "2ns", "-"},
		{"b", "2", "1", "input of fd", "3.00s", "1ns"},
	};
	json_t *one = json_pack("{s:{s:{s:i, s:o}}}", "answers", "/haul/waits", "at_ns", 5,
		"values",
		json_loads("{\"0\": {\"name\": \"a\", \"carrier\": 1, \"what\": \"mutex\","
			   "\"object\": \"0x1\", \"holder\": \"b\", \"ns\": 9000000000},"
			   "\"1\": {\"name\": \"a\", \"carrier\": 0, \"what\": \"mutex\","
			   "\"object\": \"0x1\", \"holder\": \"b\", \"ns\": 7, \"left_ns\": 5},"
			   "\"2\": {\"name\": \"a\", \"what\": \"mutex\", \"object\": \"0x1\","
			   "\"carrier\": 0, \"ns\": 1},"
			   "\"3\": {\"name\": \"b\", \"carrier\": 1, \"what\": \"mutex\","
			   "\"object\": \"0x1\", \"holder\": \"b\", \"ns\": 2},"
			   "\"4\": {\"name\": \"b\", \"carrier\": 1, \"ns\": 3000000000,"
			   "\"what\": \"input of fd 7\", \"left_ns\": 1},"
			   "\"5\": {\"name\": \"b\", \"carrier\": 1, \"ns\": 2,"
			   "\"what\": \"input of fd 12\", \"left_ns\": 2}}",
			0, NULL));
	struct top_pair pair = {one, NULL};
	struct top_table t;

	top_view_fill(&t, TOP_WAITS, &pair);
	ck_assert_uint_eq(t.nb_rows, 4);
	for (unsigned row = 0; row < t.nb_rows; row++)
		for (unsigned i = 0; i < t.nb_columns; i++)
			ck_assert_str_eq(t.cells[row * t.nb_columns + i].text, shown[row][i]);
	top_table_free(&t);
	json_decref(one);
}
END_TEST

START_TEST(quantiles_are_of_the_interval)
{
	json_t *now = json_loads(
		       "{\"127\": 150, \"7\": 10, \"1099511627775\": 1, \"95\": 3}", 0, NULL),
	       *before = json_loads("{\"127\": 50, \"7\": 10, \"95\": 4}", 0, NULL);
	struct top_buckets b;

	top_buckets_get(&b, now, before);
	ck_assert_uint_eq(b.all, 101); /* fewer than before: not counted */
	ck_assert_double_eq_tol(top_quantile(&b, 0.5), 127 - 16 * 49.5 / 100, 0.001);
	ck_assert_double_ge(top_quantile(&b, 0.999), 1e12);
	ck_assert_double_le(top_quantile(&b, 1), 1099511627775.0);
	top_buckets_get(&b, now, NULL);
	ck_assert_uint_eq(b.all, 164);
	ck_assert_double_le(top_quantile(&b, 0.01), 7);
	ck_assert_double_ge(top_quantile(&b, 0), -1);
	top_buckets_get(&b, now, now);
	ck_assert(isnan(top_quantile(&b, 0.5)));
	json_decref(now);
	json_decref(before);
}
END_TEST

/* Percentiles of values at random, against those of the values. */
START_TEST(quantiles_are_near)
{
	static double values[4000];
	json_t *counts = json_object();
	struct top_buckets b;
	char last[24];

	for (unsigned i = 0; i < 4000; i++) {
		double v = values[i] = 1000.0 * exp((double)i / 400); /* sorted */
		uint64_t n = (uint64_t)v, power = (uint64_t)1 << (63 - __builtin_clzll(n)),
			 width = power / 4;

		snprintf(last, sizeof(last), "%llu",
			(unsigned long long)(power + (n - power) / width * width + width - 1));
		json_object_set_new(counts, last,
			json_integer(1 + json_integer_value(json_object_get(counts, last))));
	}
	top_buckets_get(&b, counts, NULL);
	ck_assert_uint_eq(b.all, 4000);
	for (double share = 0.01; share < 1; share += 0.01) {
		double want = values[(unsigned)(share * 4000)], is = top_quantile(&b, share);

		ASSERT_EACH(is > want / 1.02 && is < want * 1.02);
	}
	json_decref(counts);
}
END_TEST

static char path[64] = "/tmp/top_parts_XXXXXX";

static void write_text(const char *text)
{
	FILE *file = fopen(path, "w");

	ck_assert_ptr_nonnull(file);
	ck_assert_int_ge(fputs(text, file), 0);
	ck_assert_int_eq(fclose(file), 0);
}

/* How many samples the text has, as a recording; 0: it is none. */
static unsigned samples_of(const char *text)
{
	struct top_replay r;
	char why[64];
	unsigned n;

	write_text(text);
	if (!top_replay_begin(&r, path, why, sizeof(why))) {
		ck_assert_uint_gt(strlen(why), 0);
		return 0;
	}
	n = r.nb;
	for (unsigned i = 0; i < n; i++)
		json_decref(top_replay_sample(&r, i));
	top_replay_end(&r);
	return n;
}

START_TEST(recordings_come_back)
{
	json_t *one = sample(1, 10, 100, "null:"), *back;
	struct top_replay r;
	char why[64];
	FILE *file;
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	close(fd);
	file = top_record_begin(path);
	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(top_record_add(file, one), 0);
	ck_assert_int_eq(top_record_add(file, one), 0);
	ck_assert(top_replay_begin(&r, path, why, sizeof(why))); /* while it is written */
	fclose(file);
	ck_assert_uint_eq(r.nb, 2);
	back = top_replay_sample(&r, 1);
	ck_assert(json_equal(one, back));
	json_decref(back);
	json_decref(one);
	top_replay_end(&r);
	ck_assert_uint_eq(samples_of(""), 0);
	ck_assert_uint_eq(samples_of("{}\n{}\n"), 0);
	ck_assert_uint_eq(samples_of("{\"haul_top\": 1}\n"), 0);
	ck_assert_uint_eq(samples_of("{\"haul_top\": 2}\n{}\n"), 0);
	ck_assert_uint_eq(samples_of("{\"haul_top\": 1}\n{\"answers\": {}}\n{\"answ"), 1);
	ck_assert_uint_eq(samples_of("{\"haul_top\": 1}\n[[[[\n5\n"), 2);
	unlink(path);
	ck_assert(!top_replay_begin(&r, "/dev/zero", why, sizeof(why)));
	ck_assert(!top_replay_begin(&r, "/none", why, sizeof(why)));
}
END_TEST

SUITE_MAIN("top_parts", {numbers_are_short}, {times_are_short}, {texts_of_others_are_cleaned},
	{rows_are_sorted}, {rows_are_filtered}, {tables_fit}, {rates_are_of_two_samples},
	{the_last_figures_of_a_program_stay}, {quantiles_are_of_the_interval}, {quantiles_are_near},
	{views_take_any_values}, {waits_for_the_same_are_one_row}, {recordings_come_back})
