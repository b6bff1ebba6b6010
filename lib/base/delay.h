/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The run delay of a thread: the time for which it was ready and no CPU ran it. Time limits leave
 * it out, so that a busy machine does not make a thread look stuck.
 *
 * The kernel adds a wait for a CPU to the run delay when the wait is over. A wait that goes on
 * shows in two facts: the thread is ready (state R), and its CPU time has not grown since the last
 * look. All the time between these looks then counts as delay; when the kernel's figure includes
 * the same wait later, what was counted already is subtracted. Everything else is the thread's own
 * time: a loop, whose CPU time grows, a sleep (S), and a wait inside the kernel (D), for a disk or
 * a device: no CPU would end that.
 *
 * All is inline, because haul-app has a copy of its own: the shared library hides such names.
 */
#ifndef HAULI_BASE_DELAY_H
#define HAULI_BASE_DELAY_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <haul/base.h>

/* One look: what the kernel tells of a thread. Times are in ns. */
struct hauli_delay_look {
	uint64_t at; /* CLOCK_MONOTONIC */
	uint64_t ran; /* CPU time */
	uint64_t delay; /* of waits for a CPU that are over */
	bool ready; /* it runs, or waits for a CPU */
};

/* A thread as it was last looked at; zeroed before the first look. */
struct hauli_delay {
	struct hauli_delay_look last;
	uint64_t ahead; /* ns counted of a wait that goes on, and not in last.delay yet */
};

static inline uint64_t hauli_delay_clock(clockid_t clock)
{
	struct timespec t;

	if (clock_gettime(clock, &t) != 0)
		return 0;
	return (uint64_t)t.tv_sec * HAUL_S + (uint64_t)t.tv_nsec;
}

/* Reads the start of a file of /proc about a thread; false: there is none. */
static inline bool hauli_delay_read(uint32_t tid, const char *name, char *text, size_t len)
{
	char path[64];
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%" PRIu32 "/%s", tid, name);
	f = fopen(path, "re");
	if (!f)
		return false;
	n = fread(text, 1, len - 1, f);
	text[n] = '\0';
	fclose(f);
	return n > 0;
}

/* False: the kernel does not tell. */
static inline bool hauli_delay_look(uint32_t tid, struct hauli_delay_look *now)
{
	/* As pthread_getcpuclockid(): the tick of the scheduler, from which the first field of
	 * schedstat comes, may be a second apart (nohz_full). */
	const clockid_t cpu_clock = (clockid_t)(~tid << 3 | 6);
	char text[128];
	const char *name_end;

	now->at = hauli_delay_clock(CLOCK_MONOTONIC);
	if (tid == 0 || !hauli_delay_read(tid, "stat", text, sizeof(text)))
		return false;
	name_end = strrchr(text, ')');
	now->ready = name_end && name_end[1] == ' ' && name_end[2] == 'R';
	/* After the state: a thread that was ready, and has not run up to here, waits. */
	now->ran = hauli_delay_clock(cpu_clock);
	return hauli_delay_read(tid, "schedstat", text, sizeof(text)) &&
		sscanf(text, "%*u %" SCNu64, &now->delay) == 1;
}

/* The delay between the last look and this one, in ns. */
static inline uint64_t hauli_delay_count(struct hauli_delay *d, const struct hauli_delay_look *now)
{
	bool waits = now->ready && now->ran == d->last.ran;
	uint64_t lasts = waits ? now->at - d->last.at : 0;
	uint64_t told = now->delay - d->last.delay;
	uint64_t counted = told > d->ahead ? told - d->ahead : 0;

	if (d->last.at == 0) {
		d->last = *now;
		return 0;
	}
	counted = lasts > counted ? lasts : counted;
	d->ahead = waits ? d->ahead + counted - told : 0;
	d->last = *now;
	return counted;
}

/* The delay of a thread of this process since the call before with this d, in ns; 0 in the first
 * call, and where the kernel does not tell. */
static inline uint64_t hauli_delay_of_thread(uint32_t tid, struct hauli_delay *d)
{
	struct hauli_delay_look now;

	return hauli_delay_look(tid, &now) ? hauli_delay_count(d, &now) : 0;
}

/* A time limit for one or more threads. */
struct hauli_limit {
	uint64_t left; /* ns; HAUL_FOREVER */
	uint64_t most; /* initial value of left */
	uint64_t at; /* CLOCK_MONOTONIC: its begin, or the last call of hauli_limit_spend() */
};

#define HAULI_LIMIT_SLICE (50 * HAUL_MS)

static inline struct hauli_limit hauli_limit(uint64_t ns)
{
	return (struct hauli_limit){ns, ns, hauli_delay_clock(CLOCK_MONOTONIC)};
}

/* The next part of the time to wait, in ns; 0: the time is over; HAUL_FOREVER: no limit. */
static inline uint64_t hauli_limit_slice(const struct hauli_limit *l)
{
	bool whole = l->left < HAULI_LIMIT_SLICE || l->left == HAUL_FOREVER;

	return whole ? l->left : HAULI_LIMIT_SLICE;
}

/* Call after a wait for `slice` ns that took `elapsed` ns; `delay` ns: the largest run delay of a
 * thread in that time. The wait counts without that delay, and at most as the slice: the whole
 * process may have been stopped. A delay above `elapsed` is of earlier waits, and gives time
 * back. */
static inline void hauli_limit_count(
	struct hauli_limit *l, uint64_t slice, uint64_t elapsed, uint64_t delay)
{
	uint64_t own = elapsed > delay ? elapsed - delay : 0;
	uint64_t late = delay > elapsed ? delay - elapsed : 0;

	if (l->left == HAUL_FOREVER)
		return;
	own = own < slice ? own : slice;
	l->left -= own < l->left ? own : l->left;
	l->left += late < l->most - l->left ? late : l->most - l->left;
}

/* After each wait for a slice: counts the time since the call before. */
static inline void hauli_limit_spend(struct hauli_limit *l, uint64_t slice, uint64_t delay)
{
	uint64_t now = hauli_delay_clock(CLOCK_MONOTONIC);

	hauli_limit_count(l, slice, now - l->at, delay);
	l->at = now;
}

#endif
