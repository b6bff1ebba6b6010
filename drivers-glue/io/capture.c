/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/capture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "capture/capture.h"
#include "io/on_carrier.h"

#define VLAN_TAG 4u
#define MACS (2 * RTE_ETHER_ADDR_LEN)
#define TX_CHUNK 64
#define RX_TAGGED (RTE_MBUF_F_RX_VLAN_STRIPPED | RTE_MBUF_F_RX_QINQ_STRIPPED)
#define TX_TAGGED (RTE_MBUF_F_TX_VLAN | RTE_MBUF_F_TX_QINQ)

/* The hook on a carrier's queue pair of a port. */
struct hauli_capture_queue {
	struct hauli_capture_ring *ring;
	struct hauli_capture_count *count;
	haul_capture_match_fn *match; /* NULL: all frames */
	void *match_arg;
	uint32_t snaplen;
	uint32_t port;
	uint32_t queue;
	bool sends; /* the carrier's first queue of the port */

	struct hauli_burst rx, tx; /* the queue's own */
	struct rte_eth_fp_ops ops; /* in place of the PMD's */
	void **data; /* [queue_id + 1], for ops */
	void **no_callbacks;
};

/* A frame in one piece. */
struct frame {
	const uint8_t *bytes;
	uint32_t len;
};

static uint32_t put_tag(uint8_t *at, uint16_t type, uint16_t tci)
{
	const uint16_t tag[2] = {rte_cpu_to_be_16(type), rte_cpu_to_be_16(tci)};

	memcpy(at, tag, sizeof(tag));
	return VLAN_TAG;
}

/* Puts a frame that lies in segments, or whose tags are not in it, into one piece. */
static __attribute__((noinline)) struct frame make_whole(
	struct hauli_capture_queue *q, const struct rte_mbuf *m, bool qinq, bool vlan)
{
	uint8_t *whole = q->ring->whole;
	uint32_t len = RTE_MIN(m->pkt_len, HAULI_CAPTURE_SNAP_MOST);
	uint32_t tags = 0;
	const void *piece;

	if (len < MACS)
		qinq = vlan = false;
	if (qinq)
		tags += put_tag(whole + MACS + tags, RTE_ETHER_TYPE_QINQ, m->vlan_tci_outer);
	if (vlan)
		tags += put_tag(whole + MACS + tags, RTE_ETHER_TYPE_VLAN, m->vlan_tci);
	if (tags > 0) {
		piece = rte_pktmbuf_read(m, 0, MACS, whole);
		if (piece != whole)
			memcpy(whole, piece, MACS);
	} else {
		piece = rte_pktmbuf_read(m, 0, len, whole);
		return (struct frame){piece, m->pkt_len};
	}
	piece = rte_pktmbuf_read(m, MACS, len - MACS, whole + MACS + tags);
	if (piece && piece != whole + MACS + tags)
		memcpy(whole + MACS + tags, piece, len - MACS);
	return (struct frame){whole, m->pkt_len + tags};
}

static inline struct frame frame_of(
	struct hauli_capture_queue *q, const struct rte_mbuf *m, bool received)
{
	uint64_t tagged = m->ol_flags & (received ? RX_TAGGED : TX_TAGGED);

	if (hauli_likely(m->nb_segs == 1 && !tagged))
		return (struct frame){rte_pktmbuf_mtod(m, const uint8_t *), m->pkt_len};
	return make_whole(q, m,
		tagged & (received ? RTE_MBUF_F_RX_QINQ_STRIPPED : RTE_MBUF_F_TX_QINQ),
		tagged & (received ? RTE_MBUF_F_RX_VLAN_STRIPPED : RTE_MBUF_F_TX_VLAN));
}

/* Writes the block of a frame at a position of the ring. Returns its length; 0: no room. */
static inline uint32_t put_block(struct hauli_capture_queue *q, uint32_t at,
	const struct frame *frame, uint64_t ticks, enum hauli_block_direction direction)
{
	uint32_t captured = RTE_MIN(frame->len, q->snaplen);
	uint32_t len = hauli_block_frame_len(captured);
	uint8_t *to = hauli_capture_ring_room(q->ring, at, len);
	struct hauli_block_frame *head = (struct hauli_block_frame *)to;
	struct hauli_block_frame_end *end;

	if (hauli_unlikely(!to))
		return 0;
	*head = (struct hauli_block_frame){
		.type = HAULI_BLOCK_FRAME,
		.len = len,
		.interface = q->port,
		.captured = captured,
		.original = frame->len,
	};
	memcpy(head->time, &ticks, sizeof(ticks));
	end = (struct hauli_block_frame_end *)(to + len - sizeof(*end));
	memset((uint8_t *)end - 3, 0, 3); /* padding */
	memcpy(head + 1, frame->bytes, captured);
	*end = (struct hauli_block_frame_end){
		.flags_code = HAULI_BLOCK_FLAGS,
		.flags_len = sizeof(end->flags),
		.flags = direction,
		.queue_code = HAULI_BLOCK_QUEUE,
		.queue_len = sizeof(end->queue),
		.queue = q->queue,
		.len = len,
	};
	return len;
}

/* Sums while frames are copied. */
struct progress {
	uint32_t at; /* position behind their blocks */
	uint32_t matched, no_room;
};

static inline void copy(struct hauli_capture_queue *q, const struct rte_mbuf *m, uint64_t ticks,
	enum hauli_block_direction direction, struct progress *sum)
{
	struct frame frame = frame_of(q, m, direction == HAULI_BLOCK_INBOUND);
	uint32_t len;

	if (q->match &&
		!q->match(q->match_arg, frame.bytes, RTE_MIN(frame.len, HAULI_CAPTURE_SNAP_MOST)))
		return;
	len = put_block(q, sum->at, &frame, ticks, direction);
	sum->at += len;
	sum->matched++;
	sum->no_room += len == 0;
}

static inline void publish(struct hauli_capture_queue *q, const struct progress *sum)
{
	hauli_counter_add(&q->count->matched, sum->matched);
	hauli_counter_add(&q->count->no_room, sum->no_room);
	hauli_capture_ring_publish(q->ring, sum->at);
}

static uint16_t receive(void *queue, struct rte_mbuf **pkts, uint16_t n)
{
	struct hauli_capture_queue *q = queue;
	struct progress sum = {.at = q->ring->written};
	uint64_t ticks;

	n = hauli_burst_rx(&q->rx, pkts, n);
	if (n == 0)
		return 0;
	ticks = hauli_ticks();
	for (uint16_t i = 0; i < n; i++)
		copy(q, pkts[i], ticks, HAULI_BLOCK_INBOUND, &sum);
	publish(q, &sum);
	return n;
}

/* Copies n frames, and lets the PMD send them. It may take some only: sums[i] has the sums after
 * frame i. */
static uint16_t transmit_some(struct hauli_capture_queue *q, struct rte_mbuf **pkts, uint16_t n)
{
	struct progress sums[TX_CHUNK];
	struct progress sum = {.at = q->ring->written};
	uint64_t ticks = hauli_ticks();

	for (uint16_t i = 0; i < n; i++) {
		copy(q, pkts[i], ticks, HAULI_BLOCK_OUTBOUND, &sum);
		sums[i] = sum;
	}
	n = hauli_burst_tx(&q->tx, pkts, n);
	if (n > 0)
		publish(q, &sums[n - 1]);
	return n;
}

static uint16_t transmit(void *queue, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t sent = 0, some, now;

	do {
		some = RTE_MIN((uint16_t)(n - sent), (uint16_t)TX_CHUNK);
		now = transmit_some(queue, pkts + sent, some);
		sent += now;
	} while (now == some && sent < n);
	return sent;
}

static void remove_hook(
	struct hauli_poller *p, struct hauli_rxq *r, const struct hauli_capture_queue *q)
{
	r->burst = q->rx;
	if (q->sends)
		p->txs[q->port].burst = q->tx;
}

static void install_hook(const struct haul_capture *c, struct hauli_poller *p, struct hauli_rxq *r,
	struct hauli_capture_queue *q)
{
	if (c->opts.directions != HAUL_CAPTURE_TX)
		r->burst.ops = &q->ops;
	if (c->opts.directions != HAUL_CAPTURE_RX && q->sends)
		p->txs[q->port].burst.ops = &q->ops;
}

/* The hooks of a carrier's queues, in the order of its rxqs; some stay unused. */
static struct hauli_capture_queue *hooks_of(const struct haul_capture *c, unsigned carrier)
{
	return &c->queues[carrier * c->queues_each];
}

static bool captures(const struct haul_capture *c, const struct hauli_rxq *r)
{
	/* The packets of an RPS target pass through queues of its proxy, and are captured there. */
	return c->opts.captures[r->rx.port] && !r->target;
}

static void install_all(const struct haul_capture *c, struct hauli_poller *p)
{
	struct hauli_capture_queue *q = hooks_of(c, haul_carrier_id(p->carrier));

	for (struct hauli_rxq *r = p->rxqs; r < p->rxqs_end; r++, q++)
		if (captures(c, r))
			install_hook(c, p, r, q);
}

static void remove_all(const struct haul_capture *c, struct hauli_poller *p)
{
	struct hauli_capture_queue *q = hooks_of(c, haul_carrier_id(p->carrier));

	for (struct hauli_rxq *r = p->rxqs; r < p->rxqs_end; r++, q++)
		if (captures(c, r))
			remove_hook(p, r, q);
}

void hauli_capture_replace(
	struct haul_capture *c, struct hauli_poller *p, unsigned port, struct hauli_burst burst)
{
	struct hauli_capture_queue *q = hooks_of(c, haul_carrier_id(p->carrier));

	for (struct hauli_rxq *r = p->rxqs; r < p->rxqs_end; r++, q++)
		if (r->rx.port == port && captures(c, r))
			q->rx = q->tx = burst;
}

void hauli_capture_resume(struct haul_capture *c, struct hauli_poller *p, unsigned port)
{
	struct hauli_capture_queue *q = hooks_of(c, haul_carrier_id(p->carrier));

	for (struct hauli_rxq *r = p->rxqs; r < p->rxqs_end; r++, q++) {
		if (r->rx.port != port || !captures(c, r))
			continue;
		q->rx = r->burst;
		q->tx = p->txs[port].burst;
		install_hook(c, p, r, q);
	}
}

static bool prepare_hook(const struct haul_capture *c, struct hauli_poller *p,
	const struct hauli_rxq *r, struct hauli_capture_queue *q)
{
	const unsigned carrier = haul_carrier_id(p->carrier);
	const unsigned n =
		r->rx.queue + 1u; /* no queue_id is more, also of a port that comes back */

	*q = (struct hauli_capture_queue){
		.ring = &c->carriers[carrier]->ring,
		.count = &c->carriers[carrier]->ports[r->rx.port],
		.match = c->opts.match,
		.match_arg = c->opts.match_arg,
		.snaplen = c->opts.snaplen,
		.port = r->rx.port,
		.queue = r->rx.queue,
		.sends = r < p->rxqs + p->nb_ports,
		.rx = r->burst,
		.tx = p->txs[r->rx.port].burst,
		.ops = {.rx_pkt_burst = receive, .tx_pkt_burst = transmit},
		.data = calloc(2 * (size_t)n, sizeof(q->data[0])),
	};
	if (!q->data)
		return false;
	for (unsigned i = 0; i < n; i++)
		q->data[i] = q;
	q->ops.rxq.data = q->ops.txq.data = q->data;
	q->ops.rxq.clbk = q->ops.txq.clbk = q->data + n;
	return true;
}

static void free_hooks(struct haul_capture *c)
{
	for (unsigned i = 0; c->queues && i < c->opts.carriers * c->queues_each; i++)
		free(c->queues[i].data);
	free(c->queues);
	c->queues = NULL;
}

static bool prepare_poller(const struct haul_capture *c, struct hauli_poller *p, unsigned carrier)
{
	struct hauli_capture_queue *q = hooks_of(c, carrier);

	for (const struct hauli_rxq *r = p->rxqs; r < p->rxqs_end; r++, q++)
		if (!prepare_hook(c, p, r, q))
			return false;
	return true;
}

static int prepare_hooks(struct haul_capture *c, struct haul_io *io)
{
	c->queues_each = 0;
	for (unsigned i = 0; i < io->nb_pollers; i++)
		c->queues_each = RTE_MAX(c->queues_each,
			(unsigned)(io->pollers[i]->rxqs_end - io->pollers[i]->rxqs));
	c->queues = calloc((size_t)c->opts.carriers * c->queues_each, sizeof(c->queues[0]));
	if (!c->queues)
		return -ENOMEM;
	for (unsigned i = 0; i < io->nb_pollers; i++)
		if (!prepare_poller(c, io->pollers[i], i)) {
			free_hooks(c);
			return -ENOMEM;
		}
	return 0;
}

static const char stopping[] = "the pollers have not ended; call haul_io_stop() again";

static bool is_stopping(const struct haul_io *io)
{
	return io->stage != HAULI_IO_RUNS && io->stage != HAULI_IO_STOPPED;
}

static int check(
	const struct haul_capture *c, const struct haul_io *io, char *errbuf, size_t errlen)
{
	const char *wrong = NULL;

	if (c->io || io->capture)
		wrong = "one capture is under way; stop it first";
	else if (c->opts.nb_ports != io->opts.nb_ports ||
		memcmp(c->opts.ports, io->ports, io->opts.nb_ports * sizeof(io->ports[0])) != 0)
		wrong = "the capture is of other ports; open it with those of haul_io_opts";
	else if (c->opts.carriers < io->nb_pollers)
		wrong = "the capture is for fewer carriers; open it with haul_carriers()";
	else if (is_stopping(io))
		wrong = stopping;
	if (!wrong)
		return 0;
	snprintf(errbuf, errlen, "haul_capture_start: %s", wrong);
	if (c->io || io->capture)
		return -EBUSY;
	return wrong == stopping ? -ECANCELED : -EINVAL;
}

/* A change on one carrier, between two bursts of its poller. */
struct change {
	struct haul_capture *capture;
	struct hauli_poller *poller;
};

static void *start_here(void *arg)
{
	const struct change *change = arg;

	install_all(change->capture, change->poller);
	return NULL;
}

static void *stop_here(void *arg)
{
	const struct change *change = arg;

	remove_all(change->capture, change->poller);
	return NULL;
}

/* Makes a change on each carrier; while no pollers run, on the caller's thread. */
static int on_carriers(struct haul_capture *c, struct haul_io *io, haul_fn *fn)
{
	int err = 0;

	for (unsigned i = 0; i < io->nb_pollers && !err; i++) {
		struct change change = {c, io->pollers[i]};

		if (io->stage == HAULI_IO_STOPPED) {
			fn(&change);
			continue;
		}
		err = hauli_on_carrier(change.poller, "capture", fn, &change, HAUL_FOREVER);
	}
	return err;
}

int haul_capture_start(struct haul_capture *c, struct haul_io *io, char *errbuf, size_t errlen)
{
	int err;

	HAUL_MISUSE_IF(!c || !io, "capture or io is NULL");
	err = check(c, io, errbuf, errlen);
	if (err)
		return err;
	pthread_mutex_lock(&io->moving); /* a detached port gets other burst calls */
	err = prepare_hooks(c, io);
	if (!err) {
		c->io = io;
		io->capture = c;
		err = on_carriers(c, io, start_here);
	}
	pthread_mutex_unlock(&io->moving);
	if (err)
		snprintf(errbuf, errlen, "haul_capture_start: %s", strerror(-err));
	return err;
}

/* Takes the hooks out; c is no more of its io then. */
static int detach(struct haul_capture *c)
{
	struct haul_io *io = c->io;
	int err;

	pthread_mutex_lock(&io->moving);
	err = on_carriers(c, io, stop_here);
	if (!err) {
		io->capture = NULL;
		c->io = NULL;
		free_hooks(c);
	}
	pthread_mutex_unlock(&io->moving);
	return err;
}

int haul_capture_stop(struct haul_capture *c, char *errbuf, size_t errlen)
{
	int err;

	HAUL_MISUSE_IF(!c, "capture is NULL");
	if (!c->io)
		return 0;
	err = is_stopping(c->io) ? -ECANCELED : detach(c);
	if (err)
		snprintf(errbuf, errlen, "haul_capture_stop: %s",
			err == -ECANCELED ? stopping : strerror(-err));
	return err;
}

void hauli_capture_end(struct haul_io *io)
{
	if (io->capture)
		(void)detach(io->capture);
}

int haul_capture_close(struct haul_capture *c, uint64_t timeout_ns, struct haul_capture_stats *st,
	char *errbuf, size_t errlen)
{
	HAUL_MISUSE_IF(!c, "capture is NULL");
	if (c->io && c->io->stage != HAULI_IO_STOPPED) {
		snprintf(errbuf, errlen,
			"haul_capture_close: still capturing; call haul_capture_stop() or "
			"haul_io_stop() first");
		return -EBUSY;
	}
	if (c->io)
		hauli_capture_end(c->io);
	return hauli_capture_finish(c, timeout_ns, st, errbuf, errlen);
}
