/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports and the pollers that use them. */
#define ALLOW_EXPERIMENTAL_API /* rte_dev_event_callback_process(), in DPDK 22.11 */
#include <errno.h>
#include <string.h>

#include <haul-dpdk/port_config.h>
#include <haul-dpdk/port_info.h>
#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_memzone.h>

#include "io_bed.h"
#include "port/kind.h"

static const char *const ONE[] = {"null:", NULL};

static void ignore(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	rte_pktmbuf_free_bulk(pkts, n);
}

/* Each function that changes what pollers rely on. */
static int change(struct bed *bed, unsigned i)
{
	struct haul_port *port = bed->ports[0];
	char *err = bed->errbuf;
	size_t len = sizeof(bed->errbuf);

	switch (i) {
	case 0:
		return haul_port_set_mtu(port, 1400, err, len);
	case 1:
		return haul_port_change_offloads(port, 0, 0, true, err, len);
	case 2:
		return haul_port_set_rss(port, RTE_ETH_RSS_IP, NULL, 0, err, len);
	default:
		return haul_port_stop(port, err, len);
	}
}

START_TEST(a_polled_port_keeps_its_configuration)
{
	struct haul_io_opts opts;
	struct bed bed;

	bed_open(&bed, ONE);
	opts = bed_io_opts(&bed);
	opts.on_burst = ignore;
	bed_start(&bed, &opts);
	for (unsigned i = 0; i < 4; i++) {
		bed.errbuf[0] = '\0';
		ck_assert_int_eq(change(&bed, i), -EBUSY);
		ck_assert_msg(strstr(bed.errbuf, "while pollers use it; stop forwarding first"),
			"%s", bed.errbuf);
		ck_assert_ptr_null(strchr(bed.errbuf, '\n'));
	}
	ck_assert_int_eq(haul_io_stop(bed.io, 0, bed.errbuf, sizeof(bed.errbuf)), 0);
	for (unsigned i = 0; i < 4; i++)
		ck_assert_msg(change(&bed, i) == 0, "%u: %s", i, bed.errbuf);
	ck_assert_int_eq(bed_take_down(&bed), 0);
}
END_TEST

START_TEST(what_the_pmd_counts_survives_a_reset)
{
	struct haul_io_opts opts;
	struct haul_io_stats before, after;
	struct rte_eth_stats eth;
	struct bed bed;

	bed_open(&bed, ONE);
	opts = bed_io_opts(&bed);
	opts.on_burst = ignore;
	bed_start(&bed, &opts);
	WAIT_UNTIL(bed_stats(&bed, 0, HAUL_ALL).rx_packets > 1000);
	ck_assert_int_eq(haul_io_stop(bed.io, 0, bed.errbuf, sizeof(bed.errbuf)), 0);
	before = bed_stats(&bed, 0, HAUL_ALL);
	ck_assert_int_eq(haul_port_get_stats(bed.ports[0], &eth), 0);
	ck_assert_uint_eq(eth.ipackets, before.rx_packets);
	haul_port_reset_stats(bed.ports[0]);
	ck_assert_int_eq(haul_port_get_stats(bed.ports[0], &eth), 0);
	ck_assert_uint_eq(eth.ipackets, 0);
	after = bed_stats(&bed, 0, HAUL_ALL);
	ck_assert_mem_eq(&before, &after, sizeof(after));
	ck_assert_int_eq(bed_take_down(&bed), 0);
}
END_TEST

START_TEST(a_port_that_is_not_started_is_not_polled)
{
	const char *const specs[] = {"null:", "ring:", NULL};
	struct haul_io_opts opts;
	struct bed bed;
	char *err = bed.errbuf;
	size_t len = sizeof(bed.errbuf);

	bed_open(&bed, specs);
	opts = bed_io_opts(&bed);
	opts.on_burst = ignore;
	ck_assert_int_eq(haul_port_stop(bed.ports[1], err, len), 0);
	ck_assert_int_eq(haul_io_start(&bed.io, bed.rt, &opts, err, len), -EINVAL);
	ck_assert_str_eq(
		err, "haul_io_start: port 'ring:' is not started; call haul_port_start() first");
	ck_assert_int_eq(haul_port_start(bed.ports[1], err, len), 0);
	bed_start(&bed, &opts);
	ck_assert_int_eq(haul_io_stop(bed.io, 0, err, len), 0);
	ck_assert_int_eq(haul_port_stop(bed.ports[0], err, len), 0);
	ck_assert_int_eq(haul_io_resume(bed.io, NULL, err, len), -EINVAL);
	ck_assert_str_eq(
		err, "haul_io_resume: port 'null:' is not started; call haul_port_start() first");
	ck_assert_int_eq(haul_port_start(bed.ports[0], err, len), 0);
	ck_assert_int_eq(haul_io_resume(bed.io, NULL, err, len), 0);
	bed_close(&bed, 0);
}
END_TEST

START_TEST(carriers_that_are_no_lcores_are_in_the_notice)
{
	const char *const said = "carriers are threads that EAL does not know";
	struct haul_io_opts opts;
	struct bed bed;

	bed_open(&bed, ONE);
	opts = bed_io_opts(&bed);
	opts.on_burst = ignore;
	bed_start(&bed, &opts);
	ck_assert_str_eq(haul_io_notice(bed.io), "");
	bed_close(&bed, 0);

	bed_open(&bed, ONE);
	opts = bed_io_opts(&bed);
	opts.on_burst = ignore;
	ck_assert_int_eq(haul_stop(bed.rt, HAUL_FOREVER), 0);
	ck_assert_int_eq(haul_start(&bed.rt, NULL, NULL, 0), 0);
	bed_start(&bed, &opts);
	ck_assert_msg(strstr(haul_io_notice(bed.io), said) != NULL, "%s", haul_io_notice(bed.io));
	bed_close(&bed, 0);
}
END_TEST

static void count(const struct rte_memzone *zone, void *n)
{
	++*(unsigned *)n;
}

static unsigned zones_after(const char *spec)
{
	const char *const specs[] = {"null:", spec, NULL};
	struct bed bed;
	unsigned n = 0;

	bed_open(&bed, specs);
	ck_assert_int_eq(bed_take_down(&bed), 0);
	rte_memzone_walk(count, &n);
	return n;
}

START_TEST(closed_ports_leave_nothing_in_dpdk)
{
	const char *const specs[] = {"null:", "ring:", "net_ring_raw0"};

	for (size_t i = 0; i < RTE_DIM(specs); i++) {
		unsigned before = zones_after("null:"); /* the first port leaves what all use */
		unsigned after = zones_after(specs[i]);

		ck_assert_msg(after == before, "%s: %u memzones, then %u", specs[i], before, after);
	}
}
END_TEST

/* NICs write to the address in the buffer: seen on those of tests/machine, behind an IOMMU. */
START_TEST(buffers_have_the_addresses_that_nics_use)
{
	struct rte_mbuf *pkts[64];
	struct bed bed;

	bed_open(&bed, ONE);
	ck_assert_int_eq(rte_eal_iova_mode(), RTE_IOVA_VA);
	ck_assert_int_eq(rte_pktmbuf_alloc_bulk(bed.pool, pkts, RTE_DIM(pkts)), 0);
	for (unsigned i = 0; i < RTE_DIM(pkts); i++) {
		ck_assert_uint_eq(
			rte_pktmbuf_iova(pkts[i]), (uintptr_t)rte_pktmbuf_mtod(pkts[i], char *));
		ck_assert_uint_eq(rte_mempool_virt2iova(pkts[i]), (uintptr_t)pkts[i]);
	}
	rte_pktmbuf_free_bulk(pkts, RTE_DIM(pkts));
	ck_assert_int_eq(bed_take_down(&bed), 0);
}
END_TEST

/* As the bus of PCI does when vfio asks for the device: the NICs of tests/machine are unplugged. */
START_TEST(a_device_that_is_removed_is_a_fault)
{
	const char *const specs[] = {"null:", "null:copy=0", NULL};
	struct haul_port_info info;
	const char *name;
	struct bed bed;

	bed_open(&bed, specs);
	ck_assert_int_eq(haul_port_get_info(bed.ports[1], &info), 0);
	name = rte_dev_name(info.dev.device);
	rte_dev_event_callback_process(name, RTE_DEV_EVENT_ADD);
	ck_assert_str_eq(haul_port_fault(bed.ports[1]), "");
	rte_dev_event_callback_process(name, RTE_DEV_EVENT_REMOVE);
	ck_assert_str_eq(haul_port_fault(bed.ports[0]), "");
	ck_assert_str_eq(
		haul_port_fault(bed.ports[1]), "port 'null:copy=0': the device was unplugged");
	ck_assert_int_eq(bed_take_down(&bed), 0);
	rte_dev_event_callback_process("none", RTE_DEV_EVENT_REMOVE);
}
END_TEST

static unsigned failing = RTE_MAX_ETHPORTS; /* port id */

int __real_rte_eth_stats_get(uint16_t port_id, struct rte_eth_stats *stats);
int __wrap_rte_eth_stats_get(uint16_t port_id, struct rte_eth_stats *stats);
int __wrap_rte_eth_stats_get(uint16_t port_id, struct rte_eth_stats *stats)
{
	return port_id == failing ? -EIO : __real_rte_eth_stats_get(port_id, stats);
}

/* As an afxdp port with two queues: the first one's device tells nothing. */
START_TEST(a_device_that_tells_nothing_does_not_hide_the_others)
{
	const char *const specs[] = {"ring:", "ring:", NULL};
	struct hauli_vdev both[2], *own;
	struct rte_eth_stats stats;
	struct haul_port *port;
	struct rte_mbuf *pkt;
	struct bed bed;

	bed_open(&bed, specs);
	port = bed.ports[0];
	both[0] = port->vdevs[0];
	both[1] = bed.ports[1]->vdevs[0];
	pkt = rte_pktmbuf_alloc(bed.pool);
	ck_assert_uint_eq(rte_eth_tx_burst(both[1].port_id, 0, &pkt, 1), 1);
	own = port->vdevs;
	port->vdevs = both;
	port->nb_vdevs = 2;
	failing = both[0].port_id;
	ck_assert_int_eq(haul_port_get_stats(port, &stats), -EIO);
	ck_assert_uint_eq(stats.opackets, 1);
	failing = RTE_MAX_ETHPORTS;
	port->vdevs = own;
	port->nb_vdevs = 1;
	ck_assert_int_eq(bed_take_down(&bed), 0);
}
END_TEST

BED_MAIN("io_ports", {a_device_that_tells_nothing_does_not_hide_the_others},
	{buffers_have_the_addresses_that_nics_use}, {a_device_that_is_removed_is_a_fault},
	{a_polled_port_keeps_its_configuration}, {a_port_that_is_not_started_is_not_polled},
	{carriers_that_are_no_lcores_are_in_the_notice}, {what_the_pmd_counts_survives_a_reset},
	{closed_ports_leave_nothing_in_dpdk})
