/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Promise: a look that finds a runtime quiet is right about an instant during the look: all
 * carriers slept then, no message was in an inbox, and no coroutine in an injector. So only a timer
 * could wake a carrier, or a thread that is no carrier.
 *
 * While a carrier sleeps, the head of its inbox is ASLEEP, which a push replaces. Right before the
 * carrier falls asleep, or tries to, it increments its count of sleeps; in between it does nothing.
 * The look adds up the counts of sleeps, finds all heads ASLEEP, and adds them up again. If the
 * sums are the same, each carrier has counted its sleep before the first sum, and has done nothing
 * from there until its head was read. All these intervals contain the instant after the first sum.
 *
 *	look                      carrier Z                carrier Y
 *	adds up the sleeps                                   ASLEEP
 *	Y is ASLEEP
 *	                          a push to Y
 *	                          a sleep; ASLEEP
 *	Z is ASLEEP
 *	adds up the sleeps
 *
 *	Z's ASLEEP is a release, read by an acquire (inbox.E6), so its sleep is in the second sum.
 *	    An increment of the count is a release as well, and adding it up an acquire: a look that
 *	    has added a sleep sees no ASLEEP from before it.
 *	The last carrier to fall asleep looks after it has done so, under a lock: of two that fall
 *	    asleep at the same time, the one that takes the lock later sees both asleep. So a quiet
 *	    runtime is found to be so. A thread that is no carrier may wake a carrier at any time;
 *	    then the clock has jumped a little too early for that thread.
 *
 * Virtual time stands still until the runtime is quiet, and jumps to the next timer then; but not
 * while calls are offloaded (offload/offload.c), which take no virtual time. The end of the last
 * one wakes a carrier, which looks when it falls asleep again. The jump is made under the lock, and
 * the timer's carrier is awake before the lock is free: the next look finds the runtime not quiet,
 * until the timer has been served.
 *
 * Model: tests/model/quiet.c. Tests: tests/unit/quiet.c.
 */
#include "sched/look/quiet.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/forks.h"
#include "pool/pool.h"
#include "sched/look/dump.h"
#include "sched/look/dump_signal.h"
#include "sched/look/snapshot.h"
#include "sched/look/trace_files.h"
#include "sched/mail/mail.h"
#include "sched/place/cluster.h"
#include "sched/state/runtime.h"
#include "sched/wait/thread_joins.h"

#define MOST_LINES 20

/* The threads of the process; 0: not known. */
static unsigned threads(void)
{
	DIR *tasks = opendir("/proc/self/task");
	unsigned n = 0;

	for (struct dirent *d; tasks && (d = readdir(tasks));)
		n += d->d_name[0] != '.';
	if (tasks)
		closedir(tasks);
	return n;
}

/* True if at least one thread waits in haul_join(), and all threads but haul's own do. watchdogs:
 * 1, or 0 if rt has none. Offloaded calls, of any runtime, may do what other threads may. */
static bool all_others_join(const struct haul_runtime *rt, unsigned watchdogs)
{
	unsigned join = hauli_thread_joins(), idle, idle_still;

	return join > 0 && hauli_pool_is_at_rest(&idle) &&
		threads() ==
		rt->nb_carriers + rt->rescuers + watchdogs + hauli_dump_threads() +
			hauli_trace_threads() + idle + join &&
		hauli_pool_is_at_rest(&idle_still) && idle_still == idle;
}

static uint64_t bit_of(int sig)
{
	return UINT64_C(1) << (sig - 1);
}

/* True if the program handles signals, or may: a handler could wake a coroutine. The handlers of
 * haul and the two of glibc wake none. */
static bool handles_signals(void)
{
	const uint64_t harmless = bit_of(SIGSEGV) | bit_of(SIGBUS) | bit_of(SIGFPE) |
		bit_of(SIGILL) | bit_of(SIGABRT) | bit_of(HAULI_SNAPSHOT_SIGNAL) |
		bit_of(HAULI_STRAY_SIGNAL) | bit_of(32) | bit_of(33);
	FILE *status = fopen("/proc/self/status", "re");
	uint64_t caught = ~UINT64_C(0);
	char line[256];

	while (status && fgets(line, sizeof(line), status))
		if (sscanf(line, "SigCgt: %" SCNx64, &caught) == 1)
			break;
	if (status)
		fclose(status);
	return caught & ~harmless;
}

struct look {
	uint64_t next_at; /* ticks: of the next timer, or HAULI_NEVER */
	struct haul_carrier *next; /* the carrier of that timer */
};

static bool all_sleep(const struct haul_runtime *rt, struct look *look)
{
	*look = (struct look){.next_at = HAULI_NEVER};
	if (hauli_u64_shared_get(&rt->strays) > 0)
		return false;
	for (unsigned i = 0; i < rt->nb_carriers; i++) {
		struct haul_carrier *c = &rt->carriers[i];
		uint64_t at;

		if (!hauli_inbox_has_slept(&c->mail.inbox) || hauli_cluster_waits(c))
			return false;
		at = hauli_u64_owned_get(&c->run.wakes_at);
		if (at < look->next_at) {
			look->next_at = at;
			look->next = c;
		}
	}
	return true;
}

static uint32_t sleeps(const struct haul_runtime *rt)
{
	uint32_t n = 0;

	for (unsigned i = 0; i < rt->nb_carriers; i++)
		n += hauli_u32_published_get(&rt->carriers[i].run.sleeps);
	return n;
}

static bool is_quiet(const struct haul_runtime *rt, struct look *look)
{
	uint32_t before = sleeps(rt);

	return all_sleep(rt, look) && sleeps(rt) == before;
}

/* The program's coroutines, without the hibernators, each of which is the first of its carrier. */
static uint64_t live(const struct haul_runtime *rt)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < rt->nb_carriers; i++) {
		uint64_t here = hauli_live(&rt->carriers[i]);

		n += here - (here > 0 && rt->carriers[i].hibernator);
	}
	return n;
}

static bool has_poller(const struct haul_runtime *rt)
{
	for (unsigned i = 0; i < rt->nb_carriers; i++)
		if (hauli_trylock_is_taken(&rt->carriers[i].poller.lock))
			return true;
	return false;
}

/* rt is quiet: a thread of the pool will wake a coroutine, or is about to. */
static bool has_offloaded(const struct haul_runtime *rt)
{
	return hauli_u64_shared_get(&rt->offloaded) > 0;
}

/* rt is quiet and has no timer: what else could wake a coroutine? */
static bool is_stuck(const struct haul_runtime *rt)
{
	return live(rt) > 0 && !has_poller(rt) && !has_offloaded(rt) &&
		!hauli_u8_shared_get(&rt->woken_from_outside);
}

/* Prints the line, once. */
static void tell(struct haul_runtime *rt)
{
	uint64_t n = live(rt);

	if (rt->told_deadlock)
		return;
	rt->told_deadlock = true;
	fprintf(stderr,
		"haul: %" PRIu64 " coroutine%s, and nothing can wake %s: there is no timer and no "
		"poller, and no other thread has woken any:\n",
		n, n == 1 ? " waits" : "s wait", n == 1 ? "it" : "them");
	hauli_dump_some(rt, stderr, MOST_LINES);
}

static void jump(const struct look *look)
{
	uint64_t now = hauli_counter_read(&hauli_virtual_now);

	if (look->next_at > now)
		hauli_counter_add(&hauli_virtual_now, look->next_at - now);
}

static void look_at_quiet(struct haul_carrier *c, const struct look *look)
{
	if (look->next && c->rt->virtual_time) {
		jump(look);
		if (look->next != c)
			hauli_mail_wake(look->next, hauli_inbox_rouse(&look->next->mail.inbox));
	} else if (!look->next && c->phase == HAULI_PHASE_RUNS && is_stuck(c->rt) &&
		all_others_join(c->rt, c->rt->watchdog != NULL)) {
		tell(c->rt);
	}
}

bool hauli_quiet_look(struct haul_carrier *c)
{
	struct haul_runtime *rt = c->rt;
	struct look look = {.next = NULL};

	pthread_mutex_lock(&rt->quiet_lock);
	if (is_quiet(rt, &look) && !(rt->virtual_time && has_offloaded(rt)))
		look_at_quiet(c, &look);
	else
		look.next = NULL;
	pthread_mutex_unlock(&rt->quiet_lock);
	return rt->virtual_time && look.next == c;
}

void hauli_quiet_watch(struct haul_runtime *rt)
{
	struct look look;

	pthread_mutex_lock(&rt->quiet_lock);
	if (!rt->told_deadlock && is_quiet(rt, &look) && !look.next && is_stuck(rt) &&
		all_others_join(rt, 1) && !handles_signals())
		tell(rt);
	pthread_mutex_unlock(&rt->quiet_lock);
}

void hauli_quiet_tell_at_stop(struct haul_runtime *rt)
{
	struct look look;

	pthread_mutex_lock(&rt->quiet_lock);
	if (is_quiet(rt, &look) && !look.next && is_stuck(rt))
		tell(rt);
	pthread_mutex_unlock(&rt->quiet_lock);
}

/* The number of runtimes. They share the clock, so a runtime with virtual time must be the only
 * one. */
static unsigned runtimes; /* under the lock of the process */

int hauli_quiet_init(struct haul_runtime *rt)
{
	int err = 0;

	hauli_process_lock();
	if (runtimes > 0 && (rt->virtual_time || hauli_counter_read(&hauli_virtual_now)))
		err = -EBUSY;
	else if (rt->virtual_time)
		hauli_clock_stop();
	runtimes += !err;
	hauli_process_unlock();
	if (!err)
		pthread_mutex_init(&rt->quiet_lock, NULL);
	return err;
}

void hauli_quiet_fini(struct haul_runtime *rt)
{
	pthread_mutex_destroy(&rt->quiet_lock);
	hauli_process_lock();
	if (rt->virtual_time)
		hauli_clock_resume();
	runtimes--;
	hauli_process_unlock();
}
