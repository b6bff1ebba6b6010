/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/create.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_malloc.h>

#include "io/entries.h"
#include "io/filter.h"
#include "io/idle.h"
#include "io/shed.h"
#include "io/spread.h"
#include "io/times.h"
#include "port/fill_time.h"

static bool spreads(const struct haul_io_opts *opts)
{
	if (opts->source)
		return false;
	switch (opts->spread) {
	case HAUL_SPREAD_PACKETS:
		return opts->on_packet;
	case HAUL_SPREAD_ALL:
		return true;
	default:
		return false;
	}
}

/* Returns n: carriers 0 to n - 1 have a queue of a port with this number of queues, or a proxy that
 * has one. */
static unsigned reach(struct haul_io *io, struct haul_runtime *rt, unsigned queues)
{
	unsigned n = queues;

	while (spreads(&io->opts) && n < haul_carriers(rt) &&
		hauli_spread_proxy(rt, queues, n) >= 0)
		n++;
	return n;
}

/* Returns n: carriers 0 to n - 1 have a queue of each port, or a proxy. */
static unsigned count_served(struct haul_io *io, struct haul_runtime *rt)
{
	unsigned carriers = haul_carriers(rt);
	unsigned n = carriers;
	unsigned i, q;

	for (i = 0; i < io->opts.nb_ports; i++) {
		const char *notice = haul_port_notice(io->ports[i]);

		q = haul_port_queues(io->ports[i]);
		if (q >= carriers)
			continue;
		n = RTE_MIN(n, reach(io, rt, q));
		snprintf(io->notice, sizeof(io->notice),
			"%s has %u queue%s: %u of %u carriers receive%s%s%s",
			haul_port_spec(io->ports[i]), q, q == 1 ? "" : "s", q, carriers,
			n > q ? ", and spread flows to the others" : "", notice[0] ? "; " : "",
			notice);
	}
	return n;
}

/* Copies the peers of the ports. Default: 0 and 1, 2 and 3, ..., and a last port without a pair
 * itself. */
static void set_peers(struct haul_io *io)
{
	unsigned n = io->opts.nb_ports;

	for (unsigned i = 0; i < n; i++) {
		if (io->opts.peers)
			io->peers[i] = io->opts.peers[i];
		else
			io->peers[i] = (i ^ 1) < n ? i ^ 1 : i;
	}
	io->opts.peers = io->peers;
}

/* Copies which ports are idle. */
static void set_idle(struct haul_io *io)
{
	for (unsigned i = 0; i < io->opts.nb_ports; i++)
		io->idle[i] = io->opts.idle && io->opts.idle[i];
	io->opts.idle = io->idle;
}

/* The proxy of a carrier without a queue of that port. */
static struct hauli_poller *proxy_poller_of(
	struct haul_io *io, struct hauli_poller *p, unsigned port)
{
	unsigned queues = haul_port_queues(io->ports[port]);

	return io->pollers[hauli_spread_proxy(
		haul_carrier_runtime(p->carrier), queues, haul_carrier_id(p->carrier))];
}

void hauli_rxq_choose(const struct haul_io *io, struct hauli_rxq *r)
{
	hauli_filter_choose(r->filter);
	r->fill_time = hauli_fill_time(r->port, r->rx.queue, io->opts.packet_rate);
}

void hauli_rxq_connect(struct hauli_rxq *r)
{
	struct haul_queue queue = haul_port_queue(r->port, r->rx.queue);

	r->burst = hauli_filter_burst(r->filter, hauli_burst(queue.port_id, queue.queue_id));
}

/* Sets up r for a queue of the port; that of an RPS target is none. */
static bool set_up_rxq(struct haul_io *io, struct hauli_rxq *r)
{
	r->burst = hauli_burst_none();
	r->filter = hauli_filter_create(r->port);
	if (!r->filter)
		return false;
	if (!r->port->detached) {
		hauli_rxq_choose(io, r);
		hauli_rxq_connect(r);
	}
	return true;
}

static void init_rxq(
	struct haul_io *io, struct hauli_poller *p, struct hauli_rxq *r, unsigned port, unsigned q)
{
	r->rx.port = port;
	r->rx.queue = (uint16_t)q;
	r->rx.carrier = (uint16_t)haul_carrier_id(p->carrier);
	r->rx.reply = &p->txs[port].q;
	r->port = io->ports[port];
	r->poller = p;
	r->source.port = io->ports[port];
	r->source.queue = q;
	r->source.fd = -1;
	r->fill_time = HAUL_FOREVER;
}

/* An RPS target has no queue of its own: its handlers are named after the carrier. */
static void name_handlers(struct hauli_rxq *r)
{
	snprintf(r->name, sizeof(r->name), "port %u %s %u", r->rx.port,
		r->target ? "carrier" : "queue", r->rx.queue);
}

/* The carrier's transmit queue of a port, and its first receive queue. */
static bool set_up_port(struct haul_io *io, struct hauli_poller *p, unsigned port)
{
	unsigned carrier = haul_carrier_id(p->carrier);
	struct hauli_rxq *r = &p->rxqs[port];
	struct hauli_tx *tx = &p->txs[port];

	hauli_txq_init(&tx->q, p->carrier, &p->pending);
	init_rxq(io, p, r, port, carrier);
	if (carrier >= haul_port_queues(r->port))
		return hauli_spread_set_up(p, proxy_poller_of(io, p, port), port);
	if (!set_up_rxq(io, r))
		return false;
	tx->burst = r->burst;
	tx->port = r->port;
	tx->queue = carrier;
	return true;
}

/* The number of queues of a port that a carrier has besides its first one. */
static unsigned count_more(const struct haul_io *io, unsigned port, unsigned carrier)
{
	unsigned queues = haul_port_queues(io->ports[port]);

	return queues > carrier ? (queues - carrier - 1) / io->nb_pollers : 0;
}

/* Sets up the carrier's other queues of a port, which no carrier would poll otherwise. In rxqs they
 * follow the first queues of all ports. */
static bool set_up_more(
	struct haul_io *io, struct hauli_poller *p, unsigned port, struct hauli_rxq **r)
{
	unsigned carrier = haul_carrier_id(p->carrier);

	for (unsigned i = 1; i <= count_more(io, port, carrier); i++, (*r)++) {
		init_rxq(io, p, *r, port, carrier + i * io->nb_pollers);
		if (!set_up_rxq(io, *r))
			return false;
	}
	return true;
}

/* The carrier of a queue as long as it has not moved. */
static unsigned first_owner(const struct haul_io *io, unsigned q)
{
	return q % io->nb_pollers;
}

/* True if queues of the port may move: packets of none are spread. */
static bool moves(const struct haul_io *io, unsigned port)
{
	return haul_port_queues(io->ports[port]) >= io->nb_pollers;
}

/* The number of queues of a port that other carriers have, and that may move to this one. */
static unsigned count_others(const struct haul_io *io, unsigned port, unsigned carrier)
{
	if (!moves(io, port))
		return 0;
	return haul_port_queues(io->ports[port]) - 1 - count_more(io, port, carrier);
}

/* Sets up what the carrier needs for each of them. */
static bool set_up_others(
	struct haul_io *io, struct hauli_poller *p, unsigned port, struct hauli_rxq **r)
{
	unsigned carrier = haul_carrier_id(p->carrier);

	for (unsigned q = 0; moves(io, port) && q < haul_port_queues(io->ports[port]); q++) {
		if (first_owner(io, q) == carrier)
			continue;
		init_rxq(io, p, *r, port, q);
		if (!set_up_rxq(io, *r))
			return false;
		(*r)++;
	}
	return true;
}

/* In the order of create_poller(). */
struct hauli_rxq *hauli_io_rxq(
	const struct haul_io *io, const struct hauli_poller *p, unsigned port, unsigned queue)
{
	unsigned carrier = haul_carrier_id(p->carrier), n = io->nb_pollers;
	unsigned own = queue > carrier ? (queue - carrier + n - 1) / n : 0; /* below queue */
	struct hauli_rxq *r = p->rxqs;

	if (queue == carrier)
		return r + port;
	if (!moves(io, port))
		return NULL;
	r += io->opts.nb_ports;
	if (first_owner(io, queue) == carrier) {
		for (unsigned i = 0; i < port; i++)
			r += count_more(io, i, carrier);
		return r + own - 1;
	}
	for (unsigned i = 0; i < io->opts.nb_ports; i++)
		r += count_more(io, i, carrier) + (i < port ? count_others(io, i, carrier) : 0);
	return r + queue - own;
}

/* Allocates one carrier's part in one piece, in memory of the carrier's NUMA node. */
static struct hauli_poller *create_poller(struct haul_io *io, struct haul_carrier *carrier)
{
	unsigned ports = io->opts.nb_ports, n = ports, others = 0;
	struct hauli_poller *p;
	struct hauli_rxq *more;
	unsigned i;

	for (i = 0; i < ports; i++) {
		n += count_more(io, i, haul_carrier_id(carrier));
		others += count_others(io, i, haul_carrier_id(carrier));
	}
	p = rte_zmalloc_socket("haul_io",
		sizeof(*p) + (n + others) * sizeof(*p->rxqs) + ports * sizeof(*p->txs) +
			(n + others + 1) * sizeof(p->active[0]),
		HAULI_CACHE_LINE, haul_carrier_place(carrier)->node);
	if (!p)
		return NULL;
	p->rxqs = (struct hauli_rxq *)(p + 1);
	p->rxqs_end = p->rxqs + n + others;
	p->txs = (struct hauli_tx *)p->rxqs_end;
	p->active = (struct hauli_rxq **)(p->txs + ports);
	p->nb_ports = ports;
	p->carrier = carrier;
	p->pool = io->opts.pool;
	p->idle.wait = (struct hauli_io_wait){-1, -1, -1};
	io->pollers[haul_carrier_id(carrier)] = p;
	for (i = 0; i < ports; i++)
		if (!set_up_port(io, p, i))
			return NULL;
	for (i = 0, more = p->rxqs + ports; i < ports; i++)
		if (!set_up_more(io, p, i, &more))
			return NULL;
	for (i = 0; i < n; i++) {
		p->active[i] = &p->rxqs[i];
		hauli_stopwatch_start(&p->rxqs[i].polls, 0);
	}
	for (i = 0; i < ports; i++)
		if (!set_up_others(io, p, i, &more))
			return NULL;
	for (struct hauli_rxq *r = p->rxqs; r < p->rxqs_end; r++)
		name_handlers(r);
	if (!hauli_shed_create(io, p))
		return NULL;
	return p;
}

void hauli_io_share_limit(const struct haul_io *io, struct hauli_poller *p, unsigned port)
{
	unsigned queues = 0;

	for (struct hauli_rxq **r = p->active; *r; r++)
		queues += (*r)->rx.port == port;
	for (struct hauli_rxq **r = p->active; *r; r++)
		if ((*r)->rx.port == port)
			(*r)->max_in_flight = (io->opts.max_in_flight + queues - 1) / queues;
}

static void configure_rxq(struct haul_io *io, struct hauli_poller *p, struct hauli_rxq *r)
{
	r->rx.peer = &p->txs[io->peers[r->rx.port]].q;
	r->rx.arg = io->opts.arg;
	hauli_rxq_set_policy(r, &io->opts.policy);
	r->on_packet = io->opts.on_packet;
	r->home = hauli_glue_steals(p->carrier) && !io->coro.pinned ? p->carrier : NULL;
	r->prototype.opts = io->coro;
	if (!io->coro.name)
		r->prototype.opts.name = r->name;
}

static void configure_poller(struct haul_io *io, struct hauli_poller *p)
{
	p->on_burst = io->opts.on_burst;
	p->source = io->opts.source;
	p->burst = io->opts.burst;
	p->count_bytes = io->opts.count_bytes;
	for (struct hauli_rxq *r = p->rxqs; r < p->rxqs_end; r++)
		configure_rxq(io, p, r);
	for (unsigned i = 0; i < p->nb_ports; i++) {
		hauli_io_share_limit(io, p, i);
		p->txs[i].count_bytes = p->txs[i].q.counts_bytes = p->count_bytes;
		p->txs[i].observed = p->count_bytes || io->opts.times;
		p->txs[i].retries = io->opts.tx_retries;
		p->txs[i].retry_ns = io->opts.tx_retry_ns;
	}
	hauli_idle_recompute(p);
}

void hauli_io_configure(struct haul_io *io, const struct haul_io_opts *opts)
{
	io->opts = *opts;
	if (opts->burst == 0)
		io->opts.burst = HAULI_BURST_DEFAULT;
	if (opts->max_in_flight == 0)
		io->opts.max_in_flight =
			1 + opts->pool->size / 2 / (io->nb_pollers * opts->nb_ports);
	io->coro = opts->coro ? *opts->coro : (struct haul_coro_opts){0};
	io->opts.coro = NULL;
	if (opts->send_order == HAUL_ORDER_FLOW)
		io->coro.order_key = HAULI_ORDER_KEY_ASK;
	set_peers(io);
	set_idle(io);
	for (unsigned i = 0; i < io->nb_pollers; i++)
		configure_poller(io, io->pollers[i]);
}

/* Lets handlers send where they run. */
static bool share_txqs(struct haul_io *io)
{
	unsigned n = io->nb_pollers;
	unsigned i, c;

	io->txqs = calloc(io->opts.nb_ports * n, sizeof(io->txqs[0]));
	if (!io->txqs)
		return false;
	for (i = 0; i < io->opts.nb_ports; i++) {
		for (c = 0; c < n; c++) {
			struct haul_txq *txq = &io->pollers[c]->txs[i].q;

			io->txqs[i * n + c] = txq;
			txq->of_carriers = &io->txqs[i * n];
			txq->nb_of_carriers = n;
		}
	}
	return true;
}

/* Says who polls which queue, for ports whose queues may move. */
static bool set_owners(struct haul_io *io)
{
	io->owners = calloc(io->opts.nb_ports, sizeof(io->owners[0]));
	for (unsigned i = 0; io->owners && i < io->opts.nb_ports; i++) {
		unsigned queues = haul_port_queues(io->ports[i]);

		if (!moves(io, i))
			continue;
		io->owners[i] = calloc(queues, sizeof(io->owners[i][0]));
		for (unsigned q = 0; io->owners[i] && q < queues; q++)
			hauli_u32_published_set(&io->owners[i][q], first_owner(io, q));
		if (!io->owners[i])
			return false;
	}
	return io->owners;
}

static void free_poller(struct hauli_poller *p)
{
	hauli_spread_free(p);
	hauli_shed_free(p);
	for (struct hauli_rxq *r = p->rxqs; r < p->rxqs_end; r++)
		hauli_filter_destroy(r->filter);
	rte_free(p);
}

void hauli_io_close_waits(struct haul_io *io)
{
	unsigned i;

	for (i = 0; io->pollers && i < io->nb_pollers; i++)
		if (io->pollers[i])
			hauli_idle_close(io->pollers[i]);
}

void hauli_io_free_shape(struct haul_io *io)
{
	for (unsigned i = 0; io->pollers && i < io->nb_pollers; i++)
		if (io->pollers[i])
			free_poller(io->pollers[i]);
	for (unsigned i = 0; io->owners && i < io->opts.nb_ports; i++)
		free(io->owners[i]);
	free(io->owners);
	hauli_entries_free(io);
	free(io->txqs);
	free(io->pollers);
	io->owners = NULL;
	io->txqs = NULL;
	io->pollers = NULL;
	io->nb_pollers = 0;
}

void hauli_io_destroy(struct haul_io *io)
{
	hauli_io_close_waits(io);
	hauli_io_free_shape(io);
	hauli_times_free(io);
	for (unsigned c = 0; io->earlier && c <= io->nb_carriers; c++)
		free(io->earlier[c]);
	free(io->earlier);
	free(io->bytes_before);
	free(io->detached);
	pthread_mutex_destroy(&io->moving);
	free(io->ports);
	free(io->peers);
	free(io->idle);
	free(io);
}

bool hauli_io_make_shape(struct haul_io *io)
{
	io->notice[0] = '\0';
	io->nb_pollers = count_served(io, io->rt);
	io->pollers = calloc(io->nb_pollers, sizeof(io->pollers[0]));
	io->retas = calloc(io->opts.nb_ports, sizeof(io->retas[0]));
	if (!io->pollers || !io->retas)
		return false;
	for (unsigned i = 0; i < io->nb_pollers; i++)
		if (!create_poller(io, haul_carrier(io->rt, i)))
			return false;
	return set_owners(io) && (io->opts.send_order != HAUL_ORDER_ANY || share_txqs(io));
}

int hauli_io_create(struct haul_io **out, struct haul_runtime *rt, const struct haul_io_opts *opts)
{
	struct haul_io *io = calloc(1, sizeof(*io));

	if (!io)
		return -ENOMEM;
	io->opts = *opts;
	io->rt = rt;
	io->nb_carriers = haul_carriers(rt);
	pthread_mutex_init(&io->moving, NULL);
	io->ports = calloc(opts->nb_ports, sizeof(io->ports[0]));
	io->peers = calloc(opts->nb_ports, sizeof(io->peers[0]));
	io->idle = calloc(opts->nb_ports, sizeof(io->idle[0]));
	io->detached = calloc(opts->nb_ports, sizeof(io->detached[0]));
	if (!io->ports || !io->peers || !io->idle || !io->detached)
		goto fail;
	memcpy(io->ports, opts->ports, opts->nb_ports * sizeof(io->ports[0]));
	if (!hauli_io_make_shape(io))
		goto fail;
	hauli_io_configure(io, opts);
	if (!hauli_times_create(io))
		goto fail;
	*out = io;
	return 0;
fail:
	hauli_io_destroy(io);
	return -ENOMEM;
}

int hauli_io_open_waits(struct haul_io *io, const char *caller, char *errbuf, size_t errlen)
{
	unsigned i;
	int err = 0;

	for (i = 0; i < io->nb_pollers && !err; i++)
		err = hauli_idle_open(io->pollers[i]);
	if (err)
		snprintf(errbuf, errlen, "no epoll set or eventfd for a poller: %s%s",
			strerror(-err), err == -EMFILE ? "; raise ulimit -n" : "");
	return err;
}
