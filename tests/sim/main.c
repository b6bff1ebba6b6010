/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs main() of a stress program, which is linked with --wrap=main, in simulations. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <haul-sim/main.h>

int __real_main(int argc, char **argv);
int __wrap_main(int argc, char **argv);

static int run(void)
{
	char seed[32], *argv[] = {program_invocation_name, NULL};

	snprintf(seed, sizeof(seed), "%" PRIu64, haul_sim_seed());
	setenv("HAUL_STRESS_SEED", seed, 1);
	setenv("HAUL_STRESS_SECONDS", "0.005", 0);
	setenv("CK_TAP_LOG_FILE_NAME", "-", 1);
	setenv("CK_VERBOSITY", "silent", 1);
	return __real_main(1, argv);
}

int __wrap_main(int argc, char **argv)
{
	const struct haul_sim_test tests[] = {
		{program_invocation_short_name, run, FAULTS, 0}, {NULL, NULL, NULL, 0}};

	return haul_sim_main(argc, argv, tests);
}
