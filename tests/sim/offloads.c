/* SPDX-License-Identifier: BSD-3-Clause */
/* A host that offloads calls is killed at any time, with calls under way and with threads that wait
 * for some: another host's calls are all made. */
#include <stdio.h>
#include <unistd.h>

#include <haul-sim/main.h>
#include <haul-sim/net.h>
#include <haul-sim/node.h>

#include <haul/haul.h>
#include <haul/offload.h>

#include "networks.h"
#include "started.h"

#define ROUNDS 5
#define COROS 3
#define CALLS 10

static void waits(void *made)
{
	usleep(50); /* simulated */
	++*(unsigned *)made;
}

static void *offloads(void *calls)
{
	unsigned made = 0;

	for (unsigned i = 0; !calls || i < *(unsigned *)calls; i++) {
		if (haul_offload(waits, &made, HAUL_FOREVER) != 0)
			haul_sim_fail("a call fails");
		if (i % 4 == 0)
			haul_sleep(200 * HAUL_US); /* its threads have nothing to do */
	}
	if (calls && made != *(unsigned *)calls)
		haul_sim_fail("%u calls were made", made);
	return NULL;
}

/* calls: of each coroutine; NULL: until it is killed. */
static int host(void *calls)
{
	struct haul_runtime *rt = started(2, (struct haul_runtime_opts){.steal = HAUL_STEAL_OFF});
	struct haul_coro *co[COROS];

	for (unsigned i = 0; i < COROS; i++)
		if (haul_spawn_on(haul_carrier(rt, i % 2), &co[i], offloads, calls, NULL) != 0)
			haul_sim_fail("no coroutine");
	for (unsigned i = 0; i < COROS; i++)
		haul_join(co[i], NULL, HAUL_FOREVER);
	haul_stop(rt, HAUL_FOREVER);
	return 0;
}

static int others_go_on(void)
{
	static unsigned calls = CALLS;

	haul_sim_net("link a b"); /* hosts need one */
	for (unsigned i = 0; i < ROUNDS; i++) {
		haul_sim_host("a", host, NULL);
		haul_sim_host("b", host, &calls);
		usleep((unsigned)(haul_sim_seed() + i * 7919ull) % 3000); /* simulated */
		haul_sim_kill("a");
		if (haul_sim_wait("b") != 0)
			haul_sim_fail("b has failed");
		haul_sim_host("b", host, &calls);
		if (haul_sim_wait("b") != 0)
			haul_sim_fail("b has failed after the kill");
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const struct haul_sim_test tests[] = {
		{"others_go_on", others_go_on, "none", 0},
		{NULL, NULL, NULL, 0},
	};

	return networks_main(argc, argv, tests);
}
