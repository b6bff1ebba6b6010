/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What does a yield through the scheduler cost, by the number of ready coroutines? One operation is
 * one yield; the run ends when all coroutines have yielded equally often. They all yield in the
 * same line of code, as the handlers of packets do; in "yield-mixed" two coroutines yield in
 * different lines, which costs a mispredicted return each time.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <haul/coro.h>

#include "harness/carrier.h"
#include "harness/harness.h"
#include "peers/fcontext.h"

#define COUNT_LAG 256 /* carriers update their slice counters in batches */

/* haul */
static uint64_t ready;
static bool yielding, ending;
static struct haul_coro **others;
static haul_fn *others_fn;

/* Large enough that no compiler duplicates the loop. */
static uint64_t for_ever(void)
{
	uint64_t times = UINT64_MAX;

	PERF_HIDE(times);
	return times;
}

static __attribute__((noinline)) void keep_yielding(uint64_t times)
{
	for (; times > 0 && yielding; times--)
		haul_yield();
}

static void *yielder(void *arg)
{
	for (;;) {
		haul_park(HAUL_FOREVER);
		if (ending)
			return NULL;
		keep_yielding(for_ever());
	}
}

static void *mixed_yielder(void *arg)
{
	for (;;) {
		haul_park(HAUL_FOREVER);
		if (ending)
			return NULL;
		while (yielding)
			haul_yield();
	}
}

static uint64_t spawn_others(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		perf_must(haul_spawn(&others[i], others_fn, NULL, NULL), "haul_spawn");
	haul_yield();
	return 0;
}

static int setup_with(uint64_t param, haul_fn *fn)
{
	int err;

	others_fn = fn;
	ready = param;
	ending = false;
	others = calloc(ready, sizeof(struct haul_coro *));
	if (!others)
		return -ENOMEM;
	err = perf_carriers_start(1);
	if (!err)
		perf_on_carrier(spawn_others, ready - 1);
	return err;
}

static int setup(uint64_t param)
{
	return setup_with(param, yielder);
}

static int setup_mixed(uint64_t param)
{
	return setup_with(param, mixed_yielder);
}

static uint64_t run_here(uint64_t n)
{
	uint64_t start, took, slices;

	yielding = true;
	for (uint64_t i = 0; i < ready - 1; i++)
		haul_unpark(others[i]);
	haul_yield(); /* now each has yielded once, and is queued */
	slices = perf_slices();
	start = perf_now();
	keep_yielding(n / ready);
	took = perf_now() - start;
	slices = perf_slices() - slices;
	yielding = false;
	haul_yield(); /* now all are parked */
	if (slices + n / 100 + COUNT_LAG < n || slices > n + n / 100 + COUNT_LAG) {
		fprintf(stderr, "yield: %lu slices instead of %lu: not in turns\n", slices, n);
		exit(1);
	}
	return took;
}

static uint64_t run(uint64_t n)
{
	return perf_on_carrier(run_here, n);
}

static uint64_t end_others(uint64_t n)
{
	ending = true;
	for (uint64_t i = 0; i < n; i++)
		haul_unpark(others[i]);
	for (uint64_t i = 0; i < n; i++)
		haul_join(others[i], NULL, HAUL_FOREVER);
	return 0;
}

static void teardown(void)
{
	perf_on_carrier(end_others, ready - 1);
	perf_carriers_stop();
	free(others);
}

/* boost.context: contexts that jump to the next one in an array. No run queue, no other ways to
 * wait; stacks that lie a power of two apart, as in a pool. */
#ifdef PERF_BOOST
#define BOOST_STACK (16 * 1024)

static void **boost_contexts;
static char *boost_stacks;
static uint64_t boost_ready, boost_at;

static inline void boost_yield(void)
{
	void **me = &boost_contexts[boost_at];
	struct fcontext_transfer t;

	if (++boost_at == boost_ready)
		boost_at = 0;
	t = jump_fcontext(boost_contexts[boost_at], me);
	*(void **)t.data = t.from;
}

static __attribute__((noinline)) void boost_keep_yielding(uint64_t times)
{
	for (; times > 0; times--)
		boost_yield();
}

static void boost_body(struct fcontext_transfer t)
{
	*(void **)t.data = t.from;
	boost_keep_yielding(for_ever());
}

static int boost_setup(uint64_t param)
{
	boost_ready = param;
	boost_at = 0;
	boost_contexts = calloc(param, sizeof(void *));
	boost_stacks = mmap(NULL, param * BOOST_STACK, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (!boost_contexts || boost_stacks == MAP_FAILED)
		return -ENOMEM;
	for (uint64_t i = 1; i < param; i++)
		boost_contexts[i] = make_fcontext(
			boost_stacks + (i + 1) * BOOST_STACK, BOOST_STACK, boost_body);
	return 0;
}

static uint64_t boost_run(uint64_t n)
{
	uint64_t start;

	boost_keep_yielding(1);
	start = perf_now();
	boost_keep_yielding(n / boost_ready);
	return perf_now() - start;
}

static void boost_teardown(void)
{
	munmap(boost_stacks, boost_ready * BOOST_STACK);
	free(boost_contexts);
}

#define BOOST                                                             \
	{                                                                 \
		"boost, no queue", boost_setup, boost_run, boost_teardown \
	}
#else
#define BOOST PERF_ABSENT("boost, no queue")
#endif

/* Offers to yield, of which few are accepted. */
static int setup_offer(uint64_t param)
{
	(void)param;
	return perf_carriers_start(1);
}

static uint64_t offer_here(uint64_t n)
{
	uint64_t start = perf_now();

	for (; n > 0; n--)
		haul_maybe_yield(false);
	return perf_now() - start;
}

static uint64_t run_offer(uint64_t n)
{
	return perf_on_carrier(offer_here, n);
}

#define CASE(n)                                                                           \
	{                                                                                 \
		.name = "yield/" #n, .question = "a yield with " #n " ready", .param = n, \
		.unit = n,                                                                \
		.sides = {                                                                \
			{"haul", setup, run, teardown},                                   \
			BOOST,                                                            \
			{"go", .program = "peer-go"},                                     \
		},                                                                        \
	}

static const struct perf_case cases[] = {
	CASE(2),
	{
		.name = "yield-mixed/2",
		.question = "a yield with 2 ready that run different code",
		.param = 2,
		.unit = 2,
		.sides = {{"haul", setup_mixed, run, teardown}},
	},
	CASE(10),
	CASE(100),
	CASE(1000),
	CASE(10000),
	CASE(100000),
	{
		.name = "maybe-yield",
		.question = "an offer to yield in a long computation",
		.sides = {{"haul", setup_offer, run_offer, perf_carriers_stop}},
	},
	{0},
};

int main(int argc, char **argv)
{
	return perf_main(argc, argv, cases);
}
