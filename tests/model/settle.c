/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of an inbox's owner: a pusher may still be on its way to wake it when it has drained
 * what was pushed, because its sleep also ends by itself. It settles, then takes away what wakers
 * use.
 */
#include "conc/inbox.h"

#include <time.h>

#include "explorer.h"

#define ITEMS 2

static struct {
	struct hauli_inbox in;
	struct hauli_node items[ITEMS];
	uint64_t how_to_wake; /* as a poller's eventfd */
	uint64_t got;
} m;

static void init(void)
{
	hauli_inbox_init(&m.in);
}

static void pusher(void)
{
	for (uint64_t i = 0; i < ITEMS; i++)
		if (hauli_inbox_push(&m.in, &m.items[i]) == HAULI_INBOX_ASLEEP) {
			MODEL_ASSERT(m.how_to_wake == 1);
			hauli_inbox_wake(&m.in);
			hauli_inbox_called(&m.in);
		}
}

static void owner(void)
{
	static const struct timespec some_time;

	m.how_to_wake = 1;
	while (m.got < ITEMS) {
		if (hauli_inbox_try_sleep(&m.in, HAULI_INBOX_ASLEEP))
			hauli_inbox_wait(&m.in, &some_time);
		for (struct hauli_node *node = hauli_inbox_drain(&m.in); node; node = node->next)
			m.got++;
	}
	while (!hauli_inbox_is_settled(&m.in))
		model_await(&m.in.calls, 8, m.in.owed);
	model_free(&m.how_to_wake, sizeof(m.how_to_wake));
	model_free(&m.in, sizeof(m.in));
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = "inbox, settled",
			.nb_threads = 2,
			.threads = {owner, pusher},
			.memory = &m,
			.size = sizeof(m),
			.init = init});
}
