/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plain thread joins while another one stops the runtime: the joiner has passed the gate, and is
 * held before its request until the stop waits for it.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "conc/completion.h"

static void hold(void);
/* Each join of a thread does this once, between the gate and its request. */
#define hauli_completion_init(event) (hold(), hauli_completion_init(event))
#include "sched/wait/join.c"

#include "support/runtime.h"
#include "support/suite.h"

static struct haul_runtime *rt;
static atomic_bool waits, stopped; /* the stopper */
static _Thread_local bool is_stopper;

/* In place of libc's: the stop calls it while threads are inside its gates. */
int sched_yield(void)
{
	if (is_stopper && (rt->joins.word & 1) != 0)
		waits = true;
	return (int)syscall(SYS_sched_yield);
}

static void *stops(void *arg)
{
	int err;

	is_stopper = true;
	err = haul_stop(rt, HAUL_FOREVER);
	stopped = true;
	return (void *)(intptr_t)err;
}

static pthread_t stopper;

static void hold(void)
{
	ck_assert_int_eq(pthread_create(&stopper, NULL, stops, NULL), 0);
	WAIT_UNTIL(waits || stopped);
	ck_assert_msg(!stopped, "the runtime has ended, and the join would ask it");
}

static void *ends_when_cancelled(void *arg)
{
	(void)haul_sleep(3600 * HAUL_S);
	return arg;
}

START_TEST(a_stop_waits_for_a_join_that_has_not_asked_yet)
{
	uint64_t deadline = _i == 0 ? HAUL_FOREVER : haul_in(3600 * HAUL_S);
	struct haul_coro *co;
	void *result, *err;

	waits = stopped = false;
	rt = runtime_start(2);
	ck_assert_int_eq(
		haul_spawn_on(haul_carrier(rt, 1), &co, ends_when_cancelled, &result, NULL), 0);
	ck_assert_int_eq(haul_join(co, &result, deadline), 0);
	ck_assert_ptr_eq(result, &result);
	ck_assert_int_eq(pthread_join(stopper, &err), 0);
	ck_assert_int_eq((intptr_t)err, 0);
}
END_TEST

SUITE_MAIN("join_stop", {a_stop_waits_for_a_join_that_has_not_asked_yet, 2})
