/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A bucket of flows moves from one carrier to another while packets flow. Both get their packets
 * from the same queue, whose carrier is their proxy (spread.h), or one of the two.
 *
 * All changes to a proxy's buckets are made by coroutines of its carrier, one move at a time. A
 * spread of a burst does not suspend, so such a coroutine finds each received packet handed over,
 * or in the hands of the proxy's own cycle:
 *
 *	mover               proxy's carrier                     first carrier
 *	spawn, join ------> the bucket leads to `held`
 *	                    spawn, join ----------------------> get_through(): waits until what it
 *	                                                        was passed before is through
 *	                    its transmit queue is emptied <---- returns
 *	                    hands over what is held, and lets
 *	       <----------- the bucket lead to the second one
 *
 * If the first carrier is the proxy itself, get_through() is a call. If the second one is, its
 * poller takes what was held before it receives anew (`back`). No step after the first needs
 * memory, but the spawns in the middle; if one fails, the bucket goes back with all that is held.
 * So nothing is lost, and no packet passes another of its bucket before both have a handler.
 *
 * The order of a flow. Packets are through when
 *	the first carrier has taken what it was passed: `passed` of that moment. It counts a packet
 *	as taken in the cycle that hands it to a handler.
 *	two cycles have ended since, and what these left in the run queue has begun (move.c).
 *	no handler is stolen, or in line behind a stolen one: those that have begun at home have now
 *	ended, or wait, and so have given up their position (HAUL_ORDER_FLOW, design/0006).
 *	the packets that were in the carrier's transmit queues have left these.
 *	each proxy that sends for the carrier has passed on what it had.
 * Handlers of other buckets begin all the time, so the number of those in flight says nothing here.
 * The first two steps wait for nothing but the carrier's own work, which the held packets would
 * have waited for, too. Only a carrier that begins no packets, as too many of its handlers wait,
 * could hold them for longer: then the move fails. So it does if a carrier does not begin a step in
 * the caller's time; packets are held meanwhile. The others wait for HAUL_IO_MOVE_MAX together on
 * each carrier, and for HAULI_MOVE_CYCLES cycles.
 *
 * No word is shared but counters, and words that are published for readers of statistics. So there
 * is no model: joins order all that the carriers did before what they do next.
 *
 * Tests: tests/net/io_bucket.c, fwd_move.py.
 */
#include "io/bucket.h"

#include <errno.h>
#include <stdio.h>

#include "base/assert.h"
#include "io/on_carrier.h"
#include "io/packet.h"

struct move {
	struct haul_io *io;
	unsigned port, bucket; /* of the proxy */
	unsigned from, to; /* carriers */
	struct hauli_tx_proxy *proxy;
	uint64_t timeout_ns; /* for each carrier to begin */
	uint64_t passed; /* to the first carrier, before it lost the bucket */
	int err; /* of the steps on carriers */
	char why[160]; /* the last error */
};

/* The target that the proxy has on a carrier; NULL: none, as on its own. */
static struct hauli_rps_target *target_on(const struct hauli_tx_proxy *proxy, unsigned carrier)
{
	for (unsigned i = 0; i < proxy->nb_targets; i++)
		if (proxy->targets[i]->rxq->rx.carrier == carrier)
			return proxy->targets[i];
	return NULL;
}

bool hauli_bucket_may_go(const struct hauli_tx_proxy *proxy, unsigned carrier)
{
	return carrier == haul_carrier_id(proxy->in.owner) || target_on(proxy, carrier);
}

/* True if the carrier has not taken all that was passed to it before. */
static bool has_left(const struct hauli_rxq *r, uint64_t passed)
{
	return r->target ? hauli_counter_read(&r->packets) < passed : r->proxy->back != NULL;
}

static bool is_full(const struct hauli_rxq *r)
{
	return r->on_packet && hauli_rxq_in_flight(r) >= r->max_in_flight;
}

/* False: the carrier begins no packets, as it has too many handlers that wait. */
static bool take_all(const struct hauli_poller *p, const struct hauli_rxq *r, uint64_t passed)
{
	uint64_t taken = hauli_counter_read(&r->packets), since = haul_now();

	while (p->runs && has_left(r, passed)) {
		if (!is_full(r) || hauli_counter_read(&r->packets) != taken) {
			taken = hauli_counter_read(&r->packets);
			since = haul_now();
		} else if (haul_now() - since >= HAUL_IO_MOVE_MAX) {
			return false;
		}
		haul_yield();
	}
	return true;
}

static uint64_t popped(const struct hauli_tx *tx)
{
	return hauli_counter_read(&tx->sent) + hauli_counter_read(&tx->refused) +
		hauli_counter_read(&tx->stopping);
}

static void wait_for_queue(const struct hauli_poller *p, const struct hauli_tx *tx,
	const struct hauli_move_limit *limit)
{
	uint64_t last = popped(tx) + hauli_txq_count(&tx->q);

	while (popped(tx) < last && !hauli_move_limit_is_over(p, limit))
		haul_yield();
}

/* On the first carrier. */
static void *get_through(void *arg)
{
	struct move *m = arg;
	struct hauli_poller *p = m->io->pollers[m->from];
	struct hauli_move_limit limit;

	if (!take_all(p, &p->rxqs[m->port], m->passed)) {
		m->err = -EBUSY;
		snprintf(m->why, sizeof(m->why),
			"carrier %u has as many handlers that wait as it may have, and begins no "
			"packets",
			m->from);
		return NULL;
	}
	hauli_wait_for_cycles(p, hauli_counter_read(&p->cycles) + 2);
	limit = hauli_move_limit(p);
	while (hauli_glue_any_stolen(p->carrier) && !hauli_move_limit_is_over(p, &limit))
		haul_yield();
	for (unsigned i = 0; i < p->nb_ports; i++)
		wait_for_queue(p, &p->txs[i], &limit);
	return NULL;
}

static bool is_empty(const struct hauli_tx_proxy *proxy)
{
	return proxy->first == proxy->end && hauli_handover_is_empty(&proxy->in);
}

/* On the carrier of a proxy: until it has passed on what its targets have handed over. */
static void *pass_on(void *arg)
{
	const struct hauli_rxq *r = arg;
	const struct hauli_tx_proxy *proxy = r->proxy;
	uint64_t emptied = hauli_counter_read(&proxy->emptied);
	struct hauli_move_limit limit = hauli_move_limit(r->poller);

	while (!is_empty(proxy) && hauli_counter_read(&proxy->emptied) == emptied &&
		!hauli_move_limit_is_over(r->poller, &limit))
		haul_yield();
	return NULL;
}

/* Runs fn on a carrier: that of the caller, or another one. */
static int run_on(struct move *m, unsigned carrier, haul_fn *fn, void *arg)
{
	const struct hauli_poller *p = m->io->pollers[carrier];
	int err = 0;

	if (p->carrier == haul_carrier_self())
		(void)fn(arg);
	else
		err = hauli_on_carrier(p, "move", fn, arg, m->timeout_ns);
	if (err)
		hauli_on_carrier_tell(p, err, m->why, sizeof(m->why));
	return err;
}

/* The packets that the first carrier has sent by way of others, on any port. */
static int pass_all_on(struct move *m)
{
	const struct haul_io *io = m->io;
	const struct hauli_poller *from = io->pollers[m->from];
	int err = 0;

	for (unsigned i = 0; i < from->nb_ports && !err; i++) {
		const struct hauli_rps_target *target = from->rxqs[i].target;
		unsigned carrier;

		if (!target)
			continue;
		carrier = haul_carrier_id(target->proxy->in.owner);
		err = run_on(m, carrier, pass_on, &io->pollers[carrier]->rxqs[i]);
	}
	return err;
}

/* Appends packets for the proxy itself to those that its poller has not taken yet. */
static void give_back(struct hauli_tx_proxy *proxy, struct hauli_bulk *bulk)
{
	struct hauli_node *oldest = NULL, *next, **at = &proxy->back;

	for (struct hauli_node *node = bulk->newest; node; node = next) {
		next = node->next;
		node->next = oldest;
		oldest = node;
	}
	*bulk = (struct hauli_bulk){NULL, NULL};
	while (*at)
		at = &(*at)->next;
	*at = oldest;
}

/* From now on a carrier has the bucket, and what was held of it. */
static void release(struct move *m, unsigned carrier)
{
	struct hauli_tx_proxy *proxy = m->proxy;
	struct hauli_rps_target *target = target_on(proxy, carrier);
	uint64_t n = hauli_counter_read(&proxy->held.passed);

	hauli_counter_add(&proxy->held.passed, -n);
	proxy->to[m->bucket] = target ? &target->pass : NULL;
	if (target)
		hauli_counter_add(&target->pass.passed, n);
	if (target && n > 0)
		hauli_handover_put(&target->in, &proxy->held.bulk);
	else if (n > 0)
		give_back(proxy, &proxy->held.bulk);
	hauli_u32_published_set(&proxy->carriers[m->bucket], carrier);
}

/* On the proxy's carrier. */
static void *change(void *arg)
{
	struct move *m = arg;
	const struct hauli_rps_target *from = target_on(m->proxy, m->from);
	int err;

	if (from)
		m->passed = hauli_counter_read(&from->pass.passed);
	m->proxy->to[m->bucket] = &m->proxy->held;
	err = run_on(m, m->from, get_through, m);
	if (!err && !m->err)
		err = pass_all_on(m);
	if (err)
		m->err = err;
	release(m, m->err ? m->from : m->to);
	return NULL;
}

/* One mover at a time. */
static int move(struct move *m, unsigned queue)
{
	int err;

	m->from = hauli_u32_published_get(&m->proxy->carriers[m->bucket]);
	if (m->from == m->to)
		return 0;
	/* before anything is held */
	err = run_on(m, m->from, hauli_answers, NULL);
	if (!err)
		err = run_on(m, m->to, hauli_answers, NULL);
	if (!err)
		err = run_on(m, queue, change, m);
	return err ? err : m->err;
}

/* The proxy of a bucket; NULL: the port has no such bucket. */
static struct hauli_tx_proxy *proxy_of(const struct haul_io *io, unsigned port, unsigned bucket)
{
	unsigned queue = bucket / HAUL_IO_BUCKETS;

	return port < io->opts.nb_ports ? hauli_proxy_of(io, port, queue) : NULL;
}

bool haul_io_get_bucket_stats(
	const struct haul_io *io, unsigned port, unsigned bucket, struct haul_bucket_stats *st)
{
	const struct hauli_tx_proxy *proxy;

	HAUL_MISUSE_IF(!io || !st, HAULI_NO_IO);
	proxy = proxy_of(io, port, bucket);
	if (!proxy)
		return false;
	bucket %= HAUL_IO_BUCKETS;
	st->carrier = hauli_u32_published_get(&proxy->carriers[bucket]);
	st->rx_packets = hauli_counter_read(&proxy->packets[bucket]);
	return true;
}

static int check(const struct haul_io *io, unsigned port, unsigned bucket, unsigned carrier,
	char *errbuf, size_t errlen)
{
	unsigned queue = bucket / HAUL_IO_BUCKETS;
	const struct hauli_tx_proxy *proxy = proxy_of(io, port, bucket);

	if (port >= io->opts.nb_ports)
		snprintf(errbuf, errlen, "haul_io_move_bucket: there is no port %u", port);
	else if (queue >= haul_port_queues(io->ports[port]))
		snprintf(errbuf, errlen, "haul_io_move_bucket: port %u has no bucket %u", port,
			bucket);
	else if (!proxy)
		snprintf(errbuf, errlen,
			"haul_io_move_bucket: packets of queue %u of port %u are not spread", queue,
			port);
	else if (!hauli_bucket_may_go(proxy, carrier))
		snprintf(errbuf, errlen,
			"haul_io_move_bucket: carrier %u gets no packets of queue %u of port %u",
			carrier, queue, port);
	else
		return 0;
	return -EINVAL;
}

int hauli_move_bucket(struct haul_io *io, unsigned port, unsigned bucket, unsigned carrier,
	uint64_t timeout_ns, char *why, size_t len)
{
	struct move m = {.io = io,
		.port = port,
		.bucket = bucket % HAUL_IO_BUCKETS,
		.to = carrier,
		.proxy = proxy_of(io, port, bucket),
		.timeout_ns = timeout_ns};
	int err = move(&m, bucket / HAUL_IO_BUCKETS);

	if (err)
		snprintf(why, len, "%s", m.why);
	return err;
}

int haul_io_move_bucket(struct haul_io *io, unsigned port, unsigned bucket, unsigned carrier,
	uint64_t timeout_ns, char *errbuf, size_t errlen)
{
	int err;

	HAUL_MISUSE_IF(!io, HAULI_NO_IO);
	err = check(io, port, bucket, carrier, errbuf, errlen);
	return err ? err
		   : hauli_move_one(io, __func__, hauli_move_bucket, port, bucket, carrier,
			     timeout_ns, errbuf, errlen);
}
