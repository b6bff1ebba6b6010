/* SPDX-License-Identifier: BSD-3-Clause */
/* What does it cost to push an item into a carrier's inbox and to take it out, beside a ring of
 * DPDK's with many producers and one consumer? */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <rte_pause.h>
#include <rte_ring.h>

#include "conc/inbox.h"
#include "harness/harness.h"

#define SLOTS 1024 /* the most items in flight at once */
#define BATCH 32

static struct hauli_inbox inbox;
static struct hauli_node nodes[SLOTS];
static struct rte_ring *ring;
static unsigned batch;

static int inbox_setup(uint64_t param)
{
	batch = (unsigned)param;
	hauli_inbox_init(&inbox);
	return 0;
}

static int ring_setup(uint64_t param)
{
	batch = (unsigned)param;
	ring = aligned_alloc(HAULI_CACHE_LINE, (size_t)rte_ring_get_memsize(SLOTS));
	return ring ? rte_ring_init(ring, "perf", SLOTS, RING_F_SC_DEQ) : -ENOMEM;
}

static void ring_teardown(void)
{
	free(ring);
}

/* One thread puts a batch in and takes it out. */
static uint64_t inbox_run(uint64_t n)
{
	uint64_t taken = 0, start = perf_now();

	for (uint64_t done = 0; done < n; done += batch) {
		for (unsigned i = 0; i < batch; i++)
			hauli_inbox_push(&inbox, &nodes[i]);
		for (struct hauli_node *node = hauli_inbox_drain(&inbox); node; node = node->next)
			taken++;
	}
	PERF_KEEP(taken);
	return perf_now() - start;
}

static uint64_t ring_run(uint64_t n)
{
	uint64_t taken = 0, start = perf_now();

	for (uint64_t done = 0; done < n; done += batch) {
		void *out[BATCH];
		unsigned got;

		for (unsigned i = 0; i < batch; i++)
			rte_ring_mp_enqueue(ring, &nodes[i]);
		got = rte_ring_sc_dequeue_burst(ring, out, batch, NULL);
		PERF_KEEP(out[0]);
		taken += got;
	}
	PERF_KEEP(taken);
	return perf_now() - start;
}

/* Another thread, on the next CPU, pushes n items as fast as this thread takes them out. */
static _Atomic uint64_t credit; /* limit on the items pushed so far */
static atomic_bool producing;

static uint64_t wait_for_credit(uint64_t done)
{
	uint64_t limit;

	while ((limit = credit) == done)
		rte_pause();
	return limit;
}

static void *inbox_producer(void *arg)
{
	uint64_t n = *(uint64_t *)arg;

	producing = true;
	for (uint64_t done = 0; done < n;) {
		uint64_t limit = wait_for_credit(done);

		for (; done < limit && done < n; done++)
			hauli_inbox_push(&inbox, &nodes[done % SLOTS]);
	}
	return NULL;
}

static void *ring_producer(void *arg)
{
	uint64_t n = *(uint64_t *)arg;

	producing = true;
	wait_for_credit(0);
	for (uint64_t done = 0; done < n; done++)
		while (rte_ring_mp_enqueue(ring, &nodes[done % SLOTS]) < 0)
			rte_pause();
	return NULL;
}

/* Returns when the pusher waits for credit. */
static pthread_t start_producer(void *(*body)(void *), uint64_t *n)
{
	pthread_t thread;
	cpu_set_t set;

	producing = false;
	credit = 0;
	CPU_ZERO(&set);
	CPU_SET(perf_cpu(1), &set);
	if (pthread_create(&thread, NULL, body, n) != 0)
		abort();
	pthread_setaffinity_np(thread, sizeof(set), &set);
	while (!producing)
		rte_pause();
	return thread;
}

static uint64_t inbox_run_across(uint64_t n)
{
	pthread_t thread = start_producer(inbox_producer, &n);
	uint64_t taken = 0, start = perf_now();

	credit = SLOTS;
	while (taken < n) {
		uint64_t before = taken;

		for (struct hauli_node *node = hauli_inbox_drain(&inbox); node; node = node->next)
			taken++;
		if (taken == before)
			rte_pause();
		else
			credit = taken + SLOTS;
	}
	start = perf_now() - start;
	pthread_join(thread, NULL);
	return start;
}

static uint64_t ring_run_across(uint64_t n)
{
	pthread_t thread = start_producer(ring_producer, &n);
	uint64_t taken = 0, start = perf_now();

	credit = SLOTS;
	while (taken < n) {
		void *out[BATCH];
		unsigned got = rte_ring_sc_dequeue_burst(ring, out, BATCH, NULL);

		PERF_KEEP(out[0]);
		taken += got;
		if (got == 0)
			rte_pause();
	}
	start = perf_now() - start;
	pthread_join(thread, NULL);
	return start;
}

static const struct perf_case cases[] = {
	{
		.name = "inbox/1",
		.question = "put one in and take it out, one thread",
		.param = 1,
		.sides = {{"haul inbox", inbox_setup, inbox_run},
			{"rte_ring mp/sc", ring_setup, ring_run, ring_teardown}},
	},
	{
		.name = "inbox/32",
		.question = "put 32 in and take them out, one thread; each",
		.param = BATCH,
		.unit = BATCH,
		.sides = {{"haul inbox", inbox_setup, inbox_run},
			{"rte_ring mp/sc", ring_setup, ring_run, ring_teardown}},
	},
	{
		.name = "inbox-across",
		.question = "one thread puts in, one on another CPU takes out; each",
		.cpus = 2,
		.sides = {{"haul inbox", inbox_setup, inbox_run_across},
			{"rte_ring mp/sc", ring_setup, ring_run_across, ring_teardown}},
	},
	{0},
};

int main(int argc, char **argv)
{
	return perf_main(argc, argv, cases);
}
