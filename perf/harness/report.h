/* SPDX-License-Identifier: BSD-3-Clause */
/* Statistics of a case's runs, as a table for people and as a line of JSON. */
#ifndef PERF_REPORT_H
#define PERF_REPORT_H

#include <stdio.h>

#include "harness/side.h"

#define PERF_RUNS_MAX 101

/* All runs of one side, in order. */
struct perf_series {
	const struct perf_side *side;
	uint64_t n; /* operations per run */
	double ns[PERF_RUNS_MAX]; /* per operation */
	struct perf_once last; /* extras: of the last run */
};

/* Both take the sides that ran, ours first if it did. */
void perf_report_table(FILE *out, const struct perf_case *c, const struct perf_series *series,
	unsigned sides, unsigned runs);
void perf_report_json(FILE *out, const struct perf_case *c, const struct perf_series *series,
	unsigned sides, unsigned runs);

#endif
