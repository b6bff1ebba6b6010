/* SPDX-License-Identifier: BSD-3-Clause */
/* Call stacks of suspended coroutines. */
#include "coro/trace.h"

#include <stdatomic.h>

#include "sched/state/carrier.h"

#include "support/runtime.h"
#include "support/suite.h"

#define DEPTH 5
#define MOST 32

static atomic_uint waiting;
static char *places[DEPTH + 1]; /* ends of calls, innermost first */

/* Each frame notes where it returns to, in its caller. */
static __attribute__((noinline)) int descend(unsigned depth)
{
	char big[100];
	int sum = 0;

	places[depth] = __builtin_extract_return_addr(__builtin_return_address(0));
	memset(big, (int)depth, sizeof(big));
	if (depth == 0) {
		waiting = 1;
		haul_park(HAUL_FOREVER);
	} else {
		sum = descend(depth - 1);
	}
	return sum + big[depth];
}

static void *descends(void *arg)
{
	return (void *)(intptr_t)descend(DEPTH);
}

static unsigned index_of(void *const *pcs, unsigned n, const void *pc)
{
	unsigned i;

	for (i = 0; i < n && pcs[i] != pc; i++)
		;
	return i;
}

START_TEST(a_suspended_coroutine_has_its_frames)
{
	struct haul_runtime *rt = runtime_start(1);
	struct haul_coro *co;
	void *pcs[MOST];
	unsigned n, first;

	hauli_trace_init();
	waiting = 0;
	ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, 0), &co, descends, NULL, NULL), 0);
	/* Its context is complete when the carrier sleeps. */
	WAIT_UNTIL(waiting && hauli_inbox_is_asleep(&haul_carrier(rt, 0)->mail.inbox));
	n = hauli_trace(&co->co.ctx, pcs, MOST);
	first = index_of(pcs, n, places[0] - 1);
	ck_assert_uint_ge(first, 1); /* haul_park() */
	ck_assert_uint_lt(first, 4);
	for (unsigned i = 0; i <= DEPTH; i++)
		ck_assert_ptr_eq(pcs[first + i], places[i] - 1);
	ck_assert_uint_lt(n, first + DEPTH + 6); /* it ends at the coroutine's first function */
	ck_assert_ptr_eq(pcs[0], co->co.ctx.pc);
	ck_assert_uint_eq(hauli_trace(&co->co.ctx, pcs, 3), 3);
	hauli_trace_print(pcs, 3, stderr);
	haul_unpark(co);
	ck_assert_int_eq(haul_join(co, NULL, HAUL_FOREVER), 0);
	runtime_stop(rt);
}
END_TEST

SUITE_MAIN("trace", {a_suspended_coroutine_has_its_frames, 1})
