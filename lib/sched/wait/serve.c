/* SPDX-License-Identifier: BSD-3-Clause */
#include "sched/wait/serve.h"

#include "sched/state/self.h"
#include "sched/wait/block.h"
#include "sched/wait/request.h"

void hauli_serve(struct haul_coro *co, bool last)
{
	struct haul_carrier *c = hauli_here();

	if (hauli_coro_home(co) == c)
		hauli_block_serve_here(c, co, last);
	else
		hauli_wake_by_request(c, co, HAULI_REQ_SERVED);
}
