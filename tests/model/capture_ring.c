/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The capture's ring: a carrier writes blocks, publishes some of them and takes others back, as for
 * frames that a PMD does not take; a thread reads blocks, writes their times into them, and gives
 * the room back. Each published block is read once and whole, in order; those without room are
 * counted. Positions pass 2^32 on the way.
 */
#include "capture/ring.h"

#include "explorer.h"

#define BLOCK 8u /* bytes */
#define ROOM 2u /* blocks */
#define OFFERS 4u

static struct {
	struct hauli_capture_ring ring;
	uint64_t blocks[ROOM];
	uint64_t published, no_room; /* carrier */
	uint64_t received; /* thread */
} m;

static void init(void)
{
	struct hauli_capture_ring *r = &m.ring;

	r->bytes = (uint8_t *)m.blocks;
	r->size = sizeof(m.blocks);
	r->written = r->seen = r->read = (uint32_t)-BLOCK;
	hauli_u32_published_set(&r->head, r->written);
	hauli_u32_published_set(&r->tail, r->read);
	model_own(&r->head, sizeof(r->head), 0);
	model_own(&r->tail, sizeof(r->tail), 1);
}

static bool put(uint32_t at, uint64_t number)
{
	uint64_t *block = (uint64_t *)hauli_capture_ring_room(&m.ring, at, BLOCK);

	if (block)
		*block = number;
	return block;
}

static void carrier(void)
{
	for (unsigned i = 0; i < OFFERS; i++) {
		uint32_t at = m.ring.written;

		if (!put(at, m.published + 1)) {
			m.no_room++;
			continue;
		}
		put(at + BLOCK, 77); /* the PMD does not take it */
		hauli_capture_ring_publish(&m.ring, at + BLOCK);
		m.published++;
	}
}

static void drain(void)
{
	uint32_t head = hauli_u32_published_get(&m.ring.head);

	while (m.ring.read != head) {
		uint64_t *block = (uint64_t *)hauli_capture_ring_at(&m.ring, m.ring.read);

		MODEL_ASSERT(*block == m.received + 1);
		*block = 99; /* its time */
		m.received++;
		hauli_capture_ring_release(&m.ring, m.ring.read + BLOCK);
	}
}

static void thread(void)
{
	drain();
	drain();
}

static void check(void)
{
	drain();
	MODEL_ASSERT(m.received == m.published);
	MODEL_ASSERT(m.published >= ROOM);
	MODEL_ASSERT(m.published + m.no_room == OFFERS);
	MODEL_ASSERT(m.ring.read == m.ring.written);
	for (unsigned i = 0; i < ROOM; i++)
		MODEL_ASSERT(put(m.ring.written + i * BLOCK, 0)); /* all the room is there again */
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = "capture ring",
			.nb_threads = 2,
			.threads = {carrier, thread},
			.memory = &m,
			.size = sizeof(m),
			.init = init,
			.check = check});
}
