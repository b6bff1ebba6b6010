/* SPDX-License-Identifier: BSD-3-Clause */
/* Unpark, cancel and detach: direct on the home's thread, by a request to the home on others. */
#include "sched/wait/request.h"

#include <errno.h>

#include "sched/mail/mail.h"
#include "sched/state/group.h"
#include "sched/state/ready.h"
#include "sched/state/runtime.h"
#include "sched/state/self.h"
#include "sched/state/traced.h"
#include "sched/wait/block.h"
#include "sched/wait/extent.h"
#include "sched/wait/joined.h"
#include "sched/wait/park.h"
#include "sched/wait/thread_joins.h"
#include "sched/wait/wake.h"

#define NO_COROUTINE "the coroutine is NULL; give what a spawn or haul_self() has given"

static __attribute__((noinline)) void wake_parked_until(
	struct haul_carrier *c, struct haul_coro *co)
{
	hauli_timer_disarm(&c->timers, &co->timer);
	hauli_wake_here(c, co);
}

static void unpark_here(struct haul_carrier *c, struct haul_coro *co)
{
	/* The park takes the permit when it returns: until then a second unpark changes nothing. */
	hauli_permit_give(&co->permit);
	if (hauli_coro_state(co) == HAULI_CORO_IN_PARK)
		hauli_wake_here(c, co);
	else if (hauli_unlikely(hauli_coro_state(co) == (HAULI_CORO_IN_PARK | HAULI_CORO_ARMED)))
		wake_parked_until(c, co);
}

void hauli_cancel_here(struct haul_carrier *c, struct haul_coro *co)
{
	if (hauli_extent_keeps_cancel(co))
		return;
	hauli_u8_shared_set_bits(&co->flags, HAULI_FLAG_CANCELLED);
	if (hauli_coro_state(co) & HAULI_CORO_CANCELLABLE) {
		hauli_coro_disarm(c, co);
		hauli_ready(c, co);
		hauli_steal_offer_here(c);
	}
}

void hauli_handle_is_used_up(const struct haul_coro *co, const char *call)
{
	/* The line gives no name: that may have been freed as well. */
	hauli_misuse(call,
		"coroutine %p was joined or detached before, or others wait for it: a handle is "
		"good for one haul_join() or haul_detach(), and for nothing after it",
		(const void *)co);
}

/* The name of the call that made a request; if there were several, of one of them. */
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
	if (hauli_unlikely(co->detached || hauli_join_waits(co)))
		hauli_handle_is_used_up(co, "haul_detach");
	if (hauli_coro_state(co) == HAULI_CORO_ENDED)
		hauli_coro_free(c, co);
	else
		co->detached = true;
}

/* Wakes a plain thread, which no longer counts as waiting; one with a deadline was never
 * counted. */
static __attribute__((noinline)) void complete(struct hauli_join *j, bool timed)
{
	if (!timed)
		hauli_thread_joins_end();
	hauli_completion_set(j->done);
}

/* Wakes the waiter of j, whose timer is not armed if it is at home on c. j may be gone
 * afterwards. */
static inline void wake_joiner(struct haul_carrier *c, struct hauli_join *j, bool timed)
{
	if (j->done)
		complete(j, timed);
	else if (hauli_coro_home(j->waiter) != c)
		hauli_request(j->waiter, HAULI_REQ_JOINED);
	else if (c->current)
		hauli_ready_soon(c, j->waiter);
	else
		hauli_ready(c, j->waiter);
}

/* The same, for any j. */
static void wake_any_joiner(struct haul_carrier *c, struct hauli_join *j, bool timed)
{
	if (!j->done && hauli_coro_home(j->waiter) == c)
		hauli_coro_disarm(c, j->waiter);
	wake_joiner(c, j, timed);
}

/* Ends the join of a target that has ended. Returns its word, without an address if its deadline
 * has passed. */
static uintptr_t take_joiner(struct haul_coro *target, uintptr_t word)
{
	while (!hauli_tagged_swap(&target->joiner, &word, 0))
		;
	return word;
}

static __attribute__((noinline)) void serve_tagged(
	struct haul_carrier *c, struct haul_coro *target, uintptr_t word)
{
	struct hauli_join *j;

	if (word & HAULI_JOIN_ASKED)
		return;
	word = take_joiner(target, word);
	j = hauli_join_of(word);
	if (!j)
		return;
	target->detached = true; /* joined */
	j->result = target->arg;
	wake_any_joiner(c, j, word & HAULI_JOIN_TIMED);
}

void hauli_join_serve(struct haul_carrier *c, struct haul_coro *target, uintptr_t word)
{
	struct hauli_join *j = (struct hauli_join *)word;

	if (hauli_unlikely(!hauli_join_is_plain(word))) {
		serve_tagged(c, target, word);
		return;
	}
	target->detached = true; /* joined */
	j->result = target->arg;
	if (c->current)
		hauli_ready_soon(c, j->waiter);
	else
		hauli_ready(c, j->waiter);
}

static void join_ended_here(struct haul_carrier *c, struct haul_coro *target)
{
	uintptr_t word = take_joiner(target, hauli_tagged_get(&target->joiner));
	struct hauli_join *j = hauli_join_of(word);

	if (!j)
		return;
	j->result = target->arg;
	hauli_coro_free(c, target);
	wake_any_joiner(c, j, word & HAULI_JOIN_TIMED);
}

/* The request of a join from elsewhere has come. */
static void join_here(struct haul_carrier *c, struct haul_coro *target)
{
	uintptr_t word = hauli_tagged_get(&target->joiner);

	if (hauli_unlikely(target->detached && hauli_join_of(word)))
		hauli_handle_is_used_up(target, "haul_join");
	if (hauli_coro_state(target) == HAULI_CORO_ENDED) {
		join_ended_here(c, target);
		return;
	}
	while (!hauli_tagged_swap(
		&target->joiner, &word, (word & ~HAULI_JOIN_ASKED) | HAULI_JOIN_GONE))
		;
}

/* The target of the waiter's join has ended on another carrier. */
static void join_ends(struct haul_carrier *c, struct haul_coro *waiter)
{
	hauli_coro_disarm(c, waiter);
	hauli_ready(c, waiter);
}

/* co was joined or detached, and kept its memory for these requests. If a join is among them, its
 * deadline had passed: so another join could begin after it and free co before it (join.c). */
static void requests_too_late(struct haul_carrier *c, struct haul_coro *co, uint32_t bits)
{
	if ((bits & HAULI_REQ_JOIN) && hauli_join_waits(co))
		hauli_handle_is_used_up(co, "haul_join");
	if (bits & HAULI_REQ_DETACH)
		hauli_handle_is_used_up(co, "haul_detach");
	hauli_coro_free(c, co);
}

void hauli_requests_here(struct haul_carrier *c, struct haul_coro *co)
{
	uint32_t bits = hauli_requests_take(&co->requests);

	if (hauli_coro_state(co) == HAULI_CORO_ZOMBIE) {
		requests_too_late(c, co, bits);
		return;
	}
	if (bits & HAULI_REQ_UNPARK)
		unpark_here(c, co);
	if (bits & HAULI_REQ_SERVED) /* before a cancel: a service that has happened wins */
		hauli_block_serve_here(c, co, true);
	if (bits & HAULI_REQ_CANCEL)
		hauli_cancel_here(c, co);
	if (bits & HAULI_REQ_JOINED)
		join_ends(c, co);
	if (bits & HAULI_REQ_JOIN)
		join_here(c, co);
	if ((bits & HAULI_REQ_JOIN) && (bits & HAULI_REQ_DETACH) && hauli_join_waits(co))
		hauli_handle_is_used_up(co, "haul_join");
	if (bits & HAULI_REQ_DETACH) /* any join before it has ended at its deadline */
		detach_here(c, co);
}

static void handle(struct haul_carrier *c, struct hauli_msg *msg)
{
	hauli_requests_here(c, HAULI_CONTAINER(msg, struct haul_coro, request_msg));
}

static const struct hauli_msg_kind request_msg = {.handle = handle};

void hauli_request(struct haul_coro *co, uint32_t bits)
{
	struct haul_carrier *home;

	hauli_traced_request(hauli_here(), co, bits);
	/* After a request that is not the first, co may be freed by now. After the first, co stays
	 * until its message has come. */
	if (!hauli_requests_add(&co->requests, bits))
		return;
	/* The first requester finds a home: a homeless co has a bit set from the start. */
	home = hauli_coro_home(co);
	if (hauli_unlikely(!home))
		hauli_handle_is_used_up(co, call_of(bits));
	co->request_msg.kind = &request_msg;
	hauli_mail_send(home, &co->request_msg);
}

void hauli_wake_by_request(const struct haul_carrier *c, struct haul_coro *co, uint32_t bits)
{
	if (c == &hauli_nowhere)
		hauli_runtime_is_woken(co);
	hauli_request(co, bits);
}

void hauli_serve(struct haul_coro *co, bool last)
{
	struct haul_carrier *c = hauli_here();

	if (hauli_coro_home(co) == c)
		hauli_block_serve_here(c, co, last);
	else
		hauli_wake_by_request(c, co, HAULI_REQ_SERVED);
}

void haul_unpark(struct haul_coro *co)
{
	struct haul_carrier *c = hauli_here();

	HAUL_MISUSE_IF(!co, NO_COROUTINE);
	if (hauli_coro_home(co) == c)
		unpark_here(c, co);
	else
		hauli_wake_by_request(c, co, HAULI_REQ_UNPARK);
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
