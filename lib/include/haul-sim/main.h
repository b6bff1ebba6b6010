/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program of tests that run in simulations, under many seeds:
 *
 *	static int transfer(void)
 *	{
 *		... start runtimes and threads, and return 0 if all went well ...
 *	}
 *
 *	int main(int argc, char **argv)
 *	{
 *		static const struct haul_sim_test tests[] = {{"transfer", transfer}, {NULL}};
 *
 *		return haul_sim_main(argc, argv, tests);
 *	}
 *
 * The program runs each test under 1,000 seeds, on all CPUs, with faults that the seed draws. At
 * the first failure it looks for the fewest faults that it takes, and prints a command that shows
 * the same run again, also under gdb. Its option --help lists the others.
 */
#ifndef HAULI_SIM_MAIN_H
#define HAULI_SIM_MAIN_H

#include <haul-sim/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

struct haul_sim_test {
	const char *name; /* NULL: the end of the tests */
	/*
	 * The first simulated thread. A run fails if fn returns another value than 0; by
	 * haul_sim_fail(); by an invariant (haul_sim_always()); by a signal, as of assert(); if all
	 * threads wait for each other; and at limit_ns.
	 */
	int (*fn)(void);
	const char *faults; /* that may come, as those of haul_sim_opts; NULL: "all" */
	uint64_t limit_ns; /* simulated time, in which fn returns; 0: an hour */
};

/*
 * main() of such a program. Each run is a child of the process, made by fork(): what main() does
 * before this call is there in each. The command line is for haul_sim_main() alone. Returns the
 * exit status:
 *	0	no run has failed
 *	1	a run has failed
 *	2	wrong arguments
 *	3	two runs with the same seed differ
 *	4	no memory, no processes
 *	130	interrupted (Ctrl-C)
 */
HAUL_API int haul_sim_main(int argc, char **argv, const struct haul_sim_test *tests);

/* The seed of the run, for random numbers of one's own. Simulated threads. */
HAUL_API uint64_t haul_sim_seed(void);

#ifdef __cplusplus
}
#endif

#endif
