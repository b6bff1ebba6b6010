/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program of simulations says, for people (stderr) and as JSON. */
#ifndef HAULI_SIM_REPORT_H
#define HAULI_SIM_REPORT_H

#include <stdio.h>

#include "sim/options.h"
#include "sim/shorten.h"

struct hauli_sim_totals {
	uint64_t runs, twice, failed, differ;
	uint64_t began; /* real ns */
};

/* The command that makes this run again; or, twice: both runs, and compares them. */
void hauli_sim_report_replay(FILE *out, const struct hauli_sim_options *o,
	const struct hauli_sim_spec *spec, const char *faults, bool twice);

/* One line while runs are made, and the end of it. */
void hauli_sim_report_progress(const struct hauli_sim_options *o,
	const struct hauli_sim_totals *totals, uint64_t all, bool ends);

/* A failure, on one line; and, where it was looked for, what is the least that it takes. */
void hauli_sim_report_failure(const struct hauli_sim_options *o, const struct hauli_sim_spec *spec,
	const struct hauli_sim_outcome *out);
void hauli_sim_report_short(const struct hauli_sim_options *o, const struct hauli_sim_spec *spec,
	const struct hauli_sim_short *s);

/* The run of --seed. */
void hauli_sim_report_one(const struct hauli_sim_spec *spec, const struct hauli_sim_outcome *out);

void hauli_sim_report_totals(
	const struct hauli_sim_options *o, const struct hauli_sim_totals *totals);

/* 0 or -errno. */
int hauli_sim_json_begin(const struct hauli_sim_options *o);
void hauli_sim_json_failure(const struct hauli_sim_spec *spec, const struct hauli_sim_outcome *out,
	const struct hauli_sim_short *s);
void hauli_sim_json_difference(const struct hauli_sim_spec *spec, const char *text);
int hauli_sim_json_end(const struct hauli_sim_totals *totals);

#endif
