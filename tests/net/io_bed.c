/* SPDX-License-Identifier: BSD-3-Clause */
#include "io_bed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <haul-dpdk/eal.h>
#include <haul-dpdk/pool.h>

#define MBUFS 8192

static struct haul_plan *plan;

int bed_init(void)
{
	const struct haul_plan_opts plan_opts = {.carriers = BED_CARRIERS};
	struct haul_eal_opts opts = {
		.program = "io", .mem_mb = haul_pool_mem_mb(MBUFS), .restartable = true};
	char errbuf[256];

	if (haul_plan_create(&plan, &plan_opts, errbuf, sizeof(errbuf)) != 0) {
		printf("Bail out! %s\n", errbuf);
		return EXIT_FAILURE;
	}
	opts.plan = plan;
	if (haul_eal_init(&opts, errbuf, sizeof(errbuf)) != 0) {
		printf("Bail out! %s\n", errbuf);
		return EXIT_FAILURE;
	}
	return -1;
}

void bed_fini(void)
{
	haul_eal_fini();
	haul_plan_destroy(plan);
}

void bed_open_opts(struct bed *bed, const char *const *specs, unsigned queues,
	const struct haul_runtime_opts *opts)
{
	struct haul_port_opts port = {.queues = queues};
	struct haul_runtime_opts rt = *opts;

	rt.plan = plan;
	rt.launcher = haul_eal_launcher();
	memset(bed, 0, sizeof(*bed));
	bed->pool = haul_pool_create(MBUFS, bed->errbuf, sizeof(bed->errbuf));
	ck_assert_msg(bed->pool != NULL, "%s", bed->errbuf);
	port.pool = bed->pool;
	for (; *specs; specs++) {
		ck_assert_msg(haul_port_open(&bed->ports[bed->nb_ports], *specs, &port, bed->errbuf,
				      sizeof(bed->errbuf)) == 0,
			"%s", bed->errbuf);
		ck_assert_msg(haul_port_start(bed->ports[bed->nb_ports], bed->errbuf,
				      sizeof(bed->errbuf)) == 0,
			"%s", bed->errbuf);
		bed->nb_ports++;
	}
	ck_assert_int_eq(haul_start(&bed->rt, &rt, NULL, 0), 0);
}

void bed_open_with(
	struct bed *bed, const char *const *specs, unsigned queues, enum haul_steal steal)
{
	bed_open_opts(bed, specs, queues, &(struct haul_runtime_opts){.steal = steal});
}

void bed_open(struct bed *bed, const char *const *specs)
{
	bed_open_with(bed, specs, BED_CARRIERS, HAUL_STEAL_OFF);
}

struct haul_io_opts bed_io_opts(const struct bed *bed)
{
	return (struct haul_io_opts){
		.ports = (struct haul_port **)bed->ports,
		.nb_ports = bed->nb_ports,
		.pool = bed->pool,
	};
}

void bed_start(struct bed *bed, const struct haul_io_opts *opts)
{
	ck_assert_msg(haul_io_start(&bed->io, bed->rt, opts, bed->errbuf, sizeof(bed->errbuf)) == 0,
		"%s", bed->errbuf);
}

int bed_take_down(struct bed *bed)
{
	ck_assert_int_eq(haul_stop(bed->rt, HAUL_FOREVER), 0);
	return bed_put_down(bed);
}

int bed_put_down(struct bed *bed)
{
	unsigned i;
	int err;

	for (i = 0; i < bed->nb_ports; i++)
		haul_port_close(bed->ports[i]);
	err = bed->io ? haul_io_free(bed->io, bed->errbuf, sizeof(bed->errbuf)) : 0;
	/* Frees packets that the test's handlers still keep. */
	rte_mempool_free(bed->pool);
	return err;
}

void bed_close(struct bed *bed, uint64_t timeout_ns)
{
	ck_assert_msg(haul_io_stop(bed->io, timeout_ns, bed->errbuf, sizeof(bed->errbuf)) == 0,
		"%s", bed->errbuf);
	ck_assert_msg(bed_take_down(bed) == 0, "%s", bed->errbuf);
}

struct rte_mbuf *bed_packet(struct bed *bed, uint32_t number)
{
	struct rte_mbuf *pkt = rte_pktmbuf_alloc(bed->pool);
	char *data;

	ck_assert_ptr_nonnull(pkt);
	data = rte_pktmbuf_append(pkt, (uint16_t)(60 + number % 1000));
	memset(data, 0, 14);
	memcpy(data + 14, &number, sizeof(number));
	return pkt;
}

uint32_t bed_number(const struct rte_mbuf *pkt)
{
	uint32_t number;

	memcpy(&number, rte_pktmbuf_mtod(pkt, const char *) + 14, sizeof(number));
	return number;
}

struct sending {
	struct bed *bed;
	struct haul_txq *txq;
	uint32_t first, n;
};

/* Pinned, as DPDK's inline functions keep addresses of thread-local variables (pitfalls.md). */
static void *send_all(void *arg)
{
	struct sending *s = arg;
	uint32_t i;

	for (i = 0; i < s->n; i++)
		ck_assert_int_eq(haul_send(s->txq, bed_packet(s->bed, s->first + i)), 0);
	return NULL;
}

void bed_send(struct bed *bed, unsigned port, unsigned carrier, uint32_t first, uint32_t n)
{
	const struct haul_coro_opts opts = {.pinned = true};
	struct sending s = {bed, haul_io_txq(bed->io, port, carrier), first, n};
	struct haul_coro *co;

	ck_assert_ptr_nonnull(s.txq);
	ck_assert_int_eq(
		haul_spawn_on(haul_carrier(bed->rt, carrier), &co, send_all, &s, &opts), 0);
	ck_assert_int_eq(haul_join(co, NULL, HAUL_FOREVER), 0);
}

struct haul_io_stats bed_stats(const struct bed *bed, unsigned port, unsigned carrier)
{
	struct haul_io_stats st;

	haul_io_get_stats(bed->io, port, carrier, &st);
	return st;
}
