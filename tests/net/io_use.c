/* SPDX-License-Identifier: BSD-3-Clause */
/* Carriers are taken out of use and into it again while packets come: none is lost, those of a
 * queue keep their order, and a carrier that is spared does nothing. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include <rte_mbuf.h>

#include "io_bed.h"

#define TWO ((const char *const[]){"ring:", "ring:", NULL})
#define QUEUES 3 /* of each port: more than carriers */
#define TIMES 20 /* that carriers come and go in a run, at least */
#define PACKETS 4000 /* in each part of a run */

enum { FIRST = 1, SECOND = 2, BOTH = 3 }; /* sets of carriers */

static struct {
	atomic_uint next; /* number of the packet that must come next, of queue 0 */
	atomic_uint disorder, handled;
	atomic_uint on[BED_CARRIERS]; /* packets by carrier */
	atomic_uint calls[BED_CARRIERS]; /* of the source */
	atomic_bool goes;
	struct rte_mempool *pool;
} k;

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
	if (bed_number(pkt) % 3 == 0)
		haul_yield();
	k.on[rx->carrier]++;
	k.handled++;
	haul_drop(rx, &pkt, 1, HAUL_DROP_CONSUMED);
}

static int try_use(struct bed *bed, unsigned set)
{
	unsigned carriers[BED_CARRIERS], n = 0;

	for (unsigned c = 0; c < BED_CARRIERS; c++)
		if (set & (1u << c))
			carriers[n++] = c;
	bed->errbuf[0] = '\0';
	return haul_io_use(bed->io, carriers, n, HAUL_FOREVER, bed->errbuf, sizeof(bed->errbuf));
}

/* Queues of a port that carriers have, by carrier. */
static void count_queues(const struct bed *bed, unsigned port, unsigned has[BED_CARRIERS])
{
	struct haul_queue_stats st;

	memset(has, 0, BED_CARRIERS * sizeof(has[0]));
	for (unsigned q = 0; haul_io_get_queue_stats(bed->io, port, q, &st); q++)
		has[st.carrier]++;
}

static void use(struct bed *bed, unsigned set)
{
	unsigned has[BED_CARRIERS];

	ck_assert_msg(try_use(bed, set) == 0, "%s", bed->errbuf);
	for (unsigned c = 0; c < BED_CARRIERS; c++)
		ck_assert_int_eq(haul_io_is_used(bed->io, c), (set >> c) & 1);
	for (unsigned port = 0; port < bed->nb_ports; port++) {
		count_queues(bed, port, has);
		for (unsigned c = 0; c < BED_CARRIERS; c++)
			if (!(set & (1u << c)))
				ck_assert_uint_eq(has[c], 0);
		if (set == BOTH)
			ck_assert_int_le(abs((int)has[0] - (int)has[1]), 1);
	}
}

static void *send_all(void *arg)
{
	while (k.goes) {
		bed_send(arg, 0, 0, k.handled, PACKETS);
		WAIT_UNTIL(k.handled % PACKETS == 0);
	}
	return NULL;
}

static void run(struct bed *bed, const struct haul_io_opts *opts)
{
	static const unsigned sets[] = {FIRST, BOTH, SECOND, FIRST, SECOND, BOTH};
	pthread_t sender;

	k.goes = true;
	bed_start(bed, opts);
	ck_assert_int_eq(pthread_create(&sender, NULL, send_all, bed), 0);
	for (unsigned i = 0; i < TIMES || k.on[0] == 0 || k.on[1] == 0; i++) {
		use(bed, sets[i % (sizeof(sets) / sizeof(sets[0]))]);
		rte_delay_us_sleep(i % 4 * 50); /* at different moments of the flow */
	}
	k.goes = false;
	pthread_join(sender, NULL);
	ck_assert_uint_eq(k.disorder, 0);
	bed_close(bed, HAUL_S);
}

static const struct way {
	haul_burst_fn *on_burst;
	haul_packet_fn *on_packet;
	enum haul_poll_how how;
	enum haul_steal steal;
} ways[] = {
	{take_burst, NULL, HAUL_POLL_SPIN, HAUL_STEAL_OFF},
	{take_burst, NULL, HAUL_POLL_SLEEP, HAUL_STEAL_CLUSTER},
	{NULL, take_packet, HAUL_POLL_SPIN, HAUL_STEAL_OFF},
	{NULL, take_packet, HAUL_POLL_SLEEP, HAUL_STEAL_OFF},
	{NULL, take_late, HAUL_POLL_SPIN, HAUL_STEAL_GLOBAL},
};

START_TEST(carriers_come_and_go_under_load)
{
	const struct way *w = &ways[_i];
	struct bed bed;
	struct haul_io_opts opts = begin(&bed, QUEUES, w->steal);

	opts.on_burst = w->on_burst;
	opts.on_packet = w->on_packet;
	opts.policy.how = w->how;
	run(&bed, &opts);
}
END_TEST

static uint64_t polls_of(const struct bed *bed, unsigned carrier)
{
	return bed_stats(bed, 0, carrier).polls + bed_stats(bed, 1, carrier).polls;
}

static uint64_t asleep_ns(const struct bed *bed, unsigned carrier)
{
	struct haul_io_share share;

	haul_io_get_share(bed->io, carrier, &share);
	return share.asleep_ns;
}

/* Two looks between which the carrier has slept, and not polled. */
static bool waits(const struct bed *bed, unsigned carrier)
{
	uint64_t slept = asleep_ns(bed, carrier), polls = polls_of(bed, carrier);

	rte_delay_us_sleep(1000); /* between looks */
	return asleep_ns(bed, carrier) > slept && polls_of(bed, carrier) == polls;
}

/* Whatever its policy; after a stop and a resume, too; queues of its own, or those of another. */
START_TEST(a_spared_carrier_waits)
{
	struct bed bed;
	struct haul_io_opts opts = begin(&bed, _i ? QUEUES : 1, HAUL_STEAL_OFF);
	const struct haul_poll_policy spin = {.how = HAUL_POLL_SPIN};
	uint64_t polls;

	opts.on_packet = take_packet;
	opts.policy = spin;
	bed_start(&bed, &opts);
	use(&bed, FIRST);
	WAIT_UNTIL(waits(&bed, 1));
	ck_assert_int_eq(haul_io_set_policy(bed.io, HAUL_ALL, 1, &spin, HAUL_FOREVER, bed.errbuf,
				 sizeof(bed.errbuf)),
		0);
	WAIT_UNTIL(waits(&bed, 1));
	ck_assert_int_eq(haul_io_stop(bed.io, HAUL_S, bed.errbuf, sizeof(bed.errbuf)), 0);
	ck_assert_int_eq(haul_io_resume(bed.io, NULL, bed.errbuf, sizeof(bed.errbuf)), 0);
	WAIT_UNTIL(waits(&bed, 1));
	ck_assert(!haul_io_is_used(bed.io, 1));
	polls = polls_of(&bed, 1);
	use(&bed, BOTH);
	WAIT_UNTIL(polls_of(&bed, 1) > polls + 1000);
	bed_close(&bed, 0);
}
END_TEST

/* With packets to send a poller does not wait. */
static uint16_t makes_one(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	k.calls[rx->carrier]++;
	if (n == 0 || !(pkts[0] = rte_pktmbuf_alloc(k.pool)))
		return 0;
	(void)rte_pktmbuf_append(pkts[0], 60);
	return 1;
}

START_TEST(a_spared_carrier_calls_no_source)
{
	struct bed bed;
	struct haul_io_opts opts = begin(&bed, BED_CARRIERS, HAUL_STEAL_OFF);
	unsigned calls;

	opts.source = makes_one;
	k.pool = bed.pool;
	opts.on_burst = _i ? take_burst : NULL;
	bed_start(&bed, &opts);
	use(&bed, FIRST);
	WAIT_UNTIL(waits(&bed, 1));
	calls = k.calls[1];
	WAIT_UNTIL(waits(&bed, 1));
	ck_assert_uint_eq(k.calls[1], calls);
	use(&bed, BOTH);
	WAIT_UNTIL(k.calls[1] > calls + 1000);
	bed_close(&bed, 0);
}
END_TEST

static uint64_t stolen_by(const struct bed *bed, unsigned carrier)
{
	struct haul_carrier_stats st;

	haul_carrier_get_stats(haul_carrier(bed->rt, carrier), &st);
	return st.stolen;
}

static void pass_packets(struct bed *bed)
{
	bed_send(bed, 0, 0, k.handled, PACKETS);
	WAIT_UNTIL(k.handled % PACKETS == 0);
}

START_TEST(a_spared_carrier_does_not_steal)
{
	struct bed bed;
	struct haul_io_opts opts = begin(&bed, BED_CARRIERS, HAUL_STEAL_GLOBAL);
	uint64_t stolen;

	opts.on_packet = take_late;
	bed_start(&bed, &opts);
	use(&bed, FIRST);
	WAIT_UNTIL(waits(&bed, 1));
	stolen = stolen_by(&bed, 1);
	pass_packets(&bed);
	ck_assert_uint_eq(stolen_by(&bed, 1), stolen);
	use(&bed, BOTH);
	while (stolen_by(&bed, 1) == stolen)
		pass_packets(&bed);
	bed_close(&bed, HAUL_S);
}
END_TEST

static unsigned buckets_of(const struct bed *bed, unsigned port, unsigned carrier)
{
	struct haul_bucket_stats st;
	unsigned n = 0;

	for (unsigned b = 0; haul_io_get_bucket_stats(bed->io, port, b, &st); b++)
		n += st.carrier == carrier;
	return n;
}

static atomic_uint spawned_on[BED_CARRIERS];

static void *tell_where(void *arg)
{
	spawned_on[haul_carrier_id(haul_carrier_self())]++;
	return NULL;
}

/* From this thread, which is no carrier. */
static void spawn(struct bed *bed, bool round_robin, bool near)
{
	const struct haul_coro_opts opts = {
		.round_robin = round_robin, .near = near ? haul_carrier(bed->rt, 1) : NULL};
	struct haul_coro *co;

	memset(spawned_on, 0, sizeof(spawned_on));
	for (unsigned i = 0; i < 100; i++) {
		ck_assert_int_eq(haul_spawn_any(bed->rt, &co, tell_where, NULL, &opts), 0);
		ck_assert_int_eq(haul_join(co, NULL, HAUL_FOREVER), 0);
	}
}

START_TEST(a_spared_carrier_gets_no_coroutines)
{
	struct bed bed;
	struct haul_io_opts opts = begin(&bed, QUEUES, HAUL_STEAL_OFF);

	opts.on_burst = take_burst;
	bed_start(&bed, &opts);
	for (unsigned way = 0; way < 4; way++) {
		use(&bed, FIRST);
		spawn(&bed, way & 1, way & 2);
		ck_assert_uint_eq(spawned_on[0], 100);
		use(&bed, SECOND);
		spawn(&bed, way & 1, way & 2);
		ck_assert_uint_eq(spawned_on[1], 100);
		use(&bed, BOTH);
		spawn(&bed, way & 1, way & 2);
		if (way & 1) /* else by load */
			ck_assert_uint_eq(spawned_on[1], 50);
	}
	use(&bed, FIRST);
	ck_assert_int_eq(haul_io_stop(bed.io, 0, bed.errbuf, sizeof(bed.errbuf)), 0);
	spawn(&bed, true, false);
	ck_assert_uint_eq(spawned_on[1], 50);
	ck_assert_int_eq(haul_io_resume(bed.io, NULL, bed.errbuf, sizeof(bed.errbuf)), 0);
	spawn(&bed, true, false);
	ck_assert_uint_eq(spawned_on[1], 0);
	bed_close(&bed, 0);
}
END_TEST

START_TEST(buckets_move_with_their_carriers)
{
	struct bed bed;
	struct haul_io_opts opts = begin(&bed, 1, HAUL_STEAL_OFF);

	opts.on_packet = take_packet;
	bed_start(&bed, &opts);
	use(&bed, FIRST);
	for (unsigned port = 0; port < 2; port++)
		ck_assert_uint_eq(buckets_of(&bed, port, 0), HAUL_IO_BUCKETS);
	pass_packets(&bed);
	ck_assert_uint_eq(k.on[1], 0);
	use(&bed, BOTH);
	for (unsigned port = 0; port < 2; port++)
		for (unsigned c = 0; c < BED_CARRIERS; c++)
			ck_assert_uint_eq(buckets_of(&bed, port, c), HAUL_IO_BUCKETS / 2);
	ck_assert_int_eq(try_use(&bed, SECOND), -EINVAL); /* the queue is carrier 0's */
	ck_assert_ptr_nonnull(strstr(bed.errbuf, "queue 0 stays with carrier 0"));
	use(&bed, FIRST);
	ck_assert_int_eq(
		haul_io_move_bucket(bed.io, 0, 0, 1, HAUL_FOREVER, bed.errbuf, sizeof(bed.errbuf)),
		-EINVAL);
	ck_assert_ptr_nonnull(strstr(bed.errbuf, "carrier 1 is not in use"));
	bed_close(&bed, 0);
}
END_TEST

static void *uses(void *arg)
{
	return (void *)(intptr_t)try_use(arg, FIRST);
}

START_TEST(wrong_calls_are_refused)
{
	struct bed bed;
	struct haul_io_opts opts = begin(&bed, BED_CARRIERS, HAUL_STEAL_OFF);
	const unsigned none = BED_CARRIERS;
	struct haul_coro *co;
	void *err;

	opts.on_burst = take_burst;
	bed_start(&bed, &opts);
	ck_assert_int_eq(try_use(&bed, 0), -EINVAL);
	ck_assert_ptr_nonnull(strstr(bed.errbuf, "no carrier is named"));
	ck_assert_int_eq(
		haul_io_use(bed.io, &none, 1, HAUL_FOREVER, bed.errbuf, sizeof(bed.errbuf)),
		-EINVAL);
	ck_assert_ptr_nonnull(strstr(bed.errbuf, "carrier 2 has no poller"));
	ck_assert(!haul_io_is_used(bed.io, none));
	ck_assert_int_eq(haul_spawn_on(haul_carrier(bed.rt, 0), &co, uses, &bed, NULL), 0);
	ck_assert_int_eq(haul_join(co, &err, HAUL_FOREVER), 0);
	ck_assert_int_eq((int)(intptr_t)err, -EPERM);
	use(&bed, SECOND);
	ck_assert_int_eq(
		haul_io_move_queue(bed.io, 0, 0, 0, HAUL_FOREVER, bed.errbuf, sizeof(bed.errbuf)),
		-EINVAL);
	ck_assert_ptr_nonnull(strstr(bed.errbuf, "carrier 0 is not in use"));
	bed_close(&bed, 0);
}
END_TEST

BED_MAIN("io_use", {carriers_come_and_go_under_load, sizeof(ways) / sizeof(ways[0])},
	{a_spared_carrier_waits, 2}, {a_spared_carrier_calls_no_source, 2},
	{a_spared_carrier_does_not_steal}, {a_spared_carrier_gets_no_coroutines},
	{buckets_move_with_their_carriers}, {wrong_calls_are_refused})
