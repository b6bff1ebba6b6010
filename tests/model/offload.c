/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An offloaded call against a deadline or a cancel: it is made or withdrawn, never both or neither.
 * Thread 0 is the coroutine's home, as in sync_home.h, by the real offload.c, and closes the pool
 * after the call; thread 1 is the only thread of the pool, by the real queue.c, which is idle or
 * not there yet when the call comes. With a cancel the pool is closed from the start, so that there
 * are fewer states: the thread finds the call in the queue, or has ended before.
 */
#include "offload/offload.h"
#include "pool/pool.h"
#include "sync_home.h"

static struct {
	struct home home;
	struct hauli_pool pool;
	struct hauli_worker worker;
	struct hauli_offloaded call;
	uint64_t result;
	uint64_t ran; /* by the call, for the coroutine */
} m;

static struct home *home_of_model(void)
{
	return &m.home;
}

struct timespec hauli_monotonic_in(uint64_t ns)
{
	return (struct timespec){.tv_sec = 0};
}

int hauli_pool_submit(struct hauli_job *job, bool at_once)
{
	return hauli_pool_put(&m.pool, job, at_once, false);
}

bool hauli_pool_take_back(struct hauli_job *job)
{
	return hauli_pool_withdraw(&m.pool, job);
}

static void init(void)
{
	home_init(&m.home);
	m.pool.threads = m.pool.born = 1;
	m.pool.most_threads = m.pool.most_queued = 1;
	m.pool.idle_ns = UINT64_MAX;
	m.pool.starting = true;
	m.pool.closed = CANCELS;
	model_private(&m.result, sizeof(m.result), WAITER);
}

static void runs(void *arg)
{
	m.ran++;
}

/* As close_pool() in pool.c. */
static inline void close_pool(void)
{
	struct hauli_worker *idle;

	hauli_pool_lock(&m.pool);
	if (m.result == 0)
		MODEL_ASSERT(m.pool.idle); /* its thread, for its next call */
	m.pool.closed = true;
	idle = hauli_pool_retire(&m.pool, 0);
	hauli_pool_unlock(&m.pool);
	hauli_pool_wake(idle);
}

static void waiter(void)
{
	static const struct hauli_offload o = {.fn = runs};
	int err = hauli_offload_with(&m.home.waiter, &o, DEADLINE, &m.call);

	MODEL_ASSERT(err == 0 || err == ENDED || (CANCELS && err == -ENOMEM));
	if (err == 0)
		MODEL_ASSERT(m.ran == 1);
	m.result = (uint64_t)-err;
	home_end();
	model_free(&m.call, sizeof(m.call)); /* the worker has no further use for it */
	if (!CANCELS)
		close_pool();
}

/* As work() in pool.c. */
static void worker(void)
{
	struct hauli_worker *w = &m.worker;

	hauli_worker_begin(&m.pool, w, NULL);
	while (hauli_worker_next(&m.pool, w)) {
		MODEL_ASSERT(!w->starts);
		hauli_worker_run(&m.pool, w);
	}
}

static void check(void)
{
	const struct hauli_pool *p = &m.pool;

	MODEL_ASSERT(m.ran == (m.result == 0));
	MODEL_ASSERT(p->done == m.ran);
	MODEL_ASSERT(p->withdrawn == (m.result != 0 && m.result != ENOMEM));
	MODEL_ASSERT(!p->first && !p->last && !p->idle && !p->queued && !p->running && !p->threads);
}

int main(int argc, char **argv)
{
	return model_of(argc, argv, "offload" ENDS, &m, sizeof(m), init, waiter, worker, check);
}
