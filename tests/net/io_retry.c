/* SPDX-License-Identifier: BSD-3-Clause */
/* haul_io_opts.tx_retries: a NIC that is full for some calls. */
#include <rte_ethdev.h>

#include "io_bed.h"

#define TWO ((const char *const[]){"ring:", "ring:", NULL})

#define FULL_CALLS 10 /* more than two bursts make without retries */

/* The device is full for so many calls. Its carrier. */
static unsigned full_calls, full_most = FULL_CALLS;

static uint16_t be_full(
	uint16_t port_id, uint16_t queue, struct rte_mbuf **pkts, uint16_t n, void *arg)
{
	if (full_calls == 0)
		return n;
	full_calls--;
	return 0;
}

/* Sends what the queue holds, and half of that more, as answer to one packet. */
static void flood(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	struct rte_mbuf *more[BED_BUFFER + BED_BUFFER / 2];
	struct bed *bed = rx->arg;

	rte_pktmbuf_free_bulk(pkts, n);
	if (n > 1)
		return;
	ck_assert_int_eq(rte_pktmbuf_alloc_bulk(bed->pool, more, RTE_DIM(more)), 0);
	for (unsigned i = 0; i < RTE_DIM(more); i++)
		rte_pktmbuf_append(more[i], 60);
	full_calls = full_most;
	haul_tx_burst(rx->reply, more, BED_BUFFER);
	haul_tx_burst(rx->reply, more + BED_BUFFER, BED_BUFFER / 2);
	full_calls = 0;
}

static uint64_t lose(uint32_t retries, uint64_t retry_ns)
{
	const struct rte_eth_rxtx_callback *cb;
	struct haul_io_opts opts;
	struct haul_queue q;
	uint64_t lost;
	struct bed bed;

	bed_open(&bed, TWO);
	q = haul_port_queue(bed.ports[0], 0);
	cb = rte_eth_add_tx_callback(q.port_id, q.queue_id, be_full, NULL);
	ck_assert_ptr_nonnull(cb);
	opts = bed_io_opts(&bed);
	opts.on_burst = flood;
	opts.tx_retries = retries;
	opts.tx_retry_ns = retry_ns;
	opts.arg = &bed;
	bed_start(&bed, &opts);
	bed_send(&bed, 0, 0, 0, 1);
	WAIT_UNTIL(bed_stats(&bed, 0, 0).tx_packets >= 1 + BED_BUFFER);
	ck_assert_int_eq(haul_io_stop(bed.io, 0, bed.errbuf, sizeof(bed.errbuf)), 0);
	lost = bed_stats(&bed, 0, HAUL_ALL).dropped[HAUL_DROP_TX_FULL];
	ck_assert_uint_eq(
		bed_stats(&bed, 0, HAUL_ALL).tx_packets + lost, 1 + BED_BUFFER + BED_BUFFER / 2);
	ck_assert_int_eq(rte_eth_remove_tx_callback(q.port_id, q.queue_id, cb), 0);
	ck_assert_int_eq(bed_take_down(&bed), 0);
	return lost;
}

START_TEST(retries_wait_for_a_full_nic)
{
	uint64_t since;

	ck_assert_uint_eq(lose(0, 0), BED_BUFFER / 2);
	ck_assert_uint_eq(lose(FULL_CALLS, 0), 0);
	full_most = UINT32_MAX;
	since = haul_now();
	ck_assert_uint_eq(lose(UINT32_MAX, 0), BED_BUFFER / 2); /* in vain */
	ck_assert_uint_ge(haul_now() - since, HAUL_IO_RETRY_MAX);
	since = haul_now();
	ck_assert_uint_eq(lose(1, 5 * HAUL_MS), BED_BUFFER / 2); /* in vain */
	ck_assert_uint_ge(haul_now() - since, 5 * HAUL_MS);
}
END_TEST

BED_MAIN("io_retry", {retries_wait_for_a_full_nic})
