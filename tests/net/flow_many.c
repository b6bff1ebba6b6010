/* SPDX-License-Identifier: BSD-3-Clause */
/* Many flows at once: each waits with a deadline, in vain, and then gets its reply. The environment
 * says how many: HAUL_TEST_FLOWS. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flow_bed.h"

#define PEERS 100

static unsigned many, waiting, right;

static struct haul_addr peer(unsigned i)
{
	uint8_t bytes[4] = {10, 0, 0, (uint8_t)(2 + i % PEERS)};

	return haul_addr_from(4, bytes);
}

static int say_when_there_is_room(struct haul_flow *flow, struct order o)
{
	struct rte_mbuf *m;

	while (!(m = rte_pktmbuf_alloc(haul_test_pool(flow_test))))
		haul_sleep(HAUL_MS); /* virtual time: until others have freed theirs */
	memcpy(rte_pktmbuf_append(m, sizeof(o)), &o, sizeof(o));
	return haul_flow_send(flow, m, HAUL_FOREVER);
}

static void *wait_among_many(void *arg)
{
	uint32_t i = (uint32_t)(uintptr_t)arg;
	uint64_t deadline = haul_in(HAUL_S * 10 + i * 10007);
	struct haul_flow *flow;
	struct haul_addr to = peer(i);
	bool good;

	if (haul_flow_open(&flow, flow_host, &to, SERVER, NULL))
		return NULL;
	good = say_when_there_is_room(flow, (struct order){.what = NOTHING}) == 0;
	__atomic_add_fetch(&waiting, 1, __ATOMIC_RELAXED);
	good = good && flow_number(flow, deadline) == -ETIMEDOUT && haul_now() == deadline;
	good = good &&
		say_when_there_is_room(
			flow, (struct order){.number = i, .carrier = i % CARRIERS}) == 0 &&
		flow_number(flow, HAUL_FOREVER) == (int)i;
	haul_flow_close(flow);
	__atomic_add_fetch(&right, good, __ATOMIC_RELAXED);
	return NULL;
}

static size_t resident(void)
{
	unsigned long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (f && fscanf(f, "%*u %lu", &pages) != 1)
		pages = 0;
	if (f)
		fclose(f);
	return pages * 4096;
}

static void many_flows(void)
{
	struct haul_coro **cos = calloc(many, sizeof(*cos));
	size_t before = resident();
	uint8_t mac[6];

	waiting = right = 0;
	/* Else all packets might wait for neighbours, and none be left for a question to these. */
	for (unsigned i = 0; i < PEERS; i++) {
		struct haul_addr a = peer(i);

		FAIL_UNLESS(haul_host_neighbour(flow_host, 0, &a, mac, HAUL_FOREVER) == 0);
	}
	for (uint32_t i = 0; i < many; i++)
		FAIL_UNLESS(haul_spawn_on(haul_carrier(haul_test_runtime(flow_test), i % CARRIERS),
				    &cos[i], wait_among_many, (void *)(uintptr_t)i, NULL) == 0);
	haul_sleep(9 * HAUL_S);
	printf("# %u flows wait: %zu bytes each, with their coroutines\n", waiting,
		(resident() - before) / many);
	FAIL_UNLESS(waiting == many && flow_stats().open == many);
	for (uint32_t i = 0; i < many; i++)
		haul_join(cos[i], NULL, HAUL_FOREVER);
	free(cos);
	FAIL_UNLESS(right == many);
	FAIL_UNLESS(flow_stats().received == many && flow_stats().lost == 0);
}

START_TEST(many_flows_wait_at_once)
{
	const char *wished = getenv("HAUL_TEST_FLOWS");

	many = wished ? (unsigned)atoi(wished) : 5000;
	flow_run(many_flows, true);
}
END_TEST

SUITE_MAIN("flow_many", {many_flows_wait_at_once, 1})
