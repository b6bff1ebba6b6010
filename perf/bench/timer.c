/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What do timers cost while many are pending? Arming them all, cancelling and arming again one of
 * them at random, a time-out that is armed and cancelled before it expires, and the expiry of all.
 * "even" deadlines lie anywhere in the next second, and the time goes on in steps of 1 ms;
 * "burst" deadlines lie within a microsecond, and all have passed. `step_us` is the 99th percentile
 * of the calls that expire timers. `longest_us` is the longest of them, in the run where it was
 * shortest: other programs can only prolong it.
 *
 * The heap is binary, with deadlines inline and the positions in the timers, so that they can be
 * cancelled; it expires at most as many per call as haul. rte_timer takes its time from the clock,
 * so there all even deadlines have passed as well, and one call expires everything.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef PERF_RTE_TIMER
#include <rte_lcore.h>
#include <rte_timer.h>
#endif

#include "base/random.h"
#include "harness/eal.h"
#include "harness/harness.h"
#include "sched/state/timer.h"

#define PARTS 4 /* questions */
#define OUTSTANDING 64 /* time-outs armed and cancelled in turns */
#define EVEN_MS 1000
#define STEP_MS 1
#define BURST_NS 1000
/* Before the first deadline of a burst; an rte_timer waits for that long. */
#define LEAD_MS 20

enum question { ARM, TIMEOUT, EXPIRE_EVEN, EXPIRE_BURST };

/* A side's timers, number i of pending. */
struct timers {
	int (*init)(void);
	void (*fini)(void);
	void (*arm)(uint64_t i, uint64_t at);
	void (*cancel)(uint64_t i);
	/* Some of the timers that are due at now; returns their number. */
	unsigned (*expire)(uint64_t now);
	bool real_time;
};

static uint64_t pending;
static enum question question;
static struct hauli_random dice;
static uint64_t *deadlines;
static double *shortest; /* of a side: its longest_us */

/* Steps, of 100 ns each; the last for all that are longer. */
#define STEPS 1000
#define STEP_NS 100

static uint64_t steps[STEPS];

static uint64_t ticks(uint64_t ns)
{
	return hauli_ticks_from_ns(ns);
}

static uint64_t below(uint64_t n)
{
	return hauli_random_next(&dice) % n;
}

static uint64_t span(void)
{
	return question == EXPIRE_BURST ? BURST_NS : EVEN_MS * UINT64_C(1000000);
}

/* haul */
static struct hauli_timers haul_timers;
static struct hauli_timer *haul_each;

static int haul_init(void)
{
	haul_each = calloc(pending + OUTSTANDING, sizeof(*haul_each));
	return haul_each ? hauli_timers_init(&haul_timers, (uint32_t)pending + OUTSTANDING)
			 : -ENOMEM;
}

static void haul_fini(void)
{
	hauli_timers_fini(&haul_timers);
	free(haul_each);
}

static void haul_arm(uint64_t i, uint64_t at)
{
	haul_each[i].at = at;
	hauli_timer_arm(&haul_timers, &haul_each[i]);
}

static void haul_cancel(uint64_t i)
{
	hauli_timer_disarm(&haul_timers, &haul_each[i]);
}

static unsigned haul_expire(uint64_t now)
{
	struct hauli_timer *due[HAULI_TIMERS_DUE];

	return hauli_timers_expire(&haul_timers, now, due);
}

/* A binary heap. */
struct heap_entry {
	uint64_t at;
	uint64_t timer;
};

static struct heap_entry *nodes;
static uint64_t *places; /* of the timers */
static uint64_t heap_size;

static int heap_init(void)
{
	nodes = calloc(pending + OUTSTANDING + 1, sizeof(*nodes));
	places = calloc(pending + OUTSTANDING, sizeof(*places));
	heap_size = 0;
	return nodes && places ? 0 : -ENOMEM;
}

static void heap_fini(void)
{
	free(nodes);
	free(places);
}

static inline void put(uint64_t place, struct heap_entry e)
{
	nodes[place] = e;
	places[e.timer] = place;
}

static void up(uint64_t place, struct heap_entry e)
{
	for (; place > 1 && nodes[place / 2].at > e.at; place /= 2)
		put(place, nodes[place / 2]);
	put(place, e);
}

static void down(uint64_t place, struct heap_entry e)
{
	for (uint64_t child; (child = 2 * place) <= heap_size; place = child) {
		child += child < heap_size && nodes[child + 1].at < nodes[child].at;
		if (nodes[child].at >= e.at)
			break;
		put(place, nodes[child]);
	}
	put(place, e);
}

static void heap_arm(uint64_t i, uint64_t at)
{
	up(++heap_size, (struct heap_entry){at, i});
}

static void heap_cancel(uint64_t i)
{
	uint64_t place = places[i];
	struct heap_entry last = nodes[heap_size--];

	if (place > heap_size)
		return;
	if (place > 1 && nodes[place / 2].at > last.at)
		up(place, last);
	else
		down(place, last);
}

static unsigned heap_expire(uint64_t now)
{
	unsigned n = 0;

	for (; n < HAULI_TIMERS_DUE && heap_size > 0 && nodes[1].at <= now; n++)
		heap_cancel(nodes[1].timer);
	return n;
}

#ifdef PERF_RTE_TIMER
static struct rte_timer *dpdk_timers;
static unsigned dpdk_expired;

static int dpdk_init(void)
{
	int err;

	if (!perf_eal(1))
		return -ENODEV;
	err = rte_timer_subsystem_init();
	if (err && err != -EALREADY)
		return err;
	dpdk_timers = calloc(pending + OUTSTANDING, sizeof(*dpdk_timers));
	for (uint64_t i = 0; dpdk_timers && i < pending + OUTSTANDING; i++)
		rte_timer_init(&dpdk_timers[i]);
	return dpdk_timers ? 0 : -ENOMEM;
}

static void dpdk_fini(void)
{
	free(dpdk_timers);
}

static void dpdk_callback(struct rte_timer *t, void *arg)
{
	dpdk_expired++;
}

static void dpdk_arm(uint64_t i, uint64_t at)
{
	uint64_t now = hauli_ticks();

	rte_timer_reset(&dpdk_timers[i], at > now ? at - now : 0, SINGLE, rte_lcore_id(),
		dpdk_callback, NULL);
}

static void dpdk_cancel(uint64_t i)
{
	rte_timer_stop(&dpdk_timers[i]);
}

static unsigned dpdk_expire(uint64_t now)
{
	unsigned before = dpdk_expired;

	rte_timer_manage();
	return dpdk_expired - before;
}
#endif

/* The questions, inlined into each side's run so that its operations are direct calls. */
#define PART static inline __attribute__((always_inline))

PART void arm_all(const struct timers *t, uint64_t from)
{
	for (uint64_t i = 0; i < pending; i++)
		t->arm(i, from + deadlines[i]);
}

static void draw_deadlines(void)
{
	for (uint64_t i = 0; i < pending; i++)
		deadlines[i] = ticks(below(span()));
}

/* Arms all; the time of cancelling them, in another order, is beside it. */
PART uint64_t run_arm(const struct timers *t)
{
	uint64_t start, took, at = hauli_ticks() + ticks(LEAD_MS * UINT64_C(1000000));

	start = perf_now();
	arm_all(t, at);
	took = perf_now() - start;
	start = perf_now();
	/* 7,919 is a prime: neighbours in time are no neighbours in memory. */
	for (uint64_t i = 0, which = 0; i < pending; i++, which = (which + 7919) % pending)
		t->cancel(which);
	perf_extra("cancel_ns", (double)(perf_now() - start) / (double)pending);
	return took;
}

/* Time-outs of 100 ms, of which the last 32 have not been cancelled yet. */
PART uint64_t run_timeout(const struct timers *t, uint64_t n)
{
	uint64_t start = perf_now(), took, timeout = ticks(100000000), at = hauli_ticks() + timeout;
	const uint64_t ahead = OUTSTANDING / 2;

	for (uint64_t i = 0; i < n + ahead; i++) {
		if (i < n)
			t->arm(pending + i % OUTSTANDING, at + i);
		if (i >= ahead)
			t->cancel(pending + (i - ahead) % OUTSTANDING);
	}
	took = perf_now() - start;
	return took;
}

static void wait_until(uint64_t at)
{
	while (hauli_ticks() < at)
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static void count_step(uint64_t took)
{
	uint64_t step = hauli_ns_from_ticks(took) / STEP_NS;

	steps[step < STEPS ? step : STEPS - 1]++;
}

static double step_percentile(unsigned percent)
{
	uint64_t all = 0, below_it = 0, i = 0;

	for (unsigned s = 0; s < STEPS; s++)
		all += steps[s];
	while (100 * (below_it += steps[i]) < percent * all)
		i++;
	return (double)((i + 1) * STEP_NS) / 1000;
}

PART uint64_t run_expire(const struct timers *t)
{
	uint64_t from = hauli_ticks() + ticks(LEAD_MS * UINT64_C(1000000));
	uint64_t step = ticks(STEP_MS * UINT64_C(1000000)), now = from, sum = 0, longest = 0;
	double us;

	memset(steps, 0, sizeof(steps));
	arm_all(t, from);
	if (question == EXPIRE_BURST || t->real_time)
		now += ticks(span());
	if (t->real_time)
		wait_until(now);
	for (uint64_t left = pending; left > 0; now += step) {
		unsigned n;

		do {
			uint64_t start = hauli_ticks(), took;

			n = t->expire(now);
			took = hauli_ticks() - start;
			sum += took;
			count_step(took);
			longest = took > longest ? took : longest;
			left -= n;
		} while (n > 0 && left > 0);
	}
	perf_extra("step_us", step_percentile(99));
	us = (double)hauli_ns_from_ticks(longest) / 1000;
	*shortest = us < *shortest ? us : *shortest;
	perf_extra("longest_us", *shortest);
	return hauli_ns_from_ticks(sum);
}

PART uint64_t run(const struct timers *t, uint64_t n, double *longest)
{
	uint64_t ns = 0;

	shortest = longest;
	if (question == TIMEOUT)
		return run_timeout(t, n);
	for (uint64_t i = 0; i < n / pending; i++)
		ns += question == ARM ? run_arm(t) : run_expire(t);
	return ns;
}

/* A time-out is measured beside pending timers. */
PART int set_up(const struct timers *t, uint64_t param, double *longest)
{
	int err;

	question = param % PARTS;
	pending = param / PARTS;
	*longest = 1e9;
	hauli_clock_init();
	if (!deadlines) {
		hauli_random_init(&dice, 1);
		deadlines = calloc(pending, sizeof(*deadlines));
		if (!deadlines)
			return -ENOMEM;
		draw_deadlines();
	}
	err = t->init();
	if (!err && question == TIMEOUT)
		arm_all(t, hauli_ticks() + ticks(3600000000000));
	return err;
}

PART void tear_down(const struct timers *t)
{
	for (uint64_t i = 0; question == TIMEOUT && i < pending; i++)
		t->cancel(i);
	t->fini();
	free(deadlines);
	deadlines = NULL;
}

#define SIDE(prefix, ...)                                                                \
	static const struct timers prefix = {prefix##_init, prefix##_fini, prefix##_arm, \
		prefix##_cancel, prefix##_expire, __VA_ARGS__};                          \
	static double prefix##_longest;                                                  \
	static int prefix##_setup(uint64_t param)                                        \
	{                                                                                \
		return set_up(&prefix, param, &prefix##_longest);                        \
	}                                                                                \
	static uint64_t prefix##_run(uint64_t n)                                         \
	{                                                                                \
		return run(&prefix, n, &prefix##_longest);                               \
	}                                                                                \
	static void prefix##_teardown(void)                                              \
	{                                                                                \
		tear_down(&prefix);                                                      \
	}

SIDE(haul, false)
SIDE(heap, false)
#ifdef PERF_RTE_TIMER
SIDE(dpdk, true)
#define RTE_TIMER {"rte_timer", dpdk_setup, dpdk_run, dpdk_teardown},
#else
#define RTE_TIMER
#endif

#define CASE(kind, what, asked, n, once)                                                         \
	{                                                                                        \
		.name = "timer-" kind "/" #n, .question = what ", " #n " pending",               \
		.param = (n)*PARTS + (asked), .unit = (once) ? (n) : 1, .max = (once) ? (n) : 0, \
		.sides = {{"haul", haul_setup, haul_run, haul_teardown},                         \
			{"binary heap", heap_setup, heap_run, heap_teardown}, RTE_TIMER},        \
	}

#define CASES(n)                                                                 \
	CASE("arm", "arm a timer, up to", ARM, n, true),                         \
		CASE("timeout", "arm and cancel a time-out", TIMEOUT, n, false), \
		CASE("even", "expiry", EXPIRE_EVEN, n, true),                    \
		CASE("burst", "expiry, all due at once", EXPIRE_BURST, n, true)

static const struct perf_case cases[] = {CASES(100000), CASES(1000000), {0}};

int main(int argc, char **argv)
{
	return perf_main(argc, argv, cases);
}
