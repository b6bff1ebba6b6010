/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What does stealing gain if one of two carriers gets nine tenths of the work, and what does it
 * cost if both get the same amount? A source on each carrier spawns tasks, as a poller spawns
 * handlers: a burst, then it yields. One operation is a task; a task computes for a given time.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include <haul/haul.h>

#include "harness/harness.h"
#include "harness/plan.h"

#define CARRIERS 2
#define BURST 32
#define KEPT (1u << 16) /* recorded task times of a run, for percentiles */

struct load {
	unsigned share; /* of carrier 0, in percent */
	unsigned ns; /* computing time of a task; 0: pairs of tasks that wake each other instead */
};

static const struct load loads[] = {
	{90, 1000}, {90, 5000}, {90, 20000}, {90, 50000}, {50, 200}, {50, 1000}, {50, 0}};

static const struct load *load;
static struct haul_runtime *runtimes[2]; /* without and with stealing */
static uint64_t stolen_before;

static atomic_uint left; /* tasks of this run that have not ended */
static struct haul_coro *waiter;
static uint32_t took[KEPT];
static atomic_uint nb_took;

struct source {
	struct haul_runtime *rt;
	unsigned tasks;
};

static void compute(void)
{
	uint64_t until = haul_now() + load->ns;

	while (haul_now() < until)
		;
}

static void one_less(void)
{
	if (atomic_fetch_sub(&left, 1) == 1)
		haul_unpark(waiter);
}

static void *task(void *arg)
{
	uint64_t began = (uintptr_t)arg;
	unsigned n;

	compute();
	n = atomic_fetch_add(&nb_took, 1);
	if (n < KEPT)
		took[n] = (uint32_t)(haul_now() - began);
	one_less();
	return NULL;
}

/* Waits for its partner on the same carrier. */
static void *waits(void *arg)
{
	haul_park(HAUL_FOREVER);
	one_less();
	return NULL;
}

static void start_one(void)
{
	struct haul_coro *co;
	int err;

	if (load->ns) {
		err = haul_spawn(NULL, task, (void *)(uintptr_t)haul_now(), NULL);
	} else {
		err = haul_spawn(&co, waits, NULL, NULL);
		if (!err) {
			haul_yield();
			haul_unpark(co);
			haul_detach(co);
		}
	}
	if (err)
		abort();
}

static void *source(void *arg)
{
	struct source *s = arg;

	while (s->tasks > 0) {
		for (unsigned i = 0; i < BURST && s->tasks > 0; i++, s->tasks--)
			start_one();
		haul_yield();
	}
	return NULL;
}

static int by_time(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void report(struct haul_runtime *rt, uint64_t n)
{
	unsigned kept = nb_took < KEPT ? nb_took : KEPT;
	uint64_t stolen = 0;

	for (unsigned i = 0; i < CARRIERS; i++) {
		struct haul_carrier_stats st;

		haul_carrier_get_stats(haul_carrier(rt, i), &st);
		stolen += st.stolen;
	}
	qsort(took, kept, sizeof(took[0]), by_time);
	if (kept > 0) {
		perf_extra("p50 us", took[kept / 2] / 1000.0);
		perf_extra("p99 us", took[kept / 100 * 99] / 1000.0);
	}
	perf_extra("stolen %", 100.0 * (double)(stolen - stolen_before) / (double)n);
	stolen_before = stolen;
}

struct run {
	struct haul_runtime *rt;
	uint64_t n;
};

static void *run_inside(void *arg)
{
	const struct haul_coro_opts pinned = {.name = "source", .pinned = true};
	struct run *r = arg;
	struct source sources[CARRIERS];
	struct haul_coro *co[CARRIERS];

	waiter = haul_self();
	left = (unsigned)r->n;
	nb_took = 0;
	sources[0].tasks = (unsigned)(r->n * load->share / 100);
	sources[1].tasks = (unsigned)r->n - sources[0].tasks;
	for (unsigned i = 0; i < CARRIERS; i++)
		if (haul_spawn_on(haul_carrier(r->rt, i), &co[i], source, &sources[i], &pinned))
			abort();
	while (left > 0)
		haul_park(HAUL_FOREVER);
	for (unsigned i = 0; i < CARRIERS; i++)
		haul_join(co[i], NULL, HAUL_FOREVER);
	return NULL;
}

static uint64_t run(struct haul_runtime *rt, uint64_t n)
{
	const struct haul_coro_opts pinned = {.pinned = true};
	struct run r = {rt, n};
	uint64_t start = perf_now(), ns;
	struct haul_coro *co;

	if (haul_spawn_on(haul_carrier(rt, 0), &co, run_inside, &r, &pinned))
		abort();
	haul_join(co, NULL, HAUL_FOREVER);
	ns = perf_now() - start;
	report(rt, n);
	return ns;
}

static int start(unsigned which, uint64_t param)
{
	struct haul_plan *plan;
	int err = perf_plan(&plan, 0, 2);

	if (err)
		return err;
	load = &loads[param];
	err = haul_start(&runtimes[which],
		&(struct haul_runtime_opts){
			.plan = plan, .steal = which ? HAUL_STEAL_GLOBAL : HAUL_STEAL_OFF},
		NULL, 0);
	haul_plan_destroy(plan);
	return err;
}

static int setup_on(uint64_t param)
{
	stolen_before = 0;
	return start(1, param);
}

static int setup_off(uint64_t param)
{
	return start(0, param);
}

static uint64_t run_on(uint64_t n)
{
	return run(runtimes[1], n);
}

static uint64_t run_off(uint64_t n)
{
	uint64_t before = stolen_before, ns;

	stolen_before = 0;
	ns = run(runtimes[0], n);
	stolen_before = before;
	return ns;
}

static void teardown_on(void)
{
	haul_stop(runtimes[1], 60 * HAUL_S);
}

static void teardown_off(void)
{
	haul_stop(runtimes[0], 60 * HAUL_S);
}

#define CASE(number, title, what)                                                                  \
	{                                                                                          \
		.name = "steal/" title, .question = what, .param = number, .cpus = 2, .unit = 100, \
		.sides = {                                                                         \
			{"stealing", setup_on, run_on, teardown_on},                               \
			{"off", setup_off, run_off, teardown_off},                                 \
		},                                                                                 \
	}

static const struct perf_case cases[] = {
	CASE(0, "skewed-1us", "a task of 1 us, nine tenths on one of two carriers"),
	CASE(1, "skewed-5us", "a task of 5 us, nine tenths on one of two carriers"),
	CASE(2, "skewed-20us", "a task of 20 us, nine tenths on one of two carriers"),
	CASE(3, "skewed-50us", "a task of 50 us, nine tenths on one of two carriers"),
	CASE(4, "even-200ns", "a task of 200 ns, half on each of two carriers"),
	CASE(5, "even-1us", "a task of 1 us, half on each of two carriers"),
	CASE(6, "wakes", "start one that waits, wake it; half on each of two carriers"), {0}};

int main(int argc, char **argv)
{
	return perf_main(argc, argv, cases);
}
