/* SPDX-License-Identifier: BSD-3-Clause */
/* Slices that others run in the midst of: their carrier leaves them behind (stray.c), or the
 * compiler has placed a yield in them (placed.c). */
#ifndef HAULI_SCHED_RUN_SPLIT_H
#define HAULI_SCHED_RUN_SPLIT_H

#include "sched/wait/local.h"

/* Before c runs: its slices may be split. So each is to have its order key, and to be known if it
 * has used a local. */
static inline void hauli_split_slices(struct haul_carrier *c)
{
	c->notes_locals = true;
	c->steal.orders.asks_always = hauli_steals(c);
}

/* Owner. True if the slice of co, which runs, may be split, as far as haul's own state tells.
 * flags: those that co may have; a pinned coroutine has KEPT, a burst handler HANDLES. */
static inline bool hauli_may_split(
	const struct haul_carrier *c, const struct haul_coro *co, uint8_t flags)
{
	return co && !(hauli_u8_shared_get(&co->flags) & (uint8_t)~flags) &&
		hauli_coro_state(co) == HAULI_CORO_READY && co->co.stack && co != c->freezes &&
		!c->wait.no_suspend && !hauli_ptr_published_get(&c->left) &&
		hauli_locals_are_unused(c);
}

#endif
