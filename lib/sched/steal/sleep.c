/* SPDX-License-Identifier: BSD-3-Clause */
#include "sched/steal/sleep.h"

#include <sched.h>

#include "base/clock.h"
#include "sched/mail/mail.h"
#include "sched/place/cluster.h"
#include "sched/state/traced.h"
#include "sched/steal/steal.h"

/* Looks between two reads of the clock, which takes as long as some pauses. */
#define LOOKS 8

static bool is_called(const struct haul_carrier *c)
{
	for (unsigned i = 0; i < LOOKS; i++) {
		if (!hauli_inbox_is_empty(&c->mail.inbox) || hauli_cluster_waits(c) ||
			hauli_fds_are_due(c, &c->fds))
			return true;
		hauli_cpu_pause();
	}
	return false;
}

bool hauli_sleep_spin(struct haul_carrier *c, uint64_t at)
{
	struct hauli_spin *s = &c->run.spin;
	uint64_t start, length = s->ticks;
	bool called = false;

	/* A search looks again soon. Virtual time waits for each carrier to sleep. */
	if (hauli_searches(c) || c->watched || hauli_fds_are_unseen(&c->fds) ||
		!hauli_spin_may_pay(s))
		return false;
	start = hauli_ticks();
	if (at < start + length)
		length = at > start ? at - start : 0;
	while (!called && hauli_ticks() - start < length)
		called = is_called(c);
	hauli_spin_learn(s, called);
	return called;
}

void hauli_sleep_end(struct haul_carrier *c)
{
	if (hauli_steals(c))
		hauli_steal_clear_idle(c);
	hauli_mail_receive(c);
	if (hauli_cluster_waits(c))
		hauli_cluster_after_sleep(c);
}

void hauli_sleep_end_parked(struct haul_carrier *c)
{
	hauli_traced_awake(c);
	hauli_sleep_end(c);
}

void hauli_sleep_quiesce(struct haul_carrier *c)
{
	/* A waker that is still in its call either runs or was preempted, so this yields the CPU to
	 * it. */
	while (!hauli_inbox_is_quiesced(&c->mail.inbox))
		sched_yield();
}
