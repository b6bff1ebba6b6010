/* SPDX-License-Identifier: BSD-3-Clause */
/* The transport of messages: sending, receiving, and stealing from a victim's mail. */
#ifndef HAULI_SCHED_MAIL_MAIL_H
#define HAULI_SCHED_MAIL_MAIL_H

#include "sched/state/carrier.h"
#include "sched/state/msg.h"

/* Any thread. Puts msg into c's inbox and wakes c if it sleeps. True if c was awake. */
bool hauli_mail_send(struct haul_carrier *c, struct hauli_msg *msg);

/* Any thread. Sends msg if c sleeps; c handles it before it runs anything, unless many other
 * messages arrive while it wakes up. False: c was awake, and msg was not sent. */
bool hauli_mail_send_asleep(struct haul_carrier *c, struct hauli_msg *msg);

/* For the thread that ended c's sleep: wakes c, whose inbox was in the state slept. Does nothing if
 * that is EMPTY. */
void hauli_mail_wake(struct haul_carrier *c, enum hauli_inbox_state slept);

/* Owner. Handles the oldest messages, a bounded number; the inbox is not empty while others are
 * left. The second function is for carriers that do not steal. */
void hauli_mail_receive(struct haul_carrier *c);
void hauli_mail_receive_unshared(struct haul_carrier *c);

void hauli_detached_mail_init(struct hauli_detached_mail *detached);

/* Thief, under the guard of v's ring. Takes a coroutine that a message of v makes ready and for
 * which may() is true, or returns NULL. */
struct haul_coro *hauli_mail_steal(struct haul_carrier *v, bool (*may)(const void *item));

/* Any thread. True if c may have mail from which a thief can take a coroutine. */
static inline bool hauli_mail_is_stealable(const struct haul_carrier *c)
{
	/* In this order: inbox.E5. */
	return hauli_inbox_has_other(&c->mail.inbox, &c->mail.detached.mark) ||
		hauli_u8_owned_get(&c->mail.detached.stealable);
}

#endif
