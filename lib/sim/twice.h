/* SPDX-License-Identifier: BSD-3-Clause */
/* Two runs with the same seed that should be the same. */
#ifndef HAULI_SIM_TWICE_H
#define HAULI_SIM_TWICE_H

#include "sim/runs.h"

/* What one run has that another run of the same seed must have, too. */
struct hauli_sim_trail {
	enum hauli_sim_how how;
	int number;
	struct haul_sim_result result;
	struct hauli_sim_marks marks;
};

void hauli_sim_trail_of(struct hauli_sim_trail *t, const struct hauli_sim_outcome *out);
bool hauli_sim_trail_is(const struct hauli_sim_trail *t, const struct hauli_sim_outcome *out);

/*
 * Two runs of a spec differ: `first`, and the one whose outcome is `out`. Makes more runs to find
 * the first difference, and says what it is. No run is in a slot.
 */
void hauli_sim_find_difference(struct hauli_sim_runs *runs, const struct hauli_sim_spec *spec,
	const struct hauli_sim_trail *first, const struct hauli_sim_outcome *out, char *buf,
	size_t len);

#endif
