/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plain thread joins with a deadline, by the real join.c: the target ends on its home at the time
 * of the deadline. The thread gets the result, whole, or the deadline has ended the join. Either
 * way the home uses the join's memory no more then.
 */
#include <stdint.h>

#include "base/clock.h"

static uint64_t ticks(void);
#define hauli_timer_ticks() ticks()
#include "sched/wait/join.c"

#include "explorer.h"

static struct {
	struct haul_carrier c; /* the home of the target */
	struct haul_coro target;
	struct hauli_join timed;
	struct hauli_completion done;
	uint64_t result;
	uint64_t now; /* of the thread's clock */
} m;

static uint64_t ticks(void)
{
	return m.now++; /* the deadline has passed at the second look */
}

struct timespec hauli_monotonic_in(uint64_t ns)
{
	return (struct timespec){0};
}

uint64_t hauli_ns_from_ticks(uint64_t ticks)
{
	return ticks;
}

static void init(void)
{
	m.timed = (struct hauli_join){.target = &m.target, .done = &m.done};
	hauli_completion_init(&m.done);
	hauli_ptr_published_set(&m.target.home, &m.c);
	hauli_tagged_set(&m.target.joiner, (uintptr_t)&m.timed | HAULI_JOIN_TIMED);
	model_private(&m.now, sizeof(m.now), 1);
}

static void home(void)
{
	m.result = 1;
	m.target.arg = &m.result;
	hauli_coro_finish(&m.c, &m.target);
}

static void thread(void)
{
	if (wait_for_completion(&m.timed, 1))
		MODEL_ASSERT(m.timed.result == &m.result && m.result == 1);
	model_free(&m.timed, sizeof(m.timed)); /* the thread goes on */
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = "join of a thread",
			.nb_threads = 2,
			.threads = {home, thread},
			.memory = &m,
			.size = sizeof(m),
			.init = init});
}
