/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ring: the mark left by a thief that finds nothing. The owner pushes two in front and pops
 * one; the thief has one of them then, or the ring is still marked stealable, so that thieves come
 * again.
 */
#include "conc/ring.h"

#include "explorer.h"

static struct {
	struct hauli_ring ring;
	uint64_t items[2];
	uint64_t *popped, *taken;
} m;

static void init(void)
{
	hauli_ring_init(&m.ring);
}

static void owner(void)
{
	struct hauli_ring_ahead ahead;

	for (unsigned i = 0; i < 2; i++) {
		m.items[i] = 1;
		hauli_ring_push_front(&m.ring, &m.items[i]);
	}
	hauli_ring_open(&m.ring, 1);
	m.popped = hauli_ring_pop(&m.ring, &ahead);
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
		MODEL_ASSERT(*item == 1);
	m.taken = item;
}

static void check(void)
{
	MODEL_ASSERT(!m.taken || m.taken != m.popped);
	MODEL_ASSERT(m.taken || hauli_ring_has_stealable(&m.ring));
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = "ring, stealable",
			.nb_threads = 2,
			.threads = {owner, thief},
			.memory = &m,
			.size = sizeof(m),
			.init = init,
			.check = check});
}
