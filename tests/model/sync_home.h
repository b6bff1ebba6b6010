/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For the models of lib/sync: a coroutine waits on its home, thread 0, by the real block.c and
 * request.c; a coroutine of another carrier, thread 1, serves it; thread 2 lets its deadline pass,
 * or cancels it, or does nothing. When its wait has ended, and no request of the cancel is under
 * way, the coroutine's memory is freed: no server may use it after that.
 *
 * A suspension is a loop on the home's thread: it handles mail until the coroutine is ready.
 */
#include <errno.h>

#include "explorer.h"
#include "sched/mail/mail.h"
#include "sched/state/exceptions.h"
#include "sched/state/group.h"
#include "sched/state/ready.h"
#include "sched/state/self.h"
#include "sched/wait/block.h"
#include "sched/wait/request.h"
#include "sched/wait/suspend.h"
#include "sync/spin.h"
#include "sync/waitq.h"

/* How a wait may end without its server: a deadline, a cancel (CANCELS), or not (LASTS). */
#ifndef CANCELS
#define CANCELS 0
#endif
#ifndef LASTS
#define LASTS 0
#endif
/* Another coroutine, of the server's carrier, has entered the list before. */
#ifndef AHEAD
#define AHEAD 0
#endif
/* The coroutine spins before it suspends. */
#ifndef SPINS
#define SPINS 0
#endif
/* What a carrier does before it looks for mail. */
#ifndef BEFORE_MAIL
#define BEFORE_MAIL() ((void)0)
#endif
#define DEADLINE (LASTS ? HAUL_FOREVER : 1000)
#if AHEAD
#define ENDS ", behind another waiter"
#define ENDED (-ETIMEDOUT)
#elif CANCELS
#define ENDS ", cancel"
#define ENDED (-ECANCELED)
#elif SPINS
#define ENDS ", which spins"
#define ENDED (-ETIMEDOUT)
#elif LASTS
#define ENDS ""
#define ENDED 0
#else
#define ENDS ", deadline"
#define ENDED (-ETIMEDOUT)
#endif
enum { WAITER, SERVER };

struct home {
	struct haul_carrier c, other;
	struct haul_coro waiter, server;
	struct hauli_sync_wait w;
	struct haul_coro ahead;
	struct hauli_sync_wait ahead_w;
	struct hauli_exceptions always;
	struct hauli_msg tick, cancelled;
	uint64_t armed; /* the timer */
	uint64_t cancel_has_come;
};

static struct home *home_of_model(void);

static struct haul_coro nobody = {.flags = {HAULI_FLAG_NOBODY}};
struct haul_carrier hauli_nowhere = {.current = &nobody};

struct haul_carrier *hauli_here(void)
{
	struct home *h = home_of_model();

	switch (model_thread()) {
	case WAITER:
		return &h->c;
	case SERVER:
		return &h->other;
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
	struct home *h = home_of_model();

	MODEL_ASSERT(!h->armed && t == &h->waiter.timer);
	h->armed = 1;
}

void hauli_timer_disarm(struct hauli_timers *ts, struct hauli_timer *t)
{
	struct home *h = home_of_model();

	MODEL_ASSERT(h->armed);
	h->armed = 0;
}

bool hauli_mail_send(struct haul_carrier *c, struct hauli_msg *msg)
{
	enum hauli_inbox_state slept;

	MODEL_ASSERT(c == &home_of_model()->c);
	slept = hauli_inbox_push(&c->mail.inbox, &msg->node);
	if (slept == HAULI_INBOX_ASLEEP)
		hauli_inbox_wake(&c->mail.inbox);
	return slept == HAULI_INBOX_EMPTY;
}

static void receive(struct haul_carrier *c)
{
	struct hauli_node *node;

	BEFORE_MAIL();
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

/* Of a cancelled coroutine that begins another wait. */
void hauli_may_suspend(const struct haul_coro *me, const char *call)
{
	MODEL_ASSERT(CANCELS && hauli_coro_is_cancelled(me));
}

/* Each suspension comes here: the carrier's exceptions say so. */
void hauli_suspend_slow(struct haul_carrier *c, struct haul_coro *me, bool publish)
{
	MODEL_ASSERT(model_thread() == WAITER);
	while (hauli_coro_state(me) != HAULI_CORO_READY)
		receive(c);
}

/* The timer is due. */
static void handle_tick(struct haul_carrier *c, struct hauli_msg *msg)
{
	struct home *h = home_of_model();

	if (!h->armed)
		return;
	h->armed = 0;
	hauli_ready(c, &h->waiter);
}

static void handle_cancelled(struct haul_carrier *c, struct hauli_msg *msg)
{
	home_of_model()->cancel_has_come = 1;
}

static const struct hauli_msg_kind tick_kind = {.handle = handle_tick};
static const struct hauli_msg_kind cancelled_kind = {.handle = handle_cancelled};

/* No longer than until the waiter gives up: that looks, too. */
void hauli_sync_spin(const struct haul_carrier *c, const struct hauli_handoff *h)
{
	MODEL_ASSERT(SPINS && c == &home_of_model()->c);
}

static void home_init(struct home *h)
{
	h->c.wait.spin.ticks = SPINS ? 1000 : 0;
	h->c.careful = true;
	h->always.uncaught = 1;
	h->c.exceptions = &h->always;
	h->c.current = &h->waiter;
	h->other.current = &h->server;
	hauli_inbox_init(&h->c.mail.inbox);
	hauli_ring_init(&h->c.runq.ring);
	hauli_ptr_published_set(&h->waiter.home, &h->c);
	hauli_ptr_published_set(&h->server.home, &h->other);
	h->tick.kind = &tick_kind;
	h->cancelled.kind = &cancelled_kind;
	model_own(&h->c.runq, sizeof(h->c.runq), WAITER);
	model_private(&h->armed, sizeof(h->armed), WAITER);
	model_private(&h->cancel_has_come, sizeof(h->cancel_has_come), WAITER);
	model_own(&h->waiter.state, sizeof(h->waiter.state), WAITER);
}

/* From init(). value: a channel's. */
static inline void home_enter_ahead(
	struct home *h, struct hauli_waitq *q, uint64_t q_value, uint64_t *value)
{
	hauli_ring_init(&h->other.runq.ring);
	model_private(&h->other.runq, sizeof(h->other.runq), SERVER);
	hauli_ptr_published_set(&h->ahead.home, &h->other);
	hauli_coro_set_state(&h->ahead, HAULI_CORO_BLOCKED);
	h->ahead_w.waiter.waiter.coro = &h->ahead;
	h->ahead_w.waiter.value = value;
	hauli_block_init(&h->ahead_w.block, &h->ahead, HAUL_FOREVER, true);
	hauli_wait_list_enter(&q->list, &h->ahead_w.waiter.waiter);
	hauli_waitq_unlock(q, q_value);
}

static inline bool home_ahead_is_served(const struct home *h)
{
	return hauli_u32_published_get(&h->ahead_w.block.served);
}

static void ender(void)
{
	struct home *h = home_of_model();

	if (LASTS)
		return;
	if (CANCELS) {
		haul_cancel(&h->waiter);
		hauli_mail_send(&h->c, &h->cancelled); /* behind the cancel's own message */
	} else {
		hauli_mail_send(&h->c, &h->tick);
	}
}

/* The coroutine has ended. */
static inline void home_end(void)
{
	struct home *h = home_of_model();

	MODEL_ASSERT(!h->armed);
	while (CANCELS && !h->cancel_has_come)
		receive(&h->c);
	MODEL_ASSERT(!hauli_requests_pending(&h->waiter.requests));
	model_fence(__ATOMIC_SEQ_CST); /* its own stores are no uses after the end */
	model_free(&h->waiter, sizeof(h->waiter));
	model_free(&h->w, sizeof(h->w));
}

static inline int model_of(int argc, char **argv, const char *name, void *memory, size_t size,
	void (*init)(void), void (*waiter)(void), void (*server)(void), void (*check)(void))
{
	return model_main(argc, argv,
		&(struct model){.name = name,
			.nb_threads = 3,
			.threads = {waiter, server, ender},
			.memory = memory,
			.size = size,
			.init = init,
			.check = check});
}
