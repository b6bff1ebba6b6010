/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages between carriers: what other threads put into a carrier's inbox. */
#ifndef HAULI_SCHED_MAIL_H
#define HAULI_SCHED_MAIL_H

#include "conc/inbox.h"

enum hauli_msg_kind {
	HAULI_MSG_START, /* start_msg of a coroutine that another thread spawned here */
	HAULI_MSG_REQUEST, /* request_msg of a coroutine at home here */
	HAULI_MSG_JOIN, /* a struct hauli_join whose target is at home here */
	HAULI_MSG_STOP, /* cancel all, report when all have ended */
	HAULI_MSG_FINISH, /* leave the loop */
};

struct hauli_msg {
	struct hauli_node node;
	enum hauli_msg_kind kind;
};

struct haul_carrier;

/* Any thread. Puts msg into c's inbox and wakes c if it sleeps. */
void hauli_mail_send(struct haul_carrier *c, struct hauli_msg *msg);

/* Owner. Does what the messages ask; awake after it. */
void hauli_mail_receive(struct haul_carrier *c);

#endif
