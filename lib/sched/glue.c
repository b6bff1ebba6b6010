/* SPDX-License-Identifier: BSD-3-Clause */
#include "sched/glue.h"

#include "sched/carrier.h"
#include "sched/record.h"

#define CANCELLED_AT_ONCE 64 /* objects; each costs a cache miss or two */

struct choice {
	const struct haul_carrier *home;
	bool (*is_chosen)(haul_fn *body);
};

static void cancel_chosen(void *object, void *arg)
{
	struct haul_coro *co = object;
	const struct choice *choice = arg;

	if (hauli_coro_home(co) == choice->home && choice->is_chosen(co->fn) &&
		hauli_coro_state(co) < HAULI_CORO_ENDED)
		haul_cancel(co);
}

void hauli_glue_cancel_records(struct haul_carrier *c)
{
	hauli_records_cancel(c);
}

bool hauli_glue_cancel_some(
	struct haul_carrier *c, struct hauli_slab_walk *at, bool (*is_chosen)(haul_fn *body))
{
	struct choice choice = {c, is_chosen};

	return hauli_slab_walk(c->rt->coros, at, CANCELLED_AT_ONCE, cancel_chosen, &choice);
}
