/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * haul-fwd and the example l2switch, the programs themselves, as a host with two ports, between two
 * hosts that send each other numbered datagrams: all of them pass, and those of a flow in their
 * order. The seed says in which mode, by which handlers, and on how many carriers.
 */
#include <string.h>

#include <haul-sim/main.h>
#include <haul-sim/net.h>
#include <haul-sim/node.h>

#include "clients.h"
#include "networks.h"
#include "numbered.h"

#define TROUBLE 5 /* simulated seconds */
#define CALM 17

int haul_fwd_main(int argc, char **argv);
int haul_l2switch_main(int argc, char **argv);

static const char *const carriers[] = {"1", "2", "3"};

static int fwd(void *unused)
{
	static const char *const modes[] = {"io", "mac"},
				 *const handlers[] = {"burst", "coroutine"};
	uint64_t seed = haul_sim_seed();
	const char *argv[] = {"haul-fwd", "--port", "sim:left", "--port", "sim:right", "--mode",
		modes[seed % 2], "--handler", handlers[seed / 2 % 2], "--carriers",
		carriers[seed / 4 % 3], "--steal", "global", NULL};

	return haul_fwd_main(sizeof(argv) / sizeof(argv[0]) - 1, (char **)argv);
}

static int l2switch(void *unused)
{
	const char *argv[] = {"l2switch", "--port", "sim:left", "--port", "sim:right", "--carriers",
		carriers[haul_sim_seed() % 3], NULL};

	return haul_l2switch_main(sizeof(argv) / sizeof(argv[0]) - 1, (char **)argv);
}

static int pass(int (*program)(void *arg))
{
	unsigned got;

	haul_sim_faults_stop(); /* until all have started */
	haul_sim_net("link a left delay=1ms jitter=1ms; link right b rate=1G delay=100us");
	haul_sim_in_order(NULL);
	haul_sim_host("program", program, NULL);
	numbered_start("a", "b");
	got = numbered_run(TROUBLE, CALM);
	program_ends("program");
	if (got < 1000)
		haul_sim_fail("%u datagrams", got);
	return 0;
}

static int forward(void)
{
	return pass(fwd);
}

static int switches(void)
{
	return pass(l2switch);
}

int main(int argc, char **argv)
{
	static const struct haul_sim_test tests[] = {
		{"forward", forward, "all", 0},
		{"switch", switches, "all", 0},
		{NULL, NULL, NULL, 0},
	};

	return networks_main(argc, argv, tests);
}
