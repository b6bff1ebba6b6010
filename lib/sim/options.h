/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of a program of simulations. */
#ifndef HAULI_SIM_OPTIONS_H
#define HAULI_SIM_OPTIONS_H

#include <haul-sim/main.h>

#define HAULI_SIM_TESTS 256

struct hauli_sim_options {
	const char *program;
	const struct haul_sim_test *tests[HAULI_SIM_TESTS]; /* that run */
	unsigned nb_tests;
	uint64_t seeds, from;
	bool one; /* --seed: from, in this process */
	unsigned jobs, steps, twice, shorten_s, real_s;
	uint64_t for_s; /* 0: no limit */
	bool keep_going;
	const char *faults; /* NULL: those of each test */
	const char *json; /* or NULL */
	const char *trace; /* or NULL; with `one` only */
};

/* Reads the command line. -1: run; else the exit status, and everything is said. */
int hauli_sim_options_parse(
	struct hauli_sim_options *o, int argc, char **argv, const struct haul_sim_test *tests);

#endif
