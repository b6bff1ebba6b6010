/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A queue of nodes from any thread to one carrier, oldest first for each putter. The carrier takes
 * nodes when it likes; a put wakes it only while it listens. The proof is in handover.c.
 */
#ifndef HAULI_SCHED_MAIL_HANDOVER_H
#define HAULI_SCHED_MAIL_HANDOVER_H

#include "base/cacheline.h"
#include "sched/state/msg.h"

struct hauli_handover {
	struct hauli_inbox inbox; /* any thread; ASLEEP while the owner listens */
	HAULI_LINE struct hauli_node *oldest; /* drained and not taken yet. Owner */
	struct haul_carrier *owner; /* constant */
	struct hauli_msg call; /* sent by the putter that ended the listening */
};

/* Nodes that are put together, oldest first. All zero: empty. */
struct hauli_bulk {
	struct hauli_node *oldest, *newest;
};

void hauli_handover_init(struct hauli_handover *h, struct haul_carrier *owner);

static inline void hauli_bulk_add(struct hauli_bulk *b, struct hauli_node *node)
{
	/* Linked from newest to oldest, as in an inbox. */
	node->next = b->newest;
	b->newest = node;
	if (!b->oldest)
		b->oldest = node;
}

/* Any thread. Puts all nodes of b, which must not be empty; b is empty afterwards. */
void hauli_handover_put(struct hauli_handover *h, struct hauli_bulk *b);

/* Any thread. True if there are no nodes. The owner may miss a put that is in progress; for other
 * threads a hint. */
static inline bool hauli_handover_is_empty(const struct hauli_handover *h)
{
	return !h->oldest && hauli_inbox_is_empty(&h->inbox);
}

/* Owner. Takes the oldest node; NULL: there is none. */
struct hauli_node *hauli_handover_take(struct hauli_handover *h);

/*
 * Owner, before it waits: from now on a put sends the carrier a message, unless there are nodes.
 * The owner must look for nodes once more after this call; if it has taken some, it asks
 * hauli_handover_wakes().
 */
void hauli_handover_listen(struct hauli_handover *h);

/* Owner. True: it listens, or a call is under way: so it may wait. False: it could not listen
 * because there were nodes. */
static inline bool hauli_handover_wakes(const struct hauli_handover *h)
{
	return h->inbox.sleeps || !hauli_inbox_is_quiesced(&h->inbox);
}

/*
 * Any thread, in place of the owner, after the last put and take. Waits until the carrier has
 * handled a call that was sent to it; after that h may be freed. Nodes that were not taken still
 * belong to their putters.
 */
void hauli_handover_fini(struct hauli_handover *h);

#endif
