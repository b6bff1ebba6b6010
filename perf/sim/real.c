/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loads of the simulator on the library's own carriers, in a simulation (haul-sim/sim.h): a
 * slice is a sleep of its carrier's thread, and all else takes no time. So what it shows is what
 * the simulator shows with costs of 0, without a model of the carrier. Tasks come by mail.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include <haul-sim/sim.h>
#include <haul/haul.h>

#include "base/assert.h"
#include "sim.h"

#define STEPS 1000 /* between two switches of threads: no step takes time, so few of them differ */
#define LATEST 100 /* times the time in which tasks come, until all have ended */

static struct sim_opts o;
static struct sim_world w = {.o = &o};
static struct haul_plan *plan;
static uint64_t began;

static void sleep_ns(uint64_t ns)
{
	const struct timespec t = {.tv_sec = (time_t)(ns / HAUL_S), .tv_nsec = (long)(ns % HAUL_S)};

	nanosleep(&t, NULL); /* simulated */
}

static void *serve(void *arg)
{
	struct sim_task *t = arg;

	for (; t->slices > 0; t->slices--) {
		sleep_ns(t->service);
		w.counts.slices++;
		w.counts.worked += t->service;
		if (t->slices > 1)
			haul_yield();
	}
	sim_task_end(&w, t, haul_now() - began);
	return NULL;
}

static void arrive(struct haul_runtime *rt)
{
	unsigned home = sim_load_carrier(&w.load);

	w.now = w.load.next_at;
	for (unsigned i = 0; i < o.burst; i++) {
		struct sim_task *t = sim_task_new(&w, home, sim_load_service(&w.load));

		if (haul_spawn_on(haul_carrier(rt, home), NULL, serve, t, NULL) != 0)
			haul_sim_fail("no memory for a coroutine");
	}
	sim_load_next(&w.load);
}

static void count(struct haul_runtime *rt)
{
	for (unsigned i = 0; i < o.carriers; i++) {
		struct haul_carrier_stats st;

		haul_carrier_get_stats(haul_carrier(rt, i), &st);
		w.counts.stolen += st.stolen;
		w.counts.failed += st.steals_failed;
		w.counts.searches += st.searches;
		w.counts.wakes += st.wakeups;
	}
}

static int run(void *unused)
{
	const struct haul_runtime_opts opts = {.plan = plan,
		.steal = (enum haul_steal)o.steal,
		.steal_most = (unsigned)o.most,
		.steal_depth = (unsigned)o.depth,
		.steal_min_work_ns = o.min_work,
		.searchers = (unsigned)o.searchers,
		.watchdog_ns = HAUL_FOREVER};
	struct haul_runtime *rt;
	char err[256] = "";

	if (haul_start(&rt, &opts, err, sizeof(err)) != 0)
		haul_sim_fail("%s", err);
	sleep_ns(HAUL_MS); /* until all carriers sleep */
	began = haul_now();
	while (w.load.next_at != SIM_NEVER) {
		uint64_t now = haul_now() - began;

		if (w.load.next_at > now)
			sleep_ns(w.load.next_at - now);
		arrive(rt);
	}
	while (w.counts.ended < w.counts.came)
		sleep_ns(HAUL_MS);
	w.now = haul_now() - began;
	count(rt);
	return haul_stop(rt, HAUL_S);
}

static int simulate(void)
{
	const struct haul_sim_opts opts = {
		.seed = o.seed, .steps = STEPS, .limit_ns = o.us * 1000 * LATEST + HAUL_S};
	struct haul_sim_result result;
	int err = haul_sim_run(&opts, run, NULL, &result);

	if (err == 0 && result.end == HAUL_SIM_RETURNED && result.value == 0)
		return 0;
	fprintf(stderr, "sim-real: the simulation has not ended well\n");
	return -1;
}

int main(int argc, char **argv)
{
	int err = sim_options(&o, argc, argv);

	if (err)
		return err > 0 ? EXIT_SUCCESS : 2;
	if (o.arrive != SIM_MAIL || o.idle != SIM_PARK) {
		fprintf(stderr, "sim-real: give --arrive mail, and carriers that park\n");
		return 2;
	}
	plan = sim_plan(&o);
	if (!plan)
		return EXIT_FAILURE;
	sim_load_init(&w.load, &o, plan);
	if (simulate() != 0)
		return EXIT_FAILURE;
	sim_report(&w);
	haul_plan_destroy(plan);
	return EXIT_SUCCESS;
}
