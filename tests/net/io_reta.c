/* SPDX-License-Identifier: BSD-3-Clause */
/* Buckets of flows move from carrier to carrier by the redirection table of a NIC (reta_nic.h)
 * while packets come: none is lost, and those of a flow keep their order, also where they are
 * sent. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include <rte_ethdev.h>

#include <haul-dpdk/port_config.h>
#include <haul/sync.h>

#include "base/random.h"
#include "reta_nic.h"
#include "sched/state/coroutine.h" /* HAUL_STEALING */

#define QUEUES 3 /* of each port: more than carriers */
#define FLOWS 24
#define MOVES 12 /* of each run, at least */
/* That have not come back: they do not fill a port, for which no move waits for long. */
#define UNDER_WAY 900

static struct {
	struct bed bed;
	atomic_uint next[FLOWS]; /* least number of the packet that may come next */
	atomic_uint to_send[FLOWS]; /* the same, at the PMD of port 1 */
	atomic_uint disorder, handled, back;
	atomic_uint on[BED_CARRIERS]; /* packets by carrier */
	atomic_bool goes, disorder_is_right;
	atomic_bool is_full; /* port 1 takes nothing */
	atomic_uint moves;
	unsigned given;
	struct haul_event event;
	const struct rte_eth_rxtx_callback *looks[BED_CARRIERS];
} k;

static unsigned flow_of(unsigned number)
{
	return number % FLOWS;
}

/* Several flows share an entry. */
static unsigned entry_of(unsigned flow)
{
	return flow / 2 * 5;
}

static void comes(atomic_uint *next, unsigned number)
{
	k.disorder += atomic_exchange(&next[flow_of(number)], number + 1) > number;
}

/* In the thread that sends on the queue. */
static uint16_t look(uint16_t port, uint16_t queue, struct rte_mbuf **pkts, uint16_t n, void *arg)
{
	for (uint16_t i = 0; i < n && !k.disorder_is_right && !k.is_full; i++)
		comes(k.to_send, bed_number(pkts[i]));
	return k.is_full ? 0 : n;
}

static void begin(enum haul_steal steal)
{
	memset(&k, 0, sizeof(k));
	bed_open_with(&k.bed, (const char *const[]){"ring:", "ring:", NULL}, QUEUES,
		HAUL_STEALING ? steal : HAUL_STEAL_OFF);
	reta_nic_begin(k.bed.ports[0]);
	for (unsigned c = 0; c < BED_CARRIERS; c++) {
		struct haul_queue q = haul_port_queue(k.bed.ports[1], c);

		k.looks[c] = rte_eth_add_tx_callback(q.port_id, q.queue_id, look, NULL);
		ck_assert_ptr_nonnull(k.looks[c]);
	}
}

static void start(struct haul_io_opts *opts)
{
	opts->ports = k.bed.ports;
	opts->nb_ports = k.bed.nb_ports;
	opts->pool = k.bed.pool;
	bed_start(&k.bed, opts);
}

static void stop(void)
{
	ck_assert_msg(haul_io_stop(k.bed.io, HAUL_S, k.bed.errbuf, sizeof(k.bed.errbuf)) == 0, "%s",
		k.bed.errbuf);
}

static void end(void)
{
	stop();
	for (unsigned c = 0; c < BED_CARRIERS; c++) {
		struct haul_queue q = haul_port_queue(k.bed.ports[1], c);

		rte_eth_remove_tx_callback(q.port_id, q.queue_id, k.looks[c]);
	}
	reta_nic_end();
	ck_assert_msg(bed_take_down(&k.bed) == 0, "%s", k.bed.errbuf);
}

/* The next packet, of the flow that its number says. */
static void give(unsigned flow)
{
	struct rte_mbuf *pkt;

	while (flow_of(k.given) != flow)
		k.given++;
	pkt = bed_packet(&k.bed, k.given);
	rte_pktmbuf_mtod(pkt, char *)[11] = (char)flow; /* haul tells flows apart by it */
	while (!reta_nic_give(pkt, entry_of(flow)))
		sched_yield();
	k.given++;
}

static void give_some(unsigned flow, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		give(flow);
}

static struct haul_bucket_stats bucket(unsigned flow)
{
	struct haul_bucket_stats st;

	ck_assert(haul_io_get_bucket_stats(k.bed.io, 0, entry_of(flow), &st));
	ck_assert(!st.counted);
	ck_assert_uint_eq(st.queue, reta_nic_queue(entry_of(flow)));
	return st;
}

static int move(unsigned flow, unsigned carrier)
{
	int err = haul_io_move_bucket(k.bed.io, 0, entry_of(flow), carrier, HAUL_FOREVER,
		k.bed.errbuf, sizeof(k.bed.errbuf));

	ck_assert_msg(err == 0 || err == -EBUSY, "%s", k.bed.errbuf);
	if (!err)
		ck_assert_uint_eq(bucket(flow).carrier, carrier);
	return err;
}

static void move_queue(unsigned queue, unsigned carrier)
{
	ck_assert_msg(haul_io_move_queue(k.bed.io, 0, queue, carrier, HAUL_FOREVER, k.bed.errbuf,
			      sizeof(k.bed.errbuf)) == 0,
		"%s", k.bed.errbuf);
}

static void has_come(const struct haul_rx *rx, const struct rte_mbuf *pkt)
{
	comes(k.next, bed_number(pkt));
	k.on[rx->carrier]++;
	k.handled++;
}

static void forward_burst(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	if (rx->port == 1) {
		k.back += n;
		haul_drop(rx, pkts, n, HAUL_DROP_CONSUMED);
		return;
	}
	for (uint16_t i = 0; i < n; i++)
		has_come(rx, pkts[i]);
	haul_tx_burst(rx->peer, pkts, n);
}

static void forward(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	if (rx->port == 1) {
		k.back++;
		haul_drop(rx, &pkt, 1, HAUL_DROP_CONSUMED);
		return;
	}
	has_come(rx, pkt);
	haul_send_or_drop(rx, rx->peer, pkt);
}

/* Others may come before those that wait. */
static void forward_late(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	unsigned number = bed_number(pkt);

	if (rx->port == 1 || number / FLOWS % 3) {
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

/* Any bucket at any moment; and the third queue, with what it has. */
static void *move_all(void *arg)
{
	struct hauli_random random;

	hauli_random_init(&random, 1);
	for (unsigned i = 0; k.goes; i++) {
		unsigned flow = hauli_random_below(&random, FLOWS);

		if (move(flow, !bucket(flow).carrier) == 0)
			k.moves++;
		if (i % 4 == 0)
			move_queue(2, hauli_random_below(&random, BED_CARRIERS));
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
	{forward_burst, NULL, HAUL_POLL_SLEEP, HAUL_STEAL_OFF, false, 0},
	{NULL, forward, HAUL_POLL_SPIN, HAUL_STEAL_OFF, false, 0},
	{NULL, forward, HAUL_POLL_SLEEP, HAUL_STEAL_OFF, false, 32},
	{NULL, forward_late, HAUL_POLL_SPIN, HAUL_STEAL_OFF, true, 0},
	{NULL, forward, HAUL_POLL_SPIN, HAUL_STEAL_GLOBAL, true, 0},
};

START_TEST(buckets_move_under_load)
{
	const struct way *w = &ways[_i];
	struct haul_io_opts opts = {.on_burst = w->on_burst,
		.on_packet = w->on_packet,
		.policy.how = w->how,
		.max_in_flight = w->max_in_flight};
	pthread_t mover;

	begin(w->steal);
	k.disorder_is_right = w->late;
	start(&opts);
	k.goes = true;
	ck_assert_int_eq(pthread_create(&mover, NULL, move_all, NULL), 0);
	while (k.moves < MOVES || k.on[0] == 0 || k.on[1] == 0) {
		WAIT_UNTIL(k.given - k.back < UNDER_WAY);
		give(flow_of(k.given));
	}
	k.goes = false;
	pthread_join(mover, NULL);
	WAIT_UNTIL(k.back == k.given);
	ck_assert_uint_eq(k.handled, k.given);
	if (w->steal == HAUL_STEAL_OFF)
		ck_assert_uint_eq(k.disorder, 0);
	ck_assert_uint_eq(reta_nic_changes(), k.moves);
	end();
}
END_TEST

/* Another packet for each that was received: the queue is never empty. */
static uint16_t give_more(
	uint16_t port, uint16_t queue, struct rte_mbuf **pkts, uint16_t n, uint16_t max, void *arg)
{
	for (uint16_t i = 0; i < n && k.goes; i++)
		give(0);
	return n;
}

static void consume(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++)
		has_come(rx, pkts[i]);
	haul_drop(rx, pkts, n, HAUL_DROP_CONSUMED);
}

/* Buckets of a queue that always has packets move, in order. */
START_TEST(a_queue_is_never_empty)
{
	struct haul_io_opts opts = {.on_burst = consume};
	const struct rte_eth_rxtx_callback *more;
	struct haul_queue q;
	unsigned others = 2; /* a flow of another bucket */

	begin(HAUL_STEAL_OFF);
	reta_nic_set(entry_of(0), 0);
	reta_nic_set(entry_of(others), 0);
	q = haul_port_queue(k.bed.ports[0], 0);
	more = rte_eth_add_rx_callback(q.port_id, q.queue_id, give_more, NULL);
	ck_assert_ptr_nonnull(more);
	give_some(0, 100);
	give_some(others, 100);
	k.goes = true;
	start(&opts);
	WAIT_UNTIL(k.handled > 1000);
	ck_assert_int_eq(move(others, 1), 0);
	ck_assert_uint_ge(k.next[others], 100 * FLOWS); /* all have been received */
	k.goes = false;
	stop();
	rte_eth_remove_rx_callback(q.port_id, q.queue_id, more);
	ck_assert_uint_eq(k.disorder, 0);
	end();
}
END_TEST

/* A move waits for what the NIC has not taken yet, but not for long. */
START_TEST(a_full_nic_is_waited_for)
{
	struct haul_io_opts opts = {.on_burst = forward_burst};

	begin(HAUL_STEAL_OFF);
	start(&opts);
	for (unsigned i = 0; i < 4; i++) {
		uint64_t began;

		k.is_full = true;
		give_some(0, 10);
		WAIT_UNTIL(k.handled == k.back + 10);
		began = haul_now();
		ck_assert_int_eq(move(0, !bucket(0).carrier), 0);
		ck_assert_uint_ge(haul_now() - began, HAUL_IO_MOVE_MAX);
		k.is_full = false;
		WAIT_UNTIL(k.back == k.handled);
	}
	ck_assert_uint_eq(k.disorder, 0);
	end();
}
END_TEST

static void wait_for_event(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	(void)haul_event_wait(&k.event, HAUL_FOREVER);
	consume(rx, &pkt, 1);
}

#define MOST 60 /* handlers of a carrier */

static void begin_full(unsigned flow)
{
	struct haul_io_opts opts = {
		.on_packet = wait_for_event, .max_in_flight = 2 * MOST, .burst = 1};

	begin(HAUL_STEAL_OFF);
	start(&opts);
	move_queue(2, 1); /* so that carrier 0 has one queue */
	reta_nic_end();
	reta_nic_begin(k.bed.ports[0]);
	ck_assert_uint_eq(bucket(flow).queue, 0);
}

static unsigned in_flight(unsigned carrier)
{
	return (unsigned)bed_stats(&k.bed, 0, carrier).in_flight;
}

/* A carrier that may begin no more handlers keeps its buckets: nothing changes. */
START_TEST(a_full_carrier_keeps_its_buckets)
{
	begin_full(0);
	give_some(0, 2 * MOST);
	WAIT_UNTIL(in_flight(0) == 2 * MOST);
	ck_assert_int_eq(move(0, 1), -EBUSY);
	ck_assert_ptr_null(strchr(k.bed.errbuf, '\n'));
	ck_assert_uint_eq(reta_nic_changes(), 0);
	give_some(0, 10);
	ck_assert_int_eq(move(0, 1), -EBUSY);
	haul_event_set(&k.event);
	WAIT_UNTIL(k.handled == 2 * MOST + 10);
	ck_assert_uint_eq(k.on[0], k.handled);
	ck_assert_int_eq(move(0, 1), 0);
	end();
}
END_TEST

/* Fills the first carrier, and more. */
static void fill(unsigned entry, unsigned queue)
{
	if (reta_nic_changes() > 1)
		return; /* back */
	give_some(0, 2 * MOST + 10);
	WAIT_UNTIL(in_flight(0) == 2 * MOST);
}

/* If that happens after the change, the bucket goes back, and nothing is lost. */
START_TEST(a_bucket_goes_back)
{
	begin_full(0);
	reta_nic.in_change = fill;
	ck_assert_int_eq(move(0, 1), -EBUSY);
	ck_assert_uint_eq(reta_nic_changes(), 2);
	ck_assert_uint_eq(bucket(0).queue, 0);
	give_some(0, 10);
	haul_event_set(&k.event);
	WAIT_UNTIL(k.handled == 2 * MOST + 20);
	ck_assert_uint_eq(k.on[0], k.handled);
	give_some(1, 1); /* to a queue that was paused */
	reta_nic_set(entry_of(2), 1);
	give_some(2, 1);
	WAIT_UNTIL(k.on[1] > 0);
	end();
}
END_TEST

/* A bucket gets that queue of the carrier which has fewest of them; a table may change while
 * pollers are stopped. */
START_TEST(a_table_is_read_at_the_start)
{
	struct haul_io_opts opts = {.on_burst = consume};

	begin(HAUL_STEAL_OFF);
	for (unsigned i = 0; i < RETA_ENTRIES; i++)
		reta_nic_set(i, i < 100 ? 1 : 0);
	start(&opts);
	ck_assert_uint_eq(haul_io_buckets(k.bed.io, 0), RETA_ENTRIES);
	ck_assert_uint_eq(haul_io_buckets(k.bed.io, 1), 0);
	ck_assert_uint_eq(haul_io_buckets(k.bed.io, 2), 0);
	ck_assert(haul_io_can_move_bucket(k.bed.io, 0, RETA_ENTRIES - 1, 1));
	ck_assert(!haul_io_can_move_bucket(k.bed.io, 0, RETA_ENTRIES, 1));
	ck_assert(!haul_io_can_move_bucket(k.bed.io, 0, 0, BED_CARRIERS));
	ck_assert(!haul_io_can_move_bucket(k.bed.io, 1, 0, 1));
	ck_assert_int_eq(move(0, 0), 0);
	ck_assert_uint_eq(bucket(0).queue, 2);
	ck_assert_int_eq(move(0, 0), 0); /* is there */
	ck_assert_uint_eq(reta_nic_changes(), 1);
	stop();
	reta_nic_set(entry_of(2), 0);
	ck_assert_int_eq(haul_io_resume(k.bed.io, NULL, k.bed.errbuf, sizeof(k.bed.errbuf)), 0);
	ck_assert_uint_eq(bucket(2).carrier, 0);
	ck_assert_uint_eq(bucket(0).queue, 2);
	stop();
	ck_assert_int_eq(move(2, 1), 0); /* while no poller runs */
	ck_assert_int_eq(haul_io_resume(k.bed.io, NULL, k.bed.errbuf, sizeof(k.bed.errbuf)), 0);
	give_some(2, 100);
	WAIT_UNTIL(k.on[1] == 100);
	end();
}
END_TEST

/* The device of a port that comes back has a table of its own: buckets go where they were. */
START_TEST(a_port_comes_back)
{
	struct haul_io_opts opts = {.on_burst = consume};
	char *err = k.bed.errbuf;
	const size_t len = sizeof(k.bed.errbuf);

	begin(HAUL_STEAL_OFF);
	start(&opts);
	ck_assert_int_eq(move(0, 1), 0);
	ck_assert_int_eq(haul_io_detach_port(k.bed.io, 0, HAUL_FOREVER, err, len), 0);
	for (unsigned i = 0; i < RETA_ENTRIES; i++)
		reta_nic_set(i, 0);
	ck_assert_int_eq(haul_io_attach_port(k.bed.io, 0, HAUL_FOREVER, err, len), 0);
	for (unsigned i = 0; i < RETA_ENTRIES; i++)
		ck_assert_uint_eq(
			reta_nic_queue(i), i == entry_of(0) ? bucket(0).queue : i % QUEUES);
	ck_assert_uint_eq(bucket(0).carrier, 1);
	end();
}
END_TEST

static int refused(unsigned port, unsigned bucket_nb, unsigned carrier)
{
	int err;

	k.bed.errbuf[0] = '\0';
	err = haul_io_move_bucket(k.bed.io, port, bucket_nb, carrier, HAUL_FOREVER, k.bed.errbuf,
		sizeof(k.bed.errbuf));
	ck_assert_uint_gt(strlen(k.bed.errbuf), 0);
	ck_assert_ptr_null(strchr(k.bed.errbuf, '\n'));
	return err;
}

START_TEST(wrong_moves_are_refused)
{
	struct haul_io_opts opts = {.on_burst = consume};
	struct haul_bucket_stats st;

	begin(HAUL_STEAL_OFF);
	start(&opts);
	ck_assert_int_eq(refused(0, RETA_ENTRIES, 1), -EINVAL);
	ck_assert_int_eq(refused(0, 0, BED_CARRIERS), -EINVAL);
	ck_assert_int_eq(refused(1, 0, 1), -EINVAL);
	ck_assert_ptr_nonnull(strstr(k.bed.errbuf, "its device has no redirection table"));
	ck_assert(!haul_io_get_bucket_stats(k.bed.io, 0, RETA_ENTRIES, &st));
	ck_assert(!haul_io_get_bucket_stats(k.bed.io, 1, 0, &st));
	ck_assert(!haul_io_get_bucket_stats(k.bed.io, 2, 0, &st));
	reta_nic.error = -EIO;
	ck_assert_int_eq(refused(0, 0, 1), -EIO);
	ck_assert_ptr_nonnull(strstr(k.bed.errbuf, "refuses: Input/output error"));
	ck_assert_uint_eq(bucket(0).queue, 0);
	reta_nic.error = 0;
	give_some(0, 10);
	reta_nic_set(entry_of(2), 1);
	give_some(2, 10);
	WAIT_UNTIL(k.on[0] == 10 && k.on[1] == 10); /* no queue is paused */
	move_queue(1, 0);
	ck_assert_int_eq(refused(0, 0, 1), -EINVAL);
	ck_assert_ptr_nonnull(strstr(k.bed.errbuf, "carrier 1 polls no queue of port 0"));
	stop();
	reta_nic.rss_is_off = true;
	ck_assert_int_eq(haul_io_resume(k.bed.io, NULL, k.bed.errbuf, sizeof(k.bed.errbuf)), 0);
	ck_assert_uint_eq(haul_io_buckets(k.bed.io, 0), 0);
	ck_assert_int_eq(refused(0, 0, 1), -EINVAL);
	ck_assert_ptr_nonnull(strstr(k.bed.errbuf, "RSS is off"));
	end();
}
END_TEST

static unsigned null_queue(const struct haul_port *port, unsigned entry)
{
	struct rte_eth_rss_reta_entry64 groups[2] = {{.mask = UINT64_MAX}, {.mask = UINT64_MAX}};

	ck_assert_int_eq(
		rte_eth_dev_rss_reta_query(haul_port_queue(port, 0).port_id, groups, 128), 0);
	return groups[entry / 64].reta[entry % 64];
}

static void drop(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	haul_drop(rx, pkts, n, HAUL_DROP_CONSUMED);
}

/* The null PMD has a table, by which it spreads nothing, and queues that are never empty. */
START_TEST(the_null_pmd_has_a_table)
{
	struct haul_io_opts opts;
	struct bed *bed = &k.bed;

	memset(&k, 0, sizeof(k));
	bed_open(bed, (const char *const[]){"null:", NULL});
	opts = bed_io_opts(bed);
	opts.on_burst = drop;
	opts.stopped = true;
	bed_start(bed, &opts);
	ck_assert_uint_eq(haul_io_buckets(bed->io, 0), 0); /* RSS is off */
	ck_assert_msg(haul_port_set_rss(bed->ports[0], RTE_ETH_RSS_IP, NULL, 0, bed->errbuf,
			      sizeof(bed->errbuf)) == 0,
		"%s", bed->errbuf);
	ck_assert_int_eq(haul_io_resume(bed->io, NULL, bed->errbuf, sizeof(bed->errbuf)), 0);
	ck_assert_uint_eq(haul_io_buckets(bed->io, 0), 128);
	for (unsigned carrier = BED_CARRIERS; carrier-- > 0;) {
		ck_assert_msg(haul_io_move_bucket(bed->io, 0, 100, carrier, HAUL_FOREVER,
				      bed->errbuf, sizeof(bed->errbuf)) == 0,
			"%s", bed->errbuf);
		ck_assert_uint_eq(null_queue(bed->ports[0], 100), carrier);
		ck_assert_uint_eq(null_queue(bed->ports[0], 99), 0);
	}
	bed_close(bed, HAUL_S);
}
END_TEST

BED_MAIN("io_reta", {a_port_comes_back}, {buckets_move_under_load, sizeof(ways) / sizeof(ways[0])},
	{a_queue_is_never_empty}, {a_full_nic_is_waited_for}, {a_full_carrier_keeps_its_buckets},
	{a_bucket_goes_back}, {a_table_is_read_at_the_start}, {wrong_moves_are_refused},
	{the_null_pmd_has_a_table})
