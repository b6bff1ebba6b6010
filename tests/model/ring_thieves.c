/* SPDX-License-Identifier: BSD-3-Clause */
/* The ring: two thieves, which may not take everything, against an owner with one batch. */
#include "conc/ring.h"

#include "explorer.h"

#define ITEMS 2

static struct {
	struct hauli_ring ring;
	uint64_t items[ITEMS + 1]; /* the last one is the filler */
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
	for (unsigned i = 0; i < ITEMS; i++)
		hauli_ring_push(&m.ring, &m.items[i]);
}

static bool any(const void *item)
{
	return true;
}

static bool not_the_first(const void *item)
{
	return item != &m.items[0];
}

static void take(void *item)
{
	uint64_t *i = item;

	MODEL_ASSERT(i >= m.items && i < &m.items[ITEMS]);
	m.taken[i - m.items]++;
}

static void owner(void)
{
	void *item, *second, *fourth;

	hauli_ring_open(&m.ring, ITEMS);
	while ((item = hauli_ring_pop(&m.ring, &second, &fourth)))
		take(item);
	hauli_ring_close(&m.ring);
}

static void steal(bool (*may)(const void *item))
{
	void *item;

	if (!hauli_ring_try_steal(&m.ring))
		return;
	item = hauli_ring_steal(&m.ring, may);
	hauli_ring_end_steal(&m.ring);
	if (item) {
		MODEL_ASSERT(may(item));
		take(item);
	}
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
