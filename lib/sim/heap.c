/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/heap.h"

#include <stdlib.h>

static bool is_before(const struct hauli_sim_timer *a, const struct hauli_sim_timer *b)
{
	return a->at != b->at ? a->at < b->at : a->seq < b->seq;
}

static void put(struct hauli_sim_heap *h, size_t place, struct hauli_sim_timer *t)
{
	h->timers[place] = t;
	t->place = place;
}

static void rise(struct hauli_sim_heap *h, size_t place, struct hauli_sim_timer *t)
{
	for (; place > 1 && is_before(t, h->timers[place / 2]); place /= 2)
		put(h, place, h->timers[place / 2]);
	put(h, place, t);
}

static void sink(struct hauli_sim_heap *h, size_t place, struct hauli_sim_timer *t)
{
	for (size_t next; (next = 2 * place) <= h->n; place = next) {
		if (next < h->n && is_before(h->timers[next + 1], h->timers[next]))
			next++;
		if (!is_before(h->timers[next], t))
			break;
		put(h, place, h->timers[next]);
	}
	put(h, place, t);
}

bool hauli_sim_heap_add(struct hauli_sim_heap *h, struct hauli_sim_timer *t, uint64_t at)
{
	if (h->n + 1 >= h->room) {
		size_t room = h->room ? 2 * h->room : 64;
		struct hauli_sim_timer **more = realloc(h->timers, room * sizeof(more[0]));

		if (!more)
			return false;
		h->timers = more;
		h->room = room;
	}
	t->at = at;
	t->seq = h->seq++;
	rise(h, ++h->n, t);
	return true;
}

void hauli_sim_heap_remove(struct hauli_sim_heap *h, struct hauli_sim_timer *t)
{
	size_t place = t->place;
	struct hauli_sim_timer *last = h->timers[h->n--];

	t->place = 0;
	if (last == t)
		return;
	if (place > 1 && is_before(last, h->timers[place / 2]))
		rise(h, place, last);
	else
		sink(h, place, last);
}

void hauli_sim_heap_fini(struct hauli_sim_heap *h)
{
	free(h->timers);
	*h = (struct hauli_sim_heap){0};
}
