/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Try-lock, published pointer and completion together: two threads claim a slot, and each in turn
 * builds an object in it; a third thread waits for the completion, whose memory is freed when the
 * wait returns.
 */
#include "conc/word.h"

#include "conc/completion.h"
#include "explorer.h"

static struct {
	struct hauli_trylock lock;
	struct hauli_ptr_published pointer;
	struct hauli_completion done;
	uint64_t built; /* guarded by the lock */
	uint64_t published; /* behind the pointer */
} m;

static void init(void)
{
	hauli_completion_init(&m.done);
}

static void build(void)
{
	while (!hauli_trylock_take(&m.lock))
		model_await(&m.lock.taken, 1, 0);
	m.built++;
	if (m.built == 2) {
		m.published = m.built;
		hauli_ptr_published_set(&m.pointer, &m.published);
		hauli_completion_set(&m.done);
	}
	hauli_trylock_release(&m.lock);
}

static void waits(void)
{
	uint64_t *published = hauli_ptr_published_get(&m.pointer);

	MODEL_ASSERT(!published || *published == 2);
	hauli_completion_wait(&m.done);
	model_free(&m.done, sizeof(m.done));
	MODEL_ASSERT(m.published == 2);
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = "try-lock, published pointer and completion",
			.nb_threads = 3,
			.threads = {waits, build, build},
			.memory = &m,
			.size = sizeof(m),
			.init = init});
}
