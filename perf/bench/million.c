/* SPDX-License-Identifier: BSD-3-Clause */
/* What do many parked coroutines cost? Time to spawn and park each, and to wake and end it;
 * resident bytes and page tables of each; mappings of the process. Every run is a process of its
 * own. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <haul/coro.h>

#include "harness/carrier.h"
#include "harness/harness.h"
#include "harness/memory.h"
#include "peers/fcontext.h"

#define MILLION 1000000

static double mappings(void)
{
	FILE *in = fopen("/proc/self/maps", "re");
	unsigned lines = 0;

	for (int c = 0; in && (c = fgetc(in)) != EOF;)
		lines += c == '\n';
	if (in)
		fclose(in);
	return lines;
}

static void after(uint64_t n)
{
	perf_memory_end(n);
	perf_extra("mappings", mappings());
}

/* haul */
static struct haul_coro **coros;
static uint64_t waiting, ended;

static int setup(uint64_t param)
{
	coros = calloc(MILLION, sizeof(struct haul_coro *));
	if (!coros)
		return -ENOMEM;
	memset(coros, 1, MILLION * sizeof(struct haul_coro *)); /* resident from the start */
	return perf_carriers_start(1);
}

static void *body(void *arg)
{
	waiting++;
	haul_park(HAUL_FOREVER);
	ended++;
	return NULL;
}

static uint64_t run_here(uint64_t n)
{
	uint64_t start, took;

	perf_memory_begin();
	start = perf_now();
	for (uint64_t i = 0; i < n; i++)
		perf_must(haul_spawn(&coros[i], body, NULL, NULL), "haul_spawn");
	while (waiting < n)
		haul_yield();
	took = perf_now() - start;
	after(n);
	start = perf_now();
	for (uint64_t i = 0; i < n; i++) {
		haul_unpark(coros[i]);
		haul_detach(coros[i]);
	}
	while (ended < n)
		haul_yield();
	perf_extra("wake_end_ns_each", (double)(perf_now() - start) / (double)n);
	return took;
}

static uint64_t run(uint64_t n)
{
	return perf_on_carrier(run_here, n);
}

static void teardown(void)
{
	perf_carriers_stop();
	free(coros);
}

/* boost.context: one mapping without guards; a process cannot have a million mprotect guards. */
#ifdef PERF_BOOST
#define BOOST_STACK (16 * 1024)

static void **boost_contexts;
static char *boost_stacks;

static void boost_body(struct fcontext_transfer t)
{
	t = jump_fcontext(t.from, t.data);
	jump_fcontext(t.from, t.data);
}

static int boost_setup(uint64_t param)
{
	boost_contexts = calloc(MILLION, sizeof(void *));
	boost_stacks = mmap(NULL, (size_t)MILLION * BOOST_STACK, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (!boost_contexts || boost_stacks == MAP_FAILED)
		return -ENOMEM;
	memset(boost_contexts, 1, MILLION * sizeof(void *));
	return 0;
}

static uint64_t boost_run(uint64_t n)
{
	uint64_t start, took;

	perf_memory_begin();
	start = perf_now();
	for (uint64_t i = 0; i < n; i++) {
		void *co = make_fcontext(
			boost_stacks + (i + 1) * BOOST_STACK, BOOST_STACK, boost_body);

		boost_contexts[i] = jump_fcontext(co, NULL).from;
	}
	took = perf_now() - start;
	after(n);
	start = perf_now();
	for (uint64_t i = 0; i < n; i++)
		jump_fcontext(boost_contexts[i], NULL);
	perf_extra("wake_end_ns_each", (double)(perf_now() - start) / (double)n);
	return took;
}

#define BOOST                                              \
	{                                                  \
		"boost, no guards", boost_setup, boost_run \
	}
#else
#define BOOST PERF_ABSENT("boost, no guards")
#endif

static const struct perf_case cases[] = {
	{
		.name = "million",
		.question = "spawn a coroutine and have it park, a million of them",
		.unit = MILLION,
		.max = MILLION,
		.isolated = true,
		.sides =
			{
				{"haul", setup, run, teardown},
				BOOST,
				{"go", .program = "peer-go"},
			},
	},
	{0},
};

int main(int argc, char **argv)
{
	return perf_main(argc, argv, cases);
}
