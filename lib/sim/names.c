/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of simulated threads, and what they do. */
#include "sim/thread.h"

#include <stdio.h>
#include <string.h>

#include "coro/trace.h"
#include "sim/steps.h"
#include "sim/world.h"

#define DEPTH 24 /* of call stacks */

void hauli_sim_name(struct hauli_sim_thread *t, const char *name)
{
	strncpy(t->name, name, sizeof(t->name) - 1);
}

static void tell_name(const struct hauli_sim_thread *t, char *buf, size_t len)
{
	const char *host = hauli_sim_host_name(t->host);

	snprintf(buf, len, "thread %u%s%s%s%s", t->id, t->name[0] ? " " : "", t->name,
		host[0] ? " of " : "", host);
}

void hauli_sim_self_name(char *buf, size_t len)
{
	const struct hauli_sim_thread *t = hauli_sim_self();

	if (!t || t->id == 0)
		snprintf(buf, len, "an invariant");
	else
		tell_name(t, buf, len);
}

void hauli_sim_background(void)
{
	if (hauli_sim_is_on())
		hauli_sim_self()->timer.is_background = true;
}

void hauli_sim_list(FILE *out)
{
	uint64_t now = hauli_sim_now();
	char name[128];
	void *pcs[DEPTH];

	hauli_trace_init();

	for (struct hauli_sim_thread *t = hauli_sim_oldest(); t; t = t->newer) {
		if (t->has_ended)
			continue;
		tell_name(t, name, sizeof(name));
		fprintf(out, "  %s", name);
		if (t->waits_in)
			fprintf(out, ": waits in %s, for %.6f s", t->waits_in,
				(double)(now - t->waits_since) / 1e9);
		if (t->timer.place)
			fprintf(out, ", for at most %.6f s more",
				(double)(t->timer.at - now) / 1e9);
		fputs("\n", out);
		if (t != hauli_sim_self())
			hauli_trace_print(pcs, hauli_trace(&t->ctx, pcs, DEPTH), out);
	}
}
