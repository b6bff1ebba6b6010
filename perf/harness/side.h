/* SPDX-License-Identifier: BSD-3-Clause */
/* One run of one side: here, or in another process. */
#ifndef PERF_SIDE_H
#define PERF_SIDE_H

#include "harness/harness.h"

#define PERF_EXTRAS_MAX 8

/* The result of a run. */
struct perf_once {
	uint64_t n; /* operations */
	uint64_t ns;
	unsigned nb_extras;
	struct perf_extra {
		char name[32];
		double value;
	} extras[PERF_EXTRAS_MAX];
};

/* The program of a side, as an absolute path; self for an isolated case. */
const char *perf_side_program(const struct perf_case *c, const struct perf_side *s);

/* True if a side runs in another process. */
bool perf_side_is_outside(const struct perf_case *c, const struct perf_side *s);

/*
 * Sets up a side; runs a side that is set up: 0, or -1 with a line on stderr. Both begin without
 * the sticky floating-point flags left behind by the harness's own arithmetic: a switch that keeps
 * MXCSR is fifty times slower while the flags of the two sides differ (switch-float tests that).
 */
int perf_side_set_up(const struct perf_side *s, uint64_t param);
int perf_side_run(
	const struct perf_case *c, const struct perf_side *s, uint64_t n, struct perf_once *once);

/* Sets up, warms up, runs n operations and prints the result as one line: --once. Exit code. */
int perf_side_once(const struct perf_case *c, const struct perf_side *s, uint64_t n);

#endif
