/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Promise: when the owner looks, it finds each node that was put. If it has listened, looked, found
 * nothing and gone to sleep, the next put wakes it.
 *
 * The inbox is used as a carrier's own is (conc/inbox.c), with listening in place of sleeping: the
 * putter that pushes onto the state ASLEEP, and no other, makes the call, which is a message to the
 * carrier. There is one such message, so it must not be sent again before it has come: the owner
 * listens again only when the calls that have come are as many as the pushes that ended its
 * listening. The inbox counts both (conc/inbox.c, E3): here a call counts as made when it has come,
 * not when it is sent.
 *
 *	state of the owner              effect of a put
 *	listens, no put since           sends the call
 *	listened, a put has ended that  none: the call that was sent wakes the carrier
 *	does not listen                 none: the owner will look before it waits; or it could not
 *	                                listen because a call is under way, which wakes it
 *
 * An owner that could not listen because of nodes, and has taken them in the look that follows,
 * does not listen: a put after that sends no call. So it asks hauli_handover_wakes() before it
 * waits.
 *
 * A put while the first call is under way relies on that call. It is woken later than by a call of
 * its own if the first putter is preempted between its push and its call.
 *
 * The look after hauli_handover_listen() needs no barrier: both access the inbox's head, so a push
 * either finds the owner listening, or is found by the look.
 *
 * After the last put and take a call may still lie in the carrier's inbox. The message is part of
 * the handover, so hauli_handover_fini() waits until it has come (E3 again).
 *
 * Model: tests/model/handover.c, poller_proxy.c. Stress: tests/stress/handover.c.
 */
#include "sched/mail/handover.h"

#include <sched.h>

#include "sched/mail/mail.h"

static void heard(struct haul_carrier *c, struct hauli_msg *msg)
{
	hauli_inbox_called(&HAULI_CONTAINER(msg, struct hauli_handover, call)->inbox);
}

static const struct hauli_msg_kind call_msg = {.handle = heard};

void hauli_handover_init(struct hauli_handover *h, struct haul_carrier *owner)
{
	hauli_inbox_init(&h->inbox);
	h->oldest = NULL;
	h->owner = owner;
	h->call.kind = &call_msg;
}

void hauli_handover_put(struct hauli_handover *h, struct hauli_bulk *b)
{
	struct hauli_bulk all = *b;

	*b = (struct hauli_bulk){NULL, NULL};
	if (hauli_inbox_push_all(&h->inbox, all.newest, all.oldest) == HAULI_INBOX_EMPTY)
		return;
	hauli_mail_send(h->owner, &h->call);
}

struct hauli_node *hauli_handover_take(struct hauli_handover *h)
{
	struct hauli_node *node = h->oldest;

	if (!node && !hauli_inbox_is_empty(&h->inbox))
		node = hauli_inbox_drain(&h->inbox);
	if (node)
		h->oldest = node->next;
	return node;
}

void hauli_handover_listen(struct hauli_handover *h)
{
	if (!h->inbox.sleeps && hauli_inbox_is_quiesced(&h->inbox))
		hauli_inbox_try_sleep(&h->inbox, HAULI_INBOX_ASLEEP);
}

void hauli_handover_fini(struct hauli_handover *h)
{
	/* if a put has ended the listening, the inbox counts that */
	(void)hauli_inbox_drain(&h->inbox);
	while (!hauli_inbox_is_quiesced(&h->inbox))
		sched_yield();
}
