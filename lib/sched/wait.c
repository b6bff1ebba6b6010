/* SPDX-License-Identifier: BSD-3-Clause */
/* Yield, sleep, park, and what ends them. */
#include "sched/wait.h"

#include <errno.h>

#include "sched/steal.h"
#include "sched/stolen.h"

#define NO_COROUTINE "the coroutine is NULL; give what a spawn or haul_self() has given"

void hauli_may_suspend(const struct haul_coro *me, const char *call)
{
	uint8_t marks = hauli_mark_get(&me->marks);

	if (marks & HAULI_MARK_NOBODY)
		hauli_misuse(
			call, "called outside a coroutine; call it in what haul_spawn() was given");
	if (marks & HAULI_MARK_HANDLES)
		hauli_misuse(call,
			"called in a burst handler or a source, which must not suspend; "
			"give haul_io_opts.on_packet instead");
}

void haul_yield(void)
{
	struct haul_carrier *c = hauli_here();

	hauli_suspend(c, c->current, true);
}

static int cancelled(const struct haul_coro *co)
{
	return hauli_coro_is_cancelled(co) ? -ECANCELED : 0;
}

/* In place of a wait of a cancelled coroutine. Otherwise a loop that ignores what its wait returns
 * would keep its carrier for ever, and no other coroutine there could end. */
static int refuse_to_wait(struct haul_carrier *c, struct haul_coro *me)
{
	hauli_suspend(c, me, true);
	return -ECANCELED;
}

static void set_timer(struct haul_coro *me, uint64_t ns)
{
	if (ns == HAUL_FOREVER)
		me->timer.at = HAULI_NEVER;
	else
		me->timer.at = hauli_ticks() + hauli_ticks_from_ns(ns);
}

static inline int sleep_here(struct haul_carrier *c, struct haul_coro *me, uint64_t ns)
{
	set_timer(me, ns);
	hauli_timer_arm(&c->timers, &me->timer);
	hauli_coro_set_state(me, HAULI_SLEEPING);
	hauli_suspend(c, me, false);
	return cancelled(me);
}

/* Cancelled, a poller, or stolen: then its home sees to the wait. */
static __attribute__((noinline)) int sleep_with_care(
	struct haul_carrier *c, struct haul_coro *me, uint64_t ns)
{
	hauli_may_suspend(me, "haul_sleep");
	if (cancelled(me))
		return refuse_to_wait(c, me);
	if (!hauli_coro_is_stolen(me))
		return sleep_here(c, me, ns);
	set_timer(me, ns);
	hauli_stolen_go_home(c, me, HAULI_BACK_SLEEP);
	return cancelled(me);
}

int haul_sleep(uint64_t ns)
{
	struct haul_carrier *c = hauli_here();
	struct haul_coro *me = c->current;

	if (hauli_unlikely(hauli_coro_needs_care(me)))
		return sleep_with_care(c, me, ns);
	return sleep_here(c, me, ns);
}

/* After the wait: who was woken may be stolen before it runs, while its home gives another one. */
static inline int take_permit(struct haul_coro *me)
{
	if (hauli_likely(!hauli_coro_needs_care(me))) {
		hauli_permit_take(&me->permit);
		return 0;
	}
	hauli_permit_take_away(&me->permit);
	return cancelled(me);
}

static inline int park_here(struct haul_carrier *c, struct haul_coro *me)
{
	if (!hauli_permit_is_given(&me->permit)) {
		hauli_coro_set_state(me, HAULI_PARKED);
		hauli_suspend(c, me, false);
	}
	return take_permit(me);
}

static __attribute__((noinline)) int park_with_care(struct haul_carrier *c, struct haul_coro *me)
{
	hauli_may_suspend(me, "haul_park");
	if (cancelled(me))
		return refuse_to_wait(c, me);
	if (!hauli_coro_is_stolen(me))
		return park_here(c, me);
	hauli_stolen_go_home(c, me, HAULI_BACK_PARK);
	return take_permit(me);
}

int haul_park(void)
{
	struct haul_carrier *c = hauli_here();
	struct haul_coro *me = c->current;

	if (hauli_unlikely(hauli_coro_needs_care(me)))
		return park_with_care(c, me);
	return park_here(c, me);
}

static __attribute__((noinline)) void wake_and_tell(struct haul_carrier *c, struct haul_coro *co)
{
	hauli_ready_soon(c, co);
	hauli_steal_offer(c);
}

static void unpark_here(struct haul_carrier *c, struct haul_coro *co)
{
	/* Taken when the park returns: until then a second one changes nothing. */
	hauli_permit_give(&co->permit);
	if (hauli_coro_state(co) != HAULI_PARKED)
		return;
	if (hauli_likely(c->wakes == HAULI_PLAINLY))
		hauli_ready_soon(c, co);
	else if (c->wakes == HAULI_AND_TELL)
		wake_and_tell(c, co);
	else
		hauli_ready(c, co); /* what a poller or the inbox wakes stays in order */
}

void hauli_cancel_here(struct haul_carrier *c, struct haul_coro *co)
{
	enum hauli_coro_state state = hauli_coro_state(co);

	hauli_mark_add(&co->marks, HAULI_MARK_CANCELLED);
	if (state == HAULI_SLEEPING)
		hauli_timer_disarm(&c->timers, &co->timer);
	if (state == HAULI_SLEEPING || state == HAULI_PARKED) {
		hauli_ready(c, co);
		hauli_steal_offer_here(c);
	}
}

void hauli_handle_is_used_up(const struct haul_coro *co, const char *call)
{
	/* Its name may be gone as well. */
	hauli_misuse(call,
		"coroutine %p was joined or detached before, or others wait for it: a handle is "
		"good for one haul_join() or haul_detach(), and for nothing after it",
		(const void *)co);
}

/* The name of the call that made a request; of several requests, of one of them. */
static const char *call_of(uint32_t bits)
{
	if (bits & HAULI_REQ_UNPARK)
		return "haul_unpark";
	if (bits & HAULI_REQ_CANCEL)
		return "haul_cancel";
	return bits & HAULI_REQ_DETACH ? "haul_detach" : "haul_join";
}

static void detach_here(struct haul_carrier *c, struct haul_coro *co)
{
	if (hauli_unlikely(co->joiner || co->detached))
		hauli_handle_is_used_up(co, "haul_detach");
	if (hauli_coro_state(co) == HAULI_ENDED)
		hauli_coro_free(c, co);
	else
		co->detached = true;
}

void hauli_requests_here(struct haul_carrier *c, struct haul_coro *co)
{
	uint32_t bits = hauli_requests_take(&co->requests);

	if (hauli_coro_state(co) == HAULI_ZOMBIE) {
		if (bits & (HAULI_REQ_DETACH | HAULI_REQ_JOIN))
			hauli_handle_is_used_up(co, call_of(bits));
		hauli_coro_free(c, co);
		return;
	}
	if (bits & HAULI_REQ_UNPARK)
		unpark_here(c, co);
	if (bits & HAULI_REQ_CANCEL)
		hauli_cancel_here(c, co);
	if (bits & HAULI_REQ_JOINED)
		hauli_ready(c, co);
	if (bits & HAULI_REQ_DETACH)
		detach_here(c, co);
	if (bits & HAULI_REQ_JOIN)
		hauli_join_answer(c, co->asked);
}

void hauli_request(struct haul_coro *co, uint32_t bits)
{
	struct haul_carrier *home;

	/* Not the first: co may be gone by now. The first: it stays until the message has come. */
	if (!hauli_requests_add(&co->requests, bits))
		return;
	/* The first caller finds a home: while co has none, its requests have begun. */
	home = hauli_coro_home(co);
	if (hauli_unlikely(!home))
		hauli_handle_is_used_up(co, call_of(bits));
	co->request_msg.kind = HAULI_MSG_REQUEST;
	hauli_mail_send(home, &co->request_msg);
}

void haul_unpark(struct haul_coro *co)
{
	struct haul_carrier *c = hauli_here();

	HAUL_MISUSE_IF(!co, NO_COROUTINE);
	if (hauli_coro_home(co) == c)
		unpark_here(c, co);
	else
		hauli_request(co, HAULI_REQ_UNPARK);
}

void haul_cancel(struct haul_coro *co)
{
	struct haul_carrier *c = hauli_here();

	HAUL_MISUSE_IF(!co, NO_COROUTINE);
	if (hauli_coro_home(co) == c)
		hauli_cancel_here(c, co);
	else
		hauli_request(co, HAULI_REQ_CANCEL);
}

void haul_detach(struct haul_coro *co)
{
	struct haul_carrier *c = hauli_here();

	HAUL_MISUSE_IF(!co, NO_COROUTINE);
	if (hauli_coro_home(co) == c)
		detach_here(c, co);
	else
		hauli_request(co, HAULI_REQ_DETACH);
}

bool haul_cancelled(void)
{
	struct haul_coro *me = haul_self();

	return me && hauli_coro_is_cancelled(me);
}

const char *haul_coro_name(const struct haul_coro *co)
{
	HAUL_MISUSE_IF(!co, NO_COROUTINE);
	return co->co.name;
}

struct haul_carrier *haul_coro_home(const struct haul_coro *co)
{
	HAUL_MISUSE_IF(!co, NO_COROUTINE);
	return hauli_coro_home(co);
}
