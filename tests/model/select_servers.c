/* SPDX-License-Identifier: BSD-3-Clause */
/* A select of two semaphores against two threads that post one each: one unit is taken. */
#include "sync/sem.h"

#include "select_home.h"

static struct {
	struct home home;
	struct selecting selecting;
	struct haul_sem sems[2];
	uint64_t data[2]; /* of the servers, for the waiter */
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
	int i = hauli_select_with(m.selecting.cases, 2, HAUL_FOREVER, &m.selecting.select);

	MODEL_ASSERT(i == 0 || i == 1);
	MODEL_ASSERT(m.data[i] == 1);
	selecting_end(&m.selecting);
}

static void serve(int i)
{
	m.data[i] = 1;
	haul_sem_post(&m.sems[i]);
}

static void server(void)
{
	serve(0);
}

static void other_server(void)
{
	serve(1);
}

static void check(void)
{
	uint64_t units = 0;

	for (int i = 0; i < 2; i++) {
		const struct hauli_waitq *q = (const struct hauli_waitq *)&m.sems[i];

		MODEL_ASSERT(!q->list.first && !q->list.last);
		units += hauli_lockword_get(&q->word) / HAULI_WAITQ_UNIT;
	}
	MODEL_ASSERT(units == 1);
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = "select: two servers",
			.nb_threads = 3,
			.threads = {waiter, server, other_server},
			.memory = &m,
			.size = sizeof(m),
			.init = init,
			.check = check});
}
