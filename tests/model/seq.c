/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Words that change together: a writer writes twice, and publishes a flag in between; a reader
 * finds the words of one write, and no older ones than the flag promises.
 */
#include "conc/seq.h"

#include "conc/word.h"
#include "explorer.h"

static struct {
	struct hauli_seq seq;
	struct hauli_u32_published wrote; /* the number of writes that are complete */
} m;

static void init(void)
{
	model_own(&m.seq, sizeof(m.seq), 0);
	model_own(&m.wrote, sizeof(m.wrote), 0);
}

static void write(uint64_t n)
{
	const uint64_t words[HAULI_SEQ_WORDS] = {n, 10 * n, 100 * n};

	hauli_seq_write(&m.seq, words);
}

static void writer(void)
{
	write(1);
	hauli_u32_published_set(&m.wrote, 1);
	write(2);
}

static void reader(void)
{
	uint32_t wrote = hauli_u32_published_get(&m.wrote);
	uint32_t turn = hauli_seq_turn(&m.seq);
	uint64_t a = hauli_seq_word(&m.seq, 0);
	uint64_t b = hauli_seq_word(&m.seq, 1);
	uint64_t c = hauli_seq_word(&m.seq, 2);

	if (!hauli_seq_is_whole(&m.seq, turn))
		return;
	MODEL_ASSERT(b == 10 * a && c == 100 * a);
	MODEL_ASSERT(a >= wrote);
}

static void check(void)
{
	uint32_t turn = hauli_seq_turn(&m.seq);

	MODEL_ASSERT(hauli_seq_word(&m.seq, 0) == 2);
	MODEL_ASSERT(hauli_seq_is_whole(&m.seq, turn));
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = "words that change together",
			.nb_threads = 2,
			.threads = {writer, reader},
			.memory = &m,
			.size = sizeof(m),
			.init = init,
			.check = check});
}
