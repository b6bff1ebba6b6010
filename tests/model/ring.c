/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ring: its owner pushes behind and in front and pops in batches, while a thief takes from it.
 * Each item is handed out once, none is lost, and its contents are seen.
 *
 * ring_many.c: the first push is of many items at once.
 */
#include "conc/ring.h"

#include "explorer.h"

#ifndef MANY /* ring_many.c */
#define MANY 0
#define NAME "ring"
#endif

#define ITEMS 3

static struct {
	struct hauli_ring ring;
	uint64_t items[ITEMS +
		1]; /* the owner writes 1 before the push; the last one is the filler */
	uint64_t taken[ITEMS];
} m;

static void init(void)
{
	hauli_ring_init(&m.ring, &m.items[ITEMS]);
	model_own(&m.ring.head, sizeof(m.ring.head), 0);
	model_own(&m.ring.claim, sizeof(m.ring.claim), 0);
	model_own(&m.ring.tail, sizeof(m.ring.tail), 0);
	model_own(&m.ring.lifo_pushes, sizeof(m.ring.lifo_pushes), 0);
	model_own(m.ring.slots, sizeof(m.ring.slots), 0);
}

static bool any(const void *item)
{
	return true;
}

static void take(void *item)
{
	uint64_t *i = item;

	MODEL_ASSERT(i >= m.items && i < &m.items[ITEMS]);
	MODEL_ASSERT(*i == 1);
	m.taken[i - m.items]++;
}

/* Pops up to n items of a batch. */
static void pop(unsigned n)
{
	void *item, *second, *fourth;

	while (n-- > 0 && (item = hauli_ring_pop(&m.ring, &second, &fourth)))
		take(item);
}

static void push_two(void)
{
	for (unsigned i = 0; i < 2; i++) {
		m.items[i] = 1;
		if (!MANY)
			hauli_ring_push(&m.ring, &m.items[i]);
		else
			hauli_ring_fill(&m.ring, i, &m.items[i]);
	}
	if (MANY)
		hauli_ring_add(&m.ring, 2);
}

static void owner(void)
{
	void *second, *fourth;

	push_two();
	hauli_ring_open(&m.ring, ITEMS);
	pop(1);
	hauli_ring_close(&m.ring);
	m.items[2] = 1;
	hauli_ring_push_front(&m.ring, &m.items[2]);
	MODEL_ASSERT(!hauli_ring_pop(&m.ring, &second, &fourth));
	hauli_ring_open(&m.ring, ITEMS);
	pop(ITEMS);
	hauli_ring_close(&m.ring);
}

static void thief(void)
{
	void *item;

	if (!hauli_ring_try_steal(&m.ring))
		return;
	item = hauli_ring_steal(&m.ring, any);
	hauli_ring_end_steal(&m.ring);
	if (item)
		take(item);
}

static void check(void)
{
	/* A thief ends the owner's last batch early: the owner would open another one. */
	hauli_ring_open(&m.ring, ITEMS);
	pop(ITEMS);
	for (unsigned i = 0; i < ITEMS; i++)
		MODEL_ASSERT(m.taken[i] == 1);
	MODEL_ASSERT(hauli_ring_depth(&m.ring) == 0);
	MODEL_ASSERT(m.ring.claim == m.ring.head); /* else thieves would find the ring empty */
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = NAME,
			.nb_threads = 2,
			.threads = {owner, thief},
			.memory = &m,
			.size = sizeof(m),
			.init = init,
			.check = check});
}
