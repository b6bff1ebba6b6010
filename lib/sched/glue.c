/* SPDX-License-Identifier: BSD-3-Clause */
#include "sched/glue.h"

#include "sched/state/carrier.h"
#include "sched/state/self.h"
#include "sched/wait/record.h"

#define CANCELLED_AT_ONCE 64 /* objects; each costs a cache miss or two */

struct choice {
	const struct haul_carrier *home;
	const struct hauli_chosen *chosen;
};

static bool is_chosen(const struct haul_coro *co, const struct choice *choice)
{
	return hauli_coro_home(co) == choice->home && choice->chosen->is_chosen(co->fn) &&
		hauli_state_lives(hauli_coro_state(co));
}

static void look_at(void *object, void *arg)
{
	const struct choice *choice = arg;

	if (is_chosen(object, choice))
		hauli_sites_add(choice->chosen->sites, object);
}

static void cancel_chosen(void *object, void *arg)
{
	if (is_chosen(object, arg))
		haul_cancel(object);
}

void hauli_glue_cancel_records(struct haul_carrier *c)
{
	hauli_records_cancel(c);
}

/* A cancel may wake other coroutines, such as the next waiter of a mutex. So all are added to the
 * sites before the first is cancelled. */
bool hauli_glue_cancel_some(struct haul_carrier *c, struct hauli_chosen *chosen)
{
	struct choice choice = {c, chosen};
	struct hauli_slab *all = c->rt->coros;

	if (!chosen->all_seen) {
		chosen->all_seen =
			!hauli_slab_walk(all, &chosen->looked, CANCELLED_AT_ONCE, look_at, &choice);
		return true;
	}
	return hauli_slab_walk(all, &chosen->cancelled, CANCELLED_AT_ONCE, cancel_chosen, &choice);
}

void hauli_glue_ask_for_trace(void)
{
	hauli_trace_ask(hauli_here()->timeline, HAUL_TRACE_DROP);
}
