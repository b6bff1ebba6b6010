/* SPDX-License-Identifier: BSD-3-Clause */
/* A condition. Its word has no value, only the lock of the lists. */
#include "sync/cond.h"

#include "sync/mutex.h"

#define NULL_COND "the condition is NULL"

static inline struct hauli_crowd *crowd_of(struct haul_cond *cond)
{
	return (struct hauli_crowd *)cond;
}

int hauli_cond_wait_with(
	struct haul_cond *cond, struct haul_mutex *m, uint64_t deadline, struct hauli_sync_wait *w)
{
	struct hauli_crowd *crowd = crowd_of(cond);
	int err;

	(void)hauli_waitq_lock(&crowd->q);
	hauli_waitq_enter(&crowd->q.list, w, deadline, true);
	hauli_waitq_unlock(&crowd->q, 0);
	haul_mutex_unlock(m);
	hauli_waitq_is_for(w, "condition", crowd);
	err = hauli_crowd_wait(crowd, w);
	hauli_mutex_lock(m, w);
	return err;
}

int haul_cond_wait(struct haul_cond *cond, struct haul_mutex *m, uint64_t deadline)
{
	struct haul_carrier *c = hauli_here();
	struct haul_coro *me = c->current;
	struct hauli_sync_wait w;

	HAUL_MISUSE_IF(!cond || !m, "the condition or the mutex is NULL");
	(void)hauli_block_check(c, me, __func__, false);
	HAUL_MISUSE_IF(!hauli_mutex_is_held_by(m, me),
		"mutex %p is not held by the caller; lock it before the wait", (void *)m);
	return deadline == 0 ? -EAGAIN : hauli_cond_wait_with(cond, m, deadline, &w);
}

void haul_cond_signal(struct haul_cond *cond)
{
	struct hauli_crowd *crowd = crowd_of(cond);
	struct hauli_sync_waiter *first;

	HAUL_MISUSE_IF(!cond, NULL_COND);
	if (hauli_lockword_get(&crowd->q.word) == 0)
		return;
	(void)hauli_waitq_lock(&crowd->q);
	first = hauli_waitq_take(&crowd->q.list, 0);
	hauli_waitq_unlock(&crowd->q, 0);
	if (first)
		hauli_waitq_serve(first);
}

void haul_cond_broadcast(struct haul_cond *cond)
{
	struct hauli_crowd *crowd = crowd_of(cond);

	HAUL_MISUSE_IF(!cond, NULL_COND);
	if (hauli_lockword_get(&crowd->q.word) == 0)
		return;
	(void)hauli_waitq_lock(&crowd->q);
	hauli_crowd_release(crowd, 0);
}
