/* SPDX-License-Identifier: BSD-3-Clause */
/* A runtime for tests: carriers on plain threads, floating if there are more carriers than CPUs. */
#ifndef HAUL_TESTS_RUNTIME_H
#define HAUL_TESTS_RUNTIME_H

#include <check.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include <haul/haul.h>

/* HAUL_STEAL=cluster or global: tests without a setting of their own run with stealing. */
static inline enum haul_steal runtime_steal_setting(void)
{
	const char *how = getenv("HAUL_STEAL");

	if (how && strcmp(how, "cluster") == 0)
		return HAUL_STEAL_CLUSTER;
	if (how && strcmp(how, "global") == 0)
		return HAUL_STEAL_GLOBAL;
	return HAUL_STEAL_OFF;
}

/* HAUL_RESCUE=MICROSECONDS: where they steal, slices that last so long are left behind. */
static inline uint64_t runtime_rescue_setting(enum haul_steal steal)
{
	const char *us = getenv("HAUL_RESCUE");

	return us && steal != HAUL_STEAL_OFF ? strtoull(us, NULL, 10) * HAUL_US : 0;
}

/* HAUL_POLL_INTERVAL=NANOSECONDS: after so long yields that the compiler placed are taken. */
static inline uint64_t runtime_poll_setting(void)
{
	const char *ns = getenv("HAUL_POLL_INTERVAL");

	return ns ? strtoull(ns, NULL, 10) : 0;
}

/* machine: a synthetic description for hwloc, or NULL. */
static inline struct haul_runtime *runtime_start_stealing(
	unsigned carriers, const char *machine, enum haul_steal steal)
{
	struct haul_plan_opts opts = {.carriers = carriers, .machine = machine};
	struct haul_runtime *rt = NULL;
	struct haul_plan *plan = NULL;
	char why[256] = "";

	ck_assert_msg(haul_plan_create(&plan, &opts, why, sizeof(why)) == 0, "%s", why);
	ck_assert_int_eq(haul_start(&rt,
				 &(struct haul_runtime_opts){.plan = plan,
					 .steal = steal,
					 .poll_interval_ns = runtime_poll_setting(),
					 .rescue_after_ns = runtime_rescue_setting(steal),
					 .watchdog_ns = HAUL_FOREVER},
				 NULL, 0),
		0);
	haul_plan_destroy(plan);
	ck_assert_uint_eq(haul_carriers(rt), carriers);
	return rt;
}

static inline struct haul_runtime *runtime_start(unsigned carriers)
{
	return runtime_start_stealing(carriers, NULL, runtime_steal_setting());
}

static inline void runtime_stop(struct haul_runtime *rt)
{
	ck_assert_int_eq(haul_stop(rt, HAUL_FOREVER), 0);
}

/* In a coroutine, where check's macros cannot jump out: it returns what is wrong, or NULL. */
#define EXPECT(condition)                  \
	do {                               \
		if (!(condition))          \
			return #condition; \
	} while (0)

/* Runs fn(arg) as a coroutine of carrier i and returns its result. */
static inline void *run_on(struct haul_runtime *rt, unsigned i, haul_fn *fn, void *arg)
{
	struct haul_coro *co;
	void *result;

	ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, i), &co, fn, arg, NULL), 0);
	ck_assert_int_eq(haul_join(co, &result, HAUL_FOREVER), 0);
	return result;
}

/* Waits for a condition, never for a time; for threads and for coroutines. */
#define WAIT_UNTIL(cond)                       \
	do {                                   \
		while (!(cond)) {              \
			if (haul_self())       \
				haul_yield();  \
			else                   \
				sched_yield(); \
		}                              \
	} while (0)

#endif
