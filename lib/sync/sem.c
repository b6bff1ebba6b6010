/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A semaphore. The value of its word is the number of units. A post with waiters hands its unit to
 * the first: while one waits there is no unit that others could take.
 */
#include "sync/sem.h"

#include "sync/case.h"

#define NULL_SEM "the semaphore is NULL"

static inline struct hauli_waitq *queue_of(struct haul_sem *s)
{
	return (struct hauli_waitq *)s;
}

void haul_sem_init(struct haul_sem *s, uint32_t n)
{
	HAUL_MISUSE_IF(!s, NULL_SEM);
	*s = (struct haul_sem){0};
	hauli_lockword_unlock(&queue_of(s)->word, n * HAULI_WAITQ_UNIT);
}

__attribute__((noinline)) int hauli_sem_wait_with(
	struct haul_sem *s, uint64_t deadline, struct hauli_sync_wait *w)
{
	struct hauli_waitq *q = queue_of(s);
	uint64_t units = hauli_waitq_lock(q);

	if (units > 0) {
		hauli_waitq_unlock(q, units - HAULI_WAITQ_UNIT);
		return 0;
	}
	if (deadline == 0) {
		hauli_waitq_unlock(q, 0);
		return -EAGAIN;
	}
	hauli_waitq_enter(&q->list, w, deadline, true);
	hauli_waitq_is_for(w, "semaphore", q);
	hauli_waitq_unlock(q, 0);
	return hauli_waitq_wait(q, w, hauli_waitq_leave);
}

int haul_sem_wait(struct haul_sem *s, uint64_t deadline)
{
	struct hauli_waitq *q = queue_of(s);
	struct haul_carrier *c = hauli_here();
	struct hauli_sync_wait w;
	uint64_t word;
	int err;

	HAUL_MISUSE_IF(!s, NULL_SEM);
	err = hauli_waitq_check(c, c->current, __func__, deadline);
	if (hauli_unlikely(err))
		return err;
	word = hauli_lockword_get(&q->word);
	if (hauli_likely(word >= HAULI_WAITQ_UNIT && word == hauli_waitq_value(word)) &&
		hauli_likely(hauli_lockword_swap(&q->word, word, word - HAULI_WAITQ_UNIT)))
		return 0;
	return hauli_sem_wait_with(s, deadline, &w);
}

static __attribute__((noinline)) void post_slow(struct hauli_waitq *q)
{
	uint64_t units = hauli_waitq_lock(q);
	struct hauli_sync_waiter *first = hauli_waitq_take(&q->list, 0);

	if (!first)
		units += HAULI_WAITQ_UNIT;
	hauli_waitq_unlock(q, units);
	if (first)
		hauli_waitq_serve(first);
}

void haul_sem_post(struct haul_sem *s)
{
	struct hauli_waitq *q = queue_of(s);
	uint64_t word;

	HAUL_MISUSE_IF(!s, NULL_SEM);
	word = hauli_lockword_get(&q->word);
	if (hauli_unlikely(word != hauli_waitq_value(word)) ||
		hauli_unlikely(!hauli_lockword_swap(&q->word, word, word + HAULI_WAITQ_UNIT)))
		post_slow(q);
}

static bool try_case(struct hauli_case *cs, uint64_t *units, struct hauli_sync_waiter **other)
{
	(void)other;
	if (*units == 0)
		return false;
	*units -= HAULI_WAITQ_UNIT;
	cs->err = 0;
	return true;
}

struct haul_case haul_case_sem(struct haul_sem *s)
{
	static const struct hauli_case_kind kind = {
		try_case, hauli_waitq_own_list, hauli_waitq_leave, NULL};

	HAUL_MISUSE_IF(!s, NULL_SEM);
	return hauli_case(&kind, s, NULL);
}
