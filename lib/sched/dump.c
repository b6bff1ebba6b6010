/* SPDX-License-Identifier: BSD-3-Clause */
/* A list of all coroutines that have not ended, for people. */
#include "sched/runtime.h"

static const char *const state_names[] = {
	[HAULI_READY] = "ready or running",
	[HAULI_PARKED] = "parked",
	[HAULI_SLEEPING] = "sleeping",
	[HAULI_JOINING] = "joining",
	[HAULI_TURN] = "waiting for its turn",
	[HAULI_HOMELESS] = "waiting for a carrier",
};

static void dump_one(struct hauli_co *slot, void *arg)
{
	const struct haul_coro *co = (struct haul_coro *)slot;
	const struct haul_carrier *c = hauli_coro_home(co);
	enum hauli_coro_state state = hauli_coro_state(co);

	if (c && state < HAULI_ENDED)
		fprintf(arg, "  carrier %u: %s %p, %s\n", c->id, co->co.name, (const void *)co,
			hauli_coro_is_stolen(co) ? "stolen" : state_names[state]);
	else if (state == HAULI_HOMELESS)
		fprintf(arg, "  no carrier: %s %p, %s\n", co->co.name, (const void *)co,
			state_names[state]);
}

void haul_dump(struct haul_runtime *rt, FILE *out)
{
	hauli_stacks_for_each(rt->stacks, dump_one, out);
}
