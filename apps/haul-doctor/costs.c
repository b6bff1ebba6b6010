/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures the operations of pollers as pollers perform them: an empty round of a carrier, and
 * epoll_pwait2() on an eventfd with the timer slack of carriers. The two threads share only the
 * eventfd. Each writes its own figures, which are read after both have ended.
 */
#include "costs.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <haul/haul.h>

#define WAKES 300
#define GAP (100 * HAUL_US) /* between two wake-ups, for the waiter to fall asleep again */
#define SLEEPS 100
#define SERIES 31
#define ROUNDS 1000 /* in a series */

struct bench {
	struct doctor_costs *costs;
	int epoll, event;
	uint64_t wrote_at[WAKES], writes[WAKES]; /* written by the waker; the rest by the waiter */
	uint64_t woke_at[WAKES]; /* 0: the waiter woke once for this write and the next */
	uint64_t cpu_ns;
	unsigned waits;
	uint64_t late[SLEEPS];
};

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Sorts ns, and returns a quantile; share is 0.5 for the median. */
static uint64_t quantile(uint64_t *ns, unsigned n, double share)
{
	if (n == 0)
		return 0;
	qsort(ns, n, sizeof(ns[0]), by_value);
	return ns[(unsigned)((n - 1) * share)];
}

static uint64_t cpu_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * HAUL_S + (uint64_t)t.tv_nsec;
}

/* Returns false if the kernel has no epoll_pwait2(). */
static bool wait_for(const struct bench *b, const struct timespec *most)
{
	struct epoll_event event;

	return epoll_pwait2(b->epoll, &event, 1, most, NULL) >= 0 || errno == EINTR;
}

static uint64_t lateness(struct bench *b, uint64_t ns)
{
	struct timespec t = {.tv_nsec = (long)ns};

	for (unsigned i = 0; i < SLEEPS; i++) {
		uint64_t began = haul_now(), took;

		wait_for(b, &t);
		took = haul_now() - began;
		b->late[i] = took > ns ? took - ns : 0;
	}
	return quantile(b->late, SLEEPS, 0.5);
}

static void be_woken(struct bench *b)
{
	uint64_t began = cpu_time();
	unsigned taken = 0;

	for (b->waits = 0; taken < WAKES; b->waits++) {
		eventfd_t n;
		uint64_t now;

		wait_for(b, NULL);
		now = haul_now();
		if (eventfd_read(b->event, &n) != 0)
			continue;
		taken += (unsigned)n;
		if (n == 1)
			b->woke_at[taken - 1] = now;
	}
	b->cpu_ns = cpu_time() - began;
}

static void *waits(void *arg)
{
	struct bench *b = arg;

	prctl(PR_SET_TIMERSLACK, 1UL, 0, 0, 0);
	b->costs->coarse = !wait_for(b, &(struct timespec){0});
	if (b->costs->coarse)
		return NULL;
	b->costs->late_1us = lateness(b, HAUL_US);
	b->costs->late_50us = lateness(b, 50 * HAUL_US);
	return NULL;
}

static void *is_woken(void *arg)
{
	be_woken(arg);
	return NULL;
}

static void *wakes(void *arg)
{
	struct bench *b = arg;

	for (unsigned i = 0; i < WAKES; i++) {
		nanosleep(&(struct timespec){.tv_nsec = GAP}, NULL);
		b->wrote_at[i] = haul_now();
		eventfd_write(b->event, 1);
		b->writes[i] = haul_now() - b->wrote_at[i];
	}
	return NULL;
}

/* Starts a thread on *cpu; if that fails, without affinity, and sets *cpu to -1. Returns 0 or
 * -errno. */
static int begin(pthread_t *thread, int *cpu, void *(*fn)(void *), struct bench *b)
{
	pthread_attr_t attr;
	cpu_set_t set;
	int err = EINVAL;

	if (*cpu >= 0) {
		CPU_ZERO(&set);
		CPU_SET((size_t)*cpu, &set);
		pthread_attr_init(&attr);
		pthread_attr_setaffinity_np(&attr, sizeof(set), &set);
		err = pthread_create(thread, &attr, fn, b);
		pthread_attr_destroy(&attr);
	}
	if (err) {
		*cpu = -1;
		err = pthread_create(thread, NULL, fn, b);
	}
	return -err;
}

static int measure_sleeps(struct bench *b)
{
	pthread_t waiter;
	int err = begin(&waiter, &b->costs->cpu, waits, b);

	if (!err)
		pthread_join(waiter, NULL);
	return err;
}

static int measure_wakes(struct bench *b)
{
	struct doctor_costs *costs = b->costs;
	uint64_t took[WAKES];
	pthread_t waiter, waker;
	unsigned n = 0;
	int err = begin(&waiter, &costs->cpu, is_woken, b);

	if (err)
		return err;
	err = begin(&waker, &costs->waker_cpu, wakes, b);
	if (err)
		eventfd_write(b->event, WAKES); /* ends the waiter */
	else
		pthread_join(waker, NULL);
	pthread_join(waiter, NULL);
	if (err)
		return err;
	for (unsigned i = 0; i < WAKES; i++)
		if (b->woke_at[i] > b->wrote_at[i])
			took[n++] = b->woke_at[i] - b->wrote_at[i];
	costs->wake_median = quantile(took, n, 0.5);
	costs->wake_p90 = quantile(took, n, 0.9);
	costs->waker = quantile(b->writes, WAKES, 0.5);
	costs->wait = b->cpu_ns / b->waits;
	return 0;
}

static void *spins(void *arg)
{
	uint64_t ns[SERIES];

	for (unsigned i = 0; i < SERIES; i++) {
		uint64_t began = haul_now();

		for (unsigned k = 0; k < ROUNDS; k++)
			haul_maybe_yield(false);
		ns[i] = haul_now() - began;
	}
	*(double *)arg = (double)quantile(ns, SERIES, 0.5) / ROUNDS;
	return NULL;
}

/* Measures rounds in a runtime of one carrier, with a poller without queues. */
static int measure_round(struct doctor_costs *costs)
{
	struct haul_place place = {.cpu = costs->cpu, .core = -1, .node = -1};
	const struct haul_plan plan = {.carriers = 1, .clusters = 1, .places = &place};
	const struct haul_runtime_opts opts = {.plan = &plan};
	struct haul_runtime *rt;
	struct haul_coro *poller;
	int err = haul_start(&rt, &opts, NULL, 0);

	if (err)
		return err;
	err = haul_poller_register(haul_carrier(rt, 0), &poller, spins, &costs->round, NULL);
	if (!err)
		err = haul_join(poller, NULL, HAUL_FOREVER);
	haul_stop(rt, HAUL_FOREVER);
	return err;
}

static int measure_waits(struct doctor_costs *costs)
{
	struct epoll_event in = {.events = EPOLLIN};
	struct bench b = {.costs = costs};
	int err = 0;

	b.epoll = epoll_create1(EPOLL_CLOEXEC);
	b.event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (b.epoll < 0 || b.event < 0 || epoll_ctl(b.epoll, EPOLL_CTL_ADD, b.event, &in) < 0)
		err = -errno;
	if (!err)
		err = measure_sleeps(&b);
	if (!err && !costs->coarse)
		err = measure_wakes(&b);
	if (b.epoll >= 0)
		close(b.epoll);
	if (b.event >= 0)
		close(b.event);
	return err;
}

int doctor_costs_measure(struct doctor_costs *costs, const struct haul_plan *plan)
{
	int err;

	*costs = (struct doctor_costs){
		.cpu = plan->places[0].cpu,
		.waker_cpu = plan->carriers > 1 ? plan->places[1].cpu : -1,
	};
	err = measure_waits(costs);
	return err ? err : measure_round(costs);
}
