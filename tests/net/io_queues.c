/* SPDX-License-Identifier: BSD-3-Clause */
/* Between runs ports get other numbers of queues, become idle, and have queues stopped: each run
 * polls what it is to poll, nothing is lost but what waits in a device that is opened anew, and the
 * sums go on. */
#include <errno.h>
#include <string.h>

#include <haul-dpdk/port_config.h>
#include <haul-dpdk/port_info.h>

#include "base/random.h"
#include "io_bed.h"

#define PORTS 2
#define ROUNDS 40
#define QUEUES_MAX 5
#define PACKETS 200

/* A device that starts and stops single queues, as ring's PMD of some versions does not. */
#define SWITCHES(name)                                                \
	int __wrap_rte_eth_dev_##name(uint16_t port, uint16_t queue); \
	int __wrap_rte_eth_dev_##name(uint16_t port, uint16_t queue)  \
	{                                                             \
		return 0;                                             \
	}
SWITCHES(rx_queue_start)
SWITCHES(rx_queue_stop)
SWITCHES(tx_queue_start)
SWITCHES(tx_queue_stop)

static void consume(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	haul_drop(rx, pkts, n, HAUL_DROP_CONSUMED);
}

static void consume_one(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	if (bed_number(pkt) % 5 == 0)
		haul_yield();
	haul_drop(rx, &pkt, 1, HAUL_DROP_CONSUMED);
}

struct trial {
	struct bed bed;
	struct hauli_random random;
	bool idle[PORTS];
	bool rx_stopped[PORTS][QUEUES_MAX], tx_stopped[PORTS][QUEUES_MAX];
	uint64_t waits[PORTS]; /* packets in the rings of a port that was idle */
	struct haul_io_stats last[PORTS][BED_CARRIERS];
};

static unsigned below(struct trial *t, unsigned n)
{
	return hauli_random_below(&t->random, n);
}

static void good(struct trial *t, int err)
{
	ck_assert_msg(err == 0, "%d: %s", err, t->bed.errbuf);
}

static void set_queues(struct trial *t, unsigned port)
{
	struct haul_port *p = t->bed.ports[port];
	unsigned n = 1 + below(t, QUEUES_MAX);

	if (n == haul_port_queues(p))
		return;
	good(t, haul_port_set_queues(p, n, t->bed.errbuf, sizeof(t->bed.errbuf)));
	ck_assert_uint_eq(haul_port_queues(p), n);
	t->waits[port] = 0; /* the ring ports are new */
	memset(t->rx_stopped[port], 0, sizeof(t->rx_stopped[port]));
	memset(t->tx_stopped[port], 0, sizeof(t->tx_stopped[port]));
}

/* Each queue runs, or is stopped, also after the port has started anew (deferred). */
static void stop_queues(struct trial *t, unsigned port)
{
	struct haul_port *p = t->bed.ports[port];
	char *buf = t->bed.errbuf;

	for (unsigned q = 0; q < haul_port_queues(p); q++) {
		for (unsigned rx = 0; rx < 2; rx++) {
			bool *stopped = rx ? &t->rx_stopped[port][q] : &t->tx_stopped[port][q];
			bool deferred = below(t, 4) == 0;
			struct haul_queue_info info;

			*stopped = below(t, 4) == 0;
			good(t, haul_port_set_queue(p, q, rx, 0, deferred, buf, 512));
			(void)haul_port_get_queue_info(p, q, rx, &info);
			ck_assert_int_eq(info.deferred, deferred);
			ck_assert(info.stopped || !deferred);
			good(t, haul_port_switch_queue(p, q, rx, !*stopped, buf, 512));
			(void)haul_port_get_queue_info(p, q, rx, &info);
			ck_assert_int_eq(info.stopped, *stopped);
			good(t, haul_port_set_queue(p, q, rx, 0, false, buf, 512));
		}
	}
}

/* In an order of its own, as each part restarts the port: what is stopped stays so. */
static void check_queues(const struct trial *t, unsigned port)
{
	for (unsigned q = 0; q < haul_port_queues(t->bed.ports[port]); q++) {
		struct haul_queue_info info;

		(void)haul_port_get_queue_info(t->bed.ports[port], q, true, &info);
		ck_assert_int_eq(info.stopped, t->rx_stopped[port][q]);
		(void)haul_port_get_queue_info(t->bed.ports[port], q, false, &info);
		ck_assert_int_eq(info.stopped, t->tx_stopped[port][q]);
	}
}

static void check_sums(struct trial *t)
{
	for (unsigned port = 0; port < PORTS; port++)
		for (unsigned c = 0; c < BED_CARRIERS; c++) {
			struct haul_io_stats now = bed_stats(&t->bed, port, c);
			const struct haul_io_stats *last = &t->last[port][c];

			ck_assert_uint_ge(now.rx_packets, last->rx_packets);
			ck_assert_uint_ge(now.tx_packets, last->tx_packets);
			ck_assert_uint_ge(now.rx_bytes, last->rx_bytes);
			ck_assert_uint_ge(now.polls, last->polls);
			ck_assert_uint_ge(now.empty_polls, last->empty_polls);
			ck_assert_uint_eq(now.in_flight, 0);
			t->last[port][c] = now;
		}
}

static uint64_t refused(const struct trial *t, unsigned port)
{
	return bed_stats(&t->bed, port, HAUL_ALL).dropped[HAUL_DROP_TX_REFUSED];
}

static bool any_stopped(const struct trial *t, unsigned port)
{
	for (unsigned q = 0; q < QUEUES_MAX; q++)
		if (t->rx_stopped[port][q])
			return true;
	return false;
}

/* What a carrier sends to a ring port comes back on its queue, if both directions run. */
static void feed(struct trial *t, unsigned port, unsigned carrier)
{
	struct bed *bed = &t->bed;
	const uint64_t received = bed_stats(bed, port, HAUL_ALL).rx_packets;
	const uint64_t dropped = refused(t, port);

	if (!haul_io_txq(bed->io, port, carrier) || (t->idle[port] && any_stopped(t, port)))
		return;
	if (t->tx_stopped[port][carrier]) {
		bed_send(bed, port, carrier, 0, PACKETS);
		WAIT_UNTIL(refused(t, port) == dropped + PACKETS);
		ck_assert_uint_eq(bed_stats(bed, port, HAUL_ALL).rx_packets, received);
	} else if (!t->rx_stopped[port][carrier]) {
		bed_send(bed, port, carrier, 0, PACKETS);
		t->waits[port] += t->idle[port] ? PACKETS : 0;
		if (!t->idle[port])
			WAIT_UNTIL(bed_stats(bed, port, HAUL_ALL).rx_packets == received + PACKETS);
	}
}

/* A run of pollers. What waited in an idle port is received. */
static void run(struct trial *t)
{
	struct haul_io_opts opts = bed_io_opts(&t->bed);
	struct bed *bed = &t->bed;
	uint64_t received[PORTS];

	opts.on_burst = below(t, 2) ? consume : NULL;
	opts.on_packet = opts.on_burst ? NULL : consume_one;
	opts.count_bytes = below(t, 2);
	opts.policy.how = below(t, 2) ? HAUL_POLL_SLEEP : HAUL_POLL_SPIN;
	opts.idle = t->idle;
	for (unsigned i = 0; i < PORTS; i++)
		received[i] = bed_stats(bed, i, HAUL_ALL).rx_packets;
	good(t, haul_io_resume(bed->io, &opts, bed->errbuf, sizeof(bed->errbuf)));
	for (unsigned i = 0; i < PORTS; i++) {
		if (!t->idle[i] && !any_stopped(t, i)) {
			WAIT_UNTIL(bed_stats(bed, i, HAUL_ALL).rx_packets ==
				received[i] + t->waits[i]);
			t->waits[i] = 0;
		}
		for (unsigned c = 0; c < BED_CARRIERS && t->waits[i] < BED_RING / 2; c++)
			feed(t, i, c);
	}
	for (unsigned i = 0; i < PORTS; i++)
		if (t->idle[i])
			ck_assert_uint_eq(bed_stats(bed, i, HAUL_ALL).rx_packets, received[i]);
	good(t, haul_io_stop(bed->io, HAUL_S, bed->errbuf, sizeof(bed->errbuf)));
	check_sums(t);
}

/* Without spreading: with it a carrier gets packets of others. */
START_TEST(ports_change_between_runs)
{
	static const char *const specs[] = {"ring:", "ring:", NULL};
	static struct trial t;
	struct haul_io_opts opts;

	t = (struct trial){.idle = {false}};
	hauli_random_init(&t.random, 1 + (uint64_t)_i);
	bed_open_with(
		&t.bed, specs, 1 + (unsigned)_i % 3, _i % 2 ? HAUL_STEAL_CLUSTER : HAUL_STEAL_OFF);
	opts = bed_io_opts(&t.bed);
	opts.on_burst = consume;
	opts.times = _i % 3 == 0;
	opts.spread = HAUL_SPREAD_OFF;
	opts.stopped = true;
	bed_start(&t.bed, &opts);
	for (unsigned round = 0; round < ROUNDS; round++) {
		unsigned port = below(&t, PORTS);

		set_queues(&t, port);
		if (below(&t, 2))
			set_queues(&t, !port);
		good(&t, haul_io_reshape(t.bed.io, t.bed.errbuf, sizeof(t.bed.errbuf)));
		check_sums(&t);
		if (t.waits[port] == 0 && below(&t, 2))
			stop_queues(&t, port);
		check_queues(&t, port);
		memset(t.idle, 0, sizeof(t.idle));
		t.idle[below(&t, PORTS)] = below(&t, 3) == 0;
		run(&t);
	}
	bed_close(&t.bed, HAUL_S);
}
END_TEST

START_TEST(refuses_what_it_cannot_do)
{
	static const char *const specs[] = {"ring:", "null:no-rx=1", NULL};
	struct haul_io_opts opts;
	struct bed bed;
	char *buf = bed.errbuf;

	bed_open_with(&bed, specs, 2, HAUL_STEAL_OFF);
	opts = bed_io_opts(&bed);
	opts.on_burst = consume;
	bed_start(&bed, &opts);
	ck_assert_int_eq(haul_port_set_queues(bed.ports[0], 3, buf, 512), -EBUSY);
	ck_assert_int_eq(haul_port_set_queue(bed.ports[0], 0, true, 0, true, buf, 512), -EBUSY);
	ck_assert_int_eq(haul_io_reshape(bed.io, buf, 512), -EBUSY);
	ck_assert_int_eq(haul_io_stop(bed.io, HAUL_S, buf, 512), 0);
	ck_assert_int_eq(haul_port_set_queues(bed.ports[0], 0, buf, 512), -EINVAL);
	ck_assert_int_eq(haul_port_set_queues(bed.ports[1], 65535, buf, 512), -EINVAL);
	ck_assert_int_eq(haul_port_set_queue(bed.ports[0], 9, true, 0, true, buf, 512), -EINVAL);
	ck_assert_int_eq(
		haul_port_set_queue(bed.ports[0], 0, true, UINT64_C(1) << 63, false, buf, 512),
		-ENOTSUP);
	ck_assert_ptr_nonnull(strstr(buf, "for single queues"));
	/* A PMD that opens 17 rings for a port has 16: it is as before. */
	ck_assert_int_eq(haul_port_set_queues(bed.ports[0], 17, buf, 512), -EINVAL);
	ck_assert_uint_eq(haul_port_queues(bed.ports[0]), 2);
	ck_assert_int_eq(haul_io_reshape(bed.io, buf, 512), 0);
	ck_assert_int_eq(haul_io_resume(bed.io, NULL, buf, 512), 0);
	bed_send(&bed, 0, 1, 0, PACKETS);
	WAIT_UNTIL(bed_stats(&bed, 0, 1).dropped[HAUL_DROP_CONSUMED] == PACKETS);
	bed_close(&bed, HAUL_S);
}
END_TEST

BED_MAIN("io_queues", {ports_change_between_runs, 6}, {refuses_what_it_cannot_do})
