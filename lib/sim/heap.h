/* SPDX-License-Identifier: BSD-3-Clause */
/* What happens at a time: a thread wakes, or a function is called. A binary heap, by time, and
 * first in, first out among equal ones. */
#ifndef HAULI_SIM_HEAP_H
#define HAULI_SIM_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hauli_sim_timer {
	void (*fire)(struct hauli_sim_timer *); /* on whose stack it will; not to wait */
	uint64_t at, seq;
	size_t place; /* in the heap, from 1; 0: it is not there */
	bool is_background; /* what comes of it is nothing to wait for */
};

struct hauli_sim_heap {
	struct hauli_sim_timer **timers; /* from 1 */
	size_t n, room;
	uint64_t seq;
};

/* False: no memory. */
bool hauli_sim_heap_add(struct hauli_sim_heap *h, struct hauli_sim_timer *t, uint64_t at);
void hauli_sim_heap_remove(struct hauli_sim_heap *h, struct hauli_sim_timer *t);
void hauli_sim_heap_fini(struct hauli_sim_heap *h);

/* The first one, or NULL. */
static inline struct hauli_sim_timer *hauli_sim_heap_first(const struct hauli_sim_heap *h)
{
	return h->n ? h->timers[1] : NULL;
}

#endif
