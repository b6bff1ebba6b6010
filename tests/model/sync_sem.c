/* SPDX-License-Identifier: BSD-3-Clause */
/* A wait for a semaphore against a post, and a deadline or a cancel, by the real lib/sync: the unit
 * is taken or left, never both or neither. */
#include "sync/sem.h"

#include "sync_home.h"

static struct {
	struct home home;
	struct haul_sem sem;
	uint64_t result;
	uint64_t data; /* of the server, for the waiter */
} m;

static struct home *home_of_model(void)
{
	return &m.home;
}

static void init(void)
{
	home_init(&m.home);
	if (AHEAD)
		home_enter_ahead(&m.home, (struct hauli_waitq *)&m.sem, 0, NULL);
}

static uint64_t word(void)
{
	return hauli_lockword_get(&((const struct hauli_waitq *)&m.sem)->word);
}

static void waiter(void)
{
	int err = hauli_sem_wait_with(&m.sem, DEADLINE, &m.home.w);

	MODEL_ASSERT(err == 0 || err == ENDED);
	if (err == 0)
		MODEL_ASSERT(m.data == 1 && (!AHEAD || home_ahead_is_served(&m.home)));
	m.result = (uint64_t)-err;
	home_end();
	if (err == 0) { /* the server has no further use for it */
		MODEL_ASSERT(word() == 0);
		model_free(&m.sem, sizeof(m.sem));
	}
}

static void server(void)
{
	if (AHEAD)
		haul_sem_post(&m.sem);
	m.data = 1;
	haul_sem_post(&m.sem);
}

static void check(void)
{
	const struct hauli_waitq *q = (const struct hauli_waitq *)&m.sem;

	if (m.result) {
		MODEL_ASSERT(!q->list.first && !q->list.last);
		MODEL_ASSERT(word() == HAULI_WAITQ_UNIT);
	}
}

int main(int argc, char **argv)
{
	return model_of(argc, argv, "sync: sem" ENDS, &m, sizeof(m), init, waiter, server, check);
}
