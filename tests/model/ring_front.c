/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ring: two pushes to the front after a pop, and then a pop that fails. A thief that sees the
 * claim of the last pop must see the head stored by the first push: else it finds an older head
 * with the same number there, and takes the popped item.
 */
#include "conc/ring.h"

#include "explorer.h"

#define ITEMS 3

static struct {
	struct hauli_ring ring;
	uint64_t items[ITEMS], filler;
	uint64_t taken[ITEMS];
} m;

static void push_front(unsigned i)
{
	m.items[i] = 1;
	MODEL_ASSERT(hauli_ring_push_front(&m.ring, &m.items[i]));
}

static void init(void)
{
	hauli_ring_init(&m.ring, &m.filler);
	push_front(0);
}

static void take(uint64_t *item)
{
	MODEL_ASSERT(item >= m.items && item < &m.items[ITEMS]);
	MODEL_ASSERT(*item == 1);
	m.taken[item - m.items]++;
}

static bool pop(void)
{
	void *second, *fourth, *item = hauli_ring_pop(&m.ring, &second, &fourth);

	if (item)
		take(item);
	return item;
}

static void owner(void)
{
	hauli_ring_open(&m.ring, 1);
	pop();
	push_front(1);
	push_front(2);
	pop();
}

static bool any(const void *item)
{
	return true;
}

static void thief(void)
{
	uint64_t *item;

	if (!hauli_ring_try_steal(&m.ring))
		return;
	item = hauli_ring_steal(&m.ring, any);
	hauli_ring_end_steal(&m.ring);
	if (item)
		take(item);
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
