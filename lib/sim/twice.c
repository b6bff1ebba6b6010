/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/twice.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define TRIES 8 /* pairs of runs */

void hauli_sim_trail_of(struct hauli_sim_trail *t, const struct hauli_sim_outcome *out)
{
	t->how = out->how;
	t->number = out->number;
	t->result = out->result;
	t->marks = out->marks;
}

bool hauli_sim_trail_is(const struct hauli_sim_trail *t, const struct hauli_sim_outcome *out)
{
	return t->how == out->how && t->number == out->number && t->result.end == out->result.end &&
		t->result.value == out->result.value && t->result.hash == out->result.hash &&
		t->result.ns == out->result.ns;
}

static void print_mark(char *buf, size_t len, const struct hauli_sim_mark *m)
{
	snprintf(buf, len, "thread %u%s%s at %.9f s", m->thread, m->name[0] ? " " : "", m->name,
		(double)m->ns / 1e9);
}

static void tell(char *buf, size_t len, const struct hauli_sim_mark *a,
	const struct hauli_sim_mark *b, uint64_t every)
{
	char x[64], y[64];

	print_mark(x, sizeof(x), a);
	print_mark(y, sizeof(y), b);
	if (every > 1)
		snprintf(buf, len,
			"in the %" PRIu64 " switches before switch %" PRIu64
			" (%s in one run, %s in the other)",
			every, a->switches, x, y);
	else if (a->thread == b->thread && a->ns == b->ns)
		snprintf(buf, len,
			"before switch %" PRIu64 ", to %s: one has noted another fact or time",
			a->switches, x);
	else
		snprintf(buf, len, "switch %" PRIu64 ": to %s in one run, to %s in the other",
			a->switches, x, y);
}

/* Marks that lie closer, between the last equal ones and the first that differ. */
static struct hauli_sim_marks closer(uint64_t equal, uint64_t differ)
{
	struct hauli_sim_marks m = {.from = equal + 1, .ends = true};

	m.every = (differ - equal + HAULI_SIM_MARKS - 1) / HAULI_SIM_MARKS;
	return m;
}

void hauli_sim_find_difference(struct hauli_sim_runs *runs, const struct hauli_sim_spec *spec,
	const struct hauli_sim_trail *first, const struct hauli_sim_outcome *out, char *buf,
	size_t len)
{
	struct hauli_sim_trail *pair = calloc(2, sizeof(*pair));
	struct hauli_sim_slot *slot = &runs->slots[0];
	const struct hauli_sim_mark *a, *b;
	struct hauli_sim_marks window = {.from = 0};
	struct hauli_sim_spec copy = *spec;
	uint64_t equal;

	snprintf(buf, len, "at their ends");
	if (!pair)
		return;
	pair[0] = *first;
	hauli_sim_trail_of(&pair[1], out);
	for (unsigned i = 0; i < TRIES; i++) {
		uint64_t every = pair[0].marks.every;

		if (hauli_sim_marks_differ(&pair[0].marks, &pair[1].marks, &a, &b, &equal)) {
			if (every < pair[1].marks.every)
				every = pair[1].marks.every;
			tell(buf, len, a, b, every);
			if (every == 1)
				break;
			window = closer(equal, a->switches);
		}
		copy.anew = NULL;
		if (!hauli_sim_runs_one(runs, slot, &copy, &window))
			break;
		hauli_sim_trail_of(&pair[0], slot->out);
		if (!hauli_sim_runs_one(runs, slot, spec, &window))
			break;
		hauli_sim_trail_of(&pair[1], slot->out);
	}
	free(pair);
}
