/* SPDX-License-Identifier: BSD-3-Clause */
/* What does it cost to push a coroutine onto a carrier's ring and to pop it, beside a ring of
 * DPDK's with one producer and one consumer? */
#include <errno.h>
#include <stdlib.h>

#include <rte_ring.h>

#include "conc/ring.h"
#include "harness/harness.h"

static struct hauli_ring haul_ring;
static struct rte_ring *dpdk_ring;
static unsigned batch;

static int haul_setup(uint64_t param)
{
	batch = (unsigned)param;
	hauli_ring_init(&haul_ring);
	return 0;
}

static uint64_t haul_run(uint64_t n)
{
	uint64_t start = perf_now();
	struct hauli_ring_ahead ahead;

	for (uint64_t done = 0; done < n; done += batch) {
		for (unsigned i = 0; i < batch; i++)
			hauli_ring_push(&haul_ring, &haul_ring);
		hauli_ring_open(&haul_ring, batch);
		for (unsigned i = 0; i < batch; i++)
			PERF_KEEP(hauli_ring_pop(&haul_ring, &ahead));
	}
	return perf_now() - start;
}

static int dpdk_setup(uint64_t param)
{
	batch = (unsigned)param;
	dpdk_ring = aligned_alloc(HAULI_CACHE_LINE, (size_t)rte_ring_get_memsize(HAULI_RING_SIZE));
	return dpdk_ring
		? rte_ring_init(dpdk_ring, "perf", HAULI_RING_SIZE, RING_F_SP_ENQ | RING_F_SC_DEQ)
		: -ENOMEM;
}

static uint64_t dpdk_run(uint64_t n)
{
	uint64_t start = perf_now();

	for (uint64_t done = 0; done < n; done += batch) {
		for (unsigned i = 0; i < batch; i++)
			rte_ring_sp_enqueue(dpdk_ring, dpdk_ring);
		for (unsigned i = 0; i < batch; i++) {
			void *item = NULL;

			rte_ring_sc_dequeue(dpdk_ring, &item);
			PERF_KEEP(item);
		}
	}
	return perf_now() - start;
}

static void dpdk_teardown(void)
{
	free(dpdk_ring);
}

#define CASE(n)                                                                                 \
	{                                                                                       \
		.name = "ring/" #n, .question = "put " #n " on and take off; each", .param = n, \
		.unit = n,                                                                      \
		.sides = {                                                                      \
			{"haul ring", haul_setup, haul_run},                                    \
			{"rte_ring sp/sc", dpdk_setup, dpdk_run, dpdk_teardown},                \
		},                                                                              \
	}

static const struct perf_case cases[] = {CASE(1), CASE(32), {0}};

int main(int argc, char **argv)
{
	return perf_main(argc, argv, cases);
}
