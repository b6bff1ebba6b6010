/* SPDX-License-Identifier: BSD-3-Clause */
/* A wait for a mutex that another carrier's coroutine holds, against its unlock and a deadline, by
 * the real lib/sync: the mutex is handed over or left free, and excludes. */
#include "sync/mutex.h"

#include "sync_home.h"

static struct {
	struct home home;
	struct haul_mutex mutex;
	uint64_t inside; /* under the mutex */
	uint64_t result;
} m;

static struct home *home_of_model(void)
{
	return &m.home;
}

static void init(void)
{
	home_init(&m.home);
	hauli_lockword_unlock(&((struct hauli_waitq *)&m.mutex)->word, (uintptr_t)&m.home.server);
	m.inside = 1;
	if (AHEAD)
		home_enter_ahead(
			&m.home, (struct hauli_waitq *)&m.mutex, (uintptr_t)&m.home.server, NULL);
}

static void waiter(void)
{
	int err = hauli_mutex_lock_by(&m.mutex, DEADLINE, &m.home.w);

	MODEL_ASSERT((err == 0 && !AHEAD) || err == ENDED);
	m.result = (uint64_t)-err;
	if (err == 0) {
		MODEL_ASSERT(m.inside == 0);
		MODEL_ASSERT(hauli_mutex_is_held_by(&m.mutex, &m.home.waiter));
		haul_mutex_unlock(&m.mutex);
	}
	home_end();
}

static void server(void)
{
	m.inside = 0;
	haul_mutex_unlock(&m.mutex);
}

static void check(void)
{
	const struct hauli_waitq *q = (const struct hauli_waitq *)&m.mutex;

	MODEL_ASSERT(!q->list.first && !q->list.last);
	MODEL_ASSERT(hauli_lockword_get(&q->word) == (AHEAD ? (uintptr_t)&m.home.ahead : 0));
}

int main(int argc, char **argv)
{
	return model_of(argc, argv, "sync: mutex" ENDS, &m, sizeof(m), init, waiter, server, check);
}
