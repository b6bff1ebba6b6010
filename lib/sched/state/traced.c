/* SPDX-License-Identifier: BSD-3-Clause */
#include "sched/state/traced.h"

#include "trace/ask.h"
#include "trace/probe.h"

/* How me, which is at home or was stolen, ends its slice. A stolen one is ready, as its home sees
 * it. */
static enum haul_trace_how how_of(const struct haul_coro *me)
{
	switch ((int)hauli_coro_kind(me)) {
	case HAULI_CORO_PARKED:
		return HAUL_TRACE_PARKED;
	case HAULI_CORO_SLEEPING:
		return HAUL_TRACE_SLEEPS;
	case HAULI_CORO_JOINING:
		return HAUL_TRACE_JOINS;
	case HAULI_CORO_BLOCKED:
		return HAUL_TRACE_BLOCKED;
	case HAULI_CORO_ORDER_WAIT:
		return HAUL_TRACE_ORDERED;
	default:
		return hauli_coro_is_stolen(me) ? HAUL_TRACE_WENT_HOME : HAUL_TRACE_YIELDED;
	}
}

static unsigned least(uint64_t n, unsigned most)
{
	return n < most ? (unsigned)n : most;
}

/* What ran on c until now has run for too long; or the poller begins its turn too late. A poller
 * goes on without a switch while nothing else is ready, so its time is no slice. */
static void look_at_limits(struct haul_carrier *c, struct hauli_timeline *t, uint64_t now)
{
	const struct haul_coro *poller = c->poller.coro;

	if (t->on && t->on != poller &&
		now - t->since > hauli_u64_shared_get(&hauli_trace_limits.slice))
		hauli_trace_ask(t, HAUL_TRACE_SLICE);
	if (!poller)
		return;
	if (c->current == poller && t->polled &&
		now - t->polled > hauli_u64_shared_get(&hauli_trace_limits.gap))
		hauli_trace_ask(t, HAUL_TRACE_GAP);
	if (t->on == poller || c->current == poller)
		t->polled = now;
}

/* more: coroutines that have ended, and are not counted yet. */
void hauli_traced_run_slow(struct haul_carrier *c, enum haul_trace_how how, uint64_t more)
{
	struct hauli_timeline *t = c->timeline;
	uint64_t now, ended;
	unsigned extra;

	hauli_unseen_begin();
	now = hauli_timer_ticks();
	ended = hauli_counter_read(&c->counts.ended) + more;
	extra = least(ended - t->ended, 255) << 8;
	if (c->current)
		extra |= hauli_timeline_name(t, c->current->co.name);
	hauli_timeline_put_at(t, now, HAUL_TRACE_RUN, how, (uintptr_t)c->current, extra);
	HAULI_PROBE4(run, c->id, (int)how, c->current, c->current ? c->current->co.name : NULL);
	look_at_limits(c, t, now);
	t->ended = ended;
	t->on = c->current;
	t->since = now;
	hauli_unseen_end();
}

void hauli_traced_suspend_slow(struct haul_carrier *c, const struct haul_coro *me)
{
	enum haul_trace_how how;

	hauli_unseen_begin();
	how = how_of(me);
	hauli_unseen_end();
	hauli_traced_run_slow(c, how, 0);
}

void hauli_traced_end(struct haul_carrier *c, const struct haul_coro *co, enum haul_trace_end end)
{
	hauli_timeline_put(c->timeline, HAUL_TRACE_READY, end, (uintptr_t)co, 0);
	HAULI_PROBE3(ready, c->id, co, co->co.name);
}

void hauli_traced_ready_slow(struct haul_carrier *c, const struct haul_coro *co)
{
	hauli_traced_end(c, co, HAUL_TRACE_WOKEN);
}

void hauli_traced_request_slow(struct haul_carrier *c, const struct haul_coro *co, uint32_t bits)
{
	hauli_timeline_put(c->timeline, HAUL_TRACE_REQUEST, 0, (uintptr_t)co, bits & UINT16_MAX);
}

void hauli_traced_spawn_slow(
	struct haul_carrier *c, const struct haul_coro *co, const struct haul_carrier *home)
{
	hauli_timeline_put(c->timeline, HAUL_TRACE_SPAWN, 0, (uintptr_t)co, least(home->id, 65535));
}

void hauli_traced_steal_slow(
	struct haul_carrier *c, const struct haul_coro *co, const struct haul_carrier *victim)
{
	hauli_timeline_put(
		c->timeline, HAUL_TRACE_STEAL, 0, (uintptr_t)co, least(victim->id, 65535));
	HAULI_PROBE3(steal, c->id, victim->id, co);
}

void hauli_traced_mail_slow(struct haul_carrier *c)
{
	hauli_timeline_put(c->timeline, HAUL_TRACE_MAIL, 0, 0, 0);
}

void hauli_traced_timers_slow(struct haul_carrier *c, uint64_t n)
{
	hauli_timeline_put(c->timeline, HAUL_TRACE_TIMERS, 0, n, 0);
}

void hauli_traced_sleep_slow(struct haul_carrier *c, enum haul_trace_sleep how)
{
	hauli_timeline_put(c->timeline, HAUL_TRACE_SLEEP, how, 0, 0);
	HAULI_PROBE2(sleep, c->id, (int)how);
}

void hauli_traced_awake_slow(struct haul_carrier *c)
{
	hauli_timeline_put(c->timeline, HAUL_TRACE_AWAKE, 0, 0, 0);
	HAULI_PROBE2(awake, c->id, 0);
}

void hauli_traced_block_slow(struct haul_carrier *c, const char *what, const void *object)
{
	hauli_timeline_put(c->timeline, HAUL_TRACE_BLOCK, 0, (uintptr_t)object,
		hauli_timeline_name(c->timeline, what ? what : "-"));
}

void hauli_traced_poll_slow(struct haul_carrier *c, uint64_t began, uint64_t now, uint64_t packets)
{
	hauli_timeline_put_at(
		c->timeline, now, HAUL_TRACE_POLL, 0, now - began, least(packets, UINT16_MAX));
	HAULI_PROBE2(poll, c->id, packets);
}

void hauli_traced_call_slow(
	struct haul_carrier *c, enum haul_trace_call call, int fd, uint64_t began)
{
	uint64_t now = hauli_timeline_now();

	hauli_timeline_put_at(c->timeline, now, HAUL_TRACE_FD, call, now - began,
		least((uint64_t)fd, UINT16_MAX));
}
