/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When a receive queue is late, and how many packets may begin in a cycle then. Detection is
 * CoDel's (Nichols and Jacobson, "Controlling queue delay", CACM 55(7), 2012; RFC 8289): a queue is
 * late once its age has been above the target for a whole interval, since a shorter one is a burst
 * that goes by. What CoDel does next, to drop one packet at a time until senders slow down, is of
 * no use where they do not (docs/design/0041-overload.md). So the poller then empties the queue in
 * each cycle, and begins at most a window of what it finds:
 *
 *	calm --- above target for an interval ---> late: the window is the burst
 *	late --- age above target, some were shed: the window halves
 *	     --- age below target, some were shed: it grows by one
 *	     --- an interval without anything shed, and below target ---> calm
 *
 * The age is that of the oldest packet that waits, in the queue or for its handler's first
 * instruction; in a late cycle, of one that came when the last one began to serve. It is an upper
 * bound (drivers-glue/io/shed.c). All times are ticks.
 */
#ifndef HAULI_NET_LATE_H
#define HAULI_NET_LATE_H

#include <stdbool.h>
#include <stdint.h>

struct hauli_late {
	uint64_t target, interval; /* constant */
	uint64_t above; /* since when the age has been above the target; 0: it is not */
	uint64_t shed; /* when packets were shed last; or when the queue became late */
	unsigned window; /* packets that may begin in a cycle; 1 to window_max */
	unsigned window_max;
	bool is_late;
};

static inline void hauli_late_init(struct hauli_late *l, uint64_t target, uint64_t interval)
{
	*l = (struct hauli_late){.target = target, .interval = interval};
}

/* A calm queue was looked at. True: it is late from now on. now is not 0. */
static inline bool hauli_late_look(
	struct hauli_late *l, uint64_t now, uint64_t age, unsigned window_max)
{
	if (age <= l->target) {
		l->above = 0;
		return false;
	}
	if (l->above == 0)
		l->above = now;
	if (now - l->above < l->interval)
		return false;
	l->is_late = true;
	l->shed = now;
	l->window = l->window_max = window_max;
	return true;
}

/* How many packets may begin now, while n wait in the run queue, the oldest for `waits`. The poller
 * may come several times before the first of them has run, and no window grows beyond the
 * largest. */
static inline unsigned hauli_late_room(const struct hauli_late *l, uint64_t waits, uint64_t n)
{
	unsigned left = n < l->window_max ? l->window_max - (unsigned)n : 0;

	if (waits > l->target)
		return 0;
	return left < l->window ? left : l->window;
}

/* The late queue was emptied. age: of the oldest packet before that; shed: of the packets. */
static inline void hauli_late_emptied(
	struct hauli_late *l, uint64_t now, uint64_t age, unsigned shed)
{
	if (shed > 0)
		l->shed = now;
	if (age > l->target) {
		if (shed > 0 && l->window > 1)
			l->window /= 2;
		return;
	}
	if (shed > 0 && l->window < l->window_max)
		l->window++;
	if (now - l->shed >= l->interval) {
		l->is_late = false;
		l->above = 0;
	}
}

#endif
