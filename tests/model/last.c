/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A ring of the last entries: a writer goes around it, a reader copies it meanwhile. The reader
 * keeps whole entries of the right numbers only, the newest that it has been told of among them.
 */
#include "conc/last.h"

#include "conc/word.h"
#include "explorer.h"

#define SIZE 2
#define WRITES 4

static struct {
	struct hauli_last ring;
	struct hauli_last_entry entries[SIZE];
	struct hauli_u32_published wrote; /* entries that are complete */
} m;

static void init(void)
{
	hauli_last_init(&m.ring, m.entries, SIZE);
	model_own(&m, sizeof(m), 0);
}

static void writer(void)
{
	for (uint32_t i = 0; i < WRITES; i++) {
		hauli_last_put(&m.ring, 10 + i, 100 + i);
		if (i == 0)
			hauli_u32_published_set(&m.wrote, 1);
	}
}

static void reader(void)
{
	uint32_t wrote = hauli_u32_published_get(&m.wrote);
	uint64_t end = hauli_last_end(&m.ring), first, from = end > SIZE ? end - SIZE : 0;
	uint64_t copy[SIZE][2];

	MODEL_ASSERT(end >= wrote);
	for (uint64_t i = from; i < end; i++) {
		copy[i - from][0] = hauli_last_word(&m.ring, i, 0);
		copy[i - from][1] = hauli_last_word(&m.ring, i, 1);
	}
	first = hauli_last_first(&m.ring);
	for (uint64_t i = from > first ? from : first; i < end; i++)
		MODEL_ASSERT(copy[i - from][0] == 10 + i && copy[i - from][1] == 100 + i);
}

static void check(void)
{
	MODEL_ASSERT(hauli_last_end(&m.ring) == WRITES);
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = "a ring of the last entries",
			.nb_threads = 2,
			.threads = {writer, reader},
			.memory = &m,
			.size = sizeof(m),
			.init = init,
			.check = check});
}
