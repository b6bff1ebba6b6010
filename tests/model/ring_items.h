/* SPDX-License-Identifier: BSD-3-Clause */
/* What models of the ring share: items, each of which is taken once, and how they are taken. To be
 * included once ITEMS is defined; WRITTEN: a value that the owner gives an item before its push. */
#include "conc/ring.h"

#include "explorer.h"

#ifndef WRITTEN
#define WRITTEN 0
#endif

static struct {
	struct hauli_ring ring;
	uint64_t items[ITEMS];
	uint64_t taken[ITEMS];
} m;

static void take(void *item)
{
	uint64_t *i = item;

	MODEL_ASSERT(i >= m.items && i < &m.items[ITEMS]);
	if (WRITTEN)
		MODEL_ASSERT(*i == WRITTEN);
	m.taken[i - m.items]++;
}

static bool pop(void)
{
	struct hauli_ring_ahead ahead;
	void *item = hauli_ring_pop(&m.ring, &ahead);

	if (item)
		take(item);
	return item;
}

static bool any(const void *item)
{
	return true;
}

static void steal(bool (*may)(const void *item))
{
	void *item;

	if (!hauli_ring_try_steal(&m.ring))
		return;
	item = hauli_ring_steal(&m.ring, may);
	hauli_ring_end_steal(&m.ring);
	if (!item)
		return;
	MODEL_ASSERT(may(item));
	take(item);
}
