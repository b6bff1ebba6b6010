/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stolen coroutine waits for a semaphore, against a post and a deadline, by the real lib/sync:
 * its home carries out the wait, and it continues on the thief, where it reads how the wait has
 * ended. Thread 0 is the thief, which runs the coroutine; thread 1 serves it; thread 2 is its home,
 * for which the deadline has passed as soon as it finds no mail.
 */
#include <errno.h>

#include "base/clock.h"

/* A state is the same at whatever time it is reached. */
#define hauli_timer_ticks() 0
#include "sched/steal/stolen.c"

#include "explorer.h"
#include "sched/mail/mail.h"
#include "sched/wait/request.h"
#include "sync/sem.h"

enum { THIEF, SERVER, HOME };

static struct {
	struct haul_carrier home, thief, other;
	struct haul_coro co;
	struct hauli_sync_wait w;
	struct haul_sem sem;
	struct hauli_msg back, end;
	struct hauli_u32_published resumed; /* how often the thief has taken it again */
	uint64_t suspended, ended, armed; /* for the home */
	uint64_t data; /* of the server, for the coroutine */
	uint64_t took; /* a unit */
} m;

static struct haul_coro nobody = {.flags = {HAULI_FLAG_NOBODY}};
struct haul_carrier hauli_nowhere = {.current = &nobody};

struct haul_carrier *hauli_here(void)
{
	switch (model_thread()) {
	case THIEF:
		return &m.thief;
	case SERVER:
		return &m.other;
	case HOME:
		return &m.home;
	default:
		return &hauli_nowhere;
	}
}

uint64_t hauli_ticks_at(uint64_t deadline)
{
	return deadline;
}

void hauli_timer_arm(struct hauli_timers *ts, struct hauli_timer *t)
{
	MODEL_ASSERT(model_thread() == HOME && !m.armed);
	m.armed = 1;
}

void hauli_timer_disarm(struct hauli_timers *ts, struct hauli_timer *t)
{
	MODEL_ASSERT(model_thread() == HOME && m.armed);
	m.armed = 0;
}

/* It has no order key. */
void hauli_order_take(struct haul_carrier *v, struct haul_coro *co)
{
	MODEL_ASSERT(v == &m.home && co == &m.co);
}

void hauli_order_withdraw(struct haul_carrier *c, struct haul_coro *co)
{
	MODEL_ASSERT(co->rank == 0);
}

bool hauli_mail_send(struct haul_carrier *c, struct hauli_msg *msg)
{
	enum hauli_inbox_state slept;

	MODEL_ASSERT(c == &m.home);
	slept = hauli_inbox_push(&c->mail.inbox, &msg->node);
	if (slept == HAULI_INBOX_ASLEEP)
		hauli_inbox_wake(&c->mail.inbox);
	return slept == HAULI_INBOX_EMPTY;
}

/* The coroutine's context is saved; it continues when the thief has taken it again. */
void hauli_stolen_go_home(struct haul_carrier *c, struct haul_coro *me, enum hauli_back how)
{
	uint32_t resumed = hauli_u32_published_get(&m.resumed);

	MODEL_ASSERT(model_thread() == THIEF);
	me->back = (uint8_t)how;
	hauli_mail_send(&m.home, &m.back);
	model_await(&m.resumed, 4, resumed + 1);
	MODEL_ASSERT(hauli_u32_published_get(&m.resumed) == resumed + 1);
}

static void handle_back(struct haul_carrier *c, struct hauli_msg *msg)
{
	m.suspended = 1;
	hauli_stolen_is_back(c, &m.co);
}

static void handle_end(struct haul_carrier *c, struct hauli_msg *msg)
{
	m.ended = 1;
}

static const struct hauli_msg_kind back_kind = {.handle = handle_back};
static const struct hauli_msg_kind end_kind = {.handle = handle_end};

static void init(void)
{
	m.thief.current = &m.co;
	hauli_inbox_init(&m.home.mail.inbox);
	hauli_ring_init(&m.home.runq.ring);
	hauli_ptr_published_set(&m.co.home, &m.home);
	hauli_stolen_take(&m.co);
	m.back.kind = &back_kind;
	m.end.kind = &end_kind;
	model_own(&m.home.runq, sizeof(m.home.runq), HOME);
	model_own(&m.co.state, sizeof(m.co.state), HOME);
	model_own(&m.co.flags, sizeof(m.co.flags), HOME);
	model_own(&m.resumed, sizeof(m.resumed), HOME);
	model_private(&m.suspended, sizeof(m.suspended), HOME);
	model_private(&m.ended, sizeof(m.ended), HOME);
	model_private(&m.armed, sizeof(m.armed), HOME);
}

static void thief(void)
{
	int err = hauli_sem_wait_with(&m.sem, 1000, &m.w);

	MODEL_ASSERT(err == 0 || err == -ETIMEDOUT);
	if (err == 0)
		MODEL_ASSERT(m.data == 1);
	m.took = err == 0;
	model_free(&m.w, sizeof(m.w));
	hauli_mail_send(&m.home, &m.end);
}

static void server(void)
{
	m.data = 1;
	haul_sem_post(&m.sem);
}

static void receive(struct haul_carrier *c)
{
	struct hauli_node *node;

	if (hauli_inbox_try_sleep(&c->mail.inbox, HAULI_INBOX_ASLEEP))
		while (hauli_inbox_is_asleep(&c->mail.inbox))
			hauli_inbox_wait(&c->mail.inbox, NULL);
	node = hauli_inbox_drain(&c->mail.inbox);
	while (node) {
		struct hauli_msg *msg = (struct hauli_msg *)node;

		node = node->next;
		msg->kind->handle(c, msg);
	}
}

static void expire(struct haul_carrier *c)
{
	m.armed = 0;
	hauli_ready(c, &m.co);
}

/* The thief takes it as soon as it is ready. */
static void home(void)
{
	while (!m.ended) {
		if (m.armed && hauli_inbox_is_empty(&m.home.mail.inbox))
			expire(&m.home);
		else
			receive(&m.home);
		if (m.suspended && hauli_coro_state(&m.co) == HAULI_CORO_READY) {
			m.suspended = 0;
			hauli_stolen_take(&m.co);
			hauli_u32_published_set(
				&m.resumed, hauli_u32_published_get(&m.resumed) + 1);
		}
	}
	MODEL_ASSERT(!m.armed && !hauli_requests_pending(&m.co.requests));
	model_free(&m.co, sizeof(m.co));
}

static void check(void)
{
	const struct hauli_waitq *q = (const struct hauli_waitq *)&m.sem;

	MODEL_ASSERT(!q->list.first && !q->list.last);
	MODEL_ASSERT(hauli_lockword_get(&q->word) == (m.took ? 0 : HAULI_WAITQ_UNIT));
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = "sync: sem, stolen",
			.nb_threads = 3,
			.threads = {thief, server, home},
			.memory = &m,
			.size = sizeof(m),
			.init = init,
			.check = check});
}
