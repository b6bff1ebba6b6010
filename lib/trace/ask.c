/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The first that asks takes the lock, and so may post the semaphore; the thread that waits releases
 * the lock when it is ready for another. Until there is such a thread, the lock is taken. The
 * semaphore is also posted without a reason, so that the thread looks after its signals.
 */
#include "trace/ask.h"

#include <errno.h>
#include <semaphore.h>

#include "conc/word.h"

struct hauli_trace_limits hauli_trace_limits = {.slice = {UINT64_MAX}, .gap = {UINT64_MAX}};

#define NO_REASON UINT8_MAX

static struct hauli_trylock asked = {.taken = true};
/* enum haul_trace_why, or NO_REASON. The holder of the lock */
static struct hauli_u8_shared reason = {NO_REASON};
static sem_t came;

void hauli_trace_ask(struct hauli_timeline *t, enum haul_trace_why why)
{
	int err = errno;

	/* Looks first: drops may ask for each burst, on all carriers. */
	if (hauli_trylock_is_taken(&asked) || !hauli_trylock_take(&asked))
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

void hauli_trace_asks_wake(void)
{
	sem_post(&came);
}

bool hauli_trace_asks_wait(enum haul_trace_why *why)
{
	uint8_t r;

	while (sem_wait(&came) != 0)
		;
	r = hauli_u8_shared_get(&reason);
	*why = (enum haul_trace_why)r;
	return r != NO_REASON;
}

void hauli_trace_asks_next(void)
{
	hauli_u8_shared_init(&reason, NO_REASON);
	hauli_trylock_release(&asked);
}
