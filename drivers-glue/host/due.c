/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/due.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int hauli_due_init(struct hauli_due *d, uint32_t n)
{
	d->heap = calloc(n, sizeof(d->heap[0]));
	d->at = malloc(n * sizeof(d->at[0]));
	d->times = calloc(n, sizeof(d->times[0]));
	d->n = 0;
	if (!d->heap || !d->at || !d->times) {
		hauli_due_fini(d);
		return -ENOMEM;
	}
	memset(d->at, 0xff, n * sizeof(d->at[0]));
	return 0;
}

void hauli_due_fini(struct hauli_due *d)
{
	free(d->heap);
	free(d->at);
	free(d->times);
	*d = (struct hauli_due){0};
}

static void put(struct hauli_due *d, uint32_t place, uint32_t i)
{
	d->heap[place] = i;
	d->at[i] = place;
}

static bool is_earlier(const struct hauli_due *d, uint32_t i, uint32_t j)
{
	return d->times[i] < d->times[j];
}

static uint32_t rise(struct hauli_due *d, uint32_t place, uint32_t i)
{
	for (; place > 0 && is_earlier(d, i, d->heap[(place - 1) / 2]); place = (place - 1) / 2)
		put(d, place, d->heap[(place - 1) / 2]);
	return place;
}

static uint32_t sink(struct hauli_due *d, uint32_t place, uint32_t i)
{
	for (;;) {
		uint32_t child = 2 * place + 1;

		if (child + 1 < d->n && is_earlier(d, d->heap[child + 1], d->heap[child]))
			child++;
		if (child >= d->n || !is_earlier(d, d->heap[child], i))
			return place;
		put(d, place, d->heap[child]);
		place = child;
	}
}

/* Puts i, whose time is set, where it belongs, beginning at a place that is free. */
static void place_at(struct hauli_due *d, uint32_t place, uint32_t i)
{
	put(d, sink(d, rise(d, place, i), i), i);
}

void hauli_due_set(struct hauli_due *d, uint32_t i, uint64_t at)
{
	uint32_t place = d->at[i];

	d->times[i] = at;
	if (at != HAUL_FOREVER) {
		place_at(d, place == HAULI_NOT_DUE ? d->n++ : place, i);
	} else if (place != HAULI_NOT_DUE) {
		d->at[i] = HAULI_NOT_DUE;
		d->n--;
		if (place < d->n)
			place_at(d, place, d->heap[d->n]);
	}
}
