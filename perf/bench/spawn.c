/* SPDX-License-Identifier: BSD-3-Clause */
/* What does it cost to spawn a coroutine that ends at once, on a stack used before? */
#include <errno.h>
#include <stdlib.h>

#include <haul/coro.h>

#include "base/cacheline.h"
#include "coro/stack.h"
#include "harness/carrier.h"
#include "harness/harness.h"
#include "peers/fcontext.h"

static uint64_t ended;

/* Without a scheduler: haul */
#define HEAD ((sizeof(struct hauli_co) + HAULI_CACHE_LINE - 1) & ~(HAULI_CACHE_LINE - 1UL))

static struct hauli_stacks *arena;
static struct hauli_stack_cache cache;
static struct hauli_co haul_main;

static void bare_body(void *pass)
{
	struct hauli_co *me = pass;

	hauli_co_arrived(me);
	ended++;
	hauli_co_end(me, &haul_main, me);
}

static int bare_setup(uint64_t param)
{
	int err = hauli_stacks_create(&arena, HEAD, HAULI_GUARD_BEST);

	if (err)
		return err;
	hauli_stack_cache_init(&cache, arena);
	hauli_co_init_thread(&haul_main);
	return 0;
}

static uint64_t bare_run(uint64_t n)
{
	unsigned cls = (unsigned)hauli_stack_class(24 * 1024);
	uint64_t start = perf_now();

	for (uint64_t i = 0; i < n; i++) {
		struct hauli_stack *stack = hauli_stack_get(&cache, cls);
		struct hauli_co co = {.name = "-"};

		hauli_co_prepare(&co, stack, stack, bare_body);
		(void)hauli_co_switch(&haul_main, &co, &co);
		hauli_stack_put(&cache, stack, NULL);
	}
	return perf_now() - start;
}

static void bare_teardown(void)
{
	hauli_co_fini_thread(&haul_main);
	hauli_stack_cache_fini(&cache);
	hauli_stacks_destroy(arena);
}

/* Without a scheduler: boost.context, with a list as pool of stacks */
#ifdef PERF_BOOST
#define BOOST_STACK (32 * 1024)

static struct boost_slot {
	struct boost_slot *next;
} * boost_pool;

static void boost_body(struct fcontext_transfer t)
{
	ended++;
	jump_fcontext(t.from, t.data);
}

static int boost_setup(uint64_t param)
{
	boost_pool = aligned_alloc(64, BOOST_STACK);
	if (!boost_pool)
		return -ENOMEM;
	boost_pool->next = NULL;
	return 0;
}

static uint64_t boost_run(uint64_t n)
{
	uint64_t start = perf_now();

	for (uint64_t i = 0; i < n; i++) {
		struct boost_slot *slot = boost_pool;
		void *co = make_fcontext((char *)slot + BOOST_STACK, BOOST_STACK, boost_body);

		boost_pool = slot->next;
		slot = jump_fcontext(co, slot).data;
		slot->next = boost_pool;
		boost_pool = slot;
	}
	return perf_now() - start;
}

static void boost_teardown(void)
{
	free(boost_pool);
}

#define BOOST                                                           \
	{                                                               \
		"boost.context", boost_setup, boost_run, boost_teardown \
	}
#else
#define BOOST PERF_ABSENT("boost.context")
#endif

/* Through the scheduler: the spawner spawns a batch, then yields. */
static uint64_t batch;

static void *body(void *arg)
{
	ended++;
	return NULL;
}

static int setup(uint64_t param)
{
	batch = param;
	return perf_carriers_start(1);
}

static uint64_t run_here(uint64_t n)
{
	uint64_t start = perf_now();

	ended = 0;
	for (uint64_t done = 0; done < n; done += batch) {
		for (uint64_t i = 0; i < batch; i++)
			perf_must(haul_spawn(NULL, body, NULL, NULL), "haul_spawn");
		while (ended < done + batch)
			haul_yield();
	}
	return perf_now() - start;
}

static uint64_t run(uint64_t n)
{
	return perf_on_carrier(run_here, n);
}

#define CASE(given_name, given_batch, what)                                                 \
	{                                                                                   \
		.name = given_name, .question = "spawn and end" what, .param = given_batch, \
		.unit = given_batch,                                                        \
		.sides = {                                                                  \
			{"haul", setup, run, perf_carriers_stop},                           \
			{"go", .program = "peer-go"},                                       \
		},                                                                          \
	}

static const struct perf_case cases[] = {
	{
		.name = "spawn-end-bare",
		.question = "spawn, run and end without a scheduler, pooled stack",
		.sides = {{"haul", bare_setup, bare_run, bare_teardown}, BOOST},
	},
	CASE("spawn-end/1", 1, ", the spawner yields after each"),
	CASE("spawn-end/64", 64, ", the spawner yields after 64"),
	{0},
};

int main(int argc, char **argv)
{
	return perf_main(argc, argv, cases);
}
