/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A carrier's thefts, switched off and on while it runs.
 *
 * A carrier that rests is to its group like one that is busy: it does not look at others, and has
 * no idle bit by which a search could find it. So nobody relies on it (conc/help.c), and it needs
 * no look at others before it sleeps. It hands on a search that it holds when it begins to rest, or
 * that was under way to it (hauli_steal_idle()).
 *
 * A carrier that sleeps learns of the end of its rest by the message, which wakes it: before it
 * sleeps again, it looks at others and sets its idle bit.
 *
 * The wish and its message: conc/wish.h. Stress: tests/stress/steal.c.
 */
#include <errno.h>

#include "sched/mail/mail.h"

static void handle(struct haul_carrier *c, struct hauli_msg *msg)
{
	c->steal.rests = hauli_wish_take(&c->steal.wish);
}

static const struct hauli_msg_kind wish_msg = {.handle = handle};

int haul_carrier_set_stealing(struct haul_carrier *c, bool steals)
{
	HAUL_MISUSE_IF(!c, HAULI_NO_CARRIER);
	if (!hauli_steals(c))
		return -ENOTSUP;
	if (hauli_wish_make(&c->steal.wish, !steals)) {
		c->steal.wish_msg.kind = &wish_msg;
		hauli_mail_send(c, &c->steal.wish_msg);
	}
	return 0;
}
