/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults come as often as the seed says, and stay where they are if others are suppressed. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <haul-sim/sim.h>
#include <haul/sometimes.h>

#include "sim/fault.h"
#include "support/suite.h"

#define ASKED 200000
#define SEEDS 200
#define KEPT 64

/* A run, in which each kind has as many opportunities. */
static struct run {
	uint64_t n[HAULI_SIM_FAULTS];
	struct {
		unsigned at;
		uint64_t drawn;
	} strikes[HAULI_SIM_FAULTS][KEPT];
} first, second;

static void ask(struct run *r, uint64_t seed, const char *faults)
{
	struct hauli_sim_fault_set set;

	memset(r, 0, sizeof(*r));
	ck_assert_int_eq(hauli_sim_faults_parse(&set, faults, NULL, 0), 0);
	hauli_sim_faults_begin(seed, &set);
	for (unsigned i = 0; i < ASKED; i++)
		for (unsigned kind = 0; kind < HAULI_SIM_SOMETIMES; kind++) {
			uint64_t n = r->n[kind];

			if (!hauli_sim_strikes(kind))
				continue;
			r->n[kind]++;
			if (n >= KEPT)
				continue;
			r->strikes[kind][n].at = i;
			r->strikes[kind][n].drawn = hauli_sim_fault_draw(kind, 1000000);
		}
	hauli_sim_faults_end();
	free(set.ranges);
}

START_TEST(half_of_the_runs_have_a_kind)
{
	unsigned on[HAULI_SIM_FAULTS] = {0};
	uint64_t least = UINT64_MAX, most = 0;

	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		ask(&first, seed, "loss,duplicate,late,flip");
		for (unsigned kind = 0; kind < HAULI_SIM_FAULTS; kind++)
			on[kind] += first.n[kind] > 0;
		if (first.n[HAULI_SIM_LOSS] > 0 && first.n[HAULI_SIM_LOSS] < least)
			least = first.n[HAULI_SIM_LOSS];
		if (first.n[HAULI_SIM_LOSS] > most)
			most = first.n[HAULI_SIM_LOSS];
	}
	ck_assert_uint_eq(on[HAULI_SIM_STALL], 0);
	ck_assert(on[HAULI_SIM_LOSS] > SEEDS / 3 && on[HAULI_SIM_LOSS] < 2 * SEEDS / 3);
	ck_assert(on[HAULI_SIM_FLIP] > SEEDS / 4 && on[HAULI_SIM_FLIP] < 2 * SEEDS / 3);
	/* As often as in one of 3, and as rarely as in one of 10,000. */
	ck_assert_uint_lt(least, ASKED / 3000);
	ck_assert_uint_gt(most, ASKED / 10);
}
END_TEST

START_TEST(kinds_do_not_shift_each_other)
{
	for (uint64_t seed = 0; seed < SEEDS / 10; seed++) {
		ask(&first, seed, "all");
		ask(&second, seed, "loss,late");
		ck_assert_uint_eq(first.n[HAULI_SIM_LOSS], second.n[HAULI_SIM_LOSS]);
		ck_assert_mem_eq(first.strikes[HAULI_SIM_LOSS], second.strikes[HAULI_SIM_LOSS],
			sizeof(first.strikes[0]));
		ck_assert_mem_eq(first.strikes[HAULI_SIM_LATE], second.strikes[HAULI_SIM_LATE],
			sizeof(first.strikes[0]));
		ck_assert_uint_eq(second.n[HAULI_SIM_FLIP], 0);
	}
}
END_TEST

START_TEST(strikes_do_not_shift_each_other)
{
	unsigned seen = 0;

	for (uint64_t seed = 0; seed < SEEDS / 10; seed++) {
		ask(&first, seed, "loss");
		ask(&second, seed, "loss:2,loss:5-6");
		if (first.n[HAULI_SIM_LOSS] < 6)
			continue;
		seen++;
		ck_assert_uint_eq(second.n[HAULI_SIM_LOSS], 3);
		for (unsigned i = 0; i < 3; i++)
			ck_assert_mem_eq(&second.strikes[HAULI_SIM_LOSS][i],
				&first.strikes[HAULI_SIM_LOSS][i ? i + 3 : 1],
				sizeof(first.strikes[0][0]));
	}
	ck_assert_uint_gt(seen, 3);
}
END_TEST

START_TEST(faults_stop_and_start)
{
	struct hauli_sim_fault_set set;
	unsigned n = 0;

	ck_assert_int_eq(hauli_sim_faults_parse(&set, "all", NULL, 0), 0);
	for (uint64_t seed = 0; seed < 20; seed++) {
		hauli_sim_faults_begin(seed, &set);
		haul_sim_faults_stop();
		for (unsigned i = 0; i < ASKED / 10; i++)
			ck_assert(!hauli_sim_strikes(HAULI_SIM_LOSS) && !HAUL_SOMETIMES("x"));
		haul_sim_faults_start();
		for (unsigned i = 0; i < ASKED; i++)
			n += hauli_sim_strikes(HAULI_SIM_LOSS) + HAUL_SOMETIMES("x");
		hauli_sim_faults_end();
	}
	ck_assert_uint_gt(n, 100);
	for (unsigned i = 0; i < ASKED; i++)
		ck_assert(!hauli_sim_strikes(HAULI_SIM_LOSS) && !HAUL_SOMETIMES("x"));
}
END_TEST

START_TEST(calls_fail_as_they_may)
{
	struct hauli_sim_fault_set set;
	unsigned n = 0;
	int err;

	ck_assert_int_eq(hauli_sim_faults_parse(&set, "syscall", NULL, 0), 0);
	for (uint64_t seed = 0; seed < 20; seed++) {
		hauli_sim_faults_begin(seed, &set);
		for (unsigned i = 0; i < 10000; i++) {
			ck_assert(!hauli_sim_fails("getpid", &err));
			if (!hauli_sim_fails("pthread_create", &err))
				continue;
			ck_assert_int_eq(err, EAGAIN);
			n++;
		}
		hauli_sim_faults_end();
	}
	ck_assert_uint_gt(n, 20);
}
END_TEST

static const struct {
	const char *text, *said; /* NULL: it is right */
} texts[] = {
	{"all", NULL},
	{"none", NULL},
	{"loss", NULL},
	{"loss,loss:3,stall:7-9", NULL},
	{"", "faults: \"\" is none: --list shows them"},
	{"los", "faults: \"los\" is none: --list shows them"},
	{"loss,", "faults: \"\" is none: --list shows them"},
	{"all,loss", "faults: \"all\" is none: --list shows them"},
	{"loss:", "faults: \"loss:\" should be as loss:3 or loss:7-9"},
	{"loss:0", "faults: \"loss:0\" should be as loss:3 or loss:7-9"},
	{"late,loss:9-7", "faults: \"loss:9-7\" should be as loss:3 or loss:7-9"},
	{"loss:3x", "faults: \"loss:3x\" should be as loss:3 or loss:7-9"},
};

START_TEST(texts_are_read)
{
	struct hauli_sim_fault_set set;
	char why[128] = "";
	int rc = hauli_sim_faults_parse(&set, texts[_i].text, why, sizeof(why));

	ck_assert_int_eq(rc, texts[_i].said ? -EINVAL : 0);
	ck_assert_str_eq(why, texts[_i].said ? texts[_i].said : "");
	free(set.ranges);
}
END_TEST

SUITE_MAIN("sim_strikes", {half_of_the_runs_have_a_kind, 1}, {kinds_do_not_shift_each_other, 1},
	{strikes_do_not_shift_each_other, 1}, {faults_stop_and_start, 1},
	{calls_fail_as_they_may, 1}, {texts_are_read, sizeof(texts) / sizeof(texts[0])})
