/* SPDX-License-Identifier: BSD-3-Clause */
#include "sched/glue.h"

#include "sched/carrier.h"
#include "sched/record.h"

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

void hauli_glue_cancel(struct haul_carrier *c, bool (*is_chosen)(haul_fn *body))
{
	struct choice choice = {c, is_chosen};

	hauli_records_cancel(c);
	hauli_slab_for_each(c->rt->coros, cancel_chosen, &choice);
}
