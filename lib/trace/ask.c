/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The first that asks takes the lock, and so may post the semaphore; the thread that waits releases
 * the lock when it is ready for another. Until there is such a thread, the lock is taken.
 */
#include "trace/ask.h"

#include <errno.h>
#include <semaphore.h>

#include "conc/word.h"

struct hauli_trace_limits hauli_trace_limits = {.slice = {UINT64_MAX}, .gap = {UINT64_MAX}};

static struct hauli_trylock asked = {.taken = true};
static struct hauli_u8_shared reason; /* enum haul_trace_why. The holder of the lock */
static sem_t came;

void hauli_trace_ask(struct hauli_timeline *t, enum haul_trace_why why)
{
	int err = errno;

	if (!hauli_trylock_take(&asked))
		return;
	if (t)
		hauli_timeline_put(t, HAUL_TRACE_TRIGGER, why, 0, 0);
	hauli_u8_shared_init(&reason, (uint8_t)why);
	sem_post(&came);
	errno = err;
}

void hauli_trace_asks_begin(void)
{
	sem_init(&came, 0, 0);
	hauli_trace_asks_next();
}

enum haul_trace_why hauli_trace_asks_wait(void)
{
	while (sem_wait(&came) != 0)
		;
	return (enum haul_trace_why)hauli_u8_shared_get(&reason);
}

void hauli_trace_asks_next(void)
{
	hauli_trylock_release(&asked);
}
