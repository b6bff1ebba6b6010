/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slot, link and event together: two threads claim a slot, and each in turn builds an object in it;
 * a third thread waits for the event, whose memory is freed when the wait returns.
 */
#include "conc/word.h"

#include "conc/event.h"
#include "explorer.h"

static struct {
	struct hauli_trylock lock;
	struct hauli_ptr_published pointer;
	struct hauli_event event;
	uint64_t built; /* guarded by the lock */
	uint64_t published; /* behind the pointer */
} m;

static void init(void)
{
	hauli_event_init(&m.event);
}

static void build(void)
{
	while (!hauli_trylock_take(&m.lock))
		model_await(&m.lock.taken, 1, 0);
	m.built++;
	if (m.built == 2) {
		m.published = m.built;
		hauli_ptr_published_set(&m.pointer, &m.published);
		hauli_event_set(&m.event);
	}
	hauli_trylock_release(&m.lock);
}

static void waits(void)
{
	uint64_t *published = hauli_ptr_published_get(&m.pointer);

	MODEL_ASSERT(!published || *published == 2);
	hauli_event_wait(&m.event);
	model_free(&m.event, sizeof(m.event));
	MODEL_ASSERT(m.published == 2);
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = "try-lock, published pointer and event",
			.nb_threads = 3,
			.threads = {waits, build, build},
			.memory = &m,
			.size = sizeof(m),
			.init = init});
}
