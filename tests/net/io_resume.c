/* SPDX-License-Identifier: BSD-3-Clause */
/* Stops and resumes of pollers: counters continue, ledgers add up, options change in between. */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "io_bed.h"

#define TWO ((const char *const[]){"ring:", "ring:", NULL})
#define PACKETS 200
#define CYCLES 300

static void reply_burst(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	haul_tx_burst(rx->reply, pkts, n);
}

static atomic_bool misnamed;

/* arg: how the names of handlers begin. */
static void reply_packet(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	const char *begin = rx->arg;

	if (begin && strncmp(haul_coro_name(haul_self()), begin, strlen(begin)) != 0)
		misnamed = true;
	if (haul_send(rx->reply, pkt) != 0)
		haul_drop(rx, &pkt, 1, HAUL_DROP_STOPPING);
}

static void consume(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	haul_drop(rx, pkts, n, HAUL_DROP_CONSUMED);
}

static uint16_t nothing(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	return 0;
}

static void stop(struct bed *bed)
{
	bed->errbuf[0] = '\0';
	ck_assert_msg(haul_io_stop(bed->io, HAUL_S, bed->errbuf, sizeof(bed->errbuf)) == 0, "%s",
		bed->errbuf);
}

static void resume(struct bed *bed, const struct haul_io_opts *change)
{
	ck_assert_msg(haul_io_resume(bed->io, change, bed->errbuf, sizeof(bed->errbuf)) == 0, "%s",
		bed->errbuf);
}

/* Two ports, with these options beside those of the bed. Returns all options. */
static struct haul_io_opts start(struct bed *bed, haul_burst_fn *on_burst, bool stopped)
{
	struct haul_io_opts opts;

	bed_open(bed, TWO);
	opts = bed_io_opts(bed);
	opts.on_burst = on_burst;
	opts.count_bytes = true;
	opts.stopped = stopped;
	bed_start(bed, &opts);
	return opts;
}

static int refused(struct bed *bed, const struct haul_io_opts *change)
{
	int err = haul_io_resume(bed->io, change, bed->errbuf, sizeof(bed->errbuf));

	ck_assert_uint_gt(strlen(bed->errbuf), 0);
	ck_assert_ptr_null(strchr(bed->errbuf, '\n'));
	return err;
}

/* Packets go round on both ports while pollers stop and resume, with another handler each time. */
START_TEST(packets_survive_many_stops)
{
	const struct haul_coro_opts pinned = {.name = "pinned", .pinned = true};
	uint64_t last = 0, bytes = 0;
	struct haul_io_opts opts;
	struct haul_io_stats st;
	struct bed bed;
	unsigned i;

	bed_open_with(&bed, TWO, BED_CARRIERS, _i ? HAUL_STEAL_CLUSTER : HAUL_STEAL_OFF);
	opts = bed_io_opts(&bed);
	opts.on_burst = reply_burst;
	bed_start(&bed, &opts);
	for (i = 0; i < 4; i++)
		bed_send(&bed, i / 2, i % 2, 0, PACKETS);
	for (i = 0; i < CYCLES; i++) {
		const bool coroutines = i % 3 == 0;

		WAIT_UNTIL(bed_stats(&bed, i & 1, HAUL_ALL).rx_packets > last + PACKETS);
		stop(&bed);
		st = bed_stats(&bed, i & 1, HAUL_ALL);
		ck_assert_uint_eq(st.in_flight, 0);
		ck_assert_uint_eq(st.rx_packets - st.dropped[HAUL_DROP_STOPPING],
			st.tx_packets - 2 * PACKETS + st.dropped[HAUL_DROP_TX_FULL]);
		ck_assert_uint_ge(st.rx_bytes, bytes);
		opts.on_burst = coroutines ? NULL : reply_burst;
		opts.on_packet = coroutines ? reply_packet : NULL;
		opts.coro = i % 2 ? &pinned : NULL;
		opts.arg = i % 2 ? "pinned" : "port ";
		opts.burst = (uint16_t)(1 + i % 64);
		opts.count_bytes = i % 5 == 0;
		opts.policy.how = i % 2 ? HAUL_POLL_SLEEP : HAUL_POLL_SPIN;
		opts.policy.ns = 0;
		resume(&bed, &opts);
		last = bed_stats(&bed, !(i & 1), HAUL_ALL).rx_packets;
		bytes = bed_stats(&bed, !(i & 1), HAUL_ALL).rx_bytes;
	}
	stop(&bed);
	opts.on_burst = consume;
	opts.on_packet = NULL;
	resume(&bed, &opts);
	bed_close(&bed, 0);
	ck_assert(!misnamed);
}
END_TEST

START_TEST(begins_stopped)
{
	struct bed bed;

	start(&bed, consume, true);
	stop(&bed);
	ck_assert_uint_eq(bed_stats(&bed, 0, HAUL_ALL).polls, 0);
	resume(&bed, NULL);
	bed_send(&bed, 0, 1, 0, PACKETS);
	WAIT_UNTIL(bed_stats(&bed, 0, 1).dropped[HAUL_DROP_CONSUMED] == PACKETS);
	bed_close(&bed, 0);
}
END_TEST

START_TEST(refuses_what_it_cannot_do)
{
	struct haul_io_opts opts;
	struct bed bed;

	opts = start(&bed, consume, false);
	ck_assert_int_eq(refused(&bed, NULL), -EBUSY);
	stop(&bed);
	opts.burst = 513;
	ck_assert_int_eq(refused(&bed, &opts), -EINVAL);
	opts.burst = 0;
	opts.on_burst = NULL;
	ck_assert_int_eq(refused(&bed, &opts), -EINVAL);
	opts.source = nothing;
	opts.policy.how = HAUL_POLL_BLOCK;
	ck_assert_int_eq(refused(&bed, &opts), -EINVAL);
	resume(&bed, NULL);
	bed_close(&bed, 0);
}
END_TEST

/* A queue counts in its PMD's bytes or in haul's: the sum goes on. */
START_TEST(bytes_continue)
{
	struct haul_io_opts opts;
	struct haul_io_stats st;
	struct bed bed;
	uint64_t bytes;

	opts = start(&bed, consume, false);
	for (unsigned i = 0; i < 4; i++) {
		bed_send(&bed, 0, 0, 0, PACKETS);
		WAIT_UNTIL(bed_stats(&bed, 0, 0).rx_packets == (i + 1) * PACKETS);
		bytes = bed_stats(&bed, 0, 0).rx_bytes;
		stop(&bed);
		opts.count_bytes = i % 2;
		resume(&bed, &opts);
		st = bed_stats(&bed, 0, 0);
		ck_assert_uint_eq(st.rx_bytes, bytes);
		ck_assert_uint_eq(st.rx_bytes, bed_stats(&bed, 0, HAUL_ALL).rx_bytes);
		/* Rings count no bytes, and haul did in runs 0 and 2. */
		ck_assert_uint_eq(st.rx_uncounted, (i + 1) / 2 * PACKETS);
		ck_assert_uint_eq(bed_stats(&bed, 0, HAUL_ALL).rx_uncounted, (i + 1) / 2 * PACKETS);
	}
	ck_assert_uint_gt(bytes, PACKETS * 2 * 60);
	bed_close(&bed, 0);
}
END_TEST

BED_MAIN("io_resume", {packets_survive_many_stops, 2}, {begins_stopped},
	{refuses_what_it_cannot_do}, {bytes_continue})
