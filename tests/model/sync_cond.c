/* SPDX-License-Identifier: BSD-3-Clause */
/* A wait for a condition, against a signal, or a broadcast, and a deadline or a cancel, by the real
 * lib/sync: the waiter has the mutex again, and what the server changed under it is seen. */
#include "sync/cond.h"
#include "sync/mutex.h"

#include "sync_home.h"

static struct {
	struct home home;
	struct haul_mutex mutex;
	struct haul_cond cond;
	uint64_t changed; /* under the mutex */
} m;

static struct home *home_of_model(void)
{
	return &m.home;
}

static struct hauli_lockword *mutex_word(void)
{
	return &((struct hauli_waitq *)&m.mutex)->word;
}

static void init(void)
{
	home_init(&m.home);
	hauli_lockword_unlock(mutex_word(), (uintptr_t)&m.home.waiter);
	if (AHEAD)
		home_enter_ahead(&m.home, (struct hauli_waitq *)&m.cond, 0, NULL);
}

static void waiter(void)
{
	int err = hauli_cond_wait_with(&m.cond, &m.mutex, DEADLINE, &m.home.w);

	MODEL_ASSERT((err == 0 && !AHEAD) || err == ENDED);
	MODEL_ASSERT(hauli_mutex_is_held_by(&m.mutex, &m.home.waiter));
	MODEL_ASSERT(m.changed == 1 || (m.changed == 0 && err != 0));
	haul_mutex_unlock(&m.mutex);
	home_end();
}

/* Finds the mutex free when the waiter waits, or when its wait has ended. */
static void server(void)
{
	model_await(mutex_word(), 8, 0);
	if (haul_mutex_lock_by(&m.mutex, 0) != 0)
		return;
	m.changed = 1;
	haul_mutex_unlock(&m.mutex);
	if (CANCELS)
		haul_cond_broadcast(&m.cond);
	else
		haul_cond_signal(&m.cond);
}

static void check(void)
{
	const struct hauli_crowd *crowd = (const struct hauli_crowd *)&m.cond;

	MODEL_ASSERT(AHEAD || (!crowd->q.list.first && !crowd->going.first));
	MODEL_ASSERT(hauli_lockword_get(mutex_word()) == 0);
}

int main(int argc, char **argv)
{
	return model_of(
		argc, argv, "sync: condition" ENDS, &m, sizeof(m), init, waiter, server, check);
}
