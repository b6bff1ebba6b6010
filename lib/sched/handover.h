/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Things that threads hand over to one carrier, oldest first for each that hands over. The carrier
 * looks when it likes, and is woken when it said that it listens. The argument is in handover.c.
 */
#ifndef HAULI_SCHED_HANDOVER_H
#define HAULI_SCHED_HANDOVER_H

#include "base/cacheline.h"
#include "sched/msg.h"

struct hauli_handover {
	struct hauli_inbox inbox; /* any thread; its owner "sleeps" while it listens */
	HAULI_LINE struct hauli_node *oldest; /* taken out, and not handed out yet. Owner */
	struct haul_carrier *owner; /* constant */
	struct hauli_msg call; /* of the putter that ended the listening; then of the owner */
};

/* Things that are handed over together, oldest first. All zero: none. */
struct hauli_batch {
	struct hauli_node *oldest, *newest;
};

void hauli_handover_init(struct hauli_handover *h, struct haul_carrier *owner);

static inline void hauli_batch_add(struct hauli_batch *b, struct hauli_node *node)
{
	/* Newest first, as an inbox has them. */
	node->next = b->newest;
	b->newest = node;
	if (!b->oldest)
		b->oldest = node;
}

/* Any thread. Gives all of b, which is not empty; b is as before it was used. */
void hauli_handover_put(struct hauli_handover *h, struct hauli_batch *b);

/* Any thread. Whether there is nothing; for the owner late by one put, for others a hint. */
static inline bool hauli_handover_is_empty(const struct hauli_handover *h)
{
	return !h->oldest && hauli_inbox_is_empty(&h->inbox);
}

/* Owner. The oldest, or NULL. */
struct hauli_node *hauli_handover_take(struct hauli_handover *h);

/*
 * Owner, about to wait: from here on who puts something there sends its carrier a message. It has
 * to look once more after this.
 */
void hauli_handover_listen(struct hauli_handover *h);

/*
 * In the owner's place, outside its carrier, when nobody puts or takes any more. Waits until the
 * carrier has handled a call that was sent to it; after that h may go away. What is still there
 * stays whose it was.
 */
void hauli_handover_fini(struct hauli_handover *h);

#endif
