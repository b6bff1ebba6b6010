/* SPDX-License-Identifier: BSD-3-Clause */
/* A host that is killed again and again leaves nothing behind: memory does not grow. */
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <unistd.h>

#include <haul-sim/main.h>
#include <haul-sim/net.h>
#include <haul-sim/node.h>

#include <haul/haul.h>
#include <haul/net.h>

#include "networks.h"

#define WARM 100
#define KILLS 1000
#define ROOM (256 * 1024) /* bytes: of a thousand hosts, each of which has taken a megabyte */
/* AddressSanitizer keeps what is freed, for a while. Here it sees who uses that. */
#ifdef __SANITIZE_ADDRESS__
#define BOUNDED 0
#else
#define BOUNDED 1
#endif

static void echo(struct haul_rx *rx, struct rte_mbuf *mbuf)
{
	struct haul_sim_node *node = rx->arg;

	if (!haul_host_takes(node->host, rx, mbuf))
		haul_drop(rx, &mbuf, 1, HAUL_DROP_CONSUMED);
}

static __attribute__((noreturn)) int serve(void *unused)
{
	const struct haul_sim_node_opts opts = {.name = "server",
		.address = "10.0.0.1/24",
		.carriers = 2,
		.io = {.on_packet = echo}};
	struct haul_sim_node *node;

	haul_sim_node_start(&node, &opts);
	for (;;)
		sleep(1); /* simulated */
}

/* Bytes that the process has taken: address space, and of it by malloc(). */
struct taken {
	uint64_t space, allocated;
};

static struct taken taken(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	uint64_t pages;

	if (!f || fscanf(f, "%" SCNu64, &pages) != 1)
		haul_sim_fail("/proc/self/statm");
	fclose(f);
	return (struct taken){pages * (uint64_t)sysconf(_SC_PAGESIZE), mallinfo2().uordblks};
}

/* At any time: while it starts, and while it runs. */
static void start_and_kill(unsigned i)
{
	haul_sim_host("server", serve, NULL);
	usleep((unsigned)(haul_sim_seed() + i * 7919ull) % 2000); /* simulated */
	haul_sim_kill("server");
}

static int kills(void)
{
	struct taken first, last;

	haul_sim_net("link server client");
	for (unsigned i = 0; i < WARM; i++)
		start_and_kill(i);
	first = taken();
	for (unsigned i = 0; i < KILLS; i++)
		start_and_kill(i);
	last = taken();
	if (BOUNDED && (last.space > first.space + ROOM || last.allocated > first.allocated + ROOM))
		haul_sim_fail("after %u kills: %" PRIu64 " bytes of space, was %" PRIu64
			      "; %" PRIu64 " allocated, was %" PRIu64,
			KILLS, last.space, first.space, last.allocated, first.allocated);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct haul_sim_test tests[] = {
		{"kills", kills, "none", 0},
		{NULL, NULL, NULL, 0},
	};

	return networks_main(argc, argv, tests);
}
