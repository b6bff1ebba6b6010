/* SPDX-License-Identifier: BSD-3-Clause */
/* The ring: two thieves, which may not take everything, against an owner with one batch. */
#define ITEMS 2

#include "ring_items.h"

static void init(void)
{
	hauli_ring_init(&m.ring);
	model_own(&m.ring.head, sizeof(m.ring.head), 0);
	model_own(&m.ring.claim, sizeof(m.ring.claim), 0);
	model_own(&m.ring.tail, sizeof(m.ring.tail), 0);
	model_own(&m.ring.lifo_pushes, sizeof(m.ring.lifo_pushes), 0);
	model_own(m.ring.slots, sizeof(m.ring.slots), 0);
	for (unsigned i = 0; i < ITEMS; i++)
		hauli_ring_push(&m.ring, &m.items[i]);
}

static bool not_the_first(const void *item)
{
	return item != &m.items[0];
}

static void owner(void)
{
	hauli_ring_open(&m.ring, ITEMS);
	while (pop())
		;
	hauli_ring_close(&m.ring);
}

static void thief(void)
{
	steal(any);
}

static void choosy_thief(void)
{
	steal(not_the_first);
}

static void check(void)
{
	owner();
	for (unsigned i = 0; i < ITEMS; i++)
		MODEL_ASSERT(m.taken[i] == 1);
	MODEL_ASSERT(hauli_ring_depth(&m.ring) == 0);
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = "ring, two thieves",
			.nb_threads = 3,
			.threads = {owner, thief, choosy_thief},
			.memory = &m,
			.size = sizeof(m),
			.init = init,
			.check = check});
}
