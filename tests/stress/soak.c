/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The whole public interface without packets, at random: coroutines of all carriers, those of
 * objects that pollers feed (soak_records.c), and two plain threads draw operations (soak_ops.c),
 * in runtimes that are drawn as well, each of which is stopped when its workers have ended or amid
 * them. Each operation has its books: a value is received once, what a lock guards is counted, a
 * join gives the result of its target. They are closed after the stop.
 *
 * A round is a function of its seed, but for the interleaving. A failure names the seed, and
 * HAUL_STRESS_SEED with it begins with that round.
 */
#include <pthread.h>

#include <haul/sync.h>

#include "sched/state/coroutine.h"
#include "soak.h"
#include "support/evpoller.h"
#include "support/hang.h"
#include "support/runtime.h"
#include "support/stress.h"
#include "support/suite.h"

#define WORKERS 24
#define STEPS 30
#define THREADS 2

static struct {
	struct haul_coro *workers[WORKERS];
	unsigned nb_workers, rounds;
	uint64_t stolen, slices, hibernations, thaws, rescues, refused;
	pthread_t threads[THREADS];
	atomic_bool threads_go;
	struct evpoller poller; /* blocks, on carrier 0, in some rounds */
	bool has_poller;
	atomic_uint inputs, answers;
} m;

static void *works(void *seed)
{
	struct actor a = actor((uintptr_t)seed, 0);

	s.alive++;
	soak_steps(&a, STEPS);
	s.alive--;
	return seed;
}

static void *acts_outside(void *seed)
{
	struct actor a = actor((uintptr_t)seed, 0);
	FILE *nowhere = fopen("/dev/null", "w");

	while (m.threads_go) {
		unsigned kind = hauli_random_below(&a.random, 100);

		if (kind == 0) {
			haul_dump(s.rt, nowhere);
		} else if (kind == 1) {
			haul_trim(s.rt);
		} else if (kind == 2) {
			soak_is_traced(&a);
		} else if (kind < 10 && m.has_poller) {
			m.inputs++;
			eventfd_write(m.poller.source, 1);
		} else {
			soak_from_outside(&a);
		}
	}
	fclose(nowhere);
	return NULL;
}

static void *answers(void *arg)
{
	m.answers++;
	return arg;
}

/* Carriers float, and lie in one cluster or in several. */
static struct haul_runtime *start(struct hauli_random *random)
{
	const struct haul_plan_opts plan_opts = {
		.carriers = 1 + hauli_random_below(random, SOAK_CARRIERS)};
	struct haul_runtime_opts opts = {
		.steal = (enum haul_steal)(HAUL_STEALING ? hauli_random_below(random, 5) / 2 : 0),
		.watchdog_ns = hauli_random_below(random, 2) ? HAUL_FOREVER : 0,
		.steal_min_work_ns = hauli_random_below(random, 2),
		.round_ns = hauli_random_below(random, 2) * 5 * HAUL_US,
		.poll_interval_ns = hauli_random_below(random, 4) ? 0 : 1,
		.spin_ns = hauli_random_below(random, 3) * HAUL_US,
		.stack_marks = hauli_random_below(random, 8) == 0,
		.hibernate_after_ns = hauli_random_below(random, 2),
		.trace_events = hauli_random_below(random, 2)
			<< (10 + hauli_random_below(random, 8)),
		.fds = (enum haul_fds)hauli_random_below(random, 3)};
	struct haul_runtime *rt;
	struct haul_plan *plan;

	RIGHT(haul_plan_create(&plan, &plan_opts, NULL, 0) == 0);
	for (unsigned i = 0; i < plan_opts.carriers; i++) {
		plan->places[i].cpu = plan->places[i].core = -1;
		plan->places[i].cluster = hauli_random_below(random, plan->clusters);
	}
	if (opts.steal != HAUL_STEAL_OFF) {
		opts.rescue_after_ns = soak_draw_rescue(random);
		opts.rescuers = hauli_random_below(random, 4);
	}
	opts.plan = plan;
	s.hibernates |= opts.hibernate_after_ns > 0;
	RIGHT(haul_start(&rt, &opts, NULL, 0) == 0);
	haul_plan_destroy(plan);
	return rt;
}

static void open_poller(void)
{
	evpoller_open(&m.poller);
	m.poller.on_input = answers;
	RIGHT(evpoller_register(haul_carrier(s.rt, 0), &m.poller, NULL) == 0);
}

/* Carrier 0 may have another poller. */
static void feed(struct hauli_random *random)
{
	bool all = hauli_random_below(random, 2);

	for (unsigned i = m.has_poller; i < s.carriers; i++)
		if (all || hauli_random_below(random, 4) == 0)
			soak_feed(i, hauli_random_next(random) >> 8);
}

static void spawn_workers(struct hauli_random *random)
{
	m.nb_workers = hauli_random_below(random, 3) ? 4 + hauli_random_below(random, WORKERS - 3)
						     : hauli_random_below(random, 3);
	for (unsigned i = 0; i < m.nb_workers; i++) {
		const struct haul_coro_opts opts = {.name = "worker",
			.pinned = hauli_random_below(random, 6) == 0,
			.hibernates = hauli_random_below(random, 2),
			.order_key = (uint8_t)hauli_random_below(random, 4)};
		void *seed = (void *)(uintptr_t)(hauli_random_next(random) >> 8);

		RIGHT((i % 2 ? haul_spawn_any(s.rt, &m.workers[i], works, seed, &opts)
			     : haul_spawn_on(haul_carrier(s.rt, i % s.carriers), &m.workers[i],
				       works, seed, &opts)) == 0);
	}
}

/* The stop comes amid the work, or after it. */
static void end_workers(struct hauli_random *random)
{
	bool amid = hauli_random_below(random, 2);

	if (amid)
		usleep(hauli_random_below(random, 5000)); /* at any moment */
	for (unsigned i = 0; i < m.nb_workers; i++) {
		if (!amid) {
			RIGHT(haul_join(m.workers[i], NULL, HAUL_FOREVER) == 0);
			continue;
		}
		if (hauli_random_below(random, 3) == 0)
			haul_cancel(m.workers[i]);
		haul_detach(m.workers[i]);
	}
}

static void count_slices(void)
{
	for (unsigned i = 0; i < s.carriers; i++) {
		struct haul_carrier_stats st;

		haul_carrier_get_stats(haul_carrier(s.rt, i), &st);
		m.stolen += st.stolen;
		m.slices += st.slices;
		m.hibernations += st.hibernations;
		m.thaws += st.thaws;
		m.rescues += st.rescues;
		m.refused += st.rescues_refused;
	}
}

static void run_round(uint64_t seed)
{
	struct hauli_random random;

	hauli_random_init(&random, seed);
	hauli_random_next(&random);
	soak_open(seed);
	s.rt = start(&random);
	s.carriers = haul_carriers(s.rt);
	s.other = hauli_random_below(&random, 4) == 0 ? start(&random) : NULL;
	m.has_poller = hauli_random_below(&random, 2);
	if (m.has_poller)
		open_poller();
	feed(&random);
	m.threads_go = true;
	for (unsigned i = 0; i < THREADS; i++)
		RIGHT(pthread_create(&m.threads[i], NULL, acts_outside,
			      (void *)(uintptr_t)(hauli_random_next(&random) >> 8)) == 0);
	spawn_workers(&random);
	end_workers(&random);
	m.threads_go = false;
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(m.threads[i], NULL);
	count_slices();
	soak_check_timelines();
	RIGHT(haul_stop(s.rt, HAUL_FOREVER) == 0);
	s.rt = NULL;
	RIGHT(!s.other || haul_stop(s.other, HAUL_FOREVER) == 0);
	s.other = NULL;
	if (m.has_poller)
		evpoller_close(&m.poller);
	soak_close_feeders();
	soak_close();
	RIGHT(m.answers <= m.inputs);
}

START_TEST(the_books_agree)
{
	uint64_t deadline = stress_deadline(), seed = stress_seed();

	do {
		hang_watch();
		run_round(seed++);
		m.rounds++;
	} while (haul_now() < deadline);
	hang_ends();
	for (unsigned i = 0; i < soak_nb_ops; i++)
		fprintf(stderr, "%s %lu, ", soak_ops[i].name, soak_ops[i].times);
	fprintf(stderr,
		"objects %" PRIu64 ", of bursts at once %" PRIu64 ", dropped %" PRIu64
		", remote %lu, slices %" PRIu64 ", stolen %" PRIu64 ", hibernations %" PRIu64
		", thaws %" PRIu64 ", rescues %" PRIu64 ", refused %" PRIu64 ", rounds %u\n",
		soak_fed.handled, soak_fed.at_once, soak_fed.dropped, soak_fed.remote, m.slices,
		m.stolen, m.hibernations, m.thaws, m.rescues, m.refused, m.rounds);
	soak_tell_timelines();
}
END_TEST

SUITE_MAIN("soak", {the_books_agree})
