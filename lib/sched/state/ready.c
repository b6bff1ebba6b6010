/* SPDX-License-Identifier: BSD-3-Clause */
#include "sched/state/ready.h"

#include "sched/state/traced.h"

void hauli_ready_traced(struct haul_carrier *c, struct haul_coro *co, hauli_runq_push_fn *push)
{
	hauli_traced_ready(c, co);
	hauli_coro_set_state(co, HAULI_CORO_READY);
	if (hauli_likely(hauli_coro_queues(co)))
		push(&c->runq, hauli_entry_of_begun(co));
	else
		hauli_coro_ready_slow(c, co, push);
}
