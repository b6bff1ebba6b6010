/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages: what other threads put into a carrier's inbox. A message carries its kind, and the kind
 * its handler, so the transport (mail.h) depends on no sender and no receiver.
 */
#ifndef HAULI_SCHED_STATE_MSG_H
#define HAULI_SCHED_STATE_MSG_H

#include <stddef.h>

#include "conc/inbox.h"
#include "conc/word.h"

struct haul_carrier;
struct haul_coro;
struct hauli_msg;

/* A constant for each kind of message, in the file of its handler. */
struct hauli_msg_kind {
	/* Called by the owner, in its loop or its poller. Afterwards the message may have been
	 * freed or sent again. */
	void (*handle)(struct haul_carrier *c, struct hauli_msg *msg);
	/* Called by a thief, under the guard of the carrier's ring. Returns the coroutine that the
	 * message makes ready, or NULL if that is stolen already or a thief may not take it now.
	 * NULL: the kind makes no coroutine ready. */
	struct haul_coro *(*stealable)(struct hauli_msg *msg);
};

struct hauli_msg {
	struct hauli_node node;
	const struct hauli_msg_kind *kind;
};

/* The structure that contains the member `field` at this address. */
#define HAULI_CONTAINER(at, type, field) ((type *)((char *)(at)-offsetof(type, field)))

/*
 * Mail that the owner or a thief has taken out of the inbox and the owner has not handled yet,
 * older than what is in the inbox. Where thieves may come, under the guard of the carrier's ring.
 * mail.c
 */
struct hauli_detached_mail {
	struct hauli_node *oldest, **end; /* end: the link that an append sets */
	struct hauli_reversal reversal; /* newer than these, and not in order yet */
	struct hauli_node **unsearched; /* the link at which the next thief begins */
	struct hauli_u8_owned stealable; /* may hold coroutines to steal; read by any thread */
	struct hauli_node mark; /* in the inbox, at the bottom, while mail is left here */
};

#endif
