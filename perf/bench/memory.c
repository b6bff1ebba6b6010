/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What does a coroutine that waits take of memory, a flow, a carrier, a packet buffer? Resident
 * bytes and page tables of each; of a buffer the bytes of DPDK's heap. Flows are those of a ring
 * port: opened to as many hosts, or begun by a packet each, with a function that waits for the
 * next. Every run is a process of its own.
 */
#include <errno.h>
#include <string.h>

#include <rte_malloc.h>

#include <haul-dpdk/flow.h>
#include <haul-dpdk/host.h>
#include <haul-dpdk/pool.h>

#include "harness/bed.h"
#include "harness/carrier.h"
#include "harness/eal.h"
#include "harness/harness.h"
#include "harness/memory.h"

#define COROUTINES 200000
#define FLOWS 200000 /* fewer than those at which a listener ends some that have one packet */
#define CARRIERS 64
#define LISTENED 7
#define PEERS UINT32_C(0x0a010000) /* 10.1.0.0 and on: a host for each flow */
#define UNDER_WAY 256
#define LEN 32

static uint64_t waiting;

/* Coroutines. */

static bool hibernates;

static int coroutines_setup(uint64_t param)
{
	hibernates = param;
	return perf_carriers_start_with(
		1, &(struct haul_runtime_opts){.hibernate_after_ns = param ? HAUL_S : 0});
}

static void *wait_long(void *arg)
{
	waiting++;
	haul_park(HAUL_FOREVER);
	return arg;
}

static uint64_t hibernations(void)
{
	struct haul_carrier_stats st;

	haul_carrier_get_stats(perf_carrier(0), &st);
	return st.hibernations;
}

static uint64_t coroutines_here(uint64_t n)
{
	const struct haul_coro_opts opts = {.hibernates = hibernates};
	uint64_t start, took;

	perf_memory_begin();
	start = perf_now();
	for (uint64_t i = 0; i < n; i++) {
		perf_must(haul_spawn(NULL, wait_long, NULL, &opts), "haul_spawn");
		haul_maybe_yield(true);
	}
	while (waiting < n)
		haul_yield();
	took = perf_now() - start;
	while (hibernates && hibernations() < n)
		haul_sleep(10 * HAUL_MS);
	perf_memory_end(n);
	return took;
}

static uint64_t coroutines_run(uint64_t n)
{
	return perf_on_carrier(coroutines_here, n);
}

/* Carriers: threads that float, as of a machine with so many cores. */

static uint64_t carriers_run(uint64_t n)
{
	const struct haul_plan_opts machine = {
		.carriers = (unsigned)n, .machine = "package:1 l3:8 core:8 pu:1"};
	struct haul_plan *plan;
	struct haul_runtime *rt;
	uint64_t start, took;

	perf_must(haul_plan_create(&plan, &machine, NULL, 0), "haul_plan_create");
	perf_memory_begin();
	start = perf_now();
	perf_must(
		haul_start(&rt, &(struct haul_runtime_opts){.plan = plan}, NULL, 0), "haul_start");
	took = perf_now() - start;
	perf_memory_end(n);
	perf_must(haul_stop(rt, 60 * HAUL_S), "haul_stop");
	haul_plan_destroy(plan);
	return took;
}

/* Packet buffers. */

static double heap(void)
{
	struct rte_malloc_socket_stats st;
	double sum = 0;

	for (int i = 0; i < RTE_MAX_NUMA_NODES; i++)
		if (rte_malloc_get_socket_stats(i, &st) == 0)
			sum += (double)st.heap_allocsz_bytes;
	return sum;
}

static int buffers_setup(uint64_t param)
{
	(void)param;
	return perf_eal(1) ? 0 : -ENODEV;
}

static uint64_t buffers_run(uint64_t n)
{
	double used = heap();
	uint64_t start = perf_now(), took;
	struct rte_mempool *pool = haul_pool_create((unsigned)n, NULL, 0);

	perf_must(pool ? 0 : -ENOMEM, "haul_pool_create");
	took = perf_now() - start;
	perf_extra("bytes_each", (heap() - used) / (double)n);
	rte_mempool_free(pool);
	return took;
}

/* Flows. */

static struct haul_host *host;
static char why[256];

static void on_burst(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++)
		if (!haul_host_takes(host, rx, pkts[i]))
			haul_drop(rx, &pkts[i], 1, HAUL_DROP_NOT_FOR_US);
}

static int flows_setup(uint64_t param)
{
	int err = perf_bed_hold("ring:", NULL);

	(void)param;
	if (err)
		return err;
	perf_must(haul_host_create(&host, NULL, why, sizeof(why)), why);
	perf_must(haul_host_add_address(host, 0, "10.0.0.1/8", why, sizeof(why)), why);
	perf_bed_io_start(&(struct haul_io_opts){.on_burst = on_burst});
	perf_must(haul_host_start(host, perf_bed()->io, why, sizeof(why)), why);
	return 0;
}

static void flows_teardown(void)
{
	haul_host_stop(host);
	perf_bed_io_stop();
	haul_host_free(host);
	perf_bed_release();
}

static struct haul_addr peer(uint64_t i)
{
	uint32_t ip = rte_cpu_to_be_32(PEERS + (uint32_t)i);

	return haul_addr_from(4, (const uint8_t *)&ip);
}

static uint64_t nb_flows;

static void *open_all(void *arg)
{
	struct haul_flow *flow;

	for (uint64_t i = 0; i < nb_flows; i++) {
		struct haul_addr to = peer(i);

		perf_must(haul_flow_open(&flow, host, &to, LISTENED, NULL), "haul_flow_open");
		haul_maybe_yield(true);
	}
	return arg;
}

static void serve(struct haul_flow *flow, void *arg)
{
	struct rte_mbuf *m;

	(void)arg;
	waiting++;
	while (haul_flow_recv(flow, &m, HAUL_FOREVER) == 0)
		rte_pktmbuf_free(m);
	haul_flow_close(flow);
}

/* The ring gives back what is sent. */
static void send_from(uint64_t i)
{
	const struct rte_ether_addr mac = haul_port_mac(perf_bed()->port);
	struct rte_mbuf *m = rte_pktmbuf_alloc(perf_bed()->pool);
	struct haul_head head = {.src_mac = {2, 0, 0, 0, 0, 9},
		.src = peer(i),
		.dst = haul_addr_from(4, (const uint8_t[]){10, 0, 0, 1})};
	struct haul_pkt pkt;

	perf_must(m ? 0 : -ENOMEM, "rte_pktmbuf_alloc");
	memcpy(head.dst_mac, mac.addr_bytes, sizeof(head.dst_mac));
	memset(rte_pktmbuf_append(m, LEN), 0, LEN);
	perf_must(haul_build_udp(&pkt, m, &head, LISTENED, LISTENED, 0), "haul_build_udp");
	perf_must(haul_send(haul_io_txq(perf_bed()->io, 0, 0), m), "haul_send");
}

static void *send_all(void *arg)
{
	for (uint64_t i = 0; i < nb_flows; i++) {
		while (i > waiting + UNDER_WAY)
			haul_yield();
		send_from(i);
	}
	while (waiting < nb_flows)
		haul_yield();
	return arg;
}

static uint64_t flows(haul_fn *fn, uint64_t n)
{
	struct haul_coro *co;
	uint64_t start, took;

	nb_flows = n;
	start = perf_now();
	perf_must(haul_spawn_on(haul_carrier(perf_bed()->rt, 0), &co, fn, NULL, NULL),
		"haul_spawn_on");
	haul_join(co, NULL, HAUL_FOREVER);
	took = perf_now() - start;
	perf_memory_end(n);
	return took;
}

static uint64_t opened_run(uint64_t n)
{
	perf_memory_begin();
	return flows(open_all, n);
}

static uint64_t listened_run(uint64_t n)
{
	const struct haul_listen_opts opts = {
		.flows_max = HAUL_LISTEN_FLOWS_MAX, .flow.idle_ns = 3600 * HAUL_S};

	perf_memory_begin();
	perf_must(haul_flow_listen(host, LISTENED, serve, NULL, &opts), "haul_flow_listen");
	return flows(send_all, n);
}

#define CASE(text, text2, flag, nb, ...)                                                  \
	{                                                                                 \
		.name = "memory/" text, .question = text2, .param = (flag), .unit = (nb), \
		.max = (nb), .isolated = true, .sides = {{"haul", __VA_ARGS__}},          \
	}

static const struct perf_case cases[] = {
	CASE("parked", "a coroutine that waits", 0, COROUTINES, coroutines_setup, coroutines_run),
	CASE("hibernated", "one that has waited long", 1, COROUTINES, coroutines_setup,
		coroutines_run),
	CASE("opened", "a flow, opened, without a coroutine", 0, FLOWS, flows_setup, opened_run),
	CASE("listened", "a listener's flow with its coroutine", 0, FLOWS, flows_setup,
		listened_run, flows_teardown),
	CASE("carrier", "a carrier", 0, CARRIERS, NULL, carriers_run),
	CASE("buffer", "a packet buffer", 0, PERF_EAL_MBUFS, buffers_setup, buffers_run),
	{0},
};

int main(int argc, char **argv)
{
	return perf_main(argc, argv, cases);
}
