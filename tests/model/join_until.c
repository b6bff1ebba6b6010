/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A join with a deadline, by the real join.c and request.c: the target ends on its home while the
 * deadline passes on the waiter's. The join ends once, and after a deadline another join gets the
 * result.
 */
#ifndef NAME
#define NAME "join_until"
#endif

#include "sched/wait/join.c"

#include "explorer.h"
#include "sched/mail/mail.h"

static struct {
	struct haul_carrier c, waiters; /* the home of the target, and that of the waiter */
	struct haul_coro target, waiter, another;
	_Atomic bool over; /* the deadline has passed; told outside the inboxes */
	struct hauli_msg rouse;
	struct hauli_join join, another_s;
	uint64_t result, armed;
} m;

struct haul_carrier hauli_nowhere;

struct haul_carrier *hauli_here(void)
{
	return &hauli_nowhere;
}

void hauli_timer_arm(struct hauli_timers *ts, struct hauli_timer *t)
{
	m.armed++;
}

void hauli_timer_disarm(struct hauli_timers *ts, struct hauli_timer *t)
{
	m.armed--;
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
	m.rouse.kind = &nothing;
	hauli_inbox_init(&m.c.mail.inbox);
	hauli_inbox_init(&m.waiters.mail.inbox);
	hauli_ring_init(&m.waiters.runq.ring);
	m.waiters.runq.lifo_at = UINT32_MAX / 2;
	hauli_ptr_published_set(&m.target.home, &m.c);
	hauli_ptr_published_set(&m.waiter.home, &m.waiters);
#ifndef BY_ANOTHER
	hauli_ptr_published_set(&m.another.home, &m.waiters);
#endif
	m.join = (struct hauli_join){.target = &m.target, .waiter = &m.waiter};
	m.another_s = (struct hauli_join){.target = &m.target, .waiter = &m.another};
	m.waiter.arg = &m.join;
	m.waiter.timer.at = 1;
	model_own(&m.waiters.runq, sizeof(m.waiters.runq), 1);
}

static void receive(struct haul_carrier *c, struct hauli_node *node)
{
	while (node) {
		struct hauli_msg *msg = (struct hauli_msg *)node;

		node = node->next;
		msg->kind->handle(c, msg);
	}
}

static void wait(struct haul_carrier *c)
{
	if (hauli_inbox_try_sleep(&c->mail.inbox, HAULI_INBOX_ASLEEP))
		hauli_inbox_wait(&c->mail.inbox, NULL);
	receive(c, hauli_inbox_drain(&c->mail.inbox));
}

/* BY_ANOTHER: after the deadline a coroutine of the target's home joins it, perhaps before the
 * request of the join that is over has come. */
static bool is_gone(void)
{
	bool zombie = hauli_coro_state(&m.target) == HAULI_CORO_ZOMBIE;

	return m.c.coros.count > 0 || (m.target.detached && !zombie);
}

static void until_joined(void)
{
	bool joined = false;

	while (!is_gone()) {
		if (!joined && atomic_load_explicit(&m.over, memory_order_acquire)) {
			joined = hauli_join_here(&m.c, &m.another_s, 0);
			MODEL_ASSERT(joined);
			continue;
		}
		wait(&m.c);
	}
}

static void home(void)
{
	for (unsigned i = 0; i < 2; i++)
		if (!hauli_inbox_is_empty(&m.c.mail.inbox))
			receive(&m.c, hauli_inbox_drain(&m.c.mail.inbox));
	m.result = 1;
	m.target.arg = &m.result;
	hauli_coro_finish(&m.c, &m.target);
	until_joined();
}

static void is_joined(const struct haul_coro *waiter)
{
	MODEL_ASSERT(waiter->arg == &m.join);
	MODEL_ASSERT(m.join.result == &m.result && m.result == 1);
}

static void until_ready(const struct haul_coro *waiter)
{
	while (hauli_coro_state(waiter) != HAULI_CORO_READY)
		wait(&m.waiters);
	is_joined(waiter);
}

/* The next join lies where the last one lay, and is that of another waiter. */
static void join_after(void)
{
#ifdef BY_ANOTHER
	atomic_store_explicit(&m.over, true, memory_order_release);
	hauli_mail_send(&m.c, &m.rouse);
#else
	m.join = (struct hauli_join){.target = &m.target, .waiter = &m.another};
	m.another.arg = &m.join;
	m.another.timer.at = HAULI_NEVER;
	hauli_join_begin_here(&m.waiters, &m.another);
	until_ready(&m.another);
#endif
}

static void waiters_home(void)
{
	hauli_join_begin_here(&m.waiters, &m.waiter);
	if (!hauli_inbox_is_empty(&m.waiters.mail.inbox))
		receive(&m.waiters, hauli_inbox_drain(&m.waiters.mail.inbox));
	if (hauli_coro_state(&m.waiter) == HAULI_CORO_READY) {
		is_joined(&m.waiter);
		return;
	}
	m.armed--;
	if (hauli_join_expire_here(&m.waiter)) {
		MODEL_ASSERT(!m.waiter.arg);
		hauli_coro_set_state(&m.waiter, HAULI_CORO_READY);
		join_after();
	} else {
		until_ready(&m.waiter);
	}
}

static void check(void)
{
	MODEL_ASSERT(m.armed == 0);
	MODEL_ASSERT(!hauli_requests_pending(&m.waiter.requests));
	MODEL_ASSERT(!hauli_requests_pending(&m.another.requests));
	MODEL_ASSERT(!hauli_requests_pending(&m.target.requests));
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = NAME,
			.nb_threads = 2,
			.threads = {home, waiters_home},
			.memory = &m,
			.size = sizeof(m),
			.init = init,
			.check = check});
}
