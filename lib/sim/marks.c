/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/marks.h"

#include <stddef.h>

uint64_t hauli_sim_marks_add(struct hauli_sim_marks *m, const struct hauli_sim_mark *mark)
{
	if (m->n == HAULI_SIM_MARKS) {
		if (m->ends)
			return UINT64_MAX;
		for (unsigned i = 0; i < HAULI_SIM_MARKS / 2; i++)
			m->at[i] = m->at[2 * i];
		m->n /= 2;
		m->every *= 2;
	}
	m->at[m->n++] = *mark;
	return m->at[m->n - 1].switches + m->every;
}

static bool is_same(const struct hauli_sim_mark *a, const struct hauli_sim_mark *b)
{
	return a->hash == b->hash && a->ns == b->ns && a->thread == b->thread;
}

bool hauli_sim_marks_differ(const struct hauli_sim_marks *a, const struct hauli_sim_marks *b,
	const struct hauli_sim_mark **in_a, const struct hauli_sim_mark **in_b, uint64_t *equal)
{
	*equal = 0;
	for (unsigned i = 0, j = 0; i < a->n && j < b->n;) {
		if (a->at[i].switches == b->at[j].switches) {
			if (!is_same(&a->at[i], &b->at[j])) {
				*in_a = &a->at[i];
				*in_b = &b->at[j];
				return true;
			}
			*equal = a->at[i].switches;
		}
		if (a->at[i].switches < b->at[j].switches)
			i++;
		else
			j++;
	}
	return false;
}
