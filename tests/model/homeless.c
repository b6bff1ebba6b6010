/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A coroutine without a home, by the real cluster.c, request.c and join.c: while a carrier takes it
 * from the injector and becomes its home, one thread unparks it, another joins it. Both reach it,
 * by the word of requests or by a message to the new home.
 */
#include "coro/overflow.h"
#include "explorer.h"
#include "sched/mail/mail.h"
#include "sched/place/cluster.h"
#include "sched/state/exceptions.h"
#include "sched/state/runtime.h"
#include "sched/state/self.h"
#include "sched/wait/join.h"
#include "sched/wait/request.h"
#include "sched/wait/suspend.h"

static struct {
	struct haul_carrier c;
	struct hauli_cluster cluster;
	struct haul_carrier *members[1];
	struct hauli_inbox *inboxes[1];
	struct haul_coro co;
	struct hauli_ending ending;
	uint64_t reason; /* the unparking thread's data */
	uint64_t result;
} m;

/* Only the home's thread is a carrier. */
static struct haul_coro nobody = {.flags = {HAULI_FLAG_NOBODY}};
struct haul_carrier hauli_nowhere = {.current = &nobody};

struct haul_carrier *hauli_here(void)
{
	return &hauli_nowhere;
}

bool hauli_mail_send(struct haul_carrier *c, struct hauli_msg *msg)
{
	enum hauli_inbox_state slept;

	MODEL_ASSERT(c == &m.c);
	slept = hauli_inbox_push(&c->mail.inbox, &msg->node);
	if (slept == HAULI_INBOX_ASLEEP)
		hauli_inbox_wake(&c->mail.inbox);
	return slept == HAULI_INBOX_EMPTY;
}

static void init(void)
{
	m.members[0] = &m.c;
	m.inboxes[0] = &m.c.mail.inbox;
	m.c.cluster = &m.cluster;
	m.cluster.nb_members = 1;
	m.cluster.members = m.members;
	hauli_inbox_init(&m.c.mail.inbox);
	hauli_injector_init(&m.cluster.injector, m.inboxes, 1);
	hauli_ring_init(&m.c.runq.ring);
	m.co.item.n = 1;
	hauli_requests_begin(&m.co.requests, HAULI_REQ_HOMELESS);
	hauli_coro_set_state(&m.co, HAULI_CORO_HOMELESS);
	hauli_injector_put(&m.cluster.injector, &m.co.item);
	model_own(&m.c.runq, sizeof(m.c.runq), 0);
	model_own(&m.cluster, sizeof(m.cluster), 0);
}

static void unparker(void)
{
	m.reason = 1;
	haul_unpark(&m.co);
}

static void joiner(void)
{
	hauli_ending_begin(&m.ending, &m.co);
	(void)hauli_ending_wait(&m.ending, NULL);
	MODEL_ASSERT(m.ending.join.result == &m.result && m.result == 1);
}

static void receive(struct hauli_node *node)
{
	while (node) {
		struct hauli_msg *msg = (struct hauli_msg *)node;

		node = node->next;
		msg->kind->handle(&m.c, msg);
	}
}

static void wait(void)
{
	if (hauli_inbox_try_sleep(&m.c.mail.inbox, HAULI_INBOX_ASLEEP))
		hauli_inbox_wait(&m.c.mail.inbox, NULL);
	receive(hauli_inbox_drain(&m.c.mail.inbox));
}

static void home(void)
{
	hauli_cluster_fetch(&m.c);
	MODEL_ASSERT(hauli_ring_depth(&m.c.runq.ring) == 1);
	while (!hauli_permit_is_given(&m.co.permit))
		wait();
	MODEL_ASSERT(m.reason == 1);
	m.result = 1;
	m.co.arg = &m.result;
	hauli_coro_finish(&m.c, &m.co);
	while (!m.co.detached && m.c.coros.count == 0)
		wait();
}

static void check(void)
{
	MODEL_ASSERT(!hauli_requests_pending(&m.co.requests));
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = "homeless",
			.nb_threads = 3,
			.threads = {home, unparker, joiner},
			.memory = &m,
			.size = sizeof(m),
			.init = init,
			.check = check});
}
