/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads copy the timelines of carriers that write as fast as they can, around small rings: times
 * never go back, values are those of the program, and the spans of a coroutine nest. Runtimes start
 * and stop meanwhile.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "sched/state/coroutine.h"
#include "support/runtime.h"
#include "support/stress.h"
#include "support/suite.h"
#include "support/timeline_check.h"

#define CARRIERS 2
#define COROUTINES 4
#define READERS 2

static atomic_bool end;
static atomic_ulong taken, events;
static atomic_uint working;

static void *works(void *arg)
{
	_Atomic(struct haul_coro *) *other = arg;

	for (int64_t n = 0; !end; n++) {
		HAUL_TRACE_SPAN("outer");
		HAUL_TRACE_COUNT("count", n << 20 | (n & 0xfffff));
		HAUL_TRACE_SPAN("inner");
		if (*other) /* is there by now */
			haul_unpark(*other);
		if (n % 16 == 0)
			haul_park(haul_in(10 * HAUL_US));
		haul_yield();
	}
	for (working--; working;) /* the others may unpark this one until then */
		haul_yield();
	return NULL;
}

static struct haul_runtime *start(enum haul_steal steal)
{
	struct haul_plan_opts opts = {.carriers = CARRIERS};
	struct haul_runtime *rt = NULL;
	struct haul_plan *plan = NULL;

	ck_assert_int_eq(haul_plan_create(&plan, &opts, NULL, 0), 0);
	ck_assert_int_eq(haul_start(&rt,
				 &(struct haul_runtime_opts){.plan = plan,
					 .steal = steal,
					 .trace_events = 1024,
					 .watchdog_ns = HAUL_FOREVER},
				 NULL, 0),
		0);
	haul_plan_destroy(plan);
	return rt;
}

static void check_event(const struct timeline_event *e)
{
	if (e->kind == HAUL_TRACE_VALUE)
		TIMELINE_IS((e->value >> 20 & 0xfffff) == (e->value & 0xfffff));
	if (e->kind == HAUL_TRACE_BEGIN && e->name[0])
		TIMELINE_IS(strcmp(e->name, "outer") == 0 || strcmp(e->name, "inner") == 0);
}

static void check_file(const struct timeline_file *f)
{
	struct timeline_sums sums = {0};

	timeline_check(f, &sums);
	for (unsigned i = 0; i < f->nb; i++)
		for (uint64_t n = 0; n < f->rings[i].n; n++)
			check_event(&f->rings[i].events[n]);
	events += sums.events;
	taken++;
}

static void *reads(void *arg)
{
	int fd = memfd_create("trace", 0);

	while (!end) {
		TIMELINE_IS(ftruncate(fd, 0) == 0);
		lseek(fd, 0, SEEK_SET);
		if (haul_trace_write(fd) == 0) {
			struct timeline_file *f = timeline_open(fd);

			check_file(f);
			timeline_close(f);
		}
	}
	close(fd);
	return NULL;
}

/* One runtime, with what it runs, until the end or for some time. */
static void run(enum haul_steal steal)
{
	static _Atomic(struct haul_coro *) cos[COROUTINES];
	struct haul_runtime *rt = start(steal);
	struct haul_coro *co;

	working = COROUTINES;
	for (unsigned i = 0; i < COROUTINES; i++)
		cos[i] = NULL;
	for (unsigned i = 0; i < COROUTINES; i++) {
		ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, i % CARRIERS), &co, works,
					 &cos[(i + 1) % COROUTINES], NULL),
			0);
		cos[i] = co;
	}
	for (uint64_t until = haul_in(50 * HAUL_MS); haul_now() < until;)
		sched_yield();
	end = true;
	for (unsigned i = 0; i < COROUTINES; i++)
		ck_assert_int_eq(haul_join(cos[i], NULL, HAUL_FOREVER), 0);
	runtime_stop(rt);
}

/* _i: without stealing, and with it. */
START_TEST(copies_are_whole)
{
	const enum haul_steal steal = _i && HAUL_STEALING ? HAUL_STEAL_GLOBAL : HAUL_STEAL_OFF;
	uint64_t deadline = stress_deadline();
	pthread_t readers[READERS];

	taken = 0;
	while (haul_now() < deadline) {
		end = false;
		for (unsigned i = 0; i < READERS; i++)
			ck_assert_int_eq(pthread_create(&readers[i], NULL, reads, NULL), 0);
		run(steal);
		for (unsigned i = 0; i < READERS; i++)
			pthread_join(readers[i], NULL);
	}
	ck_assert_uint_gt(taken, 10);
}
END_TEST

SUITE_MAIN("timeline", {copies_are_whole, 2})
