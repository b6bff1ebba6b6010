/* SPDX-License-Identifier: BSD-3-Clause */
/* Receive queues move from carrier to carrier while packets come: none is lost, and those of a
 * queue keep their order. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include <haul/sync.h>

#include "io_bed.h"
#include "sched/state/coroutine.h" /* HAUL_STEALING */

#define TWO ((const char *const[]){"ring:", "ring:", NULL})
#define QUEUES 3 /* of each port: more than carriers */
#define MOVES 60 /* of each run, four times that, at least */
#define PACKETS 4000 /* in each part of a run */

static struct {
	atomic_uint next; /* number of the packet that must come next, of queue 0 */
	atomic_uint disorder, handled;
	atomic_uint last; /* the last packet whose handler did not wait, and one more */
	atomic_uint on[BED_CARRIERS]; /* packets by carrier */
	atomic_bool goes;
	struct haul_event event;
	unsigned port;
	bool steals;
} k;

/* Two ports, and counts from 0. Returns the options of the bed. */
static struct haul_io_opts begin(struct bed *bed, unsigned queues, enum haul_steal steal)
{
	memset(&k, 0, sizeof(k));
	bed_open_with(bed, TWO, queues, steal);
	return bed_io_opts(bed);
}

static void comes(struct haul_rx *rx, const struct rte_mbuf *pkt)
{
	unsigned number = bed_number(pkt);

	k.disorder += atomic_exchange(&k.next, number + 1) != number;
	k.on[rx->carrier]++;
	k.handled++;
}

static void take_burst(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++)
		comes(rx, pkts[i]);
	haul_drop(rx, pkts, n, HAUL_DROP_CONSUMED);
}

static void take_packet(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	comes(rx, pkt);
	haul_drop(rx, &pkt, 1, HAUL_DROP_CONSUMED);
}

/* Others may come before those that wait. */
static void take_late(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	unsigned number = bed_number(pkt);

	if (number % 3 == 0)
		haul_yield();
	else if (number % 7 == 0)
		haul_sleep(number % 1000 * HAUL_US);
	else if (!k.steals)
		k.disorder += atomic_exchange(&k.last, number + 1) > number;
	k.on[rx->carrier]++;
	k.handled++;
	haul_drop(rx, &pkt, 1, HAUL_DROP_CONSUMED);
}

static void move(struct bed *bed, unsigned port, unsigned queue, unsigned carrier)
{
	struct haul_queue_stats st;

	ck_assert_msg(haul_io_move_queue(bed->io, port, queue, carrier, HAUL_FOREVER, bed->errbuf,
			      sizeof(bed->errbuf)) == 0,
		"%s", bed->errbuf);
	ck_assert(haul_io_get_queue_stats(bed->io, port, queue, &st));
	ck_assert_uint_eq(st.carrier, carrier);
}

/* Takes its last queue from carrier 0: no handler is left there, unless the move has waited. */
static void move_away(struct bed *bed)
{
	uint64_t began = haul_now();

	move(bed, 0, 0, 1);
	if (haul_now() - began < HAUL_IO_MOVE_MAX)
		ck_assert_uint_eq(bed_stats(bed, 0, 0).in_flight, 0);
}

static void *send_all(void *arg)
{
	struct bed *bed = arg;

	while (k.goes) {
		bed_send(bed, k.port, 0, k.handled, PACKETS);
		WAIT_UNTIL(k.handled % PACKETS == 0);
	}
	return NULL;
}

static void check_sums(const struct bed *bed)
{
	uint64_t packets = 0, polls = 0;
	struct haul_queue_stats st;

	for (unsigned q = 0; haul_io_get_queue_stats(bed->io, k.port, q, &st); q++) {
		packets += st.rx_packets;
		polls += st.polls;
		ck_assert_uint_ge(st.polls, st.empty_polls);
	}
	ck_assert_uint_eq(packets, k.handled);
	ck_assert_uint_eq(polls, bed_stats(bed, k.port, HAUL_ALL).polls);
}

/* Moves queue 0 to and fro while packets come, and the others of both ports at times. */
static void run(struct bed *bed, const struct haul_io_opts *opts)
{
	pthread_t sender;

	k.goes = true;
	bed_start(bed, opts);
	ck_assert_int_eq(pthread_create(&sender, NULL, send_all, bed), 0);
	for (unsigned i = 0; i < MOVES || k.on[0] == 0 || k.on[1] == 0; i++) {
		move(bed, 0, 0, i % 2);
		move(bed, i / 2 % 2, 1 + i % (QUEUES - 1), i / 3 % 2);
		rte_delay_us_sleep(i % 4 * 50); /* at different moments of the flow */
		move_away(bed);
		move(bed, 0, 0, i / 5 % 2);
	}
	k.goes = false;
	pthread_join(sender, NULL);
	ck_assert_uint_eq(k.disorder, 0);
	ck_assert_int_eq(haul_io_stop(bed->io, HAUL_S, bed->errbuf, sizeof(bed->errbuf)), 0);
	check_sums(bed);
	bed_close(bed, 0);
}

static const struct way {
	haul_burst_fn *on_burst;
	haul_packet_fn *on_packet;
	enum haul_poll_how how;
	enum haul_steal steal;
	bool times;
} ways[] = {
	{take_burst, NULL, HAUL_POLL_SPIN, HAUL_STEAL_OFF, false},
	{take_burst, NULL, HAUL_POLL_SLEEP, HAUL_STEAL_CLUSTER, true},
	{NULL, take_packet, HAUL_POLL_SPIN, HAUL_STEAL_OFF, false},
	{NULL, take_packet, HAUL_POLL_SLEEP, HAUL_STEAL_OFF, true},
	{NULL, take_late, HAUL_POLL_SPIN, HAUL_STEAL_OFF, false},
	{NULL, take_late, HAUL_POLL_SPIN, HAUL_STEAL_GLOBAL, false},
};

START_TEST(a_queue_moves_under_load)
{
	const struct way *w = &ways[_i];
	struct bed bed;
	struct haul_io_opts opts = begin(&bed, QUEUES, HAUL_STEALING ? w->steal : HAUL_STEAL_OFF);

	k.steals = w->steal != HAUL_STEAL_OFF;
	opts.on_burst = w->on_burst;
	opts.on_packet = w->on_packet;
	opts.policy.how = w->how;
	opts.times = w->times;
	run(&bed, &opts);
}
END_TEST

static void waits(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	(void)haul_event_wait(&k.event, HAUL_FOREVER);
	k.on[rx->carrier]++;
	haul_send_or_drop(rx, rx->peer, pkt);
}

static void is_late(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	if (rx->port == 0)
		waits(rx, pkt);
	else
		take_late(rx, pkt);
}

/* Handlers that wait for longer than a move takes go on where they are. */
START_TEST(handlers_that_wait_stay)
{
	struct bed bed;
	struct haul_io_opts opts = begin(&bed, BED_CARRIERS, HAUL_STEAL_OFF);

	opts.on_packet = is_late;
	bed_start(&bed, &opts);
	bed_send(&bed, 0, 0, 0, 100);
	WAIT_UNTIL(bed_stats(&bed, 0, 0).in_flight == 100);
	move(&bed, 0, 0, 1);
	bed_send(&bed, 0, 0, 100, 100);
	WAIT_UNTIL(bed_stats(&bed, 0, 1).in_flight == 100);
	ck_assert_uint_eq(bed_stats(&bed, 0, 0).in_flight, 100);
	haul_event_set(&k.event);
	WAIT_UNTIL(k.handled == 200); /* on the peer */
	bed_close(&bed, 0);
}
END_TEST

/* Queues that come to a carrier share its limit with those that it has. */
START_TEST(a_limit_is_shared)
{
	struct bed bed;
	struct haul_io_opts opts = begin(&bed, BED_CARRIERS, HAUL_STEAL_OFF);

	opts.on_packet = is_late;
	opts.max_in_flight = 60;
	opts.burst = 1;
	bed_start(&bed, &opts);
	move(&bed, 0, 0, 1);
	bed_send(&bed, 0, 0, 0, 100);
	bed_send(&bed, 0, 1, 100, 100);
	WAIT_UNTIL(bed_stats(&bed, 0, 1).held_polls > 100);
	ck_assert_uint_le(bed_stats(&bed, 0, 1).in_flight, 60);
	haul_event_set(&k.event);
	WAIT_UNTIL(k.handled == 200);
	bed_close(&bed, 0);
}
END_TEST

/* A carrier without queues sleeps, and packets of its coroutines are sent. All queues may be on one
 * carrier; a stop and a resume leave them there. */
START_TEST(a_carrier_is_left_without_queues)
{
	struct bed bed;
	struct haul_io_opts opts = begin(&bed, QUEUES, HAUL_STEAL_OFF);

	opts.on_burst = take_burst;
	bed_start(&bed, &opts);
	for (unsigned port = 0; port < 2; port++)
		for (unsigned q = 0; q < QUEUES; q++)
			move(&bed, port, q, 1);
	bed_send(&bed, 0, 0, 0, PACKETS);
	WAIT_UNTIL(k.handled == PACKETS);
	ck_assert_uint_eq(k.on[1], PACKETS);
	ck_assert_int_eq(haul_io_stop(bed.io, HAUL_S, bed.errbuf, sizeof(bed.errbuf)), 0);
	move(&bed, 0, 1, 0); /* while no poller runs */
	ck_assert_int_eq(haul_io_resume(bed.io, NULL, bed.errbuf, sizeof(bed.errbuf)), 0);
	bed_send(&bed, 0, 0, PACKETS, PACKETS);
	WAIT_UNTIL(k.handled == 2 * PACKETS);
	ck_assert_uint_eq(k.on[1], 2 * PACKETS);
	move(&bed, 0, 0, 0);
	bed_send(&bed, 0, 0, 2 * PACKETS, PACKETS);
	WAIT_UNTIL(k.handled == 3 * PACKETS);
	ck_assert_uint_eq(k.on[0], PACKETS);
	ck_assert_uint_eq(k.disorder, 0);
	bed_close(&bed, 0);
}
END_TEST

static int refused(struct bed *bed, unsigned port, unsigned queue, unsigned carrier)
{
	int err;

	bed->errbuf[0] = '\0';
	err = haul_io_move_queue(
		bed->io, port, queue, carrier, HAUL_FOREVER, bed->errbuf, sizeof(bed->errbuf));
	ck_assert_uint_gt(strlen(bed->errbuf), 0);
	ck_assert_ptr_null(strchr(bed->errbuf, '\n'));
	return err;
}

static void *moves_itself(void *arg)
{
	return (void *)(intptr_t)refused(arg, 0, 0, 1);
}

START_TEST(wrong_moves_are_refused)
{
	struct bed bed;
	struct haul_io_opts opts = begin(&bed, BED_CARRIERS, HAUL_STEAL_OFF);
	struct haul_coro *co;
	void *err;

	opts.on_burst = take_burst;
	bed_start(&bed, &opts);
	ck_assert_int_eq(refused(&bed, 2, 0, 0), -EINVAL);
	ck_assert_int_eq(refused(&bed, 0, BED_CARRIERS, 0), -EINVAL);
	ck_assert_int_eq(refused(&bed, 0, 0, BED_CARRIERS), -EINVAL);
	ck_assert_int_eq(haul_spawn_on(haul_carrier(bed.rt, 0), &co, moves_itself, &bed, NULL), 0);
	ck_assert_int_eq(haul_join(co, &err, HAUL_FOREVER), 0);
	ck_assert_int_eq((int)(intptr_t)err, -EPERM);
	bed_close(&bed, 0);

	opts = begin(&bed, 1, HAUL_STEAL_OFF);
	opts.on_packet = take_packet; /* which is spread */
	bed_start(&bed, &opts);
	ck_assert_int_eq(refused(&bed, 0, 0, 1), -EINVAL);
	bed_close(&bed, 0);
}
END_TEST

BED_MAIN("io_move", {a_queue_moves_under_load, sizeof(ways) / sizeof(ways[0])},
	{handlers_that_wait_stay}, {a_limit_is_shared}, {a_carrier_is_left_without_queues},
	{wrong_moves_are_refused})
