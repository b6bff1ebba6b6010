/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two idle threads of the pool, by the real queue.c, whose time passes at any moment, and a job put
 * by another thread meanwhile: it is run once, by one that has not ended, and one of them stays.
 */
#include "pool/queue.h"

#include <time.h>

#include "base/clock.h"
#include "explorer.h"

enum { SUBMITTER, WORKERS };

static struct {
	struct hauli_pool pool;
	struct hauli_worker workers[2];
	struct hauli_job job;
	struct hauli_completion ended;
	uint64_t ran;
} m;

struct timespec hauli_monotonic_in(uint64_t ns)
{
	return (struct timespec){.tv_sec = 0};
}

static void run(struct hauli_job *job)
{
	m.ran++;
}

static void end(struct hauli_job *job, int err)
{
	hauli_completion_set(&m.ended);
}

static void init(void)
{
	m.pool.threads = m.pool.born = 2;
	m.pool.most_threads = m.pool.most_queued = 2;
	m.pool.idle_ns = model_is_reduced() ? UINT64_MAX : 1;
	m.pool.starting = true; /* so neither is to start another */
	for (unsigned i = 0; i < 2; i++) {
		struct hauli_worker *w = &m.workers[i];

		hauli_completion_init(&w->go);
		w->waits = w->idle = true;
		w->below = m.pool.idle;
		m.pool.idle = w;
	}
	m.job.run = run;
	m.job.end = end;
	hauli_completion_init(&m.ended);
}

static void submitter(void)
{
	int how = hauli_pool_put(&m.pool, &m.job, false, false);
	struct hauli_worker *idle;

	MODEL_ASSERT(how == HAULI_JOB_GIVEN);
	hauli_completion_wait(&m.ended);
	model_free(&m.job, sizeof(m.job));
	hauli_pool_lock(&m.pool);
	MODEL_ASSERT(m.pool.threads > 0);
	m.pool.closed = true;
	idle = hauli_pool_retire(&m.pool, 0);
	hauli_pool_unlock(&m.pool);
	hauli_pool_wake(idle);
}

static void worker(void)
{
	struct hauli_worker *w = &m.workers[model_thread() - WORKERS];

	while (hauli_worker_next(&m.pool, w))
		hauli_worker_run(&m.pool, w);
}

static void check(void)
{
	const struct hauli_pool *p = &m.pool;

	MODEL_ASSERT(m.ran == 1 && p->done == 1);
	MODEL_ASSERT(!p->first && !p->last && !p->idle && !p->queued && !p->running && !p->threads);
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = "offload: idle threads",
			.nb_threads = 3,
			.threads = {submitter, worker, worker},
			.memory = &m,
			.size = sizeof(m),
			.init = init,
			.check = check});
}
