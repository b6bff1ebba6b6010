/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Promise: what is put there the owner finds when it looks; and when it has listened, looked, found
 * nothing and gone to sleep, a put wakes it.
 *
 * The inbox is the carrier's own (conc/inbox.c) once more, with listening in the place of sleeping:
 * whoever pushes onto the state ASLEEP, and nobody else, has to make the call, which is a message
 * to the carrier. The message is one, so it must not be sent again before it has come: the owner
 * listens again only when as many calls have come as it has seen pushes end its listening. The
 * inbox counts both (conc/inbox.c, E3): a call is made when it has come, not when it is sent.
 *
 *	listens, nobody has put since   the next put sends the call
 *	a put has ended it              its call is under way, or has come: it wakes the carrier
 *	does not listen                 the owner will look before it waits; or it could not listen,
 *	                                because a call is under way, which wakes it
 *
 * What is put while the first call is still under way relies on that call: it comes later than by
 * a call of its own, when that thread is preempted between its push and its call.
 *
 * The look after hauli_handover_listen() needs no barrier: both are on the inbox's head, where a
 * push either finds the state or is found.
 *
 * A call that has been sent may lie in the carrier's inbox when the last one has put and taken. It
 * is the handover's, so who takes that away waits until it has come (E3 again).
 *
 * Model: tests/model/handover.c. Stress: tests/stress/handover.c.
 */
#include "sched/handover.h"

#include <sched.h>

#include "sched/mail.h"

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

void hauli_handover_put(struct hauli_handover *h, struct hauli_batch *b)
{
	struct hauli_batch all = *b;

	*b = (struct hauli_batch){NULL, NULL};
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
	(void)hauli_inbox_drain(&h->inbox); /* if a put has ended the listening, that counts */
	while (!hauli_inbox_is_quiesced(&h->inbox))
		sched_yield();
}
