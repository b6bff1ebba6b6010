/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pollers and handlers at random: on ring ports, whose packets come back until they are used up,
 * and null ports, which never run dry, handlers do what the soak does (tests/stress/soak_ops.c),
 * pass packets to each other and send, stolen or not; bursts forward; a plain thread dumps,
 * captures, and changes policies; the pollers are stopped amid that, with little time or much, and
 * resumed with other options. Each stop is complete, and all packet buffers come back.
 *
 * A round is a function of its seed, but for the interleaving. A failure names the seed, and
 * HAUL_STRESS_SEED with it begins with that round.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include <rte_mbuf.h>
#include <rte_mempool.h>

#include <haul-dpdk/capture.h>
#include <haul/sync.h>

#include "../stress/soak.h"
#include "reta_nic.h"
#include "sched/state/coroutine.h"
#include "support/hang.h"
#include "support/stress.h"

#define SPARE 4096 /* packet buffers that no new packet takes */
#define HOPS 60

/* At the start of each packet. */
struct head {
	uint8_t eth[14];
	uint16_t hops; /* left */
	uint32_t number;
};

static struct {
	struct bed bed;
	atomic_ulong handled, bursts, remote;
	uint64_t hibernations, rescues, moves, uses, detached, attached;
	struct haul_chan *chan;
	atomic_long handlers, kept; /* handlers that have not ended; packets in the channel */
	atomic_uint numbers;
	pthread_t thread;
	atomic_bool thread_goes;
} m;

static struct head *head_of(struct rte_mbuf *pkt)
{
	return rte_pktmbuf_mtod(pkt, struct head *);
}

/* A new packet, or NULL: there are enough. */
static struct rte_mbuf *make_packet(void)
{
	struct rte_mbuf *pkt;
	struct head *head;

	if (rte_mempool_avail_count(m.bed.pool) < SPARE)
		return NULL;
	pkt = rte_pktmbuf_alloc(m.bed.pool);
	if (!pkt)
		return NULL;
	head = (struct head *)rte_pktmbuf_append(pkt, 64);
	memset(head, 0, 64);
	head->number = m.numbers++;
	head->hops = (uint16_t)(head->number * 2654435761u % HOPS);
	head->eth[11] = (uint8_t)(head->number % 7); /* its flow */
	return pkt;
}

static uint16_t source(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t made = 0;

	for (; made < n && made < 4; made++) {
		pkts[made] = make_packet();
		if (!pkts[made])
			break;
	}
	return made;
}

/* Puts pkt into the channel, and takes another out of it, which may be NULL. */
static struct rte_mbuf *exchange(struct actor *a, struct rte_mbuf *pkt)
{
	struct rte_mbuf *other = NULL;

	if (!done(haul_chan_send(m.chan, &pkt, draw_deadline(a))))
		return pkt;
	m.kept++;
	if (!done(haul_chan_recv(m.chan, &other, draw_deadline(a))))
		return NULL;
	m.kept--;
	return other;
}

static void send(struct actor *a, struct haul_rx *rx, struct rte_mbuf *pkt)
{
	struct haul_txq *to = below(a, 2) ? rx->reply : rx->peer;

	switch (below(a, 3)) {
	case 0:
		if (haul_try_send(to, pkt) != 0)
			haul_drop(rx, &pkt, 1, HAUL_DROP_TX_FULL);
		break;
	case 1:
		if (haul_send(to, pkt) != 0)
			haul_drop(rx, &pkt, 1, HAUL_DROP_STOPPING);
		break;
	default:
		haul_send_or_drop(rx, to, pkt);
		break;
	}
}

/* Most handlers do not wait. */
static void does_some(struct actor *a)
{
	if (below(a, 4) == 0)
		soak_steps(a, below(a, 3));
	else
		soak_step_without_wait(a);
}

static void handle(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	struct actor a = actor(s.seed + m.numbers++, 0);

	m.handlers++;
	m.remote += haul_carrier_self() != haul_carrier(s.rt, rx->carrier);
	does_some(&a);
	if (below(&a, 10) == 0)
		pkt = exchange(&a, pkt);
	if (pkt && head_of(pkt)->hops-- == 0)
		haul_drop(rx, &pkt, 1, HAUL_DROP_CONSUMED);
	else if (pkt)
		send(&a, rx, pkt);
	if (below(&a, 3) == 0)
		does_some(&a);
	m.handled++;
	m.handlers--;
}

static void handle_burst(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t left = 0;

	for (uint16_t i = 0; i < n; i++) {
		if (head_of(pkts[i])->hops-- == 0)
			haul_drop(rx, &pkts[i], 1, HAUL_DROP_CONSUMED);
		else
			pkts[left++] = pkts[i];
	}
	haul_tx_burst(rx->reply, pkts, left);
	m.bursts++;
}

static void draw_policy(struct hauli_random *random, struct haul_poll_policy *policy)
{
	static const enum haul_poll_how how[] = {
		HAUL_POLL_SPIN, HAUL_POLL_SPIN, HAUL_POLL_SLEEP, HAUL_POLL_PAUSE};

	policy->how = how[hauli_random_below(random, 4)];
	if (!haul_poll_is_available(policy->how))
		policy->how = HAUL_POLL_SLEEP;
}

/* What a resume may change. coro: where the options of handlers go. */
static void draw_handlers(
	struct hauli_random *random, struct haul_io_opts *opts, struct haul_coro_opts *coro)
{
	*coro = (struct haul_coro_opts){
		.name = hauli_random_below(random, 2) ? "soak" : NULL,
		.stack_size = hauli_random_below(random, 4) ? 0 : 50 << 10,
		.pinned = hauli_random_below(random, 4) == 0,
		.hibernates = hauli_random_below(random, 2),
	};
	opts->coro = hauli_random_below(random, 4) ? coro : NULL;
	opts->on_burst = hauli_random_below(random, 6) ? NULL : handle_burst;
	opts->on_packet = opts->on_burst ? NULL : handle;
	opts->burst =
		hauli_random_below(random, 2) ? 0 : (uint16_t)(1 + hauli_random_below(random, 100));
	opts->max_in_flight =
		hauli_random_below(random, 8) == 0 ? 0 : 1 + hauli_random_below(random, 200);
	opts->count_bytes = hauli_random_below(random, 2);
	draw_policy(random, &opts->policy);
}

/* A coroutine of the program that sends, too. */
static void *injects(void *arg)
{
	struct haul_txq *txq = arg;

	for (unsigned i = 0; i < 200; i++) {
		struct rte_mbuf *pkt = make_packet();

		if (pkt && haul_send(txq, pkt) != 0) {
			rte_pktmbuf_free(pkt);
			break;
		}
	}
	return NULL;
}

static struct haul_coro *inject(struct hauli_random *random)
{
	unsigned carrier = hauli_random_below(random, BED_CARRIERS);
	struct haul_txq *txq = haul_io_txq(m.bed.io, hauli_random_below(random, 2), carrier);
	struct haul_coro *co = NULL;

	if (txq)
		RIGHT(haul_spawn_on(haul_carrier(m.bed.rt, carrier), &co, injects, txq,
			      &(struct haul_coro_opts){.pinned = true}) == 0);
	return co;
}

static void captures(struct actor *a)
{
	const struct haul_capture_opts opts = {.ports = m.bed.ports,
		.nb_ports = m.bed.nb_ports,
		.carriers = s.carriers,
		.file = "/dev/null",
		.ring_bytes = 128 << 10,
		.snaplen = below(a, 2) * 64};
	struct haul_capture_stats st;
	struct haul_capture *capture;
	char why[256];
	int err;

	RIGHT(haul_capture_open(&capture, &opts, why, sizeof(why)) == 0);
	err = haul_capture_start(capture, m.bed.io, why, sizeof(why));
	RIGHT(err == 0 || err == -ECANCELED);
	usleep(below(a, 1000)); /* at any moment */
	if (err == 0) {
		err = haul_capture_stop(capture, why, sizeof(why));
		RIGHT(err == 0 || err == -ECANCELED);
	}
	while ((err = haul_capture_close(capture, HAUL_S, &st, why, sizeof(why))) == -EBUSY)
		(void)haul_capture_stop(capture, why, sizeof(why));
	RIGHT(err == 0);
}

static bool changed(int err)
{
	RIGHT(err == 0 || err == -ECANCELED || err == -ETIMEDOUT);
	return err == 0;
}

/* Of a change: some are taken back at the moment at which their carrier begins them. */
static uint64_t patience(struct hauli_random *random)
{
	static const uint64_t times[] = {0, 20 * HAUL_US, 100 * HAUL_US, HAUL_MS, HAUL_FOREVER};

	return times[hauli_random_below(random, sizeof(times) / sizeof(times[0]))];
}

static void looks_around(struct actor *a)
{
	struct haul_io_waits waits[BED_CARRIERS];
	struct haul_io_stats st;
	struct haul_io_share share;

	haul_io_get_stats(m.bed.io, 0, HAUL_ALL, &st);
	haul_io_get_waits(m.bed.io, waits, s.carriers);
	haul_io_get_share(m.bed.io, below(a, s.carriers), &share);
}

static void *acts_outside(void *seed)
{
	struct actor a = actor((uintptr_t)seed, 0);
	FILE *nowhere = fopen("/dev/null", "w");
	struct haul_poll_policy policy = {0};
	char why[256];

	while (m.thread_goes) {
		switch (below(&a, 40)) {
		case 0:
			haul_dump(s.rt, nowhere);
			break;
		case 1:
			haul_trim(s.rt);
			break;
		case 2:
			captures(&a);
			break;
		case 3:
			draw_policy(&a.random, &policy);
			changed(haul_io_set_policy(m.bed.io, 0, HAUL_ALL, &policy,
				patience(&a.random), why, sizeof(why)));
			break;
		case 4:
			changed(haul_io_set_burst(m.bed.io, (uint16_t)(1 + below(&a, 64)),
				patience(&a.random), why, sizeof(why)));
			break;
		case 5:
			looks_around(&a);
			break;
		case 6:
			soak_is_traced(&a);
			break;
		default:
			soak_from_outside(&a);
			break;
		}
	}
	fclose(nowhere);
	return NULL;
}

static void begin_outside(struct hauli_random *random)
{
	m.thread_goes = true;
	RIGHT(pthread_create(&m.thread, NULL, acts_outside,
		      (void *)(uintptr_t)(hauli_random_next(random) >> 8)) == 0);
}

static void stop_pollers(struct hauli_random *random)
{
	const uint64_t timeouts[] = {0, HAUL_MS, 20 * HAUL_MS, HAUL_S};
	struct haul_io_stats st;
	int err;

	usleep(hauli_random_below(random, 30000)); /* at any moment */
	if (hauli_random_below(random, 2))
		m.thread_goes = false;
	do { /* again only where a carrier had no CPU for long */
		err = haul_io_stop(m.bed.io, timeouts[hauli_random_below(random, 4)], m.bed.errbuf,
			sizeof(m.bed.errbuf));
	} while (err == -ETIMEDOUT);
	if (err)
		fprintf(stderr, "%s\n", m.bed.errbuf);
	RIGHT(err == 0);
	m.thread_goes = false;
	pthread_join(m.thread, NULL);
	RIGHT(m.handlers == 0);
	for (unsigned port = 0; port < m.bed.nb_ports; port++) {
		haul_io_get_stats(m.bed.io, port, HAUL_ALL, &st);
		RIGHT(st.in_flight == 0 && st.tx_queued == 0);
	}
}

/* -EINVAL is right for one that is spared. */
static bool all_in_use(void)
{
	for (unsigned c = 0; c < BED_CARRIERS; c++)
		if (!haul_io_is_used(m.bed.io, c))
			return false;
	return true;
}

/* Of ports that are spread, and of the NIC with a table, where the carrier may have no queue. */
static void move_bucket(struct hauli_random *random, unsigned port)
{
	unsigned bucket =
		hauli_random_below(random, haul_port_queues(m.bed.ports[port]) * HAUL_IO_BUCKETS);
	unsigned carrier = hauli_random_below(random, BED_CARRIERS);
	int err = haul_io_move_bucket(m.bed.io, port, bucket, carrier, patience(random),
		m.bed.errbuf, sizeof(m.bed.errbuf));
	struct haul_bucket_stats st;

	if (haul_io_get_bucket_stats(m.bed.io, port, bucket, &st))
		RIGHT(err == -EBUSY || err == -ETIMEDOUT ||
			(err == -EINVAL && (!all_in_use() || !st.counted)) ||
			(err == 0 && st.carrier == carrier));
	else
		RIGHT(err == -EINVAL);
	m.moves += err == 0;
}

/* Queues that are spread stay where they are, and so does their carrier. */
static void use_some(struct hauli_random *random)
{
	unsigned n = 1 + hauli_random_below(random, BED_CARRIERS);
	unsigned carriers[BED_CARRIERS] = {hauli_random_below(random, BED_CARRIERS)};
	int err;

	for (unsigned i = 1; i < n; i++)
		carriers[i] = hauli_random_below(random, BED_CARRIERS);
	err = haul_io_use(
		m.bed.io, carriers, n, patience(random), m.bed.errbuf, sizeof(m.bed.errbuf));
	RIGHT(err == 0 || err == -EBUSY || err == -ETIMEDOUT ||
		(err == -EINVAL && haul_port_queues(m.bed.ports[0]) < BED_CARRIERS));
	m.uses += err == 0;
	for (unsigned i = 0; i < n && err == 0; i++)
		RIGHT(haul_io_is_used(m.bed.io, carriers[i]));
}

/* The handlers go on, and send to it. */
static void detach(struct hauli_random *random)
{
	unsigned port = hauli_random_below(random, m.bed.nb_ports);
	int err = haul_io_detach_port(
		m.bed.io, port, patience(random), m.bed.errbuf, sizeof(m.bed.errbuf));

	RIGHT(err == 0 || err == -ETIMEDOUT);
	RIGHT(err || !haul_io_is_attached(m.bed.io, port));
	m.detached += err == 0;
}

/* A port may have been detached before, or not: carriers poll it then. */
static void attach(struct hauli_random *random)
{
	unsigned port = hauli_random_below(random, m.bed.nb_ports);
	bool was = haul_io_is_attached(m.bed.io, port);
	int err = haul_io_attach_port(
		m.bed.io, port, patience(random), m.bed.errbuf, sizeof(m.bed.errbuf));

	RIGHT(err == 0 || (err == -ETIMEDOUT && !was));
	RIGHT(haul_io_is_attached(m.bed.io, port) == (err == 0));
	m.attached += err == 0 && !was;
}

/* At any moment. Queues of ports that are spread stay. */
static void move_queues(struct hauli_random *random)
{
	for (unsigned n = hauli_random_below(random, 6); n > 0; n--) {
		unsigned port = hauli_random_below(random, m.bed.nb_ports);
		unsigned queues = haul_port_queues(m.bed.ports[port]);
		int err = haul_io_move_queue(m.bed.io, port, hauli_random_below(random, queues),
			hauli_random_below(random, BED_CARRIERS), patience(random), m.bed.errbuf,
			sizeof(m.bed.errbuf));

		RIGHT(err == 0 || err == -ETIMEDOUT ||
			(err == -EINVAL && (queues < BED_CARRIERS || !all_in_use())));
		m.moves += err == 0;
		move_bucket(random, port);
		if (hauli_random_below(random, 3) == 0)
			use_some(random);
		if (hauli_random_below(random, 12) == 0)
			detach(random);
		if (hauli_random_below(random, 8) == 0)
			attach(random);
		usleep(hauli_random_below(random, 2000)); /* at any moment */
	}
}

static void run_pollers(struct hauli_random *random)
{
	struct haul_coro_opts coro;
	struct haul_io_opts opts = bed_io_opts(&m.bed);

	draw_handlers(random, &opts, &coro);
	opts.source = hauli_random_below(random, 2) ? source : NULL;
	opts.send_order = hauli_random_below(random, 2) ? HAUL_ORDER_FLOW : HAUL_ORDER_ANY;
	opts.times = hauli_random_below(random, 4) == 0;
	opts.spread =
		opts.source ? HAUL_SPREAD_OFF : (enum haul_io_spread)hauli_random_below(random, 3);
	bed_start(&m.bed, &opts);
	for (unsigned more = hauli_random_below(random, 4);; more--) {
		struct haul_coro *co = inject(random);

		begin_outside(random);
		move_queues(random);
		stop_pollers(random);
		if (co)
			RIGHT(haul_join(co, NULL, HAUL_FOREVER) == 0);
		if (more == 0)
			return;
		move_queues(random); /* while no poller runs */
		draw_handlers(random, &opts, &coro);
		RIGHT(haul_io_resume(m.bed.io, &opts, m.bed.errbuf, sizeof(m.bed.errbuf)) == 0);
	}
}

static void open_bed(struct hauli_random *random)
{
	static const char *const specs[][3] = {
		{"ring:", "ring:", NULL}, {"ring:", "ring:", NULL}, {"null:", "ring:", NULL}};
	struct haul_runtime_opts opts = {
		.steal = (enum haul_steal)(HAUL_STEALING ? hauli_random_below(random, 5) / 2 : 0),
		.fds = (enum haul_fds)hauli_random_below(random, 3),
		.watchdog_ns = hauli_random_below(random, 2) ? HAUL_FOREVER : 0,
		.round_ns = hauli_random_below(random, 4) ? 0 : 1,
		.poll_interval_ns = hauli_random_below(random, 4) ? 0 : 1,
		.stack_marks = hauli_random_below(random, 8) == 0,
		.hibernate_after_ns = hauli_random_below(random, 2),
		.trace_events = hauli_random_below(random, 2)
			<< (10 + hauli_random_below(random, 8))};

	const char *const *specs_of_round;

	if (opts.steal != HAUL_STEAL_OFF)
		opts.rescue_after_ns = soak_draw_rescue(random);
	s.hibernates = opts.hibernate_after_ns > 0;
	specs_of_round = specs[hauli_random_below(random, 3)];
	bed_open_opts(
		&m.bed, specs_of_round, 1 + hauli_random_below(random, 2 * BED_CARRIERS), &opts);
	if (specs_of_round[0][0] == 'r' && hauli_random_below(random, 2))
		reta_nic_begin(m.bed.ports[0]);
	s.rt = m.bed.rt;
	s.carriers = BED_CARRIERS;
	s.has_pollers = true;
}

static void close_chan(void)
{
	struct rte_mbuf *pkt;

	while (haul_chan_recv(m.chan, &pkt, 0) == 0) {
		rte_pktmbuf_free(pkt);
		m.kept--;
	}
	haul_chan_destroy(m.chan);
	RIGHT(m.kept == 0);
}

static void count_slices(void)
{
	for (unsigned i = 0; i < haul_carriers(s.rt); i++) {
		struct haul_carrier_stats st;

		haul_carrier_get_stats(haul_carrier(s.rt, i), &st);
		m.hibernations += st.hibernations;
		m.rescues += st.rescues;
	}
}

static void run_round(uint64_t seed)
{
	struct hauli_random random;
	int err;

	hauli_random_init(&random, seed);
	hauli_random_next(&random);
	soak_open(seed);
	RIGHT(haul_chan_create(
		      &m.chan, sizeof(struct rte_mbuf *), hauli_random_below(&random, 5)) == 0);
	open_bed(&random);
	run_pollers(&random);
	count_slices();
	soak_check_timelines();
	close_chan();
	RIGHT((hauli_random_below(&random, 4) == 0 && haul_stop(m.bed.rt, 0) == 0) ||
		haul_stop(m.bed.rt, HAUL_FOREVER) == 0);
	s.rt = NULL;
	reta_nic_end();
	soak_close();
	err = bed_put_down(&m.bed);
	if (err)
		fprintf(stderr, "%s\n", m.bed.errbuf);
	RIGHT(err == 0);
}

START_TEST(each_stop_is_complete)
{
	uint64_t deadline = stress_deadline(), seed = stress_seed();
	unsigned rounds = 0;

	do {
		hang_watch();
		run_round(seed++);
		rounds++;
	} while (haul_now() < deadline);
	hang_ends();
	fprintf(stderr,
		"rounds %u, handlers %lu, elsewhere %lu, bursts %lu, hibernations %" PRIu64
		", rescues %" PRIu64 ", moves %" PRIu64 ", uses %" PRIu64
		", ports detached %" PRIu64 ", attached %" PRIu64 "\n",
		rounds, m.handled, m.remote, m.bursts, m.hibernations, m.rescues, m.moves, m.uses,
		m.detached, m.attached);
	soak_tell_timelines();
}
END_TEST

BED_MAIN("io_soak", {each_stop_is_complete})
