/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The inbox: two pushers with two items and one, an owner that sleeps whenever it can and frees
 * each item that it gets.
 */
#include "conc/inbox.h"

#include "explorer.h"

#define PUSHERS 2
#define ITEMS 2 /* the first pusher's; the second pusher has one */
#define ALL 3

struct item {
	struct hauli_node node;
	uint64_t pusher, number;
};

static struct {
	struct hauli_inbox in;
	struct item items[PUSHERS][ITEMS];
	uint64_t how_to_wake; /* set by the owner before it sleeps, read by its waker */
	uint64_t got[PUSHERS];
	uint64_t sleeps, wakes[PUSHERS];
} m;

static void init(void)
{
	hauli_inbox_init(&m.in);
}

static void push(uint64_t pusher, uint64_t items)
{
	for (uint64_t i = 0; i < items; i++) {
		struct item *item = &m.items[pusher][i];

		item->pusher = pusher;
		item->number = i;
		if (hauli_inbox_push(&m.in, &item->node)) {
			MODEL_ASSERT(m.how_to_wake == 1);
			m.wakes[pusher]++;
			hauli_inbox_wake(&m.in);
		}
	}
}

static void pusher_0(void)
{
	push(0, ITEMS);
}

static void pusher_1(void)
{
	push(1, ALL - ITEMS);
}

static void owner(void)
{
	m.how_to_wake = 1;
	while (m.got[0] + m.got[1] < ALL) {
		struct hauli_node *node;

		if (hauli_inbox_try_sleep(&m.in, HAULI_INBOX_ASLEEP)) {
			m.sleeps++;
			while (hauli_inbox_is_asleep(&m.in))
				hauli_inbox_wait(&m.in, NULL);
		}
		node = hauli_inbox_drain(&m.in);
		while (node) {
			struct item *item = (struct item *)node;

			MODEL_ASSERT(item->number == m.got[item->pusher]);
			m.got[item->pusher]++;
			node = node->next;
			model_free(item, sizeof(*item));
		}
	}
}

static void check(void)
{
	MODEL_ASSERT(m.got[0] == ITEMS && m.got[1] == ALL - ITEMS);
	MODEL_ASSERT(m.wakes[0] + m.wakes[1] == m.sleeps);
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = "inbox",
			.nb_threads = 3,
			.threads = {owner, pusher_0, pusher_1},
			.memory = &m,
			.size = sizeof(m),
			.init = init,
			.check = check});
}
