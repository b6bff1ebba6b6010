/* SPDX-License-Identifier: BSD-3-Clause */
#include "errors_bed.h"

#include <errno.h>
#include <stdatomic.h>

#include "support/faults.h"

struct haul_runtime *rt;
struct haul_plan *plan;

static const struct promise promises[] = {
#include "errors.inc"
};

static struct promises tested;

void *errors_parks(void *arg)
{
	while (haul_park(HAUL_FOREVER) == 0)
		;
	return arg;
}

int errors_start(struct haul_runtime **out, const struct haul_runtime_opts *opts)
{
	struct haul_runtime_opts o = *opts;

	o.watchdog_ns = o.watchdog_ns ? o.watchdog_ns : HAUL_FOREVER;
	o.plan = o.plan ? o.plan : plan;
	return haul_start(out, &o, LINE);
}

static void begin(void)
{
	const struct haul_plan_opts two = {.machine = "core:2 pu:1"};

	if (!plan)
		ck_assert_int_eq(haul_plan_create(&plan, &two, LINE), 0);
	ck_assert_int_eq(errors_start(&rt, &(struct haul_runtime_opts){0}), 0);
}

void errors_end(void)
{
	if (rt)
		runtime_stop(rt);
	rt = NULL;
}

static void *make_here(void *make)
{
	return (void *)(intptr_t)(*(int (**)(void))make)();
}

/* The objects of the first coroutine are few, so that a call that spawns some needs more. */
static int on_carrier(int (*make)(void))
{
	struct haul_coro *co;
	void *result = NULL;
	int err;

	faults_limit(64 << 10);
	err = haul_spawn_on(haul_carrier(rt, 0), &co, make_here, &make, NULL);
	faults_limit(0);
	/* check's macros take memory, which may fail until the call has ended */
	if (!err)
		err = haul_join(co, &result, HAUL_FOREVER);
	ck_assert_int_eq(err, 0);
	return (int)(intptr_t)result;
}

/* A coroutine of rt that waits until the stop has cancelled it, and makes a call then. */
static struct {
	int (*make)(void);
	int result;
	atomic_bool began;
} late;

static void *makes_late(void *arg)
{
	late.began = true;
	errors_parks(NULL);
	late.result = late.make();
	return NULL;
}

int errors_at_stop(int (*make)(void))
{
	late.make = make;
	late.began = false;
	ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, 0), NULL, makes_late, NULL, NULL), 0);
	WAIT_UNTIL(late.began);
	errors_end();
	return late.result;
}

START_TEST(a_call_returns_only_what_its_header_names)
{
	promises_check(&tested, (unsigned)_i);
}
END_TEST

START_TEST(each_error_that_a_header_names_was_seen)
{
	promises_check_all_seen(&tested);
}
END_TEST

int errors_main(struct promises table, const TTest *before)
{
	const struct suite_test tests[] = {{before, 1},
		{a_call_returns_only_what_its_header_names, (int)table.nb_calls},
		{each_error_that_a_header_names_was_seen, 1}};
	int rc;

	tested = table;
	tested.promises = promises;
	tested.nb_promises = sizeof(promises) / sizeof(promises[0]);
	tested.begin = begin;
	tested.end = errors_end;
	tested.on_carrier = on_carrier;
	rc = before ? suite_run("errors", tests, 3) : suite_run("errors", tests + 1, 2);
	haul_plan_destroy(plan);
	return rc;
}
