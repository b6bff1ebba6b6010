/* SPDX-License-Identifier: BSD-3-Clause */
#include "sched/mail/spawn_remote.h"

#include "sched/mail/mail.h"
#include "sched/state/group.h"
#include "sched/state/ready.h"
#include "sched/state/self.h"
#include "sched/state/traced.h"

static struct haul_coro *coro_of(struct hauli_msg *msg)
{
	return HAULI_CONTAINER(msg, struct haul_coro, spawn_msg);
}

static void start(struct haul_carrier *c, struct hauli_msg *msg)
{
	struct haul_coro *co = coro_of(msg);

	HAUL_CHECK(c->phase == HAULI_PHASE_RUNS); /* see stop.c */
	hauli_counter_add(&c->counts.spawned, 1);
	hauli_counter_add(&c->counts.arrived, 1);
	if (hauli_unlikely(hauli_coro_is_poller(co))) {
		c->poller.coro = co;
		if (hauli_steals(c) || c->virtual_time)
			hauli_u8_shared_set_bits(&co->flags, HAULI_FLAG_PULLS);
	}
	hauli_queue_new(c, co); /* does nothing if a thief has taken co already */
}

static struct haul_coro *stealable(struct hauli_msg *msg)
{
	struct haul_coro *co = coro_of(msg);

	return hauli_coro_is_stolen(co) ? NULL : co;
}

const struct hauli_msg_kind hauli_spawn_msg = {start, stealable};

void hauli_spawn_send(struct haul_carrier *home, struct haul_coro *co)
{
	hauli_traced_spawn(hauli_here(), co, home);
	co->spawn_msg.kind = &hauli_spawn_msg;
	hauli_ptr_published_set(&co->home, home);
	hauli_ticket_take(&home->mail.placed);
	if (hauli_mail_send(home, &co->spawn_msg) && hauli_steals(home))
		hauli_steal_offer(home);
}
