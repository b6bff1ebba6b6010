/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of an inbox's owner: a pusher or rouser may still be about to wake the owner after the
 * owner is awake, because its sleep also ends by itself. The owner quiesces, then frees the memory
 * that wakers use. One item is pushed only to a sleeping owner.
 */
#include "conc/inbox.h"

#include <time.h>

#include "explorer.h"

#define ITEMS 2

static struct {
	struct hauli_inbox in;
	struct hauli_node items[ITEMS];
	uint64_t how_to_wake; /* as a poller's eventfd */
	uint64_t why; /* written by the rouser */
	uint64_t got;
	struct offer {
		struct hauli_node node;
		uint64_t task;
	} for_sleeper;
	uint64_t offered, taken;
} m;

static void init(void)
{
	hauli_inbox_init(&m.in);
}

static void wake(enum hauli_inbox_state slept)
{
	if (slept == HAULI_INBOX_EMPTY)
		return;
	MODEL_ASSERT(m.how_to_wake == 1);
	hauli_inbox_wake(&m.in);
	hauli_inbox_called(&m.in);
}

static void pusher(void)
{
	for (uint64_t i = 0; i < ITEMS; i++) {
		wake(hauli_inbox_push(&m.in, &m.items[i]));
		if (i + 1 < ITEMS) {
			enum hauli_inbox_state slept;

			m.why = 1;
			wake(hauli_inbox_rouse(&m.in));
			m.for_sleeper.task = 1;
			slept = hauli_inbox_push_asleep(&m.in, &m.for_sleeper.node);
			m.offered = slept != HAULI_INBOX_EMPTY;
			wake(slept);
		}
	}
}

static void wake_up(void)
{
	uint64_t owed = m.in.owed;
	struct hauli_node *node = hauli_inbox_drain(&m.in);

	if (!node && m.in.owed != owed)
		MODEL_ASSERT(m.why == 1); /* roused */
	for (; node; node = node->next) {
		if (node == &m.for_sleeper.node)
			m.taken = ((struct offer *)node)->task;
		else
			m.got++;
	}
}

static void owner(void)
{
	static const struct timespec some_time;

	m.how_to_wake = 1;
	while (m.got < ITEMS) {
		if (hauli_inbox_try_sleep(&m.in, HAULI_INBOX_ASLEEP))
			hauli_inbox_wait(&m.in, &some_time);
		wake_up();
	}
	while (!hauli_inbox_is_quiesced(&m.in))
		model_await(&m.in.calls, 8, m.in.owed);
	model_free(&m.how_to_wake, sizeof(m.how_to_wake));
	model_free(&m.in, sizeof(m.in));
}

static void check(void)
{
	MODEL_ASSERT(m.taken == m.offered);
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = "inbox, quiesced",
			.nb_threads = 2,
			.threads = {owner, pusher},
			.memory = &m,
			.size = sizeof(m),
			.init = init,
			.check = check});
}
