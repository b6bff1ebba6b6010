/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A carrier's thefts, turned off and on while it runs.
 *
 * A carrier that rests is to its group like one that is busy: it does not look at others, and has
 * no idle bit by which a search could find it. So nobody relies on it (conc/help.c), and it needs no
 * look at others before it sleeps. A search that it holds when it begins to rest, or that was under
 * way to it, it hands on (hauli_steal_idle()).
 *
 * A carrier that sleeps learns of the end of its rest by the message, which wakes it: before it
 * sleeps again, it looks at others and sets its idle bit.
 *
 * The wish and its message: conc/wish.h. Stress: tests/stress/steal.c.
 */
#include <errno.h>

#include "sched/mail/mail.h"

enum hauli_turn { STEALS, RESTS };

static void handle(struct haul_carrier *c, struct hauli_msg *msg)
{
	c->steal.rests = hauli_wish_take(&c->steal.turn) == RESTS;
}

static const struct hauli_msg_kind turn_msg = {.handle = handle};

int haul_carrier_set_stealing(struct haul_carrier *c, bool steals)
{
	HAUL_MISUSE_IF(!c, HAULI_NO_CARRIER);
	if (!hauli_steals(c))
		return -ENOTSUP;
	if (hauli_wish_make(&c->steal.turn, steals ? STEALS : RESTS)) {
		c->steal.turn_msg.kind = &turn_msg;
		hauli_mail_send(c, &c->steal.turn_msg);
	}
	return 0;
}

bool haul_carrier_is_stealing(const struct haul_carrier *c)
{
	HAUL_MISUSE_IF(!c, HAULI_NO_CARRIER);
	return hauli_steals(c) && hauli_wish_get(&c->steal.turn) == STEALS;
}
