/* SPDX-License-Identifier: BSD-3-Clause */
/* The start of a runtime, and its stop, which undoes the steps of the start in reverse order. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/forks.h"
#include "coro/overflow.h"
#include "pool/pool.h"
#include "sched/look/crash.h"
#include "sched/look/quiet.h"
#include "sched/look/watchdog.h"
#include "sched/mail/mail.h"
#include "sched/place/cluster.h"
#include "sched/place/placing.h"
#include "sched/run/hibernate.h"
#include "sched/run/placed.h"
#include "sched/run/rescue.h"
#include "sched/run/round.h"
#include "sched/run/stop.h"
#include "sched/spawn/life.h"
#include "sched/state/marks.h"
#include "sched/state/runtime.h"
#include "sched/state/self.h"
#include "sched/state/threads.h"
#include "sched/steal/groups.h"
#include "sched/wait/record.h"
#include "trace/timelines.h"

#define DEFAULT_STACK_SIZE (24 * 1024)

struct start {
	const struct haul_runtime_opts *opts;
	const struct haul_plan *plan;
	char *errbuf;
	size_t errlen;
};

static int clock_init(struct haul_runtime *rt, const struct start *s)
{
	rt->virtual_time = s->opts->virtual_time;
	return hauli_quiet_init(rt);
}

static int stacks_init(struct haul_runtime *rt, const struct start *s)
{
	int cls = hauli_stack_class(s->opts->stack_size ? s->opts->stack_size : DEFAULT_STACK_SIZE);

	if (cls < 0)
		return cls;
	rt->default_class = (unsigned)cls;
	return hauli_stacks_create(&rt->stacks, HAULI_CACHE_LINE, HAULI_GUARD_BEST);
}

static int marks_init(struct haul_runtime *rt, const struct start *s)
{
	if (!s->opts->stack_marks)
		return 0;
	hauli_stacks_mark(rt->stacks);
	return hauli_marks_create(&rt->marks);
}

static void marks_fini(struct haul_runtime *rt)
{
	hauli_marks_destroy(rt->marks);
}

static void stacks_fini(struct haul_runtime *rt)
{
	hauli_stacks_destroy(rt->stacks);
}

static int coros_init(struct haul_runtime *rt, const struct start *s)
{
	return hauli_slab_create(&rt->coros, sizeof(struct haul_coro));
}

static void coros_fini(struct haul_runtime *rt)
{
	hauli_slab_destroy(rt->coros);
}

static const struct hauli_co *running(void)
{
	const struct haul_coro *me = haul_self();

	return me ? &me->co : NULL;
}

static int overflow_init(struct haul_runtime *rt, const struct start *s)
{
	hauli_crash_init();
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

	/* io_uring answers in real time. */
	rt->fds = HAULI_SIM ? HAUL_FDS_EPOLL : s->opts->fds;
	rt->carriers = aligned_alloc(HAULI_CACHE_LINE, n * sizeof(rt->carriers[0]));
	if (!rt->carriers)
		return -ENOMEM;
	for (unsigned i = 0; i < n && !err; i++) {
		struct haul_carrier *c = &rt->carriers[i];

		err = hauli_carrier_init(
			c, rt, rt->coros, rt->stacks, i, &s->plan->places[i], s->opts);
		c->marks = rt->marks;
		c->spawn.prototype = &hauli_life_prototypes[rt->default_class];
		c->virtual_time = rt->virtual_time;
		c->watched = HAUL_CHECKS || rt->virtual_time;
		hauli_detached_mail_init(&c->mail.detached);
		rt->nb_carriers += !err;
	}
	if (err)
		carriers_fini(rt);
	return err;
}

static int timelines_init(struct haul_runtime *rt, const struct start *s)
{
	int err;

	if (s->opts->trace_events == 0 && !hauli_is_traced())
		return 0;
	err = hauli_timelines_create(&rt->timelines, rt->nb_carriers, s->opts->trace_events);
	if (err)
		return err;
	for (unsigned i = 0; i < rt->nb_carriers; i++) {
		rt->carriers[i].timeline = hauli_timelines_of(rt->timelines, i);
		rt->carriers[i].timeline->head.cpu = rt->carriers[i].place.cpu;
	}
	hauli_timelines_publish(rt->timelines);
	return 0;
}

static void timelines_fini(struct haul_runtime *rt)
{
	hauli_timelines_destroy(rt->timelines);
}

static int hibernation_init(struct haul_runtime *rt, const struct start *s)
{
	return hauli_hibernation_init(rt, s->opts->hibernate_after_ns);
}

static int hibernators_start(struct haul_runtime *rt, const struct start *s)
{
	return hauli_hibernation_start(rt);
}

static void nothing(struct haul_runtime *rt)
{
}

static int clusters_init(struct haul_runtime *rt, const struct start *s)
{
	return hauli_clusters_init(rt, s->plan);
}

static int placing_init(struct haul_runtime *rt, const struct start *s)
{
	return hauli_placing_init(rt, s->plan);
}

static int groups_init(struct haul_runtime *rt, const struct start *s)
{
	return hauli_groups_init(rt, s->plan, s->opts);
}

static void calls_fini(struct haul_runtime *rt)
{
	for (unsigned i = 0; i < rt->nb_carriers; i++)
		hauli_calls_fini(&rt->carriers[i]);
}

/* Where carriers do not steal. */
static int calls_init(struct haul_runtime *rt, const struct start *s)
{
	int err = 0;

	for (unsigned i = 0; i < rt->nb_carriers && !err; i++)
		if (!hauli_steals(&rt->carriers[i]))
			err = hauli_calls_init(
				&rt->carriers[i], hauli_life_prototypes[rt->default_class].calls);
	if (err)
		calls_fini(rt);
	return err;
}

static int pool_init(struct haul_runtime *rt, const struct start *s)
{
	return hauli_pool_hold(&rt->pool, s->plan->places, rt->nb_carriers);
}

static void pool_fini(struct haul_runtime *rt)
{
	hauli_pool_release(rt->pool);
}

static int long_slices_init(struct haul_runtime *rt, const struct start *s)
{
	int err = hauli_placed_start(rt);

	return err ? err : hauli_rescue_init(rt, s->opts);
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

/* Launches the carriers. All of them are initialised before the first one runs. */
static int launch_all(struct haul_runtime *rt, const struct start *s)
{
	for (unsigned i = 0; i < rt->nb_carriers; i++) {
		struct haul_carrier *c = &rt->carriers[i];
		int err = rt->launcher.launch(rt->launcher.ctx, i, &c->place, hauli_round_main, c);

		if (err) {
			hauli_stop_finish(rt, i);
			return err;
		}
	}
	return 0;
}

static void end_all(struct haul_runtime *rt)
{
	hauli_stop_finish(rt, rt->nb_carriers);
	hauli_stop_tell_unjoined(rt);
}

#define WATCHDOG_NS (20 * HAUL_MS)

static int watchdog_start(struct haul_runtime *rt, const struct start *s)
{
	uint64_t ns = s->opts->watchdog_ns ? s->opts->watchdog_ns : WATCHDOG_NS;

	return ns == HAUL_FOREVER ? 0 : hauli_watchdog_start(&rt->watchdog, rt, ns);
}

static void watchdog_stop(struct haul_runtime *rt)
{
	hauli_watchdog_stop(rt->watchdog);
	rt->watchdog = NULL;
}

static int enlist(struct haul_runtime *rt, const struct start *s)
{
	hauli_runtime_enlist(rt);
	return 0;
}

static const struct step {
	const char *name;
	int (*init)(struct haul_runtime *rt, const struct start *s);
	void (*fini)(struct haul_runtime *rt);
} steps[] = {
	{"clock", clock_init, hauli_quiet_fini},
	{"stacks", stacks_init, stacks_fini},
	{"stack marks", marks_init, marks_fini},
	{"coroutines", coros_init, coros_fini},
	{"overflow", overflow_init, overflow_fini},
	{"carriers", carriers_init, carriers_fini},
	{"timelines", timelines_init, timelines_fini},
	{"hibernation", hibernation_init, hauli_hibernation_fini},
	{"clusters", clusters_init, hauli_clusters_fini},
	{"placing", placing_init, hauli_placing_fini},
	{"stealing", groups_init, hauli_groups_fini},
	{"calls", calls_init, calls_fini},
	{"pool", pool_init, pool_fini},
	{"long slices", long_slices_init, hauli_rescue_fini},
	{"launcher", launcher_init, launcher_fini},
	{"launch", launch_all, end_all},
	{"list", enlist, hauli_runtime_delist},
	{"watchdog", watchdog_start, watchdog_stop},
	{"hibernators", hibernators_start, nothing},
};

#define NB_STEPS (sizeof(steps) / sizeof(steps[0]))

static void undo(struct haul_runtime *rt, size_t done)
{
	while (done-- > 0)
		steps[done].fini(rt);
	pthread_cond_destroy(&rt->drained_more);
	pthread_mutex_destroy(&rt->lock);
	pthread_mutex_destroy(&rt->left.lock);
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
	pthread_mutex_init(&rt->left.lock, NULL);
	hauli_gate_init(&rt->gate);
	hauli_gate_init(&rt->callers);
	hauli_gate_init(&rt->joins);
	return rt;
}

/* Writes the line of an error into errbuf, and returns the error. */
static int fail(const struct start *s, int err, const char *what, const char *why)
{
	snprintf(s->errbuf, s->errlen, "%s: %s", what, why);
	return err;
}

static const char *why_not(const struct step *step, int err)
{
	if (err == -ENOTSUP && step->init == groups_init)
		return "it needs membarrier(2) (Linux 4.14) and a haul built with -Dstealing=true";
	if (err == -EBUSY && step->init == clock_init)
		return "with virtual time a runtime is the only one of the process";
	if (err == -ENOSPC && step->init == overflow_init)
		return "a process has at most 64 runtimes; stop one";
	return strerror(-err);
}

static int start(struct haul_runtime **out, const struct start *s)
{
	struct haul_runtime *rt = runtime_new();

	if (!rt)
		return fail(s, -ENOMEM, "runtime", strerror(ENOMEM));
	for (size_t i = 0; i < NB_STEPS; i++) {
		int err = steps[i].init(rt, s);

		if (err) {
			undo(rt, i);
			return fail(s, err, steps[i].name, why_not(&steps[i], err));
		}
	}
	*out = rt;
	return 0;
}

/* Returns what is wrong with the options, or NULL. */
static const char *find_wrong(const struct haul_runtime_opts *opts)
{
	const struct haul_launcher *l = opts->launcher;

	if (opts->steal > HAUL_STEAL_GLOBAL)
		return "steal: no such way to steal";
	if (opts->steal_most > HAULI_STEAL_MOST)
		return "steal_most: at most 128";
	if (opts->steal_depth > HAULI_RING_SIZE)
		return "steal_depth: at most 256";
	if (opts->searchers > HAULI_SEARCHES)
		return "searchers: at most 32";
	if (opts->trace_events > HAULI_TIMELINE_MOST)
		return "trace_events: at most 2^28";
	if (opts->fds > HAUL_FDS_EPOLL)
		return "fds: no such way to wait";
	if (opts->rescue_after_ns && opts->steal == HAUL_STEAL_OFF)
		return "rescue_after_ns: only with stealing, as a rescued carrier's coroutine is "
		       "like a stolen one";
	if (opts->rescuers > 256)
		return "rescuers: at most 256";
	if (opts->virtual_time && opts->steal != HAUL_STEAL_OFF)
		return "virtual_time: not with stealing, whose thefts depend on real time";
	if (l && (!l->launch || !l->join))
		return "launcher: it lacks a function";
	return NULL;
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
		!plan->places || (n > 1 && !plan->by_distance))
		return false;
	for (unsigned i = 0; i < n; i++)
		if (plan->places[i].cluster >= plan->clusters)
			return false;
	return (n == 1 || are_all_below(plan->by_distance, (size_t)n * (n - 1), n)) &&
		(!plan->nearest || are_all_below(plan->nearest, plan->cpus, n));
}

static int start_by_default_plan(struct haul_runtime **rt, struct start *s)
{
	struct haul_plan *plan = NULL;
	int err;

	/* haul_plan_create() writes no line for this error */
	(void)fail(s, -ENOMEM, "plan", strerror(ENOMEM));
	err = haul_plan_create(&plan, NULL, s->errbuf, s->errlen);
	if (err)
		return err;
	s->plan = plan;
	err = start(rt, s);
	haul_plan_destroy(plan);
	return err;
}

static int check(const struct start *s)
{
	const char *wrong = find_wrong(s->opts);

	if (hauli_self())
		return fail(s, -EPERM, "called on a carrier", "call it from another thread");
	if (wrong)
		return fail(s, -EINVAL, "options", wrong);
	if (s->plan && !is_whole(s->plan))
		return fail(s, -EINVAL, "plan",
			"it has no carriers, or its tables name carriers that it has not");
	return 0;
}

int haul_start(
	struct haul_runtime **rt, const struct haul_runtime_opts *opts, char *errbuf, size_t errlen)
{
	static const struct haul_runtime_opts defaults;
	struct start s = {opts ? opts : &defaults, opts ? opts->plan : NULL, errbuf, errlen};
	int err;

	HAUL_MISUSE_IF(!rt, "the address for the runtime is NULL");
	err = check(&s);
	if (err)
		return err;
	hauli_clock_init();
	err = hauli_forks_watch();
	if (err)
		return fail(&s, err, "fork", strerror(-err));
	hauli_runtimes_forget_copies();
	return s.plan ? start(rt, &s) : start_by_default_plan(rt, &s);
}

int haul_stop(struct haul_runtime *rt, uint64_t timeout_ns)
{
	int err;

	HAUL_MISUSE_IF(!rt, "the runtime is NULL");
	err = hauli_stop(rt, timeout_ns);
	if (err)
		return err;
	undo(rt, NB_STEPS);
	return 0;
}
