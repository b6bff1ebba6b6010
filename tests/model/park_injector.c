/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A carrier's poller parks it while a thread puts a batch into the injector, by the real cluster.c,
 * mail.c and poller.c of lib/sched: at the end the carrier is not parked while the injector has the
 * batch.
 */
#include <haul/driver.h>

#include "explorer.h"
#include "sched/mail/mail.h"
#include "sched/place/cluster.h"
#include "sched/spawn/spawn.h"
#include "sched/state/self.h"
#include "sched/steal/steal.h"
#include "sched/wait/request.h"
#include "sched/wait/suspend.h"

static struct {
	struct haul_carrier c;
	struct hauli_cluster cluster;
	struct haul_carrier *members[1];
	struct hauli_inbox *inboxes[1];
	struct haul_coro poller, task;
} m;

struct haul_carrier *hauli_here(void)
{
	return &m.c;
}

/* The carrier may be awake by then: the model does not wait here. */
static void wakeup(void *arg)
{
}

static void init(void)
{
	struct haul_carrier *c = &m.c;

	c->cluster = &m.cluster;
	c->poller.coro = c->current = &m.poller;
	c->poller.wakeup.fn = wakeup;
	c->timers.next_at = HAULI_NEVER;
	hauli_inbox_init(&c->mail.inbox);
	hauli_detached_mail_init(&c->mail.detached);
	hauli_ring_init(&c->runq.ring);
	m.members[0] = c;
	m.inboxes[0] = &c->mail.inbox;
	m.cluster.nb_members = 1;
	m.cluster.members = m.members;
	hauli_injector_init(&m.cluster.injector, m.inboxes, 1);
	m.task.item.n = 1;
	hauli_coro_set_state(&m.task, HAULI_CORO_HOMELESS);
	model_private(&c->runq, sizeof(c->runq), 0);
}

static void poller(void)
{
	haul_poller_try_park();
}

static void putter(void)
{
	hauli_cluster_put(&m.cluster, &m.task.item);
}

static void check(void)
{
	bool waits = !hauli_injector_is_empty(&m.cluster.injector);

	MODEL_ASSERT(!waits || !hauli_inbox_is_asleep(&m.c.mail.inbox));
}

/* The task gets no request. */
void hauli_requests_here(struct haul_carrier *c, struct haul_coro *co)
{
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = "parked beside the injector",
			.nb_threads = 2,
			.threads = {poller, putter},
			.memory = &m,
			.size = sizeof(m),
			.init = init,
			.check = check});
}
