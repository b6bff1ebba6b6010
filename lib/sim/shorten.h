/* SPDX-License-Identifier: BSD-3-Clause */
/* The fewest faults with which a run still fails as it did. */
#ifndef HAULI_SIM_SHORTEN_H
#define HAULI_SIM_SHORTEN_H

#include "sim/runs.h"

struct hauli_sim_short {
	char *faults; /* as the option; the caller frees it */
	uint64_t kept, all; /* strikes */
	unsigned runs;
	bool again; /* the run has failed again as it did */
	bool complete; /* false: time was over before all was tried */
	struct hauli_sim_outcome out; /* of the run with these faults */
};

/*
 * spec: of a run that has failed with the outcome `failed`. No run is in a slot; the first slot has
 * the output of the shortest run afterwards. 0; -ENOMEM, -EINTR, or an error of fork().
 */
int hauli_sim_shorten(struct hauli_sim_runs *runs, const struct hauli_sim_spec *spec,
	const struct hauli_sim_outcome *failed, unsigned seconds, struct hauli_sim_short *result);

#endif
