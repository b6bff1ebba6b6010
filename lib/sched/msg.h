/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages between carriers: what other threads put into a carrier's inbox. A message carries its
 * kind, and the kind its handler, so the transport (mail.h) knows no sender and no receiver.
 */
#ifndef HAULI_SCHED_MSG_H
#define HAULI_SCHED_MSG_H

#include <stddef.h>

#include "conc/inbox.h"
#include "conc/word.h"

struct haul_carrier;
struct haul_coro;
struct hauli_msg;

/* One constant for each kind, beside its handler. */
struct hauli_msg_kind {
	/* Owner, in its loop. The message may be gone, or sent again, afterwards. */
	void (*handle)(struct haul_carrier *c, struct hauli_msg *msg);
	/* Thief, under the guard of the carrier's ring. The coroutine that the message makes ready
	 * and that is not stolen yet, or NULL. NULL for a kind that makes none ready. */
	struct haul_coro *(*stealable)(struct hauli_msg *msg);
};

struct hauli_msg {
	struct hauli_node node;
	const struct hauli_msg_kind *kind;
};

/* The structure that a message, or another member of that name, is part of. */
#define HAULI_CONTAINER(at, type, field) ((type *)((char *)(at)-offsetof(type, field)))

/* Mail that a thief has gone through, older than what is in the inbox. Under the guard of the
 * carrier's ring. mail.c */
struct hauli_detached_mail {
	struct hauli_node *oldest, **end; /* end: where the next one goes */
	struct hauli_u8_owned stealable; /* there is, or may be, more to steal; read by any */
	struct hauli_msg msg; /* in the inbox, below all: in place of what was taken out */
};

#endif
