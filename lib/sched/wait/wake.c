/* SPDX-License-Identifier: BSD-3-Clause */
#include "sched/wait/wake.h"

#include "sched/state/group.h"
#include "sched/state/ready.h"

static __attribute__((noinline)) void wake_notify(struct haul_carrier *c, struct haul_coro *co)
{
	hauli_ready_soon(c, co);
	hauli_steal_offer(c);
}

/* The running coroutine runs objects at once: it queues the others, behind co. */
static void wake_next(struct haul_carrier *c, struct haul_coro *co)
{
	hauli_at_once_pauses(c);
	hauli_ready_soon(c, co);
}

void hauli_wake_last_here(struct haul_carrier *c, struct haul_coro *co)
{
	hauli_ready(c, co);
	if (c->wait.path == HAULI_PATH_NOTIFY)
		hauli_steal_offer(c);
}

void hauli_wake_here(struct haul_carrier *c, struct haul_coro *co)
{
	if (hauli_likely(c->wait.path == HAULI_PATH_FAST))
		hauli_ready_soon(c, co);
	else if (c->wait.path == HAULI_PATH_NOTIFY)
		wake_notify(c, co);
	else if (c->spawn.at_once.coro)
		wake_next(c, co);
	else
		hauli_ready(c, co); /* wake-ups by the poller or by mail keep their order */
}
