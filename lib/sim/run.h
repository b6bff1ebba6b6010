/* SPDX-License-Identifier: BSD-3-Clause */
/* One run of a test, in this process, and what came of it. */
#ifndef HAULI_SIM_RUN_H
#define HAULI_SIM_RUN_H

#include <haul-sim/main.h>

#include "sim/check.h"
#include "sim/fault.h"
#include "sim/marks.h"
#include "sim/strike.h"

#define HAULI_SIM_STRIKES 64

struct hauli_sim_spec {
	const struct haul_sim_test *test;
	uint64_t seed;
	unsigned steps; /* 0: the seed decides */
	const char *faults; /* as the option; NULL: those of the test */
	unsigned real_s; /* limit of real time; 0: none */
	const char *trace; /* a file for the timelines; NULL: none */
	/* In a process that starts anew, at other addresses: what depends on these differs. */
	const char *anew; /* its argv[0]; NULL: a copy of this process */
};

enum hauli_sim_how {
	HAULI_SIM_UNKNOWN, /* the process is gone, without a word */
	HAULI_SIM_ENDED, /* result says how */
	HAULI_SIM_SIGNAL,
	HAULI_SIM_EXIT, /* the test called exit() */
	HAULI_SIM_SLOW_RUN, /* the limit of real time */
	HAULI_SIM_REFUSED, /* no memory */
};

/* In memory that the child and its parent share. */
struct hauli_sim_outcome {
	enum hauli_sim_how how;
	int number; /* of the signal; the exit status */
	struct haul_sim_result result; /* ns also of other ends */
	char text[HAULI_SIM_TEXT]; /* of a failure; who ran at a signal */
	double real_s;
	uint64_t struck[HAULI_SIM_FAULTS]; /* strikes that were not suppressed */
	uint64_t last[HAULI_SIM_FAULTS]; /* the number of the last one */
	unsigned nb_strikes; /* all */
	struct hauli_sim_strike strikes[HAULI_SIM_STRIKES]; /* the first ones */
	struct hauli_sim_marks marks;
};

/* Fills in *out, as far as it gets. in_child: catches signals, and limits the time. */
void hauli_sim_run_here(
	const struct hauli_sim_spec *spec, struct hauli_sim_outcome *out, bool in_child);

bool hauli_sim_is_good(const struct hauli_sim_outcome *out);

/* "returned 1", "stuck at 1.5 s: all threads wait". */
void hauli_sim_outcome_text(const struct hauli_sim_outcome *out, char *buf, size_t len);

/* True if both are the same failure, as far as one can tell. */
bool hauli_sim_is_alike(const struct hauli_sim_outcome *a, const struct hauli_sim_outcome *b);

/*
 * Called by each simulation, if the program has them: before the first thread, and at the end, when
 * simulated threads have stopped for good. before: once, by haul_sim_main(), before it forks.
 */
struct hauli_sim_hooks {
	void (*before)(void);
	void (*begin)(const struct haul_sim_opts *opts);
	void (*end)(const struct haul_sim_result *result);
};
extern const struct hauli_sim_hooks hauli_sim_hooks __attribute__((weak));

#endif
