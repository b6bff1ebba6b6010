/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs main() of a program, which is linked with --wrap=main, in a simulation: HAUL_SIM_SEED. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <haul-sim/sim.h>

#include "base/clock.h"

struct arguments {
	int argc;
	char **argv;
};

int __real_main(int argc, char **argv);
int __wrap_main(int argc, char **argv);

static int run(void *arg)
{
	struct arguments *a = arg;

	return __real_main(a->argc, a->argv);
}

int __wrap_main(int argc, char **argv)
{
	static const char *const ends[] = {"returned", "stuck", "limit", "failed"};
	struct arguments a = {argc, argv};
	const char *seed = getenv("HAUL_SIM_SEED"), *steps = getenv("HAUL_SIM_STEPS");
	struct haul_sim_opts opts = {
		.seed = seed ? strtoull(seed, NULL, 0) : 1,
		.faults = getenv("HAUL_SIM_FAULTS"),
		.steps = steps ? (unsigned)strtoul(steps, NULL, 0) : 0,
	};
	struct haul_sim_result r;

	hauli_clock_init();
	if (haul_sim_run(&opts, run, &a, &r) != 0)
		return 99;
	fflush(stdout);
	fprintf(stderr,
		"simulation: %s %d hash %016" PRIx64 " %" PRIu64 " ns %" PRIu64
		" switches %u threads %u left\n",
		ends[r.end], r.value, r.hash, r.ns, r.switches, r.threads, r.left);
	return r.end == HAUL_SIM_RETURNED ? r.value : 98;
}
