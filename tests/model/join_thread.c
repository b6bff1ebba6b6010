/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plain thread joins with a deadline, by the real join.c: the target ends on its home at the time
 * of the deadline. Either the thread gets the result, whole, and the join's memory is no more used
 * by the home then; or the deadline has ended the join, and the home frees it.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/clock.h"

static uint64_t ticks(void);
static void freed(void *p);
#define hauli_timer_ticks() ticks()
#define free(p) freed(p)
#include "sched/wait/join.c"
#include "sched/wait/joined.c"
#undef free

#include "explorer.h"

static struct {
	struct haul_carrier c; /* the home of the target */
	struct haul_coro target;
	struct hauli_timed_join timed;
	uint64_t result, frees;
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

static void freed(void *p)
{
	MODEL_ASSERT(p == &m.timed && m.timed.join.target);
	m.timed.join.target = NULL; /* used no more */
	m.frees++;
	model_free(&m.timed, sizeof(m.timed));
}

static void init(void)
{
	m.timed.join = (struct hauli_join){.msg.kind = &hauli_join_msg,
		.target = &m.target,
		.event = &m.timed.event,
		.timed = true};
	m.timed.at = 1;
	hauli_event_init(&m.timed.event);
	hauli_ptr_published_set(&m.target.home, &m.c);
	m.target.joiner = &m.timed.join;
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
	if (!wait_for_event(&m.timed))
		return;
	MODEL_ASSERT(m.timed.join.result == &m.result && m.result == 1);
	freed(&m.timed);
}

static void check(void)
{
	MODEL_ASSERT(m.frees == 1);
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = "join of a thread",
			.nb_threads = 2,
			.threads = {home, thread},
			.memory = &m,
			.size = sizeof(m),
			.init = init,
			.check = check});
}
