/* SPDX-License-Identifier: BSD-3-Clause */
#include "sched/spawn/end.h"

#include "sched/steal/sleep.h"
#include "sched/wait/join.h"
#include "sched/wait/suspend.h"

static __attribute__((noinline)) void end_slow(struct haul_carrier *c, struct haul_coro *me)
{
	if (hauli_coro_is_stolen(me)) {
		me->back = HAULI_BACK_END;
		return;
	}
	if (me->poller) {
		c->poller.coro = NULL;
		if (c->mail.inbox.sleeps) /* it ended between park and unpark */
			hauli_sleep_end(c);
		hauli_sleep_quiesce(c);
		hauli_trylock_release(&c->poller.lock);
	}
	hauli_coro_finish(c, me);
}

void hauli_coro_exit(struct haul_carrier *c, struct haul_coro *me)
{
	if (hauli_unlikely(hauli_coro_needs_slow_path(me)))
		end_slow(c, me);
	else
		hauli_coro_finish(c, me);
}
