/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slot, link and event together: two threads claim a slot, and each in turn builds something in it;
 * a third thread waits for the event, whose memory is freed when the wait returns.
 */
#include "conc/word.h"

#include "conc/event.h"
#include "explorer.h"

static struct {
	struct hauli_slot slot;
	struct hauli_link link;
	struct hauli_event event;
	uint64_t built; /* guarded by the slot */
	uint64_t published; /* behind the link */
} m;

static void init(void)
{
	hauli_event_init(&m.event);
}

static void build(void)
{
	while (!hauli_slot_claim(&m.slot))
		model_await(&m.slot.taken, 1, 0);
	m.built++;
	if (m.built == 2) {
		m.published = m.built;
		hauli_link_set(&m.link, &m.published);
		hauli_event_set(&m.event);
	}
	hauli_slot_free(&m.slot);
}

static void waits(void)
{
	uint64_t *published = hauli_link_get(&m.link);

	MODEL_ASSERT(!published || *published == 2);
	hauli_event_wait(&m.event);
	model_free(&m.event, sizeof(m.event));
	MODEL_ASSERT(m.published == 2);
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = "slot, link and event",
			.nb_threads = 3,
			.threads = {waits, build, build},
			.memory = &m,
			.size = sizeof(m),
			.init = init});
}
