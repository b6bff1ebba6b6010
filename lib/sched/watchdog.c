/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thread looks at each carrier twice per limit. Rounds, pops and the begin of a batch tell slices
 * apart, so carriers do nothing for it. If they are the same as at the last look, the CPU time that
 * the carrier's thread has used in between counts: one that was preempted, or that waits in the
 * kernel, is not late.
 *
 * A poller that spins may be resumed once for all, so what tells its slices apart is its own count
 * of cycles. Others than haul's own have none, and are not watched.
 *
 * While no coroutine is seen to run, and no poller that has found something, the looks become
 * rarer.
 */
#include "sched/watchdog.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/race.h"
#include "coro/trace.h"
#include "sched/runtime.h"
#include "sched/snapshot.h"

#define RAREST (250 * HAUL_MS)
#define QUIET_NS HAUL_S /* after a line */
#define UNWATCHED UINT64_MAX

struct slice {
	uint64_t rounds, began, cycles;
	uint32_t popped;
};

struct watched {
	struct slice slice; /* at the last look */
	uint64_t cpu_ns; /* of the thread, when the slice was seen first */
	bool told;
};

struct hauli_watchdog {
	const struct haul_runtime *rt;
	uint64_t limit_ns, told_at;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t ends_now;
	bool ends; /* under the lock */
	struct watched watched[];
};

void hauli_watchdog_cycles(struct haul_carrier *c, const struct hauli_counter *cycles)
{
	struct hauli_watchdog *w = c->rt->watchdog;

	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	c->cycles = cycles;
	pthread_mutex_unlock(&w->lock);
}

/* UNWATCHED: c has no poller that is watched. */
static uint64_t cycles_of(struct hauli_watchdog *w, const struct haul_carrier *c)
{
	uint64_t n;

	pthread_mutex_lock(&w->lock);
	n = c->cycles ? hauli_counter_read(c->cycles) : UNWATCHED;
	pthread_mutex_unlock(&w->lock);
	return n;
}

/* The CPU time of a thread of this process; the kernel's encoding of its clock. */
static uint64_t cpu_time(uint32_t tid)
{
	const uint32_t per_thread = 6;
	struct timespec t = {0};

	clock_gettime((clockid_t)(~tid << 3 | per_thread), &t);
	return (uint64_t)t.tv_sec * HAUL_S + (uint64_t)t.tv_nsec;
}

static struct slice slice_of(struct hauli_watchdog *w, const struct haul_carrier *c)
{
	return (struct slice){
		.rounds = hauli_counter_read(&c->rounds),
		.began = hauli_u64_owned_get(&c->batch_began),
		.cycles = cycles_of(w, c),
		.popped = hauli_ring_popped(&c->runq.ring),
	};
}

static bool is_same(const struct slice *a, const struct slice *b)
{
	return a->rounds == b->rounds && a->began == b->began && a->cycles == b->cycles &&
		a->popped == b->popped;
}

/* A guess, before the carrier is asked: true if a coroutine runs. *poller: it is the poller; or
 * NULL. */
HAULI_MAY_RACE static bool runs(const struct haul_carrier *c, const struct haul_coro **poller)
{
	const struct haul_coro *co;

	HAULI_RACES(c);
	co = c->current;
	*poller = co && co->poller ? co : NULL;
	return co;
}

static void tell(struct hauli_watchdog *w, const struct haul_carrier *c,
	const struct hauli_shot *shot, bool polls, uint64_t ns)
{
	char stack[1024];
	FILE *out;

	if (w->told_at && hauli_ns_from_ticks(hauli_ticks() - w->told_at) < QUIET_NS)
		return;
	w->told_at = hauli_ticks();
	out = fmemopen(stack, sizeof(stack), "w");
	if (out) {
		hauli_trace_print_line(shot->pcs, shot->n, out);
		fclose(out);
	}
	fprintf(stderr,
		"haul: %s \"%s\" %p has run for %" PRIu64 " ms on carrier %u without %s, at %s\n",
		polls ? "poller" : "coroutine", shot->name, (const void *)shot->co, ns / HAUL_MS,
		c->id, polls ? "a poll" : "a wait or haul_maybe_yield()", out ? stack : "?");
}

/* The slice of the last look goes on. poller: what seems to run, or NULL: a coroutine does. */
static void judge(struct hauli_watchdog *w, struct haul_carrier *c, struct watched *seen,
	const struct haul_coro *poller)
{
	uint64_t used = cpu_time(hauli_u32_published_get(&c->tid)) - seen->cpu_ns;
	struct hauli_shot shot = {.co = poller};
	struct slice now;

	if (seen->told || used < w->limit_ns || !hauli_snapshot(c, &shot, 1))
		return;
	now = slice_of(w, c);
	if (!shot.taken || !is_same(&now, &seen->slice))
		return;
	seen->told = true;
	hauli_counter_add(&c->long_slices, 1);
	tell(w, c, &shot, poller, used);
}

/* False: the carrier sleeps, or polls and finds nothing. */
static bool look(struct hauli_watchdog *w, struct haul_carrier *c, struct watched *seen)
{
	struct slice slice = slice_of(w, c);
	const struct haul_coro *poller;

	if (hauli_inbox_is_asleep(&c->inbox) || !runs(c, &poller) ||
		(poller && slice.cycles == UNWATCHED))
		return false;
	if (is_same(&slice, &seen->slice)) {
		judge(w, c, seen, poller);
	} else {
		*seen = (struct watched){
			.slice = slice, .cpu_ns = cpu_time(hauli_u32_published_get(&c->tid))};
	}
	return !poller || hauli_stopwatch_runs(&c->work);
}

/* False: it is to end. */
static bool pause_for(struct hauli_watchdog *w, uint64_t ns)
{
	struct timespec until = hauli_monotonic_in(ns);
	bool ends;

	pthread_mutex_lock(&w->lock);
	while (!w->ends && pthread_cond_timedwait(&w->ends_now, &w->lock, &until) != ETIMEDOUT)
		;
	ends = w->ends;
	pthread_mutex_unlock(&w->lock);
	return !ends;
}

static void *watch(void *arg)
{
	struct hauli_watchdog *w = arg;
	uint64_t often = w->limit_ns / 2, pause = often;

	pthread_setname_np(pthread_self(), "watchdog");
	while (pause_for(w, pause)) {
		bool awake = false;

		for (unsigned i = 0; i < w->rt->nb_carriers; i++)
			awake |= look(w, &w->rt->carriers[i], &w->watched[i]);
		pause = awake ? often : 2 * pause;
		pause = pause < RAREST || often > RAREST ? pause : RAREST;
	}
	return NULL;
}

int hauli_watchdog_start(
	struct hauli_watchdog **watchdog, const struct haul_runtime *rt, uint64_t limit_ns)
{
	struct hauli_watchdog *w = calloc(1, sizeof(*w) + rt->nb_carriers * sizeof(w->watched[0]));
	pthread_condattr_t monotonic;
	int err;

	if (!w)
		return -ENOMEM;
	w->rt = rt;
	w->limit_ns = limit_ns;
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&w->ends_now, &monotonic);
	pthread_condattr_destroy(&monotonic);
	pthread_mutex_init(&w->lock, NULL);
	err = pthread_create(&w->thread, NULL, watch, w);
	if (err) {
		free(w);
		return -err;
	}
	*watchdog = w;
	return 0;
}

void hauli_watchdog_stop(struct hauli_watchdog *w)
{
	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->ends = true;
	pthread_cond_signal(&w->ends_now);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	pthread_cond_destroy(&w->ends_now);
	pthread_mutex_destroy(&w->lock);
	free(w);
}
