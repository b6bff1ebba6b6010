/* SPDX-License-Identifier: BSD-3-Clause */
/* Starting and stopping the pollers of a program's packets. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_malloc.h>

#include "base/assert.h"
#include "base/clock.h"
#include "io/drain.h"
#include "io/filter.h"
#include "io/idle.h"
#include "io/ledger.h"
#include "io/notice.h"
#include "io/packet.h"
#include "io/poll.h"
#include "io/poller_kinds.h"
#include "io/spread.h"
#include "port/fill_time.h"

static bool any_is_null(struct haul_port *const *ports, unsigned n)
{
	for (unsigned i = 0; ports && i < n; i++)
		if (!ports[i])
			return true;
	return !ports;
}

static int check_opts(const struct haul_io_opts *opts, char *errbuf, size_t errlen)
{
	unsigned ways = !!opts->on_burst + !!opts->on_packet + !!opts->source;
	const char *wrong = NULL;

	if (opts->nb_ports == 0)
		wrong = "no port is given; give at least one";
	else if (any_is_null(opts->ports, opts->nb_ports))
		wrong = "a port is NULL; give what haul_port_open() has given";
	else if ((unsigned)opts->send_order > HAUL_ORDER_ANY)
		wrong = "there is no such order; give HAUL_ORDER_FLOW or HAUL_ORDER_ANY";
	else if (opts->coro && opts->coro->order_key > HAUL_ORDER_KEYS)
		wrong = "coro->order_key is more than 254; give 0 to 254";
	else if ((unsigned)opts->spread > HAUL_SPREAD_OFF)
		wrong = "there is no such spread; give one of enum haul_io_spread";
	else if (!opts->pool)
		wrong = "no pool is given; give the one that the ports were opened with";
	else if (opts->burst > HAULI_BURST_MAX)
		wrong = "burst is more than 512; give 1 to 512";
	else if (ways != 1)
		wrong = "give exactly one of on_burst, on_packet and source";
	if (!wrong)
		return 0;
	snprintf(errbuf, errlen, "haul_io_start: %s", wrong);
	return -EINVAL;
}

static bool spreads(const struct haul_io_opts *opts)
{
	switch (opts->spread) {
	case HAUL_SPREAD_PACKETS:
		return opts->on_packet;
	case HAUL_SPREAD_ALL:
		return !opts->source;
	default:
		return false;
	}
}

/* Carriers below the result have a queue of a port with this number of queues, or a proxy with a
 * queue. */
static unsigned reach(struct haul_io *io, struct haul_runtime *rt, unsigned queues)
{
	unsigned n = queues;

	while (spreads(&io->opts) && n < haul_carriers(rt) &&
		hauli_spread_proxy(rt, queues, n) >= 0)
		n++;
	return n;
}

/* Carriers below the result have a queue of each port, or a proxy. */
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

/* Ports are paired 0-1, 2-3; a last port without a neighbour is its own peer. */
static unsigned peer_of(const struct haul_io *io, unsigned port)
{
	unsigned peer = port ^ 1;

	return peer < io->opts.nb_ports ? peer : port;
}

/* For a carrier without a queue of that port: its proxy. */
static struct hauli_poller *proxy_poller_of(
	struct haul_io *io, struct hauli_poller *p, unsigned port)
{
	unsigned queues = haul_port_queues(io->ports[port]);

	return io->pollers[hauli_spread_proxy(
		haul_carrier_runtime(p->carrier), queues, haul_carrier_id(p->carrier))];
}

static bool set_up_filter(struct hauli_rxq *r, struct hauli_tx *tx)
{
	if (!r->port->kind->filter)
		return true;
	tx->filter = hauli_filter_create(r->port, tx->burst);
	if (tx->filter)
		r->burst = tx->burst = hauli_filter_burst(tx->filter);
	return tx->filter;
}

static bool set_up_port(struct haul_io *io, struct hauli_poller *p, unsigned port)
{
	unsigned carrier = haul_carrier_id(p->carrier);
	struct haul_queue queue;
	struct hauli_rxq *r = &p->rxqs[port];
	struct hauli_tx *tx = &p->txs[port];

	hauli_txq_init(&tx->q, p->carrier, &p->pending);
	tx->count_bytes = p->count_bytes;
	r->rx.port = port;
	r->rx.carrier = haul_carrier_id(p->carrier);
	r->rx.reply = &tx->q;
	r->rx.peer = &p->txs[peer_of(io, port)].q;
	r->rx.arg = io->opts.arg;
	r->port = io->ports[port];
	r->poller = p;
	r->policy = io->opts.policy;
	r->source.port = io->ports[port];
	r->source.queue = haul_carrier_id(p->carrier);
	r->source.fd = -1;
	r->on_packet = io->opts.on_packet;
	r->home = hauli_glue_steals(p->carrier) && !io->coro.pinned ? p->carrier : NULL;
	r->max_in_flight = io->opts.max_in_flight;
	r->fill_time = HAUL_FOREVER;
	if (carrier >= haul_port_queues(r->port))
		return hauli_spread_set_up(p, proxy_poller_of(io, p, port), port);
	queue = haul_port_queue(r->port, carrier);
	r->burst = tx->burst = hauli_burst(queue.port_id, queue.queue_id);
	tx->port = r->port;
	tx->queue = carrier;
	if (!set_up_filter(r, tx))
		return false;
	r->fill_time = hauli_fill_time(r->port, carrier, io->opts.packet_rate);
	return true;
}

/* Allocates one carrier's part as one piece of its node's memory. */
static struct hauli_poller *create_poller(struct haul_io *io, struct haul_carrier *carrier)
{
	unsigned n = io->opts.nb_ports;
	struct hauli_poller *p;
	size_t size = sizeof(*p) + n * (sizeof(*p->rxqs) + sizeof(*p->txs));
	unsigned i;

	p = rte_zmalloc_socket(
		"haul_io", size, HAULI_CACHE_LINE, haul_carrier_place(carrier)->node);
	if (!p)
		return NULL;
	p->rxqs = (struct hauli_rxq *)(p + 1);
	p->rxqs_end = p->rxqs + n;
	p->txs = (struct hauli_tx *)p->rxqs_end;
	p->carrier = carrier;
	p->on_burst = io->opts.on_burst;
	p->source = io->opts.source;
	p->coro = &io->coro;
	p->burst = io->opts.burst;
	p->count_bytes = io->opts.count_bytes;
	p->pool = io->opts.pool;
	p->idle.wait = (struct hauli_wait){-1, -1};
	io->pollers[haul_carrier_id(carrier)] = p;
	for (i = 0; i < n; i++)
		if (!set_up_port(io, p, i))
			return NULL;
	hauli_idle_recompute(p);
	return p;
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

static int register_poller(struct hauli_poller *p, haul_fn *body)
{
	const struct haul_poller_opts opts = {.name = "poller", .wakeup = hauli_idle_wakeup};

	return haul_poller_register(p->carrier, &p->coroutine, body, p, &opts);
}

static void begin_to_end(struct haul_io *io)
{
	for (unsigned i = 0; i < io->nb_pollers; i++) {
		struct hauli_poller *p = io->pollers[i];

		if (!p->coroutine)
			continue;
		haul_cancel(p->coroutine);
		hauli_ending_begin(&p->ending, p->coroutine);
	}
	io->stage = HAULI_IO_ENDS;
}

/* True if all pollers have ended by then; NULL: waits until they have. */
static bool have_ended(struct haul_io *io, const struct timespec *until)
{
	bool all = true;

	for (unsigned i = 0; i < io->nb_pollers; i++) {
		struct hauli_poller *p = io->pollers[i];

		if (p->coroutine && hauli_ending_wait(&p->ending, until))
			p->coroutine = NULL;
		all &= !p->coroutine;
	}
	return all;
}

static void free_poller(struct hauli_poller *p, unsigned nb_ports)
{
	unsigned i;

	hauli_spread_free(p);
	for (i = 0; i < nb_ports; i++)
		free(p->txs[i].filter);
	rte_free(p);
}

/* No poller is waited for any more. */
static void close_waits(struct haul_io *io)
{
	unsigned i;

	for (i = 0; io->pollers && i < io->nb_pollers; i++)
		if (io->pollers[i])
			hauli_idle_close(io->pollers[i]);
}

static void destroy(struct haul_io *io)
{
	unsigned i;

	close_waits(io);
	for (i = 0; io->pollers && i < io->nb_pollers; i++)
		if (io->pollers[i])
			free_poller(io->pollers[i], io->opts.nb_ports);
	free(io->txqs);
	free(io->pollers);
	free(io->ports);
	free(io);
}

static int create(struct haul_io **out, struct haul_runtime *rt, const struct haul_io_opts *opts)
{
	struct haul_io *io = calloc(1, sizeof(*io));
	unsigned i;

	if (!io)
		return -ENOMEM;
	io->opts = *opts;
	io->rt = rt;
	if (opts->burst == 0)
		io->opts.burst = HAULI_BURST_DEFAULT;
	if (opts->on_packet)
		io->opts.count_bytes = true;
	if (opts->coro)
		io->coro = *opts->coro;
	if (!io->coro.name)
		io->coro.name = "packet";
	if (io->opts.send_order == HAUL_ORDER_FLOW)
		io->coro.order_key = HAULI_ORDER_KEY_ASK;
	io->ports = calloc(opts->nb_ports, sizeof(io->ports[0]));
	if (!io->ports)
		goto fail;
	memcpy(io->ports, opts->ports, opts->nb_ports * sizeof(io->ports[0]));
	io->nb_pollers = count_served(io, rt);
	if (io->opts.max_in_flight == 0)
		io->opts.max_in_flight =
			1 + opts->pool->size / 2 / (io->nb_pollers * opts->nb_ports);
	io->pollers = calloc(io->nb_pollers, sizeof(io->pollers[0]));
	if (!io->pollers)
		goto fail;
	for (i = 0; i < io->nb_pollers; i++) {
		if (!create_poller(io, haul_carrier(rt, i)))
			goto fail;
	}
	if (io->opts.send_order == HAUL_ORDER_ANY && !share_txqs(io))
		goto fail;
	*out = io;
	return 0;
fail:
	destroy(io);
	return -ENOMEM;
}

static int open_waits(struct haul_io *io, char *errbuf, size_t errlen)
{
	unsigned i;
	int err = 0;

	for (i = 0; i < io->nb_pollers && !err; i++)
		err = hauli_idle_open(io->pollers[i]);
	if (err)
		snprintf(errbuf, errlen,
			"haul_io_start: no epoll set or eventfd for a poller: %s%s", strerror(-err),
			err == -EMFILE ? "; raise ulimit -n" : "");
	return err;
}

/* The pollers must end before the carriers and the ports. */
static void hold(struct haul_io *io)
{
	hauli_runtime_hold(io->rt);
	for (unsigned i = 0; i < io->opts.nb_ports; i++)
		io->ports[i]->polled++;
}

static void let_go(struct haul_io *io)
{
	hauli_runtime_let_go(io->rt);
	for (unsigned i = 0; i < io->opts.nb_ports; i++)
		io->ports[i]->polled--;
}

static haul_fn *body_of(const struct haul_io_opts *opts)
{
	if (opts->on_burst)
		return hauli_poll_bursts;
	return opts->on_packet ? hauli_poll_packets : hauli_poll_source;
}

int haul_io_start(struct haul_io **out, struct haul_runtime *rt, const struct haul_io_opts *opts,
	char *errbuf, size_t errlen)
{
	struct haul_io_opts chosen;
	struct haul_io *io;
	unsigned i;
	int err;

	if (!out || !rt || !opts || haul_carrier_self()) {
		snprintf(errbuf, errlen, "haul_io_start: %s",
			haul_carrier_self() ? "called on a carrier; call it in another thread"
					    : "io, the runtime or the options are NULL");
		return -EINVAL;
	}
	chosen = *opts;
	err = check_opts(opts, errbuf, errlen);
	for (i = 0; i < opts->nb_ports && !err; i++)
		err = hauli_poller_kind_check(opts, opts->ports[i], &chosen.policy, errbuf, errlen);
	if (err)
		return err;
	err = hauli_packet_init();
	if (!err)
		err = create(&io, rt, &chosen);
	if (err) {
		snprintf(errbuf, errlen, "haul_io_start: no memory for %u ports: %s",
			opts->nb_ports, strerror(-err));
		return err;
	}
	err = open_waits(io, errbuf, errlen);
	if (err) {
		destroy(io);
		return err;
	}
	for (i = 0; i < io->nb_pollers && !err; i++)
		err = register_poller(io->pollers[i], body_of(opts));
	if (err) {
		snprintf(errbuf, errlen, "haul_io_start: no poller on carrier %u: %s", i - 1,
			err == -EBUSY ? "it has one already; end that one first" : strerror(-err));
		begin_to_end(io);
		(void)have_ended(io, NULL);
		destroy(io);
		return err;
	}
	hold(io);
	hauli_io_note(io);
	*out = io; /* handlers may read it */
	for (i = 0; i < io->nb_pollers; i++)
		hauli_u32_published_set(&io->pollers[i]->may_begin, 1);
	return 0;
}

struct haul_txq *haul_io_txq(const struct haul_io *io, unsigned port, unsigned carrier)
{
	HAUL_MISUSE_IF(!io, HAULI_NO_IO);
	return carrier < io->nb_pollers && port < io->opts.nb_ports
		? &io->pollers[carrier]->txs[port].q
		: NULL;
}

const char *haul_io_notice(const struct haul_io *io)
{
	HAUL_MISUSE_IF(!io, HAULI_NO_IO);
	return io->notice;
}

bool haul_io_healthy(struct haul_io *io, const char **why)
{
	unsigned i;

	HAUL_MISUSE_IF(!io || !why, HAULI_NO_IO);
	for (i = 0; i < io->opts.nb_ports; i++) {
		*why = haul_port_fault(io->ports[i]);
		if ((*why)[0])
			return false;
	}
	for (i = 0; i < io->nb_pollers; i++) {
		if (hauli_counter_read(&io->pollers[i]->ended) == 0)
			continue;
		snprintf(io->why, sizeof(io->why),
			"the poller of carrier %u has ended: the runtime is being stopped", i);
		*why = io->why;
		return false;
	}
	return true;
}

/* Checks the ledger of each queue; errbuf gets the first mismatch. */
static int check_ledgers(struct haul_io *io, char *errbuf, size_t errlen)
{
	char where[128];
	unsigned c, i;

	for (c = 0; c < io->nb_pollers; c++) {
		for (i = 0; i < io->opts.nb_ports; i++) {
			snprintf(where, sizeof(where), "port %u (%s), carrier %u", i,
				haul_port_spec(io->ports[i]), c);
			if (!hauli_ledger_check_rx(
				    &io->pollers[c]->rxqs[i], where, errbuf, errlen) ||
				!hauli_ledger_check_tx(
					&io->pollers[c]->txs[i], where, errbuf, errlen))
				return -EIO;
		}
	}
	return 0;
}

static void begin_to_drain(struct haul_io *io)
{
	for (unsigned i = 0; i < io->nb_pollers; i++) {
		struct hauli_poller *p = io->pollers[i];

		/* Without memory for the drain, the ledger shows the remaining packets. */
		if (register_poller(p, hauli_drain) == 0)
			hauli_ending_begin(&p->ending, p->coroutine);
		else
			p->coroutine = NULL;
	}
	io->stage = HAULI_IO_DRAINS;
}

static int tell_silent(const struct haul_io *io, char *errbuf, size_t errlen)
{
	size_t len = 0;

	for (unsigned i = 0; i < io->nb_pollers && len < errlen; i++) {
		char line[160];

		if (!io->pollers[i]->coroutine)
			continue;
		hauli_tell_silent(io->pollers[i]->carrier, line, sizeof(line));
		len += (size_t)snprintf(errbuf + len, errlen - len, "%s%s", len ? "; " : "", line);
	}
	return -ETIMEDOUT;
}

/* Time for carriers to answer after the handlers' time. */
#define ANSWER_NS (200 * HAUL_MS)

static struct timespec in_time(uint64_t timeout_ns, uint64_t more)
{
	return hauli_monotonic_in(
		timeout_ns > HAUL_FOREVER - more ? HAUL_FOREVER : timeout_ns + more);
}

int haul_io_stop(struct haul_io *io, uint64_t timeout_ns, char *errbuf, size_t errlen)
{
	bool forever = timeout_ns == HAUL_FOREVER;
	uint64_t began = haul_now();
	struct timespec until = in_time(timeout_ns, HAULI_GRACE_NS + ANSWER_NS);

	HAUL_MISUSE_IF(!io, HAULI_NO_IO);
	if (haul_carrier_self()) {
		snprintf(errbuf, errlen,
			"haul_io_stop: called on a carrier, which it would wait for; call it from "
			"another thread");
		return -EDEADLK;
	}
	if (hauli_runtimes_are_copies()) {
		snprintf(errbuf, errlen,
			"haul_io_stop: called in a child of fork(), which has no carriers");
		return -EPERM;
	}
	if (io->stage == HAULI_IO_RUNS) {
		for (unsigned i = 0; i < io->nb_pollers; i++)
			io->pollers[i]->cancel_at = timeout_ns > HAUL_FOREVER - began
				? HAUL_FOREVER
				: began + timeout_ns;
		begin_to_end(io);
	}
	if (io->stage == HAULI_IO_ENDS) {
		if (!have_ended(io, forever ? NULL : &until))
			return tell_silent(io, errbuf, errlen);
		begin_to_drain(io);
	}
	if (io->stage == HAULI_IO_DRAINS) {
		struct timespec later = in_time(0, HAULI_LINGER_NS + ANSWER_NS);

		if (!have_ended(io, forever ? NULL : &until) && !have_ended(io, &later))
			return tell_silent(io, errbuf, errlen);
		close_waits(io);
		let_go(io);
		io->stage = HAULI_IO_STOPPED;
	}
	return check_ledgers(io, errbuf, errlen);
}

int haul_io_free(struct haul_io *io, char *errbuf, size_t errlen)
{
	struct rte_mempool *pool;
	unsigned out;

	HAUL_MISUSE_IF(!io, HAULI_NO_IO);
	if (io->stage != HAULI_IO_STOPPED) {
		snprintf(errbuf, errlen,
			"haul_io_free: its pollers have not ended; call haul_io_stop() first");
		return -EBUSY;
	}
	pool = io->opts.pool;
	out = rte_mempool_in_use_count(pool);
	destroy(io);
	if (out == 0)
		return 0;
	snprintf(errbuf, errlen,
		"pool %s: %u of %u packet buffers did not come back; a handler or a port keeps "
		"them",
		pool->name, out, pool->size);
	return -EIO;
}
