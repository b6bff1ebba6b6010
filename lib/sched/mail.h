/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages between carriers: what other threads put into a carrier's inbox. */
#ifndef HAULI_SCHED_MAIL_H
#define HAULI_SCHED_MAIL_H

#include "conc/inbox.h"
#include "conc/word.h"

enum hauli_msg_kind {
	HAULI_MSG_START, /* start_msg of a coroutine that another thread spawned here */
	HAULI_MSG_REQUEST, /* request_msg of a coroutine at home here */
	HAULI_MSG_JOIN, /* a struct hauli_join whose target is at home here */
	HAULI_MSG_BACK, /* back_msg of a coroutine at home here that was stolen */
	HAULI_MSG_SEARCH, /* a struct hauli_search: look who wants help */
	HAULI_MSG_STASH, /* a thief has looked through the inbox: nothing to do */
	HAULI_MSG_CALL, /* a struct hauli_call: call it */
	HAULI_MSG_STOP, /* cancel all, report when all have ended */
	HAULI_MSG_FINISH, /* leave the loop */
};

struct hauli_msg {
	struct hauli_node node;
	enum hauli_msg_kind kind;
};

/* What the carrier is to call, in its loop. */
struct hauli_call {
	struct hauli_msg msg;
	void (*fn)(struct hauli_call *call);
};

struct haul_carrier;

/* Any thread. Puts msg into c's inbox and wakes c if it sleeps; true: it was awake. */
bool hauli_mail_send(struct haul_carrier *c, struct hauli_msg *msg);

/* The same, if it sleeps: it handles msg before it runs anything. False: nothing was sent. */
bool hauli_mail_send_asleep(struct haul_carrier *c, struct hauli_msg *msg);

/* Who ended c's sleep, which was of this kind: wakes it. Nothing when it is EMPTY. */
void hauli_mail_wake(struct haul_carrier *c, enum hauli_inbox_state slept);

/* Owner. Does what the messages ask; awake after it. */
void hauli_mail_receive(struct haul_carrier *c);

/* The same, where the carrier does not steal. */
void hauli_mail_receive_plainly(struct haul_carrier *c);

/* Owner, after hauli_inbox_try_sleep() and before it runs anything: marks it awake, handles its
 * messages, and looks at what a waker may have roused it for. */
void hauli_mail_get_up(struct haul_carrier *c);

/* Mail that a thief has gone through, older than what is in the inbox. Under the guard of the
 * carrier's ring. */
struct hauli_stash {
	struct hauli_node *oldest, **end; /* end: where the next one goes */
	struct hauli_mark stealable; /* there is, or may be, more to steal; read by any */
	struct hauli_msg msg; /* in the inbox, below all: in place of what was taken out */
};

struct haul_coro;
void hauli_stash_init(struct hauli_stash *stash);

/* Thief, in the ring of v. A coroutine that could run, from the mail of v; NULL: none. */
struct haul_coro *hauli_mail_rob(struct haul_carrier *v, bool (*may)(const void *item));

#endif
