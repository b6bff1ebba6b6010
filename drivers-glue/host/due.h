/* SPDX-License-Identifier: BSD-3-Clause */
/* What is due first: a heap of numbered things with a time each. One thread at a time. */
#ifndef HAULI_HOST_DUE_H
#define HAULI_HOST_DUE_H

#include <stdbool.h>
#include <stdint.h>

#include <haul/base.h>

struct hauli_due {
	uint32_t *heap; /* numbers; the first is due first */
	uint32_t *at; /* by number: its place in the heap, or HAULI_NOT_DUE */
	uint64_t *times; /* by number */
	uint32_t n;
};

#define HAULI_NOT_DUE UINT32_MAX

/* For things 0 to n - 1, none of which is due. Returns 0 or -ENOMEM. */
int hauli_due_init(struct hauli_due *d, uint32_t n);
void hauli_due_fini(struct hauli_due *d);

/* Thing i is due at a time, or, with HAUL_FOREVER, no more. */
void hauli_due_set(struct hauli_due *d, uint32_t i, uint64_t at);

/* The time of the first one. HAUL_FOREVER: there is none. */
static inline uint64_t hauli_due_first(const struct hauli_due *d)
{
	return d->n > 0 ? d->times[d->heap[0]] : HAUL_FOREVER;
}

#endif
