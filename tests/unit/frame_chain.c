/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Code that keeps frame pointers: the chain of them ends at the beginning of the coroutine. That is
 * what perf record -g follows. This file is compiled with -fno-omit-frame-pointer.
 */
#include <stdatomic.h>
#include <stdint.h>

#include "sched/glue.h"
#include "support/runtime.h"
#include "support/suite.h"

#define LONGEST 16 /* chains here are shorter */
#define GUARD (UINT64_C(64) << 10) /* between two stacks */

static struct hauli_prototype prototype;
static struct hauli_record record;
static atomic_uint length; /* of the last chain; LONGEST: it has no end */

/* Walks the chain; a next frame on another stack counts as no end. */
static __attribute__((noinline)) void *walk(void *arg)
{
	void **frame = __builtin_frame_address(0);
	unsigned n = 0;

	for (; frame && n < LONGEST; n++) {
		void **next = *frame;

		if (next && (uintptr_t)next - (uintptr_t)frame - 1 >= GUARD)
			n = LONGEST - 1;
		frame = next;
	}
	length = n;
	return arg;
}

static void *walk_after_a_wait(void *arg)
{
	haul_yield();
	arg = walk(arg);
	asm volatile("" : "+r"(arg)); /* no tail call */
	return arg;
}

static void *handle(void *arg)
{
	arg = walk(arg);
	asm volatile("" : "+r"(arg));
	return NULL;
}

static void drop(struct hauli_record *r)
{
	(void)r;
}

static void *poll(void *arg)
{
	void *at[] = {&record};

	walk(NULL);
	ASSERT_EACH(
		arg == NULL || hauli_glue_spawn_records(haul_carrier_self(), &prototype, at, 0, 1));
	while (haul_maybe_yield(false))
		;
	return NULL;
}

static unsigned chain_of_poller(struct haul_carrier *c, bool starts_a_record)
{
	struct haul_coro *poller;

	length = 0;
	ck_assert_int_eq(
		haul_poller_register(c, &poller, poll, starts_a_record ? &prototype : NULL, NULL),
		0);
	WAIT_UNTIL(length > 0);
	haul_cancel(poller);
	ck_assert_int_eq(haul_join(poller, NULL, HAUL_FOREVER), 0);
	return length;
}

START_TEST(it_ends_with_a_coroutine)
{
	struct haul_runtime *rt = runtime_start(1);

	run_on(rt, 0, walk_after_a_wait, NULL);
	ck_assert_uint_eq(length, 3);
	ck_assert_uint_lt(chain_of_poller(haul_carrier(rt, 0), false), LONGEST);
	runtime_stop(rt);
}
END_TEST

START_TEST(it_ends_with_a_handler)
{
	const struct haul_coro_opts opts = {.name = "handler"};
	struct haul_runtime *rt = runtime_start(1);
	struct haul_carrier *c = haul_carrier(rt, 0);

	ck_assert_int_eq(hauli_glue_prototype_init(&prototype, c, handle, drop, &opts), 0);
	chain_of_poller(c, true);
	runtime_stop(rt);
	ck_assert_uint_eq(length, 3);
}
END_TEST

SUITE_MAIN("frame_chain", {it_ends_with_a_coroutine, 1}, {it_ends_with_a_handler, 1})
