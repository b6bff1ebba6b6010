/* SPDX-License-Identifier: BSD-3-Clause */
/* Start and stop. */
#include "sched/runtime.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/forks.h"
#include "coro/overflow.h"
#include "sched/cluster.h"
#include "sched/placing.h"
#include "sched/steal.h"

#define DEFAULT_STACK_SIZE (24 * 1024)

/* All that have started and not stopped. */
static struct haul_runtime *runtimes; /* under runtimes_lock */
static pthread_mutex_t runtimes_lock = PTHREAD_MUTEX_INITIALIZER;

/* hauli_forks when a runtime was last started; written by the one thread of a child of fork(). */
static unsigned forks_at_start;

struct start {
	const struct haul_runtime_opts *opts;
	const struct haul_plan *plan;
};

static int stacks_init(struct haul_runtime *rt, const struct start *s)
{
	int cls = hauli_stack_class(s->opts->stack_size ? s->opts->stack_size : DEFAULT_STACK_SIZE);

	if (cls < 0)
		return cls;
	rt->default_class = (unsigned)cls;
	return hauli_stacks_create(&rt->stacks, sizeof(struct haul_coro), HAULI_GUARD_BEST);
}

static void stacks_fini(struct haul_runtime *rt)
{
	hauli_stacks_destroy(rt->stacks);
}

static const struct hauli_co *running(void)
{
	const struct haul_coro *me = haul_self();

	return me ? &me->co : NULL;
}

static int overflow_init(struct haul_runtime *rt, const struct start *s)
{
	return hauli_overflow_install(rt->stacks, running);
}

static void overflow_fini(struct haul_runtime *rt)
{
	hauli_overflow_remove(rt->stacks);
}

static void carriers_fini(struct haul_runtime *rt)
{
	while (rt->nb_carriers > 0)
		hauli_carrier_fini(&rt->carriers[--rt->nb_carriers]);
	free(rt->carriers);
}

static int carriers_init(struct haul_runtime *rt, const struct start *s)
{
	unsigned n = s->plan->carriers;
	int err = 0;

	rt->carriers = aligned_alloc(HAULI_CACHE_LINE, n * sizeof(rt->carriers[0]));
	if (!rt->carriers)
		return -ENOMEM;
	for (unsigned i = 0; i < n && !err; i++) {
		err = hauli_carrier_init(&rt->carriers[i], rt, i, &s->plan->places[i], s->opts);
		rt->nb_carriers += !err;
	}
	if (err)
		carriers_fini(rt);
	return err;
}

static int clusters_init(struct haul_runtime *rt, const struct start *s)
{
	return hauli_clusters_init(rt, s->plan);
}

static int placing_init(struct haul_runtime *rt, const struct start *s)
{
	return hauli_placing_init(rt, s->plan);
}

static int steal_init(struct haul_runtime *rt, const struct start *s)
{
	return hauli_steal_init(rt, s->plan, s->opts);
}

static int launcher_init(struct haul_runtime *rt, const struct start *s)
{
	if (!s->opts->launcher)
		return hauli_threads_create(&rt->threads, rt->nb_carriers, &rt->launcher);
	rt->launcher = *s->opts->launcher;
	return 0;
}

static void launcher_fini(struct haul_runtime *rt)
{
	hauli_threads_destroy(rt->threads);
}

/* Sends the finish message to the first n carriers and waits for their threads. */
static void finish(struct haul_runtime *rt, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		hauli_mail_send(&rt->carriers[i], &rt->carriers[i].finish_msg);
	for (unsigned i = 0; i < n; i++)
		rt->launcher.join(rt->launcher.ctx, i);
}

/* The second phase of the start: every carrier is in its place before the first one runs. */
static int launch_all(struct haul_runtime *rt, const struct start *s)
{
	for (unsigned i = 0; i < rt->nb_carriers; i++) {
		struct haul_carrier *c = &rt->carriers[i];
		int err =
			rt->launcher.launch(rt->launcher.ctx, i, &c->place, hauli_carrier_main, c);

		if (err) {
			finish(rt, i);
			return err;
		}
	}
	return 0;
}

/* Where rt is in the list, or the list's end. */
static struct haul_runtime **find(const struct haul_runtime *rt)
{
	struct haul_runtime **at = &runtimes;

	while (*at && *at != rt)
		at = &(*at)->next;
	return at;
}

static int enlist(struct haul_runtime *rt, const struct start *s)
{
	pthread_mutex_lock(&runtimes_lock);
	rt->next = runtimes;
	runtimes = rt;
	pthread_mutex_unlock(&runtimes_lock);
	return 0;
}

static void delist(struct haul_runtime *rt)
{
	pthread_mutex_lock(&runtimes_lock);
	*find(rt) = rt->next;
	pthread_mutex_unlock(&runtimes_lock);
}

static bool is_running(const struct haul_runtime *rt)
{
	bool found;

	pthread_mutex_lock(&runtimes_lock);
	found = rt && *find(rt) == rt;
	pthread_mutex_unlock(&runtimes_lock);
	return found;
}

static const struct step {
	const char *name;
	int (*init)(struct haul_runtime *rt, const struct start *s);
	void (*fini)(struct haul_runtime *rt); /* NULL: haul_stop() has seen to it */
} steps[] = {
	{"stacks", stacks_init, stacks_fini},
	{"overflow", overflow_init, overflow_fini},
	{"carriers", carriers_init, carriers_fini},
	{"clusters", clusters_init, hauli_clusters_fini},
	{"placing", placing_init, hauli_placing_fini},
	{"stealing", steal_init, hauli_steal_fini},
	{"launcher", launcher_init, launcher_fini},
	{"launch", launch_all, NULL},
	{"list", enlist, delist},
};

#define NB_STEPS (sizeof(steps) / sizeof(steps[0]))

static void undo(struct haul_runtime *rt, size_t done)
{
	while (done-- > 0)
		if (steps[done].fini)
			steps[done].fini(rt);
	pthread_cond_destroy(&rt->drained_more);
	pthread_mutex_destroy(&rt->lock);
	free(rt);
}

static struct haul_runtime *runtime_new(void)
{
	struct haul_runtime *rt = calloc(1, sizeof(*rt));
	pthread_condattr_t monotonic;

	if (!rt)
		return NULL;
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&rt->drained_more, &monotonic);
	pthread_condattr_destroy(&monotonic);
	pthread_mutex_init(&rt->lock, NULL);
	hauli_gate_init(&rt->gate);
	return rt;
}

static int start(struct haul_runtime **out, const struct start *s)
{
	struct haul_runtime *rt = runtime_new();

	if (!rt)
		return -ENOMEM;
	for (size_t i = 0; i < NB_STEPS; i++) {
		int err = steps[i].init(rt, s);

		if (err) {
			undo(rt, i);
			return err;
		}
	}
	*out = rt;
	return 0;
}

static bool opts_are_in_range(const struct haul_runtime_opts *opts)
{
	const struct haul_launcher *l = opts->launcher;

	return opts->steal <= HAUL_STEAL_GLOBAL && opts->steal_most <= HAULI_STEAL_MOST &&
		opts->steal_depth <= HAULI_RING_SIZE && opts->searchers <= HAULI_SEARCHES &&
		!(l && (!l->launch || !l->join));
}

static bool are_all_below(const unsigned *numbers, size_t n, unsigned bound)
{
	for (size_t i = 0; i < n; i++)
		if (numbers[i] >= bound)
			return false;
	return true;
}

/* True if the indices in a plan, which a user may have made, are within its tables. */
static bool is_whole(const struct haul_plan *plan)
{
	unsigned n = plan->carriers;

	if (n == 0 || n > HAUL_CARRIERS_MAX || plan->clusters == 0 || plan->clusters > n ||
		!plan->places || (n > 1 && !plan->order))
		return false;
	for (unsigned i = 0; i < n; i++)
		if (plan->places[i].cluster >= plan->clusters)
			return false;
	return (n == 1 || are_all_below(plan->order, (size_t)n * (n - 1), n)) &&
		(!plan->nearest || are_all_below(plan->nearest, plan->cpus, n));
}

bool hauli_runtimes_are_copies(void)
{
	return hauli_forks != forks_at_start;
}

int haul_start(struct haul_runtime **rt, const struct haul_runtime_opts *opts)
{
	static const struct haul_runtime_opts defaults;
	struct haul_plan *plan = NULL;
	char why[256];
	int err;

	if (!opts)
		opts = &defaults;
	if (hauli_self())
		return -EPERM;
	if (!rt || !opts_are_in_range(opts) || (opts->plan && !is_whole(opts->plan)))
		return -EINVAL;
	hauli_clock_init();
	err = hauli_forks_watch();
	if (err)
		return err;
	if (hauli_runtimes_are_copies()) {
		forks_at_start = hauli_forks;
		runtimes = NULL; /* those of the parent do not run here */
	}
	if (opts->plan)
		return start(rt, &(struct start){.opts = opts, .plan = opts->plan});
	err = haul_plan_create(&plan, NULL, why, sizeof(why));
	if (err)
		return err;
	err = start(rt, &(struct start){.opts = opts, .plan = plan});
	haul_plan_destroy(plan);
	return err;
}

void hauli_runtime_hold(struct haul_runtime *rt)
{
	pthread_mutex_lock(&rt->lock);
	rt->holders++;
	pthread_mutex_unlock(&rt->lock);
}

void hauli_runtime_let_go(struct haul_runtime *rt)
{
	pthread_mutex_lock(&rt->lock);
	rt->holders--;
	pthread_mutex_unlock(&rt->lock);
}

static bool is_held(struct haul_runtime *rt)
{
	bool held;

	pthread_mutex_lock(&rt->lock);
	held = rt->holders > 0;
	pthread_mutex_unlock(&rt->lock);
	return held;
}

void hauli_runtime_drained(struct haul_runtime *rt)
{
	pthread_mutex_lock(&rt->lock);
	rt->nb_drained++;
	pthread_cond_signal(&rt->drained_more);
	pthread_mutex_unlock(&rt->lock);
}

static bool wait_until_drained(struct haul_runtime *rt, uint64_t timeout_ns)
{
	struct timespec until = hauli_monotonic_in(timeout_ns);
	int err = 0;
	bool drained;

	pthread_mutex_lock(&rt->lock);
	while (rt->nb_drained < rt->nb_carriers && err != ETIMEDOUT)
		err = pthread_cond_timedwait(&rt->drained_more, &rt->lock, &until);
	drained = rt->nb_drained == rt->nb_carriers;
	pthread_mutex_unlock(&rt->lock);
	return drained;
}

static int refuse_stop(int err, const char *why)
{
	fprintf(stderr, "haul: haul_stop(): %s\n", why);
	return err;
}

static int check_stop(struct haul_runtime *rt)
{
	if (hauli_self())
		return refuse_stop(-EDEADLK,
			"called on a carrier, which it would wait for; call it from another "
			"thread");
	if (hauli_runtimes_are_copies())
		return refuse_stop(-EPERM, "called in a child of fork(), which has no carriers");
	if (!is_running(rt))
		return refuse_stop(-EINVAL,
			"this runtime does not run: it was stopped before, or never started");
	if (is_held(rt))
		return refuse_stop(
			-EBUSY, "its carriers still receive packets; call haul_io_stop() first");
	return 0;
}

static void tell_unjoined(const struct haul_runtime *rt)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < rt->nb_carriers; i++)
		n += rt->carriers[i].unjoined;
	if (n > 0)
		fprintf(stderr,
			"haul: %" PRIu64 " coroutine%s had ended and kept %s until the stop; "
			"haul_join() or haul_detach() each handle that a spawn gives\n",
			n, n == 1 ? "" : "s", n == 1 ? "its stack" : "their stacks");
}

int haul_stop(struct haul_runtime *rt, uint64_t timeout_ns)
{
	int err = check_stop(rt);

	if (err)
		return err;
	hauli_gate_close(&rt->gate);
	while (!hauli_gate_is_quiet(&rt->gate))
		sched_yield();
	if (!rt->stop_sent) {
		for (unsigned i = 0; i < rt->nb_carriers; i++)
			hauli_mail_send(&rt->carriers[i], &rt->carriers[i].stop_msg);
		rt->stop_sent = true;
	}
	if (!wait_until_drained(rt, timeout_ns)) {
		fputs("haul: not ended at the stop's deadline:\n", stderr);
		hauli_dump_unfinished(rt, stderr);
		haul_dump(rt, stderr);
		return -ETIMEDOUT;
	}
	tell_unjoined(rt);
	finish(rt, rt->nb_carriers);
	undo(rt, NB_STEPS);
	return 0;
}

#define NO_RUNTIME "the runtime is NULL; give what haul_start() has given"

size_t haul_trim(struct haul_runtime *rt)
{
	HAUL_MISUSE_IF(!rt, NO_RUNTIME);
	return hauli_stacks_trim(rt->stacks);
}

unsigned haul_carriers(const struct haul_runtime *rt)
{
	HAUL_MISUSE_IF(!rt, NO_RUNTIME);
	return rt->nb_carriers;
}

struct haul_carrier *haul_carrier(struct haul_runtime *rt, unsigned i)
{
	HAUL_MISUSE_IF(!rt, NO_RUNTIME);
	return i < rt->nb_carriers ? &rt->carriers[i] : NULL;
}
