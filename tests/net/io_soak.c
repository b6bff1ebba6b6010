/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pollers and handlers at random: on two ring ports, whose packets come back until they are used
 * up, handlers wait, lock, open scopes and shields, pin themselves, pass packets to each other and
 * send, stolen or not; bursts forward; the pollers are stopped amid that, with little time or much,
 * and resumed with other options. Each stop is complete, and all packet buffers come back.
 *
 * A round is a function of its seed, but for the interleaving. A failure names the seed, and
 * HAUL_STRESS_SEED with it begins with that round.
 */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include <rte_mbuf.h>
#include <rte_mempool.h>

#include <haul/scope.h>
#include <haul/sync.h>

#include "io_bed.h"
#include "sched/state/coroutine.h"
#include "support/hang.h"
#include "support/stress.h"

#define SPARE 4096 /* packet buffers that no new packet takes */
#define HOPS 60
#define DEPTH 2

/* At the start of each packet. */
struct head {
	uint8_t eth[14];
	uint16_t hops; /* left */
	uint32_t number;
};

static struct {
	uint64_t seed;
	struct bed bed;
	struct haul_mutex mutex;
	uint64_t guarded;
	atomic_ulong locks, handled, bursts, remote;
	struct haul_sem sem;
	atomic_int units;
	struct haul_chan *chan;
	atomic_long alive, kept; /* handlers; packets in the channel */
	atomic_uint numbers;
} s;

static const char key;

static void wrong(const char *what, int line)
{
	fprintf(stderr,
		"%s:%d: wrong: %s (%s); HAUL_STRESS_SEED=%" PRIu64 " begins with this round\n",
		__FILE__, line, what, s.bed.errbuf, s.seed);
	if (s.bed.rt)
		haul_dump(s.bed.rt, stderr);
	abort();
}

#define RIGHT(condition) ((condition) ? (void)0 : wrong(#condition, __LINE__))

static struct head *head_of(struct rte_mbuf *pkt)
{
	return rte_pktmbuf_mtod(pkt, struct head *);
}

/* A new packet, or NULL: there are enough. */
static struct rte_mbuf *make_packet(void)
{
	struct rte_mbuf *pkt;
	struct head *head;

	if (rte_mempool_avail_count(s.bed.pool) < SPARE)
		return NULL;
	pkt = rte_pktmbuf_alloc(s.bed.pool);
	if (!pkt)
		return NULL;
	head = (struct head *)rte_pktmbuf_append(pkt, 64);
	memset(head, 0, 64);
	head->number = s.numbers++;
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

static bool done(int err)
{
	RIGHT(err == 0 || err == -EAGAIN || err == -ETIMEDOUT || err == -ECANCELED);
	return err == 0;
}

static uint64_t draw_deadline(struct hauli_random *random)
{
	return hauli_random_below(random, 4) ? haul_in(hauli_random_below(random, 100) * HAUL_US)
					     : 0;
}

static void do_some(struct hauli_random *random, unsigned depth);

static void locks(struct hauli_random *random)
{
	uint64_t before;

	if (hauli_random_below(random, 2))
		haul_mutex_lock(&s.mutex);
	else if (!done(haul_mutex_lock_by(&s.mutex, draw_deadline(random))))
		return;
	before = s.guarded;
	if (hauli_random_below(random, 4) == 0)
		haul_yield();
	s.guarded = before + 1;
	s.locks++;
	haul_mutex_unlock(&s.mutex);
}

static void takes_unit(struct hauli_random *random)
{
	if (!done(haul_sem_wait(&s.sem, draw_deadline(random))))
		return;
	RIGHT(s.units++ < 2);
	if (hauli_random_below(random, 2))
		haul_yield();
	s.units--;
	haul_sem_post(&s.sem);
}

static int child(void *arg)
{
	struct hauli_random random;

	RIGHT(haul_value(&key) == arg);
	hauli_random_init(&random, s.seed + s.numbers++);
	do_some(&random, DEPTH);
	return 0;
}

static void opens_scope(struct hauli_random *random, unsigned depth)
{
	HAUL_WITH(&key, random);
	HAUL_SCOPE(scope, draw_deadline(random), HAUL_SCOPE_ALL);
	RIGHT(haul_carrier_self() == haul_coro_home(haul_self()));
	if (hauli_random_below(random, 3) == 0)
		(void)haul_scope_spawn(&scope, child, random, NULL);
	do_some(random, depth);
}

static void is_shielded(struct hauli_random *random, unsigned depth)
{
	HAUL_SHIELD(haul_in(HAUL_S * 3600));
	RIGHT(!haul_cancelled());
	do_some(random, depth);
}

static void is_pinned(struct hauli_random *random)
{
	haul_pin();
	if (hauli_random_below(random, 2))
		haul_yield();
	RIGHT(haul_carrier_self() == haul_coro_home(haul_self()));
	haul_unpin();
}

static void computes(struct hauli_random *random)
{
	uint64_t until = haul_now() + hauli_random_below(random, 8) * HAUL_US;

	while (haul_now() < until)
		;
}

static void do_one(struct hauli_random *random, unsigned depth)
{
	switch (hauli_random_below(random, depth < DEPTH ? 8 : 6)) {
	case 0:
		haul_yield();
		break;
	case 1:
		done(haul_sleep(hauli_random_below(random, 80) * HAUL_US));
		break;
	case 2:
		locks(random);
		break;
	case 3:
		takes_unit(random);
		break;
	case 4:
		is_pinned(random);
		break;
	case 5:
		computes(random);
		break;
	case 6:
		opens_scope(random, depth + 1);
		break;
	default:
		is_shielded(random, depth + 1);
		break;
	}
}

static void do_some(struct hauli_random *random, unsigned depth)
{
	for (unsigned n = hauli_random_below(random, 3); n > 0; n--)
		do_one(random, depth);
}

/* Puts pkt into the channel, and takes another out of it, which may be NULL. */
static struct rte_mbuf *exchange(struct hauli_random *random, struct rte_mbuf *pkt)
{
	struct rte_mbuf *other = NULL;

	if (!done(haul_chan_send(s.chan, &pkt, draw_deadline(random))))
		return pkt;
	s.kept++;
	if (!done(haul_chan_recv(s.chan, &other, draw_deadline(random))))
		return NULL;
	s.kept--;
	return other;
}

static void send(struct hauli_random *random, struct haul_rx *rx, struct rte_mbuf *pkt)
{
	struct haul_txq *to = hauli_random_below(random, 2) ? rx->reply : rx->peer;

	switch (hauli_random_below(random, 3)) {
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

static void handle(struct haul_rx *rx, struct rte_mbuf *pkt)
{
	struct hauli_random random;

	s.alive++;
	s.remote += haul_carrier_self() != haul_coro_home(haul_self());
	hauli_random_init(&random, s.seed + head_of(pkt)->number * HOPS + head_of(pkt)->hops);
	hauli_random_next(&random);
	do_some(&random, 0);
	if (hauli_random_below(&random, 5) == 0)
		pkt = exchange(&random, pkt);
	if (pkt && head_of(pkt)->hops-- == 0)
		haul_drop(rx, &pkt, 1, HAUL_DROP_CONSUMED);
	else if (pkt)
		send(&random, rx, pkt);
	if (hauli_random_below(&random, 3) == 0)
		do_some(&random, 0);
	s.handled++;
	s.alive--;
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
	s.bursts++;
}

/* What a resume may change. coro: where the options of handlers go. */
static void draw_handlers(
	struct hauli_random *random, struct haul_io_opts *opts, struct haul_coro_opts *coro)
{
	*coro = (struct haul_coro_opts){
		.name = "soak", .pinned = hauli_random_below(random, 4) == 0};
	opts->coro = coro;
	opts->on_burst = hauli_random_below(random, 4) ? NULL : handle_burst;
	opts->on_packet = opts->on_burst ? NULL : handle;
	opts->policy.how = hauli_random_below(random, 2) ? HAUL_POLL_SPIN : HAUL_POLL_SLEEP;
	opts->max_in_flight =
		hauli_random_below(random, 2) ? 0 : 8 + hauli_random_below(random, 200);
	opts->count_bytes = hauli_random_below(random, 2);
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
	struct haul_txq *txq = haul_io_txq(s.bed.io, hauli_random_below(random, 2), carrier);
	struct haul_coro *co = NULL;

	if (txq)
		RIGHT(haul_spawn_on(haul_carrier(s.bed.rt, carrier), &co, injects, txq,
			      &(struct haul_coro_opts){.pinned = true}) == 0);
	return co;
}

static void stop_pollers(struct hauli_random *random)
{
	const uint64_t timeouts[] = {0, HAUL_MS, 20 * HAUL_MS, HAUL_S};
	struct haul_io_stats st;
	int err;

	usleep(hauli_random_below(random, 30000)); /* at any moment */
	do { /* again only where a carrier had no CPU for long */
		err = haul_io_stop(s.bed.io, timeouts[hauli_random_below(random, 4)], s.bed.errbuf,
			sizeof(s.bed.errbuf));
	} while (err == -ETIMEDOUT);
	RIGHT(err == 0);
	RIGHT(s.alive == 0);
	for (unsigned port = 0; port < 2; port++) {
		haul_io_get_stats(s.bed.io, port, HAUL_ALL, &st);
		RIGHT(st.in_flight == 0 && st.tx_queued == 0);
	}
}

static void run_pollers(struct hauli_random *random)
{
	struct haul_coro_opts coro;
	struct haul_io_opts opts = bed_io_opts(&s.bed);

	draw_handlers(random, &opts, &coro);
	opts.source = hauli_random_below(random, 2) ? source : NULL;
	opts.send_order = hauli_random_below(random, 2) ? HAUL_ORDER_FLOW : HAUL_ORDER_ANY;
	opts.times = hauli_random_below(random, 4) == 0;
	opts.spread =
		opts.source ? HAUL_SPREAD_OFF : (enum haul_io_spread)hauli_random_below(random, 3);
	bed_start(&s.bed, &opts);
	for (unsigned more = hauli_random_below(random, 4);; more--) {
		struct haul_coro *co = inject(random);

		stop_pollers(random);
		if (co)
			RIGHT(haul_join(co, NULL, HAUL_FOREVER) == 0);
		if (more == 0)
			return;
		draw_handlers(random, &opts, &coro);
		RIGHT(haul_io_resume(s.bed.io, &opts, s.bed.errbuf, sizeof(s.bed.errbuf)) == 0);
	}
}

static void close_books(void)
{
	struct rte_mbuf *pkt;

	while (haul_chan_recv(s.chan, &pkt, 0) == 0) {
		rte_pktmbuf_free(pkt);
		s.kept--;
	}
	haul_chan_destroy(s.chan);
	RIGHT(s.kept == 0 && s.guarded == s.locks && s.units == 0);
}

static void run_round(uint64_t seed)
{
	struct hauli_random random;

	hauli_random_init(&random, seed);
	hauli_random_next(&random);
	s.seed = seed;
	s.mutex = (struct haul_mutex){{0}};
	s.guarded = s.locks = 0;
	haul_sem_init(&s.sem, 2);
	RIGHT(haul_chan_create(
		      &s.chan, sizeof(struct rte_mbuf *), hauli_random_below(&random, 5)) == 0);
	bed_open_with(&s.bed, (const char *const[]){"ring:", "ring:", NULL},
		1 + hauli_random_below(&random, BED_CARRIERS),
		(enum haul_steal)(HAUL_STEALING ? hauli_random_below(&random, 3) : 0));
	run_pollers(&random);
	close_books();
	RIGHT(bed_take_down(&s.bed) == 0);
	s.bed.rt = NULL;
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
	fprintf(stderr, "rounds %u, handlers %lu, elsewhere %lu, bursts %lu\n", rounds, s.handled,
		s.remote, s.bursts);
}
END_TEST

BED_MAIN("io_soak", {each_stop_is_complete})
