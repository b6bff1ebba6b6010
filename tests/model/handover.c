/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handing over, by the real handover.c of lib/sched: a putter puts a batch of two, another one puts
 * one item, and the owner listens, rechecks, and sleeps on its carrier's inbox until a call comes.
 * Nothing is lost, a batch comes in order, and the call is never in that inbox twice. The carrier
 * consists of its inbox only.
 */
#include "sched/mail/handover.h"

#include "explorer.h"

#define PUTTERS 2
#define ITEMS 2 /* the first putter's; the second putter has one */
#define ALL 3

struct item {
	struct hauli_node node;
	uint64_t putter, number;
};

struct haul_carrier {
	struct hauli_inbox inbox;
};

static struct {
	struct hauli_handover h;
	struct haul_carrier c;
	const struct hauli_msg_kind *kind; /* the handover's own */
	struct item items[PUTTERS][ITEMS];
	unsigned under_way; /* calls sent and not yet handled */
	uint64_t got[PUTTERS];
} m;

/* Without a step of the model, so it orders nothing. */
#define ASIDE __attribute__((noinline, no_sanitize("thread")))

ASIDE static void sends(void)
{
	MODEL_ASSERT(m.under_way++ == 0);
}

ASIDE static void comes(void)
{
	m.under_way--;
}

/* The prototype stands in sched/mail/mail.h, which has the whole carrier. */
bool hauli_mail_send(struct haul_carrier *c, struct hauli_msg *msg);

bool hauli_mail_send(struct haul_carrier *c, struct hauli_msg *msg)
{
	sends();
	if (hauli_inbox_push(&c->inbox, &msg->node) == HAULI_INBOX_EMPTY)
		return true;
	hauli_inbox_wake(&c->inbox);
	return false;
}

static void come(struct haul_carrier *c, struct hauli_msg *msg)
{
	comes();
	m.kind->handle(c, msg);
}

static const struct hauli_msg_kind call_msg = {.handle = come};

static void init(void)
{
	hauli_inbox_init(&m.c.inbox);
	hauli_handover_init(&m.h, &m.c);
	m.kind = m.h.call.kind;
	m.h.call.kind = &call_msg;
}

static void put(uint64_t putter, uint64_t first, uint64_t n)
{
	struct hauli_bulk batch = {NULL, NULL};

	for (uint64_t i = first; i < first + n; i++) {
		struct item *item = &m.items[putter][i];

		item->putter = putter;
		item->number = i;
		hauli_bulk_add(&batch, &item->node);
	}
	hauli_handover_put(&m.h, &batch);
	MODEL_ASSERT(!batch.oldest && !batch.newest);
}

static void putter_0(void)
{
	put(0, 0, 2);
}

static void putter_1(void)
{
	put(1, 0, 1);
}

static bool take_one(void)
{
	struct item *item = (struct item *)hauli_handover_take(&m.h);

	if (!item)
		return false;
	MODEL_ASSERT(item->number == m.got[item->putter]);
	m.got[item->putter]++;
	model_free(item, sizeof(*item));
	return true;
}

/* Takes all items of one check. */
static bool take(void)
{
	if (!take_one())
		return false;
	while (m.h.oldest)
		take_one();
	return true;
}

static void receive(void)
{
	struct hauli_node *node = hauli_inbox_drain(&m.c.inbox);

	while (node) {
		struct hauli_msg *msg = (struct hauli_msg *)node;

		node = node->next; /* once handled, it may be sent again */
		msg->kind->handle(&m.c, msg);
	}
}

/* As a poller blocks (haul/driver.h), except that it always listens before a check. */
static void owner(void)
{
	while (m.got[0] + m.got[1] < ALL) {
		if (hauli_inbox_try_sleep(&m.c.inbox, HAULI_INBOX_ASLEEP)) {
			bool io;

			hauli_handover_listen(&m.h);
			io = take();
			if (!io)
				hauli_inbox_wait(&m.c.inbox, NULL);
		}
		receive();
	}
}

static void check(void)
{
	receive(); /* a call may come late */
	MODEL_ASSERT(m.got[0] == ITEMS && m.got[1] == ALL - ITEMS);
	MODEL_ASSERT(hauli_handover_is_empty(&m.h));
	MODEL_ASSERT(m.under_way == 0);
	MODEL_ASSERT(hauli_inbox_is_quiesced(&m.h.inbox));
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = "handover",
			.nb_threads = 3,
			.threads = {owner, putter_0, putter_1},
			.memory = &m,
			.size = sizeof(m),
			.init = init,
			.check = check});
}
