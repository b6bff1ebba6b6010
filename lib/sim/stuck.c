/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/stuck.h"

#include <stdio.h>
#include <stdlib.h>

#include "sched/look/deadlock.h"
#include "sched/look/dump.h"
#include "sched/state/carrier.h"
#include "sched/state/runtime.h"
#include "sim/state.h"
#include "sim/world.h"

#define COROUTINES 50 /* of a runtime that are shown */

/* The host of a runtime, by one of its carriers that has not ended; "": the test itself, or not
 * known. */
static const char *host_of(const struct haul_runtime *rt)
{
	for (struct hauli_sim_thread *t = hauli_sim_oldest(); t; t = t->newer)
		if (!t->has_ended && t->carrier && t->carrier->rt == rt)
			return hauli_sim_host_name(t->host);
	return "";
}

static void begin_part(const char *what, const struct haul_runtime *rt)
{
	const char *host = host_of(rt);

	fprintf(stderr, "%s%s%s:\n", what, host[0] ? " of " : "", host);
}

static void list(struct haul_runtime *rt)
{
	begin_part("Coroutines", rt);
	hauli_dump_some(rt, stderr, COROUTINES);
}

static void find_deadlocks(struct haul_runtime *rt)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	struct hauli_deadlocks *d = out ? hauli_deadlocks_create(rt, out) : NULL;

	while (d && !hauli_deadlocks_look(d))
		;
	if (d)
		hauli_deadlocks_destroy(d);
	if (out)
		fclose(out);
	if (len > 0) {
		begin_part("Deadlocks", rt);
		fputs(text, stderr);
	}
	free(text);
}

void hauli_sim_tell_stuck(void)
{
	fprintf(stderr, "Threads:\n");
	hauli_sim_list(stderr);
	hauli_runtimes_for_each(list);
	hauli_world.now += HAUL_S; /* those that have begun to wait just now are not looked at */
	hauli_runtimes_for_each(find_deadlocks);
}
