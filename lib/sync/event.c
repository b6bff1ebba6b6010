/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An event. The value of its word is SET, or 0.
 *
 * Each set and each reset writes the word by a read-modify-write, also if the value stays the same:
 *
 *	setter                  waiter, awake
 *	work = 1                lock: SET -> SET | locked, then 0      lockword.E1
 *	swap: SET -> SET        looks for work
 *
 * A swap before the lock: the waiter acquires it, and sees the work. A swap after it finds 0, and
 * the next wait ends at once. A setter that only loads the word may read SET while its store of
 * the work waits in the store buffer.
 *
 * Model: tests/model/sync_event_reset.c. Stress: tests/stress/sync.c.
 */
#include "sync/event.h"

#define SET HAULI_WAITQ_UNIT
#define NULL_EVENT "the event is NULL"

static inline struct hauli_crowd *crowd_of(struct haul_event *e)
{
	return (struct hauli_crowd *)e;
}

static inline bool is_set(const struct hauli_crowd *crowd)
{
	return hauli_lockword_get(&crowd->q.word) & SET;
}

bool haul_event_is_set(const struct haul_event *e)
{
	HAUL_MISUSE_IF(!e, NULL_EVENT);
	return is_set((const struct hauli_crowd *)e);
}

void haul_event_set(struct haul_event *e)
{
	struct hauli_crowd *crowd = crowd_of(e);
	uint64_t word;

	HAUL_MISUSE_IF(!e, NULL_EVENT);
	word = hauli_lockword_get(&crowd->q.word);
	/* Also if it is set already, as the head of this file says. */
	if (word == hauli_waitq_value(word) && hauli_lockword_swap(&crowd->q.word, word, SET))
		return;
	(void)hauli_waitq_lock(&crowd->q);
	hauli_crowd_release(crowd, SET);
}

void haul_event_reset(struct haul_event *e)
{
	struct hauli_crowd *crowd = crowd_of(e);

	HAUL_MISUSE_IF(!e, NULL_EVENT);
	(void)hauli_waitq_lock(&crowd->q);
	hauli_waitq_unlock(&crowd->q, 0);
}

__attribute__((noinline)) int hauli_event_wait_with(
	struct haul_event *e, uint64_t deadline, struct hauli_sync_wait *w)
{
	struct hauli_crowd *crowd = crowd_of(e);
	uint64_t value = hauli_waitq_lock(&crowd->q);

	if (value == SET || deadline == 0) {
		hauli_waitq_unlock(&crowd->q, value);
		return value == SET ? 0 : -EAGAIN;
	}
	hauli_waitq_enter(&crowd->q.list, w, deadline, true);
	hauli_waitq_is_for(w, "event", e);
	hauli_waitq_unlock(&crowd->q, value);
	return hauli_crowd_wait(crowd, w);
}

int haul_event_wait(struct haul_event *e, uint64_t deadline)
{
	struct haul_carrier *c = hauli_here();
	struct hauli_sync_wait w;
	int err;

	HAUL_MISUSE_IF(!e, NULL_EVENT);
	err = hauli_waitq_check(c, c->current, __func__, deadline);
	if (hauli_unlikely(err))
		return err;
	if (is_set(crowd_of(e)))
		return 0;
	return hauli_event_wait_with(e, deadline, &w);
}

bool hauli_event_try_case(struct hauli_case *cs, uint64_t *value, struct hauli_sync_waiter **other)
{
	(void)other;
	cs->err = 0;
	return *value == SET;
}

struct haul_case haul_case_event(struct haul_event *e)
{
	static const struct hauli_case_kind kind = {hauli_event_try_case, hauli_waitq_own_list,
		hauli_crowd_leave, hauli_crowd_serve_rest};

	HAUL_MISUSE_IF(!e, NULL_EVENT);
	return hauli_case(&kind, e, NULL);
}
