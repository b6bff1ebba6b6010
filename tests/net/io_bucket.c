/* SPDX-License-Identifier: BSD-3-Clause */
/* Buckets of flows move from carrier to carrier while packets come: none is lost, and those of a
 * flow keep their order, also where they are sent. A MAC address tells flows apart. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include <haul/sync.h>

#include "io/state.h" /* packets that are held */
#include "io_flows.h"
#include "sched/state/coroutine.h" /* HAUL_STEALING */

#define MOVES 40 /* of each run, at least */
#define PART 1000 /* packets at once: they do not fill a port, for which no move waits for long */

static struct {
	atomic_uint next[FLOWS]; /* least number of the packet that may come next */
	atomic_uint disorder, handled;
	atomic_uint on[BED_CARRIERS]; /* packets by carrier */
	unsigned bucket[FLOWS];
	atomic_bool goes, done, released;
	atomic_uint moves, refused;
	struct haul_event event;
} k;

static unsigned flow_of(uint32_t number)
{
	return number % FLOWS;
}

static struct rte_mbuf *packet(struct bed *bed, unsigned flow, uint32_t number)
{
	struct rte_mbuf *pkt = bed_packet(bed, number);

	rte_pktmbuf_mtod(pkt, char *)[11] = (char)flow;
	return pkt;
}

/* A coroutine: buffers are taken on carriers only. */
static void *find_buckets(void *arg)
{
	for (unsigned flow = 0; flow < FLOWS; flow++) {
		struct rte_mbuf *pkt = packet(arg, flow, 0);

		k.bucket[flow] = haul_net_flow(pkt) >> 25;
		rte_pktmbuf_free(pkt);
	}
	return NULL;
}

static void run_on(const struct bed *bed, unsigned carrier, haul_fn *fn, void *arg)
{
	const struct haul_coro_opts opts = {.pinned = true};
	struct haul_coro *co;

	ck_assert_int_eq(haul_spawn_on(haul_carrier(bed->rt, carrier), &co, fn, arg, &opts), 0);
	ck_assert_int_eq(haul_join(co, NULL, HAUL_FOREVER), 0);
}

static void begin(struct bed *bed, enum haul_steal steal, bool disorder)
{
	const struct flows flows = {.of = flow_of, .burst = 64, .disorder = disorder};

	memset(&k, 0, sizeof(k));
	flows_open(bed, 1, HAUL_STEALING ? steal : HAUL_STEAL_OFF, &flows);
	run_on(bed, 0, find_buckets, bed);
}

static unsigned carrier_of(const struct bed *bed, unsigned flow)
{
	struct haul_bucket_stats st;

	ck_assert(haul_io_get_bucket_stats(bed->io, 0, k.bucket[flow], &st));
	return st.carrier;
}

static int move(struct bed *bed, unsigned flow, unsigned carrier)
{
	int err = haul_io_move_bucket(bed->io, 0, k.bucket[flow], carrier, HAUL_FOREVER,
		bed->errbuf, sizeof(bed->errbuf));

	ck_assert_msg(err == 0 || err == -EBUSY, "%s", bed->errbuf);
	if (!err)
		ck_assert_uint_eq(carrier_of(bed, flow), carrier);
	return err;
}

static void comes(const struct haul_rx *rx, const struct rte_mbuf *pkt)
{
	unsigned number = bed_number(pkt);

	k.disorder += atomic_exchange(&k.next[flow_of(number)], number + 1) > number;
	k.on[rx->carrier]++;
	k.handled++;
}

static void forward_burst(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	if (rx->port == 1) {
		haul_drop(rx, pkts, n, HAUL_DROP_CONSUMED);
		return;
	}
	for (uint16_t i = 0; i < n; i++)
		comes(rx, pkts[i]);
	haul_tx_burst(rx->peer, pkts, n);
}

static void forward(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	if (rx->port == 0)
		comes(rx, pkt);
	if (rx->port == 0)
		haul_send_or_drop(rx, rx->peer, pkt);
	else
		haul_drop(rx, &pkt, 1, HAUL_DROP_CONSUMED);
}

/* Others may come before those that wait. */
static void forward_late(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	unsigned number = bed_number(pkt);

	if (rx->port == 1 || number % 3) {
		forward(rx, pkt);
		return;
	}
	if (number % 2)
		haul_yield();
	else
		haul_sleep(number % 1000 * HAUL_US);
	k.on[rx->carrier]++;
	k.handled++;
	haul_send_or_drop(rx, rx->peer, pkt);
}

static void *move_all(void *arg)
{
	struct bed *bed = arg;

	for (unsigned i = 0; k.goes; i++) {
		unsigned flow = i * 7 % FLOWS;

		k.refused += move(bed, flow, !carrier_of(bed, flow)) != 0;
		k.moves++;
		rte_delay_us_sleep(i % 4 * 50); /* at different moments of the flow */
	}
	return NULL;
}

static const struct way {
	haul_burst_fn *on_burst;
	haul_packet_fn *on_packet;
	enum haul_poll_how how;
	enum haul_steal steal;
	bool late;
	unsigned max_in_flight;
} ways[] = {
	{forward_burst, NULL, HAUL_POLL_SPIN, HAUL_STEAL_OFF, false, 0},
	{forward_burst, NULL, HAUL_POLL_SLEEP, HAUL_STEAL_OFF, false, 64},
	{NULL, forward, HAUL_POLL_SPIN, HAUL_STEAL_OFF, false, 0},
	{NULL, forward, HAUL_POLL_SLEEP, HAUL_STEAL_OFF, false, 32},
	{NULL, forward_late, HAUL_POLL_SPIN, HAUL_STEAL_OFF, true, 0},
	{NULL, forward, HAUL_POLL_SPIN, HAUL_STEAL_GLOBAL, true, 0},
};

static bool are_back(const struct bed *bed, unsigned sent)
{
	return bed_stats(bed, 1, HAUL_ALL).rx_packets == sent;
}

static void check_sums(const struct bed *bed, unsigned sent)
{
	struct haul_bucket_stats st;
	uint64_t packets = 0;

	for (unsigned b = 0; haul_io_get_bucket_stats(bed->io, 0, b, &st); b++)
		packets += st.rx_packets;
	ck_assert_uint_eq(packets, sent);
	ck_assert_uint_eq(bed_stats(bed, 0, HAUL_ALL).rx_packets, sent);
}

START_TEST(buckets_move_under_load)
{
	const struct way *w = &ways[_i];
	struct haul_io_opts opts = {.on_burst = w->on_burst,
		.on_packet = w->on_packet,
		.policy.how = w->how,
		.max_in_flight = w->max_in_flight,
		.spread = HAUL_SPREAD_ALL};
	struct bed bed;
	unsigned sent = 0;
	pthread_t mover;

	begin(&bed, w->steal, w->late);
	k.goes = true;
	flows_run(&bed, &opts, 0);
	ck_assert_int_eq(pthread_create(&mover, NULL, move_all, &bed), 0);
	for (; k.moves < MOVES || k.on[0] == 0 || k.on[1] == 0; sent += PART) {
		flows_send(&bed, sent, PART);
		WAIT_UNTIL(are_back(&bed, sent + PART));
	}
	k.goes = false;
	pthread_join(mover, NULL);
	ck_assert_uint_eq(k.handled, sent);
	ck_assert(flows_stop(&bed));
	if (w->steal == HAUL_STEAL_OFF)
		ck_assert_uint_eq(k.disorder, 0);
	if (w->max_in_flight == 0)
		ck_assert_uint_eq(k.refused, 0);
	check_sums(&bed, sent);
	ck_assert_msg(bed_take_down(&bed) == 0, "%s", bed.errbuf);
}
END_TEST

/* Sends packets of one flow, and waits until they have left the queue. */
struct sending {
	struct bed *bed;
	unsigned flow, first, n;
};

static void *send_some(void *arg)
{
	const struct sending *s = arg;

	for (unsigned i = s->first; i < s->first + s->n; i++)
		ck_assert_int_eq(
			haul_send(haul_io_txq(s->bed->io, 0, 0), packet(s->bed, s->flow, i)), 0);
	return NULL;
}

static void send_flow(struct bed *bed, unsigned flow, unsigned first, unsigned n)
{
	run_on(bed, 0, send_some, &(struct sending){bed, flow, first, n});
}

/* A flow whose bucket is on that carrier. */
static unsigned flow_on(const struct bed *bed, unsigned carrier)
{
	unsigned flow = 0;

	while (carrier_of(bed, flow) != carrier)
		flow++;
	return flow;
}

static unsigned received(const struct bed *bed, unsigned flow)
{
	struct haul_bucket_stats st;

	ck_assert(haul_io_get_bucket_stats(bed->io, 0, k.bucket[flow], &st));
	return (unsigned)st.rx_packets;
}

static void count(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++)
		k.disorder += bed_number(pkts[i]) != k.handled++;
	k.on[rx->carrier] += n;
	haul_drop(rx, pkts, n, HAUL_DROP_CONSUMED);
}

/* A bucket moves to each carrier, also while the pollers are stopped, and stays there. */
START_TEST(a_bucket_stays_where_it_was_moved)
{
	struct haul_io_opts opts = {.on_burst = count, .spread = HAUL_SPREAD_ALL};
	unsigned flow, all = 0, on_1 = 0;
	struct bed bed;

	begin(&bed, HAUL_STEAL_OFF, true);
	flows_run(&bed, &opts, 0);
	flow = flow_on(&bed, 1);
	for (unsigned i = 0; i < 4; i++) {
		if (i == 2)
			ck_assert(flows_stop(&bed));
		ck_assert_int_eq(move(&bed, flow, i % 2), 0);
		if (i == 2)
			ck_assert_int_eq(
				haul_io_resume(bed.io, NULL, bed.errbuf, sizeof(bed.errbuf)), 0);
		send_flow(&bed, flow, all, 300);
		all += 300;
		on_1 += i % 2 * 300;
		WAIT_UNTIL(k.handled == all);
		ck_assert_uint_eq(k.on[1], on_1);
		ck_assert_uint_eq(received(&bed, flow), all);
	}
	ck_assert_uint_eq(k.disorder, 0);
	bed_close(&bed, HAUL_S);
}
END_TEST

static uint64_t held(const struct bed *bed)
{
	return hauli_counter_read(&bed->io->pollers[0]->rxqs[0].proxy->held.passed);
}

/* Keeps carrier 1 busy while packets are held, so that the move does not go on. */
static void *hog(void *arg)
{
	for (; k.goes; haul_yield())
		while (held(arg) > 0 && !k.released)
			sched_yield();
	return NULL;
}

static void *move_to_0(void *arg)
{
	struct sending *s = arg;

	ck_assert_int_eq(move(s->bed, s->flow, 0), 0);
	k.done = true;
	return NULL;
}

/* A move while packets come. Returns how many were held; 0: it was too fast. */
static uint64_t hold(struct sending *s)
{
	uint64_t polls, n;
	pthread_t mover;

	k.done = k.released = false;
	ck_assert_int_eq(pthread_create(&mover, NULL, move_to_0, s), 0);
	while (!k.done && held(s->bed) == 0) {
		send_flow(s->bed, s->flow, s->first++, 1);
		WAIT_UNTIL(received(s->bed, s->flow) == s->first);
	}
	polls = bed_stats(s->bed, 0, 0).held_polls;
	send_flow(s->bed, s->flow, s->first, 400);
	s->first += 400;
	WAIT_UNTIL(k.done || bed_stats(s->bed, 0, 0).held_polls > polls + 100);
	n = held(s->bed);
	k.released = true;
	pthread_join(mover, NULL);
	WAIT_UNTIL(k.handled == s->first);
	ck_assert_uint_eq(k.disorder, 0);
	ck_assert_uint_eq(held(s->bed), 0);
	return n;
}

/* While the first carrier is busy, a bounded number of packets is held, and the others stay in the
 * queue. */
START_TEST(a_bounded_number_is_held)
{
	struct haul_io_opts opts = {
		.on_burst = count, .spread = HAUL_SPREAD_ALL, .max_in_flight = 100};
	struct sending s;
	struct haul_coro *co;
	struct bed bed;
	uint64_t n;

	begin(&bed, HAUL_STEAL_OFF, true);
	flows_run(&bed, &opts, 0);
	s = (struct sending){.bed = &bed, .flow = flow_on(&bed, 1)};
	k.goes = true;
	ck_assert_int_eq(haul_spawn_on(haul_carrier(bed.rt, 1), &co, hog, &bed, NULL), 0);
	while ((n = hold(&s)) < 100) /* the carrier had been passed as many */
		ck_assert_int_eq(move(&bed, s.flow, 1), 0);
	ck_assert_uint_lt(n, 100 + 32); /* a burst more */
	k.goes = false;
	ck_assert_int_eq(haul_join(co, NULL, HAUL_FOREVER), 0);
	flows_stop(&bed);
	ck_assert_msg(bed_take_down(&bed) == 0, "%s", bed.errbuf);
}
END_TEST

static void wait_for_event(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	(void)haul_event_wait(&k.event, HAUL_FOREVER);
	count(rx, &pkt, 1);
}

/* On carrier 0, which passes on more packets than carrier 1 may have handlers. */
static void *raise_limit(void *arg)
{
	((struct bed *)arg)->io->pollers[0]->rxqs[0].max_in_flight = 1000;
	return NULL;
}

/* A carrier that may begin no more handlers keeps its buckets, and what was held of them. */
START_TEST(a_full_carrier_keeps_its_buckets)
{
	struct haul_io_opts opts = {.on_packet = wait_for_event, .max_in_flight = 60, .burst = 1};
	struct bed bed;
	unsigned flow;

	begin(&bed, HAUL_STEAL_OFF, true);
	flows_run(&bed, &opts, 0);
	flow = flow_on(&bed, 1);
	send_flow(&bed, flow, 0, 60);
	WAIT_UNTIL(bed_stats(&bed, 0, 1).in_flight == 60);
	ck_assert_int_eq(move(&bed, flow, 0), 0); /* all have begun */
	ck_assert_int_eq(move(&bed, flow, 1), 0);
	ck_assert_uint_eq(bed_stats(&bed, 0, 1).in_flight, 60);
	run_on(&bed, 0, raise_limit, &bed);
	send_flow(&bed, flow, 60, 10);
	WAIT_UNTIL(received(&bed, flow) == 70);
	ck_assert_int_eq(move(&bed, flow, 0), -EBUSY);
	ck_assert_uint_eq(carrier_of(&bed, flow), 1);
	haul_event_set(&k.event);
	WAIT_UNTIL(k.handled == 70);
	ck_assert_uint_eq(k.on[1], 70);
	flows_stop(&bed);
	ck_assert_msg(bed_take_down(&bed) == 0, "%s", bed.errbuf);
}
END_TEST

static int refused(struct bed *bed, unsigned port, unsigned bucket, unsigned carrier)
{
	int err;

	bed->errbuf[0] = '\0';
	err = haul_io_move_bucket(
		bed->io, port, bucket, carrier, HAUL_FOREVER, bed->errbuf, sizeof(bed->errbuf));
	ck_assert_uint_gt(strlen(bed->errbuf), 0);
	ck_assert_ptr_null(strchr(bed->errbuf, '\n'));
	return err;
}

static void *moves_itself(void *arg)
{
	ck_assert_int_eq(refused(arg, 0, 0, 1), -EPERM);
	return NULL;
}

START_TEST(wrong_moves_are_refused)
{
	struct haul_io_opts opts = {.on_packet = forward};
	struct haul_bucket_stats st;
	struct bed bed;

	begin(&bed, HAUL_STEAL_OFF, true);
	flows_run(&bed, &opts, 0);
	ck_assert_int_eq(refused(&bed, 2, 0, 0), -EINVAL);
	ck_assert_int_eq(refused(&bed, 0, HAUL_IO_BUCKETS, 0), -EINVAL);
	ck_assert_int_eq(refused(&bed, 0, 0, BED_CARRIERS), -EINVAL);
	run_on(&bed, 0, moves_itself, &bed);
	for (unsigned b = 0; b < HAUL_IO_BUCKETS; b++) {
		ck_assert(haul_io_get_bucket_stats(bed.io, 1, b, &st));
		ck_assert_uint_eq(st.carrier, b / (HAUL_IO_BUCKETS / 2)); /* halves, at first */
	}
	ck_assert(!haul_io_get_bucket_stats(bed.io, 1, HAUL_IO_BUCKETS, &st));
	ck_assert(!haul_io_get_bucket_stats(bed.io, 2, 0, &st));
	bed_close(&bed, HAUL_S);

	bed_open(&bed, (const char *const[]){"ring:", NULL}); /* a queue for each carrier */
	opts = bed_io_opts(&bed);
	opts.on_packet = forward;
	bed_start(&bed, &opts);
	ck_assert_int_eq(refused(&bed, 0, 0, 1), -EINVAL);
	ck_assert(!haul_io_get_bucket_stats(bed.io, 0, 0, &st));
	bed_close(&bed, HAUL_S);
}
END_TEST

BED_MAIN("io_bucket", {buckets_move_under_load, sizeof(ways) / sizeof(ways[0])},
	{a_bucket_stays_where_it_was_moved}, {a_bounded_number_is_held},
	{a_full_carrier_keeps_its_buckets}, {wrong_moves_are_refused})
