/* SPDX-License-Identifier: BSD-3-Clause */
/* A select of two semaphores against a post of each and a deadline, or a cancel, by the real
 * lib/sync: one unit is taken, or none; the others are there. */
#include "sync/sem.h"

#include "select_home.h"

static struct {
	struct home home;
	struct selecting selecting;
	struct haul_sem sems[2];
	uint64_t result; /* the units taken */
	uint64_t data[2]; /* of the server, for the waiter */
} m;

static struct home *home_of_model(void)
{
	return &m.home;
}

static void init(void)
{
	home_init(&m.home);
	selecting_init(&m.selecting, haul_case_sem(&m.sems[0]), haul_case_sem(&m.sems[1]));
}

static void waiter(void)
{
	int i = hauli_select_with(m.selecting.cases, 2, DEADLINE, &m.selecting.select);

	MODEL_ASSERT(i == 0 || i == 1 || i == ENDED);
	if (i >= 0) {
		MODEL_ASSERT(m.selecting.cases[i].err == 0);
		MODEL_ASSERT(m.data[i] == 1);
	}
	m.result = i >= 0;
	selecting_end(&m.selecting);
}

static void server(void)
{
	m.data[0] = 1;
	haul_sem_post(&m.sems[0]);
	if (CANCELS)
		return; /* too many states */
	m.data[1] = 1;
	haul_sem_post(&m.sems[1]);
}

static void check(void)
{
	uint64_t units = m.result;

	for (int i = 0; i < 2; i++) {
		const struct hauli_waitq *q = (const struct hauli_waitq *)&m.sems[i];

		MODEL_ASSERT(!q->list.first && !q->list.last);
		units += hauli_lockword_get(&q->word) / HAULI_WAITQ_UNIT;
	}
	MODEL_ASSERT(units == m.data[0] + m.data[1]);
}

int main(int argc, char **argv)
{
	return model_of(
		argc, argv, "select: two sems" ENDS, &m, sizeof(m), init, waiter, server, check);
}
