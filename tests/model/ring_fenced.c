/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ring: fenced by an earlier theft. The owner pops two batches with fences, or the second one
 * without (ring_fence_ends.c); a thief steals twice, with a barrier only if the owner has ended the
 * fencing. ring_fence_begins.c: the first theft fences the ring.
 */
#define ITEMS 3
#ifndef LEASE
#define LEASE 100 /* pops for which the ring stays fenced: more than there are */
#define NAME "ring, fenced"
#endif

#include "ring_items.h"

static void init(void)
{
	hauli_ring_init(&m.ring);
	hauli_ring_set_lease(&m.ring, LEASE ? LEASE : 100);
	for (unsigned i = 0; i < ITEMS; i++)
		hauli_ring_push(&m.ring, &m.items[i]);
	model_own(&m.ring.head, sizeof(m.ring.head), 0);
	model_own(&m.ring.claim, sizeof(m.ring.claim), 0);
	model_constant(&m.ring.tail, sizeof(m.ring.tail));
	model_constant(&m.ring.lifo_pushes, sizeof(m.ring.lifo_pushes));
	model_constant(&m.ring.keeping, sizeof(m.ring.keeping));
	model_own(m.ring.slots, sizeof(m.ring.slots), 0);
	if (LEASE) { /* as an earlier theft leaves it */
		m.ring.lease = LEASE;
		m.ring.guard = HAULI_RING_FREE_SLOW;
	}
}

/* Opens the second batch amid the first one, and closes amid the second. */
static void owner(void)
{
	hauli_ring_open(&m.ring, 2);
	pop();
	hauli_ring_open(&m.ring, ITEMS);
	pop();
	hauli_ring_close(&m.ring);
	MODEL_ASSERT(!pop());
}

static void thief(void)
{
	steal(any);
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
	MODEL_ASSERT(m.ring.claim == m.ring.head);
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
