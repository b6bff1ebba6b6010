/* SPDX-License-Identifier: BSD-3-Clause */
/* High-water marks of stacks: how much each function has used, whose stack it was before, too. */
#include <stdatomic.h>
#include <stdio.h>

#include "sched/glue.h"
#include "sched/state/marks.h"
#include "sched/state/runtime.h"
#include "support/runtime.h"
#include "support/suite.h"

#define DEEP 10000 /* bytes */
#define SHALLOW (HAULI_ASAN || HAULI_TSAN ? 9000 : 3000) /* more than a function here needs */
#define TIMES 100

static struct haul_runtime *rt;
static struct haul_coro *parked;
static struct hauli_prototype prototype;
static struct hauli_record record;
static atomic_bool handled;

static void start_runtime(bool marks)
{
	const struct haul_plan_opts opts = {.carriers = 1};
	struct haul_plan *plan;
	char why[256];

	ck_assert_int_eq(haul_plan_create(&plan, &opts, why, sizeof(why)), 0);
	ck_assert_int_eq(
		haul_start(&rt, &(struct haul_runtime_opts){.plan = plan, .stack_marks = marks},
			NULL, 0),
		0);
	haul_plan_destroy(plan);
}

static __attribute__((noinline)) void use_stack(void)
{
	char bytes[DEEP];

	memset(bytes, 1, sizeof(bytes));
	asm volatile("" : : "r"(bytes) : "memory");
}

static void *is_deep(void *arg)
{
	use_stack();
	return arg;
}

static void *is_shallow(void *arg)
{
	return arg;
}

static void *is_deep_and_parks(void *arg)
{
	use_stack();
	parked = haul_self();
	haul_park(HAUL_FOREVER);
	return arg;
}

/* Each on the stack of the one before; then each on one from the cache. */
static void *spawns(void *arg)
{
	for (int i = 0; i < 2 * TIMES; i++) {
		haul_fn *fn = i % 2 ? is_shallow : is_deep;
		const struct haul_coro_opts opts = {
			.name = i % 2 ? (i == 1 ? "shallow" : "flat") : "deep"};

		ASSERT_EACH(haul_spawn(NULL, fn, NULL, &opts) == 0);
		if (i >= TIMES)
			haul_yield();
	}
	ASSERT_EACH(haul_spawn(NULL, is_deep_and_parks, NULL,
			    &(struct haul_coro_opts){.name = "parked", .stack_size = 50000}) == 0);
	haul_yield();
	return arg;
}

/* The line of that name in the dump. */
static bool line_of(const char *name, size_t *used, size_t *of, unsigned *ended)
{
	char *text = NULL, *line = NULL, key[64];
	size_t length = 0;
	FILE *f = open_memstream(&text, &length);

	ck_assert_ptr_nonnull(f);
	haul_dump(rt, f);
	fclose(f);
	snprintf(key, sizeof(key), " (%s): used at most ", name);
	line = strstr(text, key);
	if (line)
		ck_assert_int_eq(sscanf(line + strlen(key), "%zu of %zu bytes of stack, %u ended",
					 used, of, ended),
			3);
	free(text);
	return line;
}

START_TEST(each_function_has_its_mark)
{
	size_t used, of;
	unsigned ended;

	start_runtime(true);
	run_on(rt, 0, spawns, NULL);
	ck_assert(line_of("deep", &used, &of, &ended));
	ck_assert_uint_ge(used, DEEP);
	ck_assert_uint_lt(used, DEEP + SHALLOW);
	ck_assert_uint_eq(of, 24 * 1024);
	ck_assert_uint_eq(ended, TIMES);
	ck_assert(line_of("shallow, ...", &used, &of, &ended));
	ck_assert_uint_lt(used, SHALLOW);
	ck_assert_uint_eq(ended, TIMES);
	ck_assert(line_of("parked", &used, &of, &ended));
	ck_assert_uint_ge(used, DEEP);
	ck_assert_uint_eq(of, 56 * 1024);
	ck_assert_uint_eq(ended, 0);
	haul_unpark(parked);
	runtime_stop(rt);
}
END_TEST

static void *handle(void *arg)
{
	use_stack();
	handled = true;
	return NULL;
}

static void drop(struct hauli_record *r)
{
	(void)r;
}

static void *poll(void *arg)
{
	void *at[] = {&record};

	while (haul_maybe_yield(false)) {
		if (!handled)
			ASSERT_EACH(hauli_glue_spawn_records(
				haul_carrier_self(), &prototype, at, 0, 1));
	}
	return arg;
}

START_TEST(so_have_handlers_and_pollers)
{
	const struct haul_coro_opts opts = {.name = "handler"};
	struct haul_carrier *c;
	size_t used, of;
	unsigned ended;

	start_runtime(true);
	c = haul_carrier(rt, 0);
	handled = false;
	ck_assert_int_eq(hauli_glue_prototype_init(&prototype, c, handle, drop, &opts), 0);
	ck_assert_int_eq(haul_poller_register(c, NULL, poll, NULL, NULL), 0);
	WAIT_UNTIL(line_of("handler", &used, &of, &ended) && ended == 1);
	ck_assert_uint_ge(used, DEEP);
	ck_assert(line_of("poller", &used, &of, &ended));
	ck_assert_uint_eq(ended, 0);
	ck_assert_uint_eq(of, 248 * 1024);
	runtime_stop(rt);
}
END_TEST

static void *sleeps(void *arg)
{
	(void)haul_sleep(HAUL_MS); /* so the next one needs a new stack */
	return arg;
}

static void *spawns_on_new_stacks(void *arg)
{
	for (int i = 0; i < TIMES; i++) {
		ASSERT_EACH(haul_spawn(NULL, sleeps, NULL, NULL) == 0);
		haul_yield();
	}
	handled = true;
	return arg;
}

/* Neither crashes, nor is told of by TSan: the figures are a guess. */
START_TEST(dump_meets_stacks_that_are_new)
{
	FILE *nowhere = fopen("/dev/null", "w");

	start_runtime(true);
	handled = false;
	ck_assert_int_eq(
		haul_spawn_on(haul_carrier(rt, 0), NULL, spawns_on_new_stacks, NULL, NULL), 0);
	while (!handled)
		hauli_marks_print(rt->marks, rt->coros, nowhere);
	fclose(nowhere);
	runtime_stop(rt);
}
END_TEST

START_TEST(without_the_option_there_are_none)
{
	size_t used, of;
	unsigned ended;

	start_runtime(false);
	run_on(rt, 0, spawns, NULL);
	ck_assert(!line_of("deep", &used, &of, &ended));
	haul_unpark(parked);
	runtime_stop(rt);
}
END_TEST

SUITE_MAIN("marks", {each_function_has_its_mark, 1}, {so_have_handlers_and_pollers, 1},
	{dump_meets_stacks_that_are_new, 5}, {without_the_option_there_are_none, 1})
