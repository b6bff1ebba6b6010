/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A join with a deadline that finds its target without a home, by the real join.c, request.c and
 * cluster.c: meanwhile the target gets its home, runs and ends, and after the deadline a coroutine
 * of that home joins or (homeless_detached.c) detaches it.
 */
#ifndef NAME
#define NAME "homeless_until"
#define DETACHES false
#endif

#include "sched/wait/join.c"

#include "explorer.h"
#include "sched/mail/mail.h"
#include "sched/place/cluster.h"

static struct {
	struct haul_carrier c;
	struct hauli_cluster cluster;
	struct haul_carrier *members[1];
	struct hauli_inbox *inboxes[1];
	struct haul_coro target, joiner;
	struct hauli_join timed; /* of the thread */
	struct hauli_completion done;
	struct hauli_join plain; /* of the coroutine */
	_Atomic bool over; /* the deadline has passed */
	struct hauli_msg rouse;
	uint64_t result;
} m;

struct haul_carrier hauli_nowhere;

/* Called by the home's thread only. */
struct haul_carrier *hauli_here(void)
{
	return &m.c;
}

bool hauli_mail_send(struct haul_carrier *c, struct hauli_msg *msg)
{
	enum hauli_inbox_state slept = hauli_inbox_push(&c->mail.inbox, &msg->node);

	if (slept == HAULI_INBOX_ASLEEP)
		hauli_inbox_wake(&c->mail.inbox);
	return slept == HAULI_INBOX_EMPTY;
}

static void handle_nothing(struct haul_carrier *c, struct hauli_msg *msg)
{
}

static const struct hauli_msg_kind nothing = {.handle = handle_nothing};

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
	m.target.item.n = 1;
	hauli_requests_begin(&m.target.requests, HAULI_REQ_HOMELESS);
	hauli_coro_set_state(&m.target, HAULI_CORO_HOMELESS);
	hauli_injector_put(&m.cluster.injector, &m.target.item);
	hauli_ptr_published_set(&m.joiner.home, &m.c);
	m.rouse.kind = &nothing;
	m.timed = (struct hauli_join){.target = &m.target, .done = &m.done};
	hauli_completion_init(&m.done);
	m.plain = (struct hauli_join){.target = &m.target, .waiter = &m.joiner};
	model_own(&m.c.runq, sizeof(m.c.runq), 0);
	model_own(&m.cluster, sizeof(m.cluster), 0);
}

static void thread(void)
{
	ask(&m.timed, HAULI_JOIN_TIMED);
	if (withdraw(&m.timed)) {
		model_free(&m.timed, sizeof(m.timed));
		atomic_store_explicit(&m.over, true, memory_order_release);
		hauli_mail_send(&m.c, &m.rouse);
		return;
	}
	hauli_completion_wait(&m.done);
	MODEL_ASSERT(m.timed.result == &m.result && m.result == 1);
}

static void receive(struct hauli_node *node)
{
	while (node) {
		struct hauli_msg *msg = (struct hauli_msg *)node;

		node = node->next;
		msg->kind->handle(&m.c, msg);
	}
}

/* The thread's deadline has passed, so the handle is good for another. */
static void use_handle(void)
{
	if (DETACHES)
		haul_detach(&m.target);
	else
		MODEL_ASSERT(hauli_join_here(&m.c, &m.plain, 0) && m.plain.result == &m.result);
}

static bool is_gone(void)
{
	bool zombie = hauli_coro_state(&m.target) == HAULI_CORO_ZOMBIE;

	return m.c.coros.count > 0 || (m.target.detached && !zombie);
}

static void home(void)
{
	bool used = false;

	hauli_cluster_fetch(&m.c);
	m.result = 1;
	m.target.arg = &m.result;
	hauli_coro_finish(&m.c, &m.target);
	for (;;) {
		if (!used && atomic_load_explicit(&m.over, memory_order_acquire)) {
			use_handle();
			used = true;
		}
		if (is_gone())
			break;
		if (hauli_inbox_try_sleep(&m.c.mail.inbox, HAULI_INBOX_ASLEEP))
			hauli_inbox_wait(&m.c.mail.inbox, NULL);
		receive(hauli_inbox_drain(&m.c.mail.inbox));
	}
	MODEL_ASSERT(!used || m.c.coros.count == 1);
}

static void check(void)
{
	MODEL_ASSERT(!hauli_requests_pending(&m.target.requests));
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = NAME,
			.nb_threads = 2,
			.threads = {home, thread},
			.memory = &m,
			.size = sizeof(m),
			.init = init,
			.check = check});
}
