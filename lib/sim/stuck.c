/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/stuck.h"

#include <stdio.h>

#include "sched/look/deadlock.h"
#include "sched/look/dump.h"
#include "sched/state/runtime.h"
#include "sim/state.h"
#include "sim/world.h"

#define COROUTINES 50 /* of a runtime that are shown */

static void list(struct haul_runtime *rt)
{
	fprintf(stderr, "Coroutines:\n");
	hauli_dump_some(rt, stderr, COROUTINES);
}

static void find_deadlocks(struct haul_runtime *rt)
{
	struct hauli_deadlocks *d = hauli_deadlocks_create(rt, stderr);

	while (d && !hauli_deadlocks_look(d))
		;
	hauli_deadlocks_destroy(d);
}

void hauli_sim_tell_stuck(void)
{
	fprintf(stderr, "Threads:\n");
	hauli_sim_list(stderr);
	hauli_runtimes_for_each(list);
	hauli_world.now += HAUL_S; /* those that have begun to wait just now are not looked at */
	hauli_runtimes_for_each(find_deadlocks);
}
