/* SPDX-License-Identifier: BSD-3-Clause */
/* Coroutines that wait, for reports: how many, for how long, and at which call. */
#ifndef HAULI_SCHED_LOOK_SITES_H
#define HAULI_SCHED_LOOK_SITES_H

#include "sched/state/carrier.h"

/* Coroutines of one home that wait, counted at about one instant. */
struct hauli_waits {
	uint64_t n;
	uint64_t longest_ns; /* of these waits, to a millisecond; 0 with virtual time */
	const struct haul_coro *co; /* the one whose wait that is. NULL: none */
};

/* Any thread while rt runs. Counts the coroutines for whose body is_chosen() is true, by the number
 * of their home. Reads each coroutine of rt. */
void hauli_waits_count(const struct haul_runtime *rt, bool (*is_chosen)(haul_fn *body),
	struct hauli_waits *by_carrier, unsigned nb_carriers);

/* One call in a program may give several sites: a stolen coroutine waits in other functions of haul
 * than one at home. */
#define HAULI_SITES 16
#define HAULI_SITE_DEPTH 12

/* A call stack in which coroutines wait, and their number. */
struct hauli_site {
	uint64_t coroutines;
	unsigned depth;
	void *pcs[HAULI_SITE_DEPTH];
};

/* Coroutines by site. All zero: none. */
struct hauli_sites {
	uint64_t others; /* coroutines that do not wait, or whose site did not fit */
	/* the first ones are in use, up to one with coroutines == 0 */
	struct hauli_site of[HAULI_SITES];
};

/* Owner, the home of co, which does not run here: adds it to its site. */
void hauli_sites_add(struct hauli_sites *sites, const struct haul_coro *co);

/* Adds all of `from`. */
void hauli_sites_merge(struct hauli_sites *sites, const struct hauli_sites *from);

/* Writes the call stack of a site in one line, such as "haul_park+0x20 (libhaul.so.0) < ...". */
void hauli_site_print(const struct hauli_site *site, char *buf, size_t len);

/* The same for the call stack of co, which waits; "" if it no longer does. Its carrier stands still
 * for some 5 us. Any thread that is no carrier. */
void hauli_site_of_waiting(const struct haul_coro *co, char *buf, size_t len);

#endif
