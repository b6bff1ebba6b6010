/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Open addressing with linear probing: a slot has the whole hash, so that a look compares one key,
 * and reads one line of slots in most cases. At most half of the slots are used. A removal closes
 * the gap by moving later links back, so that there are no marks of removed ones, and a table in
 * which flows come and go does not become slower.
 */
#include "host/table.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#include "base/assert.h"

#define SLOTS_MIN 64

static uint64_t slots_for(size_t n)
{
	uint64_t slots = SLOTS_MIN;

	while (slots < 2 * (uint64_t)n)
		slots *= 2;
	return slots;
}

static struct hauli_flow_slot *allocate(uint64_t slots)
{
	/* Of a large table these are pages of zeros, which cost nothing before they are used. */
	return calloc(slots, sizeof(struct hauli_flow_slot));
}

int hauli_flow_table_init(struct hauli_flow_table *t, size_t n)
{
	uint64_t slots = slots_for(n);

	*t = (struct hauli_flow_table){.mask = slots - 1};
	if (getrandom(t->secret, sizeof(t->secret), 0) != (ssize_t)sizeof(t->secret))
		return -ENOMEM;
	t->slots = allocate(slots);
	return t->slots ? 0 : -ENOMEM;
}

void hauli_flow_table_fini(struct hauli_flow_table *t)
{
	free(t->slots);
	t->slots = NULL;
}

static void put(struct hauli_flow_table *t, struct hauli_flow_slot what)
{
	uint64_t i = what.hash & t->mask;

	while (t->slots[i].link)
		i = (i + 1) & t->mask;
	t->slots[i] = what;
}

static bool grow(struct hauli_flow_table *t)
{
	struct hauli_flow_slot *old = t->slots;
	uint64_t n = t->mask + 1;
	struct hauli_flow_slot *slots = allocate(2 * n);

	if (!slots)
		return false;
	t->slots = slots;
	t->mask = 2 * n - 1;
	for (uint64_t i = 0; i < n; i++)
		if (old[i].link)
			put(t, old[i]);
	free(old);
	return true;
}

int hauli_flow_table_add(struct hauli_flow_table *t, struct hauli_flow_link *link)
{
	HAUL_CHECK(!hauli_flow_table_find(t, &link->key));
	/* Without memory it fills up to three quarters. */
	if (2 * t->used > t->mask && !grow(t) && 4 * t->used > 3 * t->mask)
		return -ENOMEM;
	put(t, (struct hauli_flow_slot){hauli_flow_hash(t, &link->key), link});
	t->used++;
	return 0;
}

/* True if a link that belongs into slot `first` may lie in slot `at`, but not in `gap`: it would be
 * in front of `first`. */
static bool must_stay(uint64_t first, uint64_t gap, uint64_t at, uint64_t mask)
{
	return ((at - first) & mask) < ((at - gap) & mask);
}

void hauli_flow_table_remove(struct hauli_flow_table *t, struct hauli_flow_link *link)
{
	uint64_t gap = hauli_flow_hash(t, &link->key) & t->mask;

	while (t->slots[gap].link != link) {
		HAUL_BUG_ON(!t->slots[gap].link);
		gap = (gap + 1) & t->mask;
	}
	for (uint64_t i = gap;;) {
		i = (i + 1) & t->mask;
		if (!t->slots[i].link)
			break;
		if (must_stay(t->slots[i].hash & t->mask, gap, i, t->mask))
			continue;
		t->slots[gap] = t->slots[i];
		gap = i;
	}
	t->slots[gap].link = NULL;
	t->used--;
}

struct hauli_flow_link *hauli_flow_table_walk(
	const struct hauli_flow_table *t, uint64_t *at, uint64_t n)
{
	while (n-- > 0 && *at <= t->mask) {
		struct hauli_flow_link *link = t->slots[(*at)++].link;

		if (link)
			return link;
	}
	if (*at > t->mask)
		*at = 0;
	return NULL;
}
