/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/stuck.h"

#include <stdio.h>

#include "sched/look/deadlock.h"
#include "sched/look/dump.h"
#include "sched/state/runtime.h"
#include "sim/world.h"

#define COROUTINES 50 /* of a runtime that are shown */

static void tell_runtime(struct haul_runtime *rt)
{
	struct hauli_deadlocks *d = hauli_deadlocks_create(rt, stderr);

	while (d && !hauli_deadlocks_look(d))
		;
	hauli_deadlocks_destroy(d);
	fprintf(stderr, "Coroutines:\n");
	hauli_dump_some(rt, stderr, COROUTINES);
}

void hauli_sim_tell_stuck(enum haul_sim_end end)
{
	fprintf(stderr, "Threads:\n");
	hauli_sim_list(stderr);
	hauli_runtimes_for_each(tell_runtime);
}
