/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buckets of flows move from one carrier to another while packets flow. Both get their packets
 * from the same queue, whose carrier is their proxy (spread.h), or one of the two. A move takes a
 * bucket, or any number of those that the two have of that queue.
 *
 * All changes to a proxy's buckets are made by coroutines of its carrier, one move at a time. A
 * spread of a burst does not suspend, so such a coroutine finds each received packet handed over,
 * or in the hands of the proxy's own cycle:
 *
 *	mover               proxy's carrier                     first carrier
 *	spawn, join ------> the buckets lead to `held`
 *	                    spawn, join ----------------------> get_through(): waits until what it
 *	                                                        was passed before is through
 *	                    its transmit queue is emptied <---- returns
 *	                    hands over what is held, and lets
 *	       <----------- the buckets lead to the second one
 *
 * If the first carrier is the proxy itself, get_through() is a call. If the second one is, its
 * poller takes what was held before it receives anew (`back`). No step after the first needs
 * memory, but the spawns in the middle; if one fails, the buckets go back with all that is held.
 * So nothing is lost, and no packet passes another of its bucket before both have a handler.
 *
 * The order of a flow. Packets are through when
 *	the first carrier has taken what it was passed: `passed` of that moment. It counts a packet
 *	as taken in the cycle that hands it to a handler.
 *	what it has taken is through (through.h).
 *	each proxy that sends for the carrier has passed on what it had.
 * The first step, and the cycles of the second one, wait for nothing but the carrier's own work,
 * which the held packets would have waited for, too. Only a carrier that begins no packets, as too
 * many of its handlers wait, could hold them for longer: then the move fails. So it does if a
 * carrier does not begin a step in the caller's time; packets are held meanwhile.
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
#include "io/entries.h"
#include "io/on_carrier.h"
#include "io/packet.h"
#include "io/reta.h"
#include "io/through.h"
#include "port/reta.h"

struct move {
	struct haul_io *io;
	unsigned port;
	const bool *buckets; /* of the proxy: those that move */
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
static bool has_left(const struct hauli_rxq *r, const void *arg)
{
	const uint64_t *passed = arg;

	return r->target ? hauli_counter_read(&r->packets) < *passed : r->proxy->back != NULL;
}

/* On the first carrier. */
static void *get_through(void *arg)
{
	struct move *m = arg;
	const struct hauli_poller *p = m->io->pollers[m->from];

	m->err = hauli_take_all(p, &p->rxqs[m->port], has_left, &m->passed, m->why, sizeof(m->why));
	if (!m->err)
		hauli_get_through(p);
	return NULL;
}

static int run_on(struct move *m, unsigned carrier, haul_fn *fn)
{
	return hauli_move_on(m->io, carrier, fn, m, m->timeout_ns, m->why, sizeof(m->why));
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

/* Where packets of the buckets go; NULL: the proxy keeps them. */
static void set_way(const struct move *m, struct hauli_pass *way)
{
	for (unsigned b = 0; b < HAUL_IO_BUCKETS; b++)
		if (m->buckets[b])
			m->proxy->to[b] = way;
}

/* From now on a carrier has the buckets, and what was held of them. */
static void release(struct move *m, unsigned carrier)
{
	struct hauli_tx_proxy *proxy = m->proxy;
	struct hauli_rps_target *target = target_on(proxy, carrier);
	uint64_t n = hauli_counter_read(&proxy->held.passed);

	hauli_counter_add(&proxy->held.passed, -n);
	set_way(m, target ? &target->pass : NULL);
	if (target)
		hauli_counter_add(&target->pass.passed, n);
	if (target && n > 0)
		hauli_handover_put(&target->in, &proxy->held.bulk);
	else if (n > 0)
		give_back(proxy, &proxy->held.bulk);
	for (unsigned b = 0; b < HAUL_IO_BUCKETS; b++)
		if (m->buckets[b])
			hauli_u32_published_set(&proxy->carriers[b], carrier);
}

/* On the proxy's carrier. */
static void *change(void *arg)
{
	struct move *m = arg;
	const struct hauli_rps_target *from = target_on(m->proxy, m->from);
	int err;

	if (from)
		m->passed = hauli_counter_read(&from->pass.passed);
	set_way(m, &m->proxy->held);
	err = run_on(m, m->from, get_through);
	if (!err && !m->err)
		err = hauli_pass_all_on(m->io, m->from, m->timeout_ns, m->why, sizeof(m->why));
	if (err)
		m->err = err;
	release(m, m->err ? m->from : m->to);
	return NULL;
}

/* One mover at a time. */
static int move(struct move *m, unsigned queue)
{
	int err;

	/* before anything is held */
	err = run_on(m, m->from, hauli_answers);
	if (!err)
		err = run_on(m, m->to, hauli_answers);
	if (!err)
		err = run_on(m, queue, change);
	return err ? err : m->err;
}

/* The proxy of a bucket; NULL: no software spreads the packets of that queue. */
static struct hauli_tx_proxy *proxy_of(const struct haul_io *io, unsigned port, unsigned bucket)
{
	return hauli_proxy_of(io, port, bucket / HAUL_IO_BUCKETS);
}

unsigned haul_io_buckets(const struct haul_io *io, unsigned port)
{
	unsigned queues, spread = 0;

	HAUL_MISUSE_IF(!io, HAULI_NO_IO);
	if (port >= io->opts.nb_ports)
		return 0;
	queues = haul_port_queues(io->ports[port]);
	for (unsigned q = 0; q < queues; q++)
		spread |= hauli_proxy_of(io, port, q) != NULL;
	return spread ? queues * HAUL_IO_BUCKETS : hauli_entries_count(io, port);
}

bool haul_io_get_bucket_stats(
	const struct haul_io *io, unsigned port, unsigned bucket, struct haul_bucket_stats *st)
{
	const struct hauli_tx_proxy *proxy;

	HAUL_MISUSE_IF(!io || !st, HAULI_NO_IO);
	if (bucket >= haul_io_buckets(io, port))
		return false;
	*st = (struct haul_bucket_stats){.queue = bucket / HAUL_IO_BUCKETS};
	if (hauli_entries_count(io, port)) {
		st->queue = hauli_entry_queue(io, port, bucket);
		st->carrier = hauli_u32_published_get(&io->owners[port][st->queue]);
		return true;
	}
	proxy = proxy_of(io, port, bucket);
	if (!proxy)
		return false;
	bucket %= HAUL_IO_BUCKETS;
	st->carrier = hauli_u32_published_get(&proxy->carriers[bucket]);
	st->counted = true;
	st->rx_packets = hauli_counter_read(&proxy->packets[bucket]);
	return true;
}

static bool has_queue(const struct haul_io *io, unsigned port, unsigned carrier)
{
	for (unsigned q = 0; q < haul_port_queues(io->ports[port]); q++)
		if (hauli_io_owner(io, port, q) == carrier)
			return true;
	return false;
}

bool haul_io_can_move_bucket(
	const struct haul_io *io, unsigned port, unsigned bucket, unsigned carrier)
{
	const struct hauli_tx_proxy *proxy;

	HAUL_MISUSE_IF(!io, HAULI_NO_IO);
	if (bucket >= haul_io_buckets(io, port))
		return false;
	if (hauli_entries_count(io, port))
		return has_queue(io, port, carrier);
	proxy = proxy_of(io, port, bucket);
	return proxy && hauli_bucket_may_go(proxy, carrier);
}

/* Why a port has no buckets. */
static int tell_none(const struct haul_io *io, unsigned port, char *errbuf, size_t errlen)
{
	char why[192];

	if (!io->owners[port])
		snprintf(why, sizeof(why), "its packets are not spread");
	else if (hauli_reta_size(io->ports[port], why, sizeof(why)) > 0)
		snprintf(why, sizeof(why), "its redirection table could not be read");
	snprintf(errbuf, errlen, "haul_io_move_bucket: port %u has no buckets: %s", port, why);
	return -EINVAL;
}

static int check(const struct haul_io *io, unsigned port, unsigned bucket, unsigned carrier,
	char *errbuf, size_t errlen)
{
	unsigned queue = bucket / HAUL_IO_BUCKETS, n = haul_io_buckets(io, port);
	const struct hauli_tx_proxy *proxy;

	if (port >= io->opts.nb_ports)
		snprintf(errbuf, errlen, "haul_io_move_bucket: there is no port %u", port);
	else if (n == 0)
		return tell_none(io, port, errbuf, errlen);
	else if (bucket >= n)
		snprintf(errbuf, errlen, "haul_io_move_bucket: port %u has no bucket %u", port,
			bucket);
	else if (carrier >= io->nb_pollers)
		snprintf(errbuf, errlen, "haul_io_move_bucket: carrier %u has no poller", carrier);
	else if (hauli_entries_count(io, port))
		return 0;
	else if (!(proxy = proxy_of(io, port, bucket)))
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

int hauli_move_buckets(struct haul_io *io, unsigned port, unsigned queue, const bool *buckets,
	unsigned from, unsigned to, uint64_t timeout_ns, char *why, size_t len)
{
	struct move m = {.io = io,
		.port = port,
		.buckets = buckets,
		.from = from,
		.to = to,
		.proxy = hauli_proxy_of(io, port, queue),
		.timeout_ns = timeout_ns};
	int err = from == to ? 0 : move(&m, queue);

	if (err)
		snprintf(why, len, "%s", m.why);
	return err;
}

static int move_bucket(struct haul_io *io, unsigned port, unsigned bucket, unsigned carrier,
	uint64_t timeout_ns, char *why, size_t len)
{
	unsigned queue = bucket / HAUL_IO_BUCKETS, b = bucket % HAUL_IO_BUCKETS;
	bool buckets[HAUL_IO_BUCKETS] = {false};
	unsigned from = hauli_u32_published_get(&hauli_proxy_of(io, port, queue)->carriers[b]);

	buckets[b] = true;
	return hauli_move_buckets(io, port, queue, buckets, from, carrier, timeout_ns, why, len);
}

int haul_io_move_bucket(struct haul_io *io, unsigned port, unsigned bucket, unsigned carrier,
	uint64_t timeout_ns, char *errbuf, size_t errlen)
{
	int err;

	HAUL_MISUSE_IF(!io, HAULI_NO_IO);
	err = check(io, port, bucket, carrier, errbuf, errlen);
	return err ? err
		   : hauli_move_one(io, __func__,
			     hauli_entries_count(io, port) ? hauli_move_entry : move_bucket, port,
			     bucket, carrier, timeout_ns, errbuf, errlen);
}
