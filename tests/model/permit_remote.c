/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A permit taken away from home, by the real request.c and park.c of lib/sched: a stolen coroutine
 * goes on after its park, and its home gives it another permit meanwhile. The coroutine sees the
 * write before that permit, or has the permit for its next park.
 */
#include "sched/wait/park.c"
#include "sched/wait/request.c"

#include "explorer.h"

static struct {
	struct haul_carrier home;
	struct haul_coro co;
	_Atomic uint64_t reason; /* written before the second permit */
	_Atomic uint64_t seen;
} m;

static void init(void)
{
	hauli_coro_set_state(&m.co, HAULI_CORO_READY);
	hauli_u8_shared_init(&m.co.flags, HAULI_FLAG_STOLEN);
	unpark_here(&m.home, &m.co); /* the permit that ended the park */
}

static void home(void)
{
	atomic_store_explicit(&m.reason, 1, memory_order_relaxed);
	unpark_here(&m.home, &m.co);
}

static void stolen(void)
{
	take_permit(&m.co);
	atomic_store_explicit(&m.seen, atomic_load_explicit(&m.reason, memory_order_relaxed),
		memory_order_relaxed);
}

static void check(void)
{
	MODEL_ASSERT(m.seen || hauli_permit_is_given(&m.co.permit));
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = "permit, remote",
			.nb_threads = 2,
			.threads = {home, stolen},
			.memory = &m,
			.size = sizeof(m),
			.init = init,
			.check = check});
}
