/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ring: its owner pushes behind and in front and pops in batches, while a thief takes from it.
 * Each item is handed out once, none is lost, and its contents are seen.
 *
 * ring_many.c: the first push is of many items at once.
 */
#ifndef MANY /* ring_many.c */
#define MANY 0
#define NAME "ring"
#endif

#define ITEMS 3
#define WRITTEN 1

#include "ring_items.h"

static void init(void)
{
	hauli_ring_init(&m.ring);
	model_own(&m.ring.head, sizeof(m.ring.head), 0);
	model_own(&m.ring.claim, sizeof(m.ring.claim), 0);
	model_own(&m.ring.tail, sizeof(m.ring.tail), 0);
	model_own(&m.ring.lifo_pushes, sizeof(m.ring.lifo_pushes), 0);
	model_own(m.ring.slots, sizeof(m.ring.slots), 0);
}

/* Pops up to n items of a batch. */
static void pop_many(unsigned n)
{
	while (n-- > 0 && pop())
		;
}

static void push_two(void)
{
	for (unsigned i = 0; i < 2; i++) {
		m.items[i] = WRITTEN;
		if (!MANY)
			hauli_ring_push(&m.ring, &m.items[i]);
		else
			hauli_ring_set(hauli_ring_first(&m.ring) + i, &m.items[i]);
	}
	if (MANY)
		hauli_ring_add(&m.ring, 2);
}

static void owner(void)
{
	push_two();
	hauli_ring_open(&m.ring, ITEMS);
	pop();
	hauli_ring_close(&m.ring);
	m.items[2] = WRITTEN;
	hauli_ring_push_front(&m.ring, &m.items[2]);
	MODEL_ASSERT(!pop());
	hauli_ring_open(&m.ring, ITEMS);
	pop_many(ITEMS);
	hauli_ring_close(&m.ring);
}

static void thief(void)
{
	steal(any);
}

static void check(void)
{
	/* A thief ends the owner's last batch early: the owner would open another one. */
	hauli_ring_open(&m.ring, ITEMS);
	pop_many(ITEMS);
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
