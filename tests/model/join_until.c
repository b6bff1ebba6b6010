/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A join with a deadline, by the real join.c and request.c: the target ends on its home while the
 * deadline passes on the waiter's. The join ends once, its memory is freed once, and after a
 * deadline another join gets the result.
 */
#ifndef NAME
#define NAME "join_until"
#endif

#include <stdlib.h>

#include "conc/word.h"

static void freed(void *p);
static bool take(struct hauli_claim *c);
#define free(p) freed(p)
#define hauli_claim_take(c) take(c)
#include "sched/wait/join.c"
#include "sched/wait/joined.c"
#undef free
#undef hauli_claim_take

#include "explorer.h"

static struct {
	struct haul_carrier c, waiters; /* the home of the target, and that of the waiter */
	struct haul_coro target, waiter, another, nobody;
	_Atomic bool over; /* the deadline has passed; told outside the inboxes */
	struct hauli_msg rouse;
	struct hauli_timed_join timed;
	struct hauli_join plain;
	uint64_t result, frees, armed;
} m;

struct haul_carrier hauli_nowhere;

static void freed(void *p)
{
	MODEL_ASSERT(p == &m.timed && m.timed.join.target == &m.target);
	m.timed.join.target = NULL; /* used no more */
	m.timed.at = 1;
	m.frees++;
}

/* A dump may interrupt the waiter's thread then. */
static bool take(struct hauli_claim *c)
{
	MODEL_ASSERT(model_thread() == 0 || !m.waiter.arg);
	return hauli_claim_take(c);
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
	enum hauli_inbox_state slept = hauli_inbox_push(&c->inbox, &msg->node);

	if (slept == HAULI_INBOX_ASLEEP)
		hauli_inbox_wake(&c->inbox);
	return slept == HAULI_INBOX_EMPTY;
}

static void handle_nothing(struct haul_carrier *c, struct hauli_msg *msg)
{
}

static const struct hauli_msg_kind nothing = {.handle = handle_nothing};

static void init(void)
{
	m.rouse.kind = &nothing;
	hauli_inbox_init(&m.c.inbox);
	hauli_inbox_init(&m.waiters.inbox);
	hauli_ring_init(&m.waiters.runq.ring, &m.nobody);
	m.waiters.runq.lifo_at = UINT32_MAX / 2;
	hauli_ptr_published_set(&m.target.home, &m.c);
	hauli_ptr_published_set(&m.waiter.home, &m.waiters);
	m.timed.join = (struct hauli_join){.msg.kind = &hauli_join_msg,
		.target = &m.target,
		.waiter = &m.waiter,
		.timed = true};
	m.plain = (struct hauli_join){
		.msg.kind = &hauli_join_msg, .target = &m.target, .waiter = &m.waiter};
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
	if (hauli_inbox_try_sleep(&c->inbox, HAULI_INBOX_ASLEEP))
		hauli_inbox_wait(&c->inbox, NULL);
	receive(c, hauli_inbox_drain(&c->inbox));
}

#ifdef BY_ANOTHER
/* A coroutine of the target's home joins it, and another one gets its memory, perhaps before the
 * message of the join that is over has come. */
static void until_joined(void)
{
	bool joined = false;

	while (joined ? m.frees == 0 : !m.target.detached && m.c.coros.count == 0) {
		if (!joined && atomic_load_explicit(&m.over, memory_order_acquire)) {
			m.plain.waiter = &m.another;
			joined = hauli_join_here(&m.c, &m.plain);
			MODEL_ASSERT(joined);
			hauli_coro_set_state(&m.target, HAULI_CORO_READY);
			m.target.joiner = NULL;
			continue;
		}
		wait(&m.c);
	}
	MODEL_ASSERT(!joined || !m.target.joiner);
}
#else
static void until_joined(void)
{
	while (!m.target.detached && m.c.coros.count == 0)
		wait(&m.c);
}
#endif

static void home(void)
{
	for (unsigned i = 0; i < 2; i++)
		if (!hauli_inbox_is_empty(&m.c.inbox))
			receive(&m.c, hauli_inbox_drain(&m.c.inbox));
	m.result = 1;
	m.target.arg = &m.result;
	hauli_coro_finish(&m.c, &m.target);
	until_joined();
}

static void join_after(void)
{
#ifdef BY_ANOTHER
	atomic_store_explicit(&m.over, true, memory_order_release);
	hauli_mail_send(&m.c, &m.rouse);
#else
	m.waiter.arg = &m.plain;
	hauli_join_begin_here(&m.waiters, &m.waiter);
	while (hauli_coro_state(&m.waiter) != HAULI_CORO_READY)
		wait(&m.waiters);
	MODEL_ASSERT(m.plain.result == &m.result && m.result == 1);
#endif
}

/* Joined before the deadline, or at the same time. */
static void is_joined(void)
{
	MODEL_ASSERT(m.waiter.arg == &m.timed);
	MODEL_ASSERT(m.timed.join.result == &m.result && m.result == 1);
	freed(&m.timed);
}

static void waiters_home(void)
{
	m.waiter.arg = &m.timed;
	hauli_join_begin_here(&m.waiters, &m.waiter);
	if (!hauli_inbox_is_empty(&m.waiters.inbox))
		receive(&m.waiters, hauli_inbox_drain(&m.waiters.inbox));
	if (hauli_coro_state(&m.waiter) == HAULI_CORO_READY) {
		is_joined();
		return;
	}
	m.armed--;
	MODEL_ASSERT(m.timed.at == 0); /* a plain thread reads it here */
	if (hauli_join_expire_here(&m.waiter)) {
		MODEL_ASSERT(!m.waiter.arg);
		hauli_coro_set_state(&m.waiter, HAULI_CORO_READY);
		join_after();
		return;
	}
	while (hauli_coro_state(&m.waiter) != HAULI_CORO_READY)
		wait(&m.waiters);
	is_joined();
}

static void check(void)
{
	MODEL_ASSERT(m.frees == 1);
	MODEL_ASSERT(m.armed == 0);
	MODEL_ASSERT(!hauli_requests_pending(&m.waiter.requests));
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
