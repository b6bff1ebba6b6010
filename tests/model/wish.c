/* SPDX-License-Identifier: BSD-3-Clause */
/* Two threads wish something else each, and an owner carries out the last wish. */
#include "conc/wish.h"

#include "conc/word.h"
#include "explorer.h"

static struct {
	struct hauli_wish wish;
	struct hauli_permit mail;
	uint32_t message; /* a plain word: the message's memory */
	uint32_t done; /* the owner's */
} m;

static void wishes(void)
{
	uint32_t me = 1 + model_thread();

	if (!hauli_wish_make(&m.wish, me))
		return;
	m.message = me;
	hauli_permit_give(&m.mail);
}

static void receive(void)
{
	MODEL_ASSERT(m.message > 0);
	m.done = hauli_wish_take(&m.wish);
}

static void owner(void)
{
	for (int i = 0; i < 2; i++)
		if (hauli_permit_take_remote(&m.mail))
			receive();
}

static void check(void)
{
	if (hauli_permit_take_remote(&m.mail))
		receive();
	MODEL_ASSERT(m.done == atomic_load(&m.wish.word) >> 1 && m.done > 0);
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = "wishes of any thread",
			.nb_threads = 3,
			.threads = {wishes, wishes, owner},
			.memory = &m,
			.size = sizeof(m),
			.check = check});
}
