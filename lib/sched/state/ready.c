/* SPDX-License-Identifier: BSD-3-Clause */
#include "sched/state/ready.h"

#include "sched/state/traced.h"

static void ready_traced(struct haul_carrier *c, struct haul_coro *co, hauli_runq_push_fn *push,
	enum haul_trace_end end)
{
	hauli_traced_end(c, co, end);
	hauli_coro_set_state(co, HAULI_CORO_READY);
	if (hauli_likely(hauli_coro_queues(co)))
		push(&c->runq, hauli_entry_of_begun(co));
	else
		hauli_coro_ready_slow(c, co, push);
}

static bool is_cancelled(const struct haul_coro *co)
{
	bool is;

	hauli_unseen_begin();
	is = (hauli_coro_state(co) & HAULI_CORO_CANCELLABLE) && hauli_coro_is_cancelled(co);
	hauli_unseen_end();
	return is;
}

void hauli_ready_traced(struct haul_carrier *c, struct haul_coro *co, hauli_runq_push_fn *push)
{
	ready_traced(c, co, push, is_cancelled(co) ? HAUL_TRACE_CANCELLED : HAUL_TRACE_WOKEN);
}

void hauli_ready_expired_traced(
	struct haul_carrier *c, struct haul_coro *co, hauli_runq_push_fn *push)
{
	ready_traced(c, co, push, HAUL_TRACE_EXPIRED);
}
