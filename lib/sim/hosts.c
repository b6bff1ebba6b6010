/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/hosts.h"

#include <stddef.h>

#include "coro/overflow.h"
#include "sched/state/runtime.h"
#include "trace/timelines.h"

static struct haul_runtime *found;
static unsigned dead;

static void find(struct haul_runtime *rt)
{
	if (!found && hauli_sim_memory_has(dead, rt))
		found = rt;
}

static struct haul_runtime *runtime_of(unsigned host)
{
	found = NULL;
	dead = host;
	hauli_runtimes_for_each(find);
	return found;
}

void hauli_sim_forget_runtimes(unsigned host)
{
	struct haul_runtime *rt;

	while ((rt = runtime_of(host))) {
		hauli_runtime_delist(rt);
		hauli_overflow_remove(rt->stacks);
		hauli_timelines_destroy(rt->timelines);
	}
}
