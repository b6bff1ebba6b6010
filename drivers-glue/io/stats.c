/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of the counters of carriers and PMDs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>

#include "base/assert.h"
#include "io/create.h"
#include "io/filter.h"
#include "io/move.h"
#include "io/share.h"
#include "io/shed.h"
#include "io/state.h"
#include "io/stats.h"
#include "port/detach.h"
#include "port/kind.h"
#include "port/missed.h"
#include "port/xstats.h"

static void add_rx(
	struct haul_io_stats *st, const struct hauli_poller *p, const struct hauli_rxq *r)
{
	unsigned i;

	st->rx_packets += hauli_counter_read(&r->packets);
	st->rx_bytes += hauli_counter_read(&r->bytes);
	st->in_flight += hauli_rxq_in_flight(r);
	st->polls += hauli_stopwatch_read(&r->polls, hauli_counter_read(&p->cycles));
	st->empty_polls += hauli_counter_read(&r->empty);
	st->held_polls += hauli_counter_read(&r->held);
	if (r->filter)
		st->rx_errors += hauli_counter_read(&r->filter->cut);
	for (i = 0; i < HAUL_DROP_REASONS; i++)
		st->dropped[i] += hauli_rxq_dropped(r, i);
}

/* Packets between haul_send() and the PMD, with those whose senders wait. */
static uint64_t queued(const struct hauli_tx *tx)
{
	uint64_t left = hauli_counter_read(&tx->sent) + hauli_counter_read(&tx->full) +
		hauli_counter_read(&tx->refused) + hauli_counter_read(&tx->stopping);
	uint64_t taken = hauli_counter_read(&tx->q.taken);

	return taken > left ? taken - left : 0; /* they are not read at one instant */
}

/* All queues of the port that the carrier polls. */
static void add_rxqs(struct haul_io_stats *st, const struct hauli_poller *p, unsigned port)
{
	for (const struct hauli_rxq *r = p->rxqs; r < p->rxqs_end; r++)
		if (r->rx.port == port)
			add_rx(st, p, r);
}

static void add_tx(struct haul_io_stats *st, const struct hauli_tx *tx)
{
	uint64_t dropped = hauli_counter_read(&tx->dropped_bytes);

	st->tx_packets += hauli_counter_read(&tx->direct) + hauli_counter_read(&tx->sent);
	st->tx_bytes += hauli_counter_read(&tx->q.taken_bytes) - dropped;
	st->tx_queued += queued(tx);
	st->dropped[HAUL_DROP_TX_FULL] += hauli_counter_read(&tx->full);
	st->dropped[HAUL_DROP_TX_REFUSED] += hauli_counter_read(&tx->refused);
	st->dropped[HAUL_DROP_STOPPING] += hauli_counter_read(&tx->stopping);
}

static void add_poller(struct haul_io_stats *st, const struct hauli_poller *p, unsigned port)
{
	add_rxqs(st, p, port);
	add_tx(st, &p->txs[port]);
}

/* Takes back packets that an RPS target counted as sent, and its proxy dropped. */
static void take_back(struct haul_io_stats *st, const struct hauli_tx_proxy *proxy)
{
	uint64_t refused = hauli_counter_read(&proxy->refused);
	uint64_t dropped = hauli_counter_read(&proxy->dropped);

	st->tx_packets -= refused + dropped;
	st->tx_bytes -= hauli_counter_read(&proxy->lost_bytes);
	st->dropped[HAUL_DROP_TX_REFUSED] += refused;
	st->dropped[HAUL_DROP_STOPPING] += dropped;
}

static void add(struct haul_io_stats *st, const struct haul_io_stats *more)
{
	st->rx_packets += more->rx_packets;
	st->rx_bytes += more->rx_bytes;
	st->tx_packets += more->tx_packets;
	st->tx_bytes += more->tx_bytes;
	st->polls += more->polls;
	st->empty_polls += more->empty_polls;
	st->held_polls += more->held_polls;
	st->rx_errors += more->rx_errors;
	for (unsigned i = 0; i < HAUL_DROP_REASONS; i++)
		st->dropped[i] += more->dropped[i];
}

/* The PMDs' counters of the whole port. */
static void add_port(struct haul_io_stats *st, const struct haul_port *port, bool bytes)
{
	struct rte_eth_stats eth;

	(void)hauli_port_stats(port, &eth);
	st->rx_missed += hauli_missed(port) + eth.imissed;
	st->rx_nombuf += eth.rx_nombuf;
	st->rx_errors += eth.ierrors;
	if (!port->kind->hands_back)
		st->tx_errors += eth.oerrors;
	if (bytes) {
		st->rx_bytes += eth.ibytes;
		st->tx_bytes += eth.obytes;
	}
}

static void add_carrier_bytes(
	struct haul_io_stats *st, const struct haul_io *io, unsigned port, unsigned carrier)
{
	const struct haul_port *p = io->ports[port];

	for (unsigned q = 0; q < haul_port_queues(p); q++) {
		struct hauli_queue_bytes bytes;

		if (hauli_io_owner(io, port, q) != carrier)
			continue;
		bytes = hauli_xstats_queue_bytes(p, q);
		st->rx_bytes += bytes.rx;
		st->tx_bytes += bytes.tx;
	}
}

static void add_queue(
	struct haul_queue_stats *st, const struct hauli_poller *p, const struct hauli_rxq *r)
{
	st->rx_packets += hauli_counter_read(&r->packets);
	st->empty_polls += hauli_counter_read(&r->empty);
	st->polls += hauli_stopwatch_read(&r->polls, hauli_counter_read(&p->cycles));
	for (unsigned i = 0; i < HAUL_DROP_REASONS; i++)
		st->dropped += hauli_rxq_dropped(r, i);
}

bool haul_io_get_queue_stats(
	const struct haul_io *io, unsigned port, unsigned queue, struct haul_queue_stats *st)
{
	HAUL_MISUSE_IF(!io || !st, HAULI_NO_IO);
	if (port >= io->opts.nb_ports || queue >= haul_port_queues(io->ports[port]))
		return false;
	*st = (struct haul_queue_stats){.carrier = hauli_io_owner(io, port, queue)};
	for (unsigned c = 0; c < io->nb_pollers; c++) {
		const struct hauli_rxq *r = hauli_io_rxq(io, io->pollers[c], port, queue);

		if (r && c == st->carrier)
			st->policy = hauli_rxq_policy(r);
		if (r)
			add_queue(st, io->pollers[c], r);
	}
	return true;
}

static struct hauli_port_bytes *bytes_before(
	const struct haul_io *io, unsigned port, unsigned carrier)
{
	unsigned n = io->nb_carriers;

	if (!io->bytes_before || (carrier != HAUL_ALL && carrier >= n))
		return NULL;
	return &io->bytes_before[port * (n + 1) + (carrier == HAUL_ALL ? n : carrier)];
}

/* Adds the bytes counted before to those counted now. Returns the number of packets without counted
 * bytes: all since then if the PMD has counted no bytes since then. */
static uint64_t continue_bytes(
	const struct hauli_bytes *before, uint64_t packets, uint64_t *bytes, bool pmd_counts)
{
	*bytes += before->more;
	if (!pmd_counts || *bytes != before->bytes)
		return before->uncounted;
	return before->uncounted + packets - before->packets;
}

void haul_io_get_stats(
	const struct haul_io *io, unsigned port, unsigned carrier, struct haul_io_stats *st)
{
	static const struct hauli_port_bytes none;
	const struct hauli_port_bytes *before;
	const struct haul_port *p;
	unsigned c;

	HAUL_MISUSE_IF(!io || !st, HAULI_NO_IO);
	HAUL_MISUSE_IF(port >= io->opts.nb_ports, "there is no port %u: %u were given", port,
		io->opts.nb_ports);
	p = io->ports[port];
	memset(st, 0, sizeof(*st));
	for (c = 0; c < io->nb_pollers; c++) {
		if (carrier != HAUL_ALL && c != carrier)
			continue;
		add_poller(st, io->pollers[c], port);
		if (carrier == HAUL_ALL && io->pollers[c]->txs[port].proxy)
			take_back(st, io->pollers[c]->txs[port].proxy);
	}
	for (c = 0; io->earlier && c <= io->nb_carriers; c++)
		if (carrier == HAUL_ALL || (c == carrier && c < io->nb_carriers))
			add(st, &io->earlier[c]->ports[port].io);
	if (!io->opts.count_bytes)
		st->rx_bytes = st->tx_bytes = 0;
	if (carrier == HAUL_ALL)
		add_port(st, p, !io->opts.count_bytes);
	else if (!io->opts.count_bytes && carrier < io->nb_pollers)
		add_carrier_bytes(st, io, port, carrier);
	before = bytes_before(io, port, carrier);
	before = before ? before : &none;
	st->rx_uncounted =
		continue_bytes(&before->rx, st->rx_packets, &st->rx_bytes, !io->opts.count_bytes);
	st->tx_uncounted =
		continue_bytes(&before->tx, st->tx_packets, &st->tx_bytes, !io->opts.count_bytes);
}

/* Calls fn for each port and carrier, and for the sums of the carriers, with the counters. */
static void each_sum(struct haul_io *io,
	void (*fn)(struct hauli_port_bytes *before, const struct haul_io_stats *st))
{
	struct haul_io_stats st;

	for (unsigned i = 0; i < io->opts.nb_ports; i++) {
		for (int c = -1; c < (int)io->nb_carriers; c++) {
			haul_io_get_stats(io, i, c, &st);
			fn(bytes_before(io, i, c), &st);
		}
	}
}

static void keep_sums(struct hauli_port_bytes *before, const struct haul_io_stats *st)
{
	before->rx = (struct hauli_bytes){
		.packets = st->rx_packets, .bytes = st->rx_bytes, .uncounted = st->rx_uncounted};
	before->tx = (struct hauli_bytes){
		.packets = st->tx_packets, .bytes = st->tx_bytes, .uncounted = st->tx_uncounted};
}

static void begin_at_sums(struct hauli_port_bytes *before, const struct haul_io_stats *st)
{
	before->rx.more = before->rx.bytes - st->rx_bytes;
	before->tx.more = before->tx.bytes - st->tx_bytes;
}

bool hauli_stats_count_bytes(struct haul_io *io, bool count)
{
	size_t n = (size_t)io->opts.nb_ports * (io->nb_carriers + 1);

	if (io->opts.count_bytes == count)
		return true;
	if (!io->bytes_before)
		io->bytes_before = calloc(n, sizeof(io->bytes_before[0]));
	if (!io->bytes_before)
		return false;
	each_sum(io, keep_sums);
	io->opts.count_bytes = count;
	each_sum(io, begin_at_sums);
	return true;
}

static void add_waits(struct haul_io_wait_stats *st, const struct hauli_idle *d)
{
	st->sleeps += hauli_counter_read(&d->sleeps);
	st->wakes += hauli_counter_read(&d->wakes);
	st->slept_ns += hauli_ns_from_ticks(hauli_stopwatch_read(&d->asleep, hauli_ticks()));
	haul_hist_merge(&st->latency, &d->latency);
}

void haul_io_get_wait_stats(
	const struct haul_io *io, unsigned carrier, struct haul_io_wait_stats *st)
{
	unsigned c;

	HAUL_MISUSE_IF(!io || !st, HAULI_NO_IO);
	memset(st, 0, sizeof(*st));
	for (c = 0; c < io->nb_pollers; c++)
		if (carrier == HAUL_ALL || c == carrier)
			add_waits(st, &io->pollers[c]->idle);
	for (c = 0; io->earlier && c < io->nb_carriers; c++) {
		const struct haul_io_wait_stats *more = &io->earlier[c]->waits;

		if (carrier != HAUL_ALL && c != carrier)
			continue;
		st->sleeps += more->sleeps;
		st->wakes += more->wakes;
		st->slept_ns += more->slept_ns;
		haul_hist_merge(&st->latency, &more->latency);
	}
}

static void add_overload(
	struct haul_overload_stats *st, const struct hauli_poller *p, unsigned port)
{
	for (const struct hauli_rxq *r = p->rxqs; r < p->rxqs_end; r++)
		if (r->rx.port == port)
			hauli_shed_add(r, st);
}

void haul_io_get_overload(
	const struct haul_io *io, unsigned port, unsigned carrier, struct haul_overload_stats *st)
{
	HAUL_MISUSE_IF(!io || !st, HAULI_NO_IO);
	HAUL_MISUSE_IF(port >= io->opts.nb_ports, "there is no port %u: %u were given", port,
		io->opts.nb_ports);
	*st = (struct haul_overload_stats){0};
	for (unsigned c = 0; c < io->nb_pollers; c++)
		if (carrier == HAUL_ALL || c == carrier)
			add_overload(st, io->pollers[c], port);
	for (unsigned c = 0; io->earlier && c < io->nb_carriers; c++) {
		const struct haul_overload_stats *more = &io->earlier[c]->ports[port].overload;

		if (carrier != HAUL_ALL && c != carrier)
			continue;
		st->episodes += more->episodes;
		st->late_ns += more->late_ns;
		st->first += more->first;
		st->other += more->other;
		st->demoted += more->demoted;
	}
}

static bool make_earlier(struct haul_io *io)
{
	const unsigned n = io->nb_carriers + 1;
	const size_t ports = io->opts.nb_ports * sizeof(io->earlier[0]->ports[0]);

	if (!io->earlier)
		io->earlier = calloc(n, sizeof(io->earlier[0]));
	for (unsigned c = 0; io->earlier && c < n; c++) {
		if (!io->earlier[c])
			io->earlier[c] = calloc(1, sizeof(*io->earlier[c]) + ports);
		if (!io->earlier[c])
			return false;
	}
	return io->earlier;
}

bool hauli_stats_keep(struct haul_io *io)
{
	if (!make_earlier(io))
		return false;
	for (unsigned c = 0; c < io->nb_pollers; c++) {
		const struct hauli_poller *p = io->pollers[c];
		struct hauli_earlier *e = io->earlier[c];

		add_waits(&e->waits, &p->idle);
		hauli_share_add(p, hauli_ticks(), &e->share);
		for (unsigned i = 0; i < p->nb_ports; i++) {
			add_poller(&e->ports[i].io, p, i);
			add_overload(&e->ports[i].overload, p, i);
			e->ports[i].overload.is_late = false;
			if (p->txs[i].proxy)
				take_back(&io->earlier[io->nb_carriers]->ports[i].io,
					p->txs[i].proxy);
		}
	}
	return true;
}
