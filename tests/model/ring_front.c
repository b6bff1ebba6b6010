/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ring: two pushes to the front after a pop, and then a pop that fails. A thief that sees the
 * claim of the last pop must see the head stored by the first push: else it finds an older head
 * with the same number there, and takes the popped item.
 */
#define ITEMS 3
#define WRITTEN 1

#include "ring_items.h"

static void push_front(unsigned i)
{
	m.items[i] = WRITTEN;
	MODEL_ASSERT(hauli_ring_push_front(&m.ring, &m.items[i]));
}

static void init(void)
{
	hauli_ring_init(&m.ring);
	push_front(0);
}

static void owner(void)
{
	hauli_ring_open(&m.ring, 1);
	pop();
	push_front(1);
	push_front(2);
	pop();
}

static void thief(void)
{
	steal(any);
}

static void check(void)
{
	hauli_ring_open(&m.ring, ITEMS);
	while (pop())
		;
	for (unsigned i = 0; i < ITEMS; i++)
		MODEL_ASSERT(m.taken[i] == 1);
	MODEL_ASSERT(hauli_ring_depth(&m.ring) == 0);
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = "ring, front",
			.nb_threads = 2,
			.threads = {owner, thief},
			.memory = &m,
			.size = sizeof(m),
			.init = init,
			.check = check});
}
