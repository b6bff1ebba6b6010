/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thread looks at each carrier twice per limit. It tells slices apart by the counts of rounds
 * and pops, the start of the batch, and the next of the objects that run at once
 * (spawn_records.c), which exist anyway. If these are the same as at the last look, the same slice
 * runs, and the CPU time that the carrier's thread has used since is compared with the limit: so
 * time for which it was preempted does not count. A thread that waits in a system call at each
 * look of a whole limit is in a foreign wait (foreign.h): a preempted thread is ready to run, and
 * a thread that was stopped with the process is seen so at one look at most. A wait for a lock has
 * a longer limit, since the holder of the lock may have been preempted.
 *
 * A poller that spins may run in a single slice, so its own count of cycles is compared instead.
 * Pollers other than haul's have no such count, and are not watched.
 *
 * A slice that was left behind (run/rescue.c) is no carrier's. Rescuers note it, and the watchdog
 * tells of it: a rescuer has a carrier to serve, and to find symbols takes time.
 *
 * The looks become rarer while they find neither a coroutine that runs nor a poller with work.
 */
#include "sched/look/watchdog.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/race.h"
#include "base/simulated.h"
#include "coro/trace.h"
#include "sched/look/deadlock.h"
#include "sched/look/foreign.h"
#include "sched/look/quiet.h"
#include "sched/look/snapshot.h"
#include "sched/state/runtime.h"

#define RAREST (250 * HAUL_MS)
#define QUIET_NS HAUL_S /* minimum time between two lines */
#define UNWATCHED UINT64_MAX
#define LOOKS_PER_LIMIT 2
#define LOCK_LIMITS 10 /* a wait for a lock is reported after this many limits */

struct slice {
	uint64_t rounds, began, cycles;
	const void *at_once;
	uint32_t popped;
};

struct watched {
	struct slice slice; /* at the last look */
	uint64_t cpu_ns; /* of the thread, when the slice was seen first */
	uint64_t waits_since; /* ns: when the thread was first seen in a foreign wait */
	unsigned waits; /* looks in a row that saw it in one */
	bool told;
};

struct hauli_watchdog {
	struct haul_runtime *rt;
	uint64_t limit_ns, told_at;
	struct hauli_deadlocks *deadlocks;
	uint64_t deadlocks_at; /* ticks: of the next look at them */
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
	c->poller.cycles = cycles;
	pthread_mutex_unlock(&w->lock);
}

/* The poller's count of cycles; UNWATCHED: c has no poller that is watched. */
static uint64_t cycles_of(struct hauli_watchdog *w, const struct haul_carrier *c)
{
	uint64_t n;

	pthread_mutex_lock(&w->lock);
	n = c->poller.cycles ? hauli_counter_read(c->poller.cycles) : UNWATCHED;
	pthread_mutex_unlock(&w->lock);
	return n;
}

/* The CPU time of a thread of this process, in ns. The clock's number is encoded as the kernel
 * does. */
static uint64_t cpu_time(uint32_t tid)
{
	const uint32_t per_thread = 6;
	struct timespec t = {0};

	clock_gettime((clockid_t)(~tid << 3 | per_thread), &t);
	return (uint64_t)t.tv_sec * HAUL_S + (uint64_t)t.tv_nsec;
}

/* Changes with each object that runs at once. */
HAULI_MAY_RACE static const void *next_at_once(const struct haul_carrier *c)
{
	HAULI_RACES(c);
	return c->spawn.at_once.next;
}

static struct slice slice_of(struct hauli_watchdog *w, const struct haul_carrier *c)
{
	return (struct slice){
		.rounds = hauli_counter_read(&c->counts.rounds),
		.began = hauli_u64_owned_get(&c->steal.batch_began),
		.cycles = cycles_of(w, c),
		.at_once = next_at_once(c),
		.popped = hauli_ring_popped(&c->runq.ring),
	};
}

static bool is_same(const struct slice *a, const struct slice *b)
{
	return a->rounds == b->rounds && a->began == b->began && a->cycles == b->cycles &&
		a->at_once == b->at_once && a->popped == b->popped;
}

/* True once a second. */
static bool may_tell(struct hauli_watchdog *w)
{
	if (w->told_at && hauli_ns_from_ticks(hauli_ticks() - w->told_at) < QUIET_NS)
		return false;
	w->told_at = hauli_ticks();
	return true;
}

/* Prints the end of a line. */
static void tell_stack(void *const *pcs, unsigned n)
{
	char stack[1024];
	FILE *out = fmemopen(stack, sizeof(stack), "w");

	if (out) {
		hauli_trace_print_line(pcs, n, out);
		fclose(out);
	}
	fprintf(stderr, ", at %s\n", out && n > 0 ? stack : "?");
}

static void tell(struct hauli_watchdog *w, const struct haul_carrier *c,
	const struct hauli_shot *shot, bool polls, uint64_t ns)
{
	if (!may_tell(w))
		return;
	flockfile(stderr);
	fprintf(stderr, "haul: %s \"%s\" %p has run for %" PRIu64 " ms on carrier %u without %s",
		polls ? "poller" : "coroutine", shot->name, (const void *)shot->co, ns / HAUL_MS,
		c->id, polls ? "a poll" : "a wait or haul_maybe_yield()");
	tell_stack(shot->pcs, shot->n);
	funlockfile(stderr);
}

/* The slice of the last look still runs: reports it if it is too long. poller: if the poller seems
 * to run; else NULL. */
static void judge(struct hauli_watchdog *w, struct haul_carrier *c, struct watched *seen,
	const struct haul_coro *poller)
{
	uint64_t used = cpu_time(hauli_u32_published_get(&c->run.tid)) - seen->cpu_ns;
	struct hauli_shot shot = {.co = poller};
	struct slice now;

	if (seen->told || used < w->limit_ns || !hauli_snapshot(c, &shot, 1))
		return;
	now = slice_of(w, c);
	if (!shot.taken || !is_same(&now, &seen->slice))
		return;
	seen->told = true;
	hauli_counter_add(&c->counts.long_slices, 1);
	tell(w, c, &shot, poller, used);
}

/* Of the slices that were left behind since the last line, the first. Their carriers have gone on,
 * so judge() does not see them. */
static void tell_left(struct hauli_watchdog *w)
{
	struct hauli_left *left = &w->rt->left;
	struct hauli_left first;

	pthread_mutex_lock(&left->lock);
	first = *left;
	if (left->n > 0 && may_tell(w))
		left->n = 0;
	else
		first.n = 0;
	pthread_mutex_unlock(&left->lock);
	if (first.n == 0)
		return;
	flockfile(stderr);
	fprintf(stderr,
		"haul: coroutine \"%s\" %p ran too long without a wait or haul_maybe_yield(), and "
		"another thread serves carrier %u meanwhile",
		first.name, first.co, first.carrier);
	if (first.n > 1)
		fprintf(stderr, " (one of %u since the last line)", first.n);
	tell_stack(first.pcs, first.nb_pcs);
	funlockfile(stderr);
}

/* What the line of a foreign wait needs, read while the thread waits. */
struct found {
	const struct haul_coro *co;
	bool polls;
	char name[64];
	unsigned n;
	void *pcs[HAULI_SHOT_DEPTH];
};

/* False: another slice has begun. */
HAULI_MAY_RACE static bool see_wait(struct hauli_watchdog *w, const struct haul_carrier *c,
	const struct slice *slice, const struct hauli_foreign *f, struct found *s)
{
	uint32_t tid = hauli_u32_published_get(&c->run.tid);
	struct slice now;

	HAULI_RACES(c);
	s->co = c->current;
	if (!s->co || !s->co->co.stack || !hauli_foreign_still_waits(tid, f))
		return false;
	s->polls = hauli_coro_is_poller(s->co);
	snprintf(s->name, sizeof(s->name), "%s", s->co->co.name);
	s->n = hauli_foreign_trace(tid, f, s->co->co.stack, s->pcs, HAULI_SHOT_DEPTH);
	now = slice_of(w, c);
	return is_same(&now, slice) && hauli_foreign_still_waits(tid, f);
}

static void tell_wait(const struct haul_carrier *c, const struct hauli_foreign *f,
	const struct found *s, uint64_t ns)
{
	flockfile(stderr);
	fprintf(stderr,
		"haul: %s \"%s\" %p keeps carrier %u waiting in the kernel (%s), for %" PRIu64
		" ms so far, and nothing else runs there: %s",
		s->polls ? "poller" : "coroutine", s->name, (const void *)s->co, c->id,
		hauli_foreign_name(f), ns / HAUL_MS, hauli_foreign_remedy(f));
	tell_stack(s->pcs, s->n);
	funlockfile(stderr);
}

/* CLOCK_MONOTONIC, also where time is virtual. */
static uint64_t now_ns(void)
{
	struct timespec now = hauli_monotonic_in(0);

	return (uint64_t)now.tv_sec * HAUL_S + (uint64_t)now.tv_nsec;
}

/* The same for a slice whose thread waits in the kernel. */
static void judge_wait(struct hauli_watchdog *w, struct haul_carrier *c, struct watched *seen)
{
	struct hauli_foreign f;
	struct found s;
	uint64_t ns;

	if (seen->told)
		return;
	if (!hauli_foreign_look(hauli_u32_published_get(&c->run.tid), &f)) {
		seen->waits = 0;
		return;
	}
	if (seen->waits++ == 0)
		seen->waits_since = now_ns();
	ns = now_ns() - seen->waits_since;
	if (seen->waits <= LOOKS_PER_LIMIT * (hauli_foreign_is_lock(&f) ? LOCK_LIMITS : 1) ||
		!see_wait(w, c, &seen->slice, &f, &s))
		return;
	seen->told = true;
	hauli_counter_add(&c->counts.foreign_waits, 1);
	if (may_tell(w))
		tell_wait(c, &f, &s, ns);
}

/* False: the carrier sleeps, or polls and finds nothing. */
static bool look(struct hauli_watchdog *w, struct haul_carrier *c, struct watched *seen)
{
	struct slice slice = slice_of(w, c);
	const struct haul_coro *co = hauli_running_on(c);
	bool polls = co && hauli_coro_is_poller(co);

	if (hauli_inbox_is_asleep(&c->mail.inbox) || !co || (polls && slice.cycles == UNWATCHED))
		return false;
	if (is_same(&slice, &seen->slice)) {
		judge(w, c, seen, polls ? co : NULL);
		judge_wait(w, c, seen);
	} else {
		*seen = (struct watched){
			.slice = slice, .cpu_ns = cpu_time(hauli_u32_published_get(&c->run.tid))};
	}
	return !polls || hauli_stopwatch_runs(&c->counts.work);
}

/* False: the watchdog is to end. */
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

/* At most once in RAREST. */
static void look_at_deadlocks(struct hauli_watchdog *w)
{
	uint64_t now = hauli_ticks();

	if (now < w->deadlocks_at)
		return;
	w->deadlocks_at = now + hauli_ticks_from_ns(RAREST);
	hauli_deadlocks_look(w->deadlocks);
	hauli_quiet_watch(w->rt);
}

static void *watch(void *arg)
{
	struct hauli_watchdog *w = arg;
	uint64_t often = w->limit_ns / LOOKS_PER_LIMIT, pause = often;

	pthread_setname_np(pthread_self(), "watchdog");
	hauli_only_watches();
	while (pause_for(w, pause)) {
		bool awake = false;

		for (unsigned i = 0; i < w->rt->nb_carriers; i++)
			awake |= look(w, &w->rt->carriers[i], &w->watched[i]);
		tell_left(w);
		look_at_deadlocks(w);
		pause = awake ? often : 2 * pause;
		pause = pause < RAREST || often > RAREST ? pause : RAREST;
	}
	tell_left(w);
	return NULL;
}

int hauli_watchdog_start(
	struct hauli_watchdog **watchdog, struct haul_runtime *rt, uint64_t limit_ns)
{
	struct hauli_watchdog *w;
	pthread_condattr_t monotonic;
	int err;

	/* Code takes no time there, and a thread that never sleeps would. */
	if (HAULI_SIM) {
		*watchdog = NULL;
		return 0;
	}
	w = calloc(1, sizeof(*w) + rt->nb_carriers * sizeof(w->watched[0]));
	if (w)
		w->deadlocks = hauli_deadlocks_create(rt, stderr);
	if (!w || !w->deadlocks) {
		free(w);
		return -ENOMEM;
	}
	w->rt = rt;
	w->limit_ns = limit_ns;
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&w->ends_now, &monotonic);
	pthread_condattr_destroy(&monotonic);
	pthread_mutex_init(&w->lock, NULL);
	err = pthread_create(&w->thread, NULL, watch, w);
	if (err) {
		hauli_deadlocks_destroy(w->deadlocks);
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
	hauli_deadlocks_destroy(w->deadlocks);
	free(w);
}
