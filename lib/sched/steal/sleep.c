/* SPDX-License-Identifier: BSD-3-Clause */
#include "sched/steal/sleep.h"

#include <sched.h>

#include "sched/mail/mail.h"
#include "sched/place/cluster.h"
#include "sched/steal/steal.h"

void hauli_sleep_end(struct haul_carrier *c)
{
	if (hauli_steals(c))
		hauli_steal_clear_idle(c);
	hauli_mail_receive(c);
	if (hauli_cluster_waits(c))
		hauli_cluster_after_sleep(c);
}

void hauli_sleep_quiesce(struct haul_carrier *c)
{
	/* A waker that is still in its call either runs or was preempted, so this yields the CPU to
	 * it. */
	while (!hauli_inbox_is_quiesced(&c->mail.inbox))
		sched_yield();
}
