/* SPDX-License-Identifier: BSD-3-Clause */
/* The argument is in join.c. */
#include "sched/wait/joined.h"

#include <stdlib.h>

bool hauli_join_is_over(struct hauli_join *j)
{
	if (hauli_likely(!j->timed) || !hauli_claim_is_taken(&hauli_timed_join_of(j)->ended))
		return false;
	free(j);
	return true;
}

bool hauli_join_waits(struct haul_coro *target)
{
	if (target->joiner && hauli_join_is_over(target->joiner))
		target->joiner = NULL;
	return target->joiner;
}

void hauli_join_ended_here(struct haul_carrier *c, struct haul_coro *waiter)
{
	hauli_coro_disarm(c, waiter);
	hauli_ready(c, waiter);
}

void hauli_join_asked_here(struct haul_carrier *c, struct haul_coro *target)
{
	struct hauli_node *node = hauli_pile_take(&target->asked), *next;

	for (; node; node = next) {
		struct hauli_msg *msg = HAULI_CONTAINER(node, struct hauli_msg, node);

		next = node->next;
		msg->kind->handle(c, msg);
	}
}
