/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ring: what a thief that finds nothing says of it. The owner pushes one in front and runs
 * nothing; the thief has it then, or the ring is fresh: thieves come again.
 */
#include "conc/ring.h"

#include "explorer.h"

static struct {
	struct hauli_ring ring;
	uint64_t item, filler;
	uint64_t taken;
} m;

static void init(void)
{
	hauli_ring_init(&m.ring, &m.filler);
}

static void owner(void)
{
	m.item = 1;
	hauli_ring_push_front(&m.ring, &m.item);
}

static bool any(const void *item)
{
	return true;
}

static void thief(void)
{
	uint64_t *item;

	if (!hauli_ring_try_rob(&m.ring))
		return;
	item = hauli_ring_rob(&m.ring, any);
	hauli_ring_end_rob(&m.ring);
	if (item)
		m.taken = *item;
}

static void check(void)
{
	MODEL_ASSERT(m.taken || hauli_ring_is_fresh(&m.ring));
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = "ring, fresh",
			.nb_threads = 2,
			.threads = {owner, thief},
			.memory = &m,
			.size = sizeof(m),
			.init = init,
			.check = check});
}
