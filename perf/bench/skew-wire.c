/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/skew-wire.h"

#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>
#include <rte_ip.h>
#include <rte_ring.h>
#include <rte_udp.h>

#include <haul/base.h>

#define QUEUES 2
#define FLOWS 64
#define ROOM 8192 /* more than the number of packets */
#define GAPS 4096
#define SUB 32 /* buckets for each power of two */

struct frame {
	struct rte_ether_hdr ether;
	struct rte_ipv4_hdr ip;
	struct rte_udp_hdr udp; /* its source port is the flow */
	uint32_t number; /* in its flow */
	uint64_t came; /* haul_now() */
	uint8_t padding[10];
} __attribute__((packed, aligned(2)));

/* The wire of one queue. */
static struct line {
	_Alignas(64) struct rte_ring *arriving; /* pushed by any thread */
	uint64_t random;
	uint64_t due; /* time of the next packet; paced */
	unsigned gap;
	/* Written by the poller's thread, read by the harness's. */
	atomic_ullong packets, reordered, took[SKEW_BUCKETS];
	const struct rte_eth_rxtx_callback *arrives, *departs;
} lines[QUEUES];

static struct {
	_Alignas(64) uint32_t next; /* number; written where the flow's packets come in */
	atomic_uint seen; /* all lower numbers were sent, or overtaken */
} flows[FLOWS];

static struct skew_wire wire;
static struct rte_mempool *pool;
static struct haul_port *port;
static struct rte_ring *idle; /* packets to receive; paced */
static bool drains; /* closed: every packet comes in at once */
static uint64_t gaps[GAPS]; /* between packets of a Poisson process */

static uint64_t next_random(struct line *l)
{
	l->random ^= l->random << 13;
	l->random ^= l->random >> 7;
	l->random ^= l->random << 17;
	return l->random;
}

static struct frame *frame_of(struct rte_mbuf *pkt)
{
	return rte_pktmbuf_mtod(pkt, struct frame *);
}

static unsigned flow_of(struct rte_mbuf *pkt)
{
	return frame_of(pkt)->udp.src_port;
}

static unsigned queue_of(unsigned flow)
{
	return flow * wire.queues / FLOWS;
}

static void add(atomic_ullong *count, uint64_t n)
{
	atomic_store_explicit(
		count, atomic_load_explicit(count, memory_order_relaxed) + n, memory_order_relaxed);
}

/* Gives the packet a random flow of that queue. */
static void choose_flow(struct line *l, struct rte_mbuf *pkt, unsigned queue)
{
	unsigned each = FLOWS / wire.queues;

	frame_of(pkt)->udp.src_port = (uint16_t)(queue * each + (next_random(l) >> 32) % each);
}

static unsigned choose_queue(struct line *l)
{
	return wire.queues == 1 || (next_random(l) >> 32) % 100 < wire.share ? 0 : 1;
}

static unsigned bucket_of(uint64_t ns)
{
	unsigned shift, bucket;

	if (ns < SUB)
		return (unsigned)ns;
	shift = 63 - (unsigned)__builtin_clzll(ns) - 5;
	bucket = (shift + 1) * SUB + (unsigned)(ns >> shift) % SUB;
	return bucket < SKEW_BUCKETS ? bucket : SKEW_BUCKETS - 1;
}

/* The middle of the bucket. */
static uint64_t ns_of(unsigned bucket)
{
	unsigned shift = bucket / SUB;

	if (shift == 0)
		return bucket;
	return ((uint64_t)(SUB + bucket % SUB) << (shift - 1)) + (UINT64_C(1) << (shift - 1)) / 2;
}

/* May miss an overtaking between two packets that two queues send at the same time. */
static bool is_overtaken(struct rte_mbuf *pkt)
{
	atomic_uint *seen = &flows[flow_of(pkt)].seen;
	uint32_t number = frame_of(pkt)->number;

	if (number < atomic_load_explicit(seen, memory_order_relaxed))
		return true;
	atomic_store_explicit(seen, number + 1, memory_order_relaxed);
	return false;
}

static uint16_t depart(
	uint16_t port_id, uint16_t queue, struct rte_mbuf **pkts, uint16_t n, void *arg)
{
	struct line *l = &lines[queue];
	uint64_t now = haul_now();

	for (uint16_t i = 0; i < n; i++) {
		add(&l->took[bucket_of(now - frame_of(pkts[i])->came)], 1);
		if (is_overtaken(pkts[i]))
			add(&l->reordered, 1);
		if (wire.gap_ns == 0) {
			choose_flow(l, pkts[i], choose_queue(l));
			frame_of(pkts[i])->came = now;
		}
	}
	add(&l->packets, n);
	return n;
}

static void put(struct rte_ring *ring, struct rte_mbuf *pkt)
{
	if (rte_ring_enqueue(ring, pkt) != 0)
		abort();
}

/* Moves packets sent by this queue to the queue of their new flow. */
static uint16_t switch_over(
	struct line *l, unsigned queue, struct rte_mbuf **pkts, uint16_t n, uint16_t max)
{
	uint16_t kept = 0;

	for (uint16_t i = 0; i < n; i++) {
		unsigned to = queue_of(flow_of(pkts[i]));

		if (to == queue)
			pkts[kept++] = pkts[i];
		else
			put(lines[to].arriving, pkts[i]);
	}
	return kept + rte_ring_dequeue_burst(l->arriving, (void **)&pkts[kept], max - kept, NULL);
}

static void schedule_next(struct line *l, unsigned queue)
{
	unsigned share = queue == 0 ? wire.share : 100 - wire.share;

	l->gap = (l->gap + 1) % GAPS;
	l->due += gaps[l->gap] * 100 / share;
}

static uint16_t take_due(
	struct line *l, unsigned queue, struct rte_mbuf **pkts, uint16_t n, uint16_t max)
{
	uint64_t now = haul_now();
	void *pkt;

	for (uint16_t i = 0; i < n; i++)
		put(idle, pkts[i]);
	for (n = 0; n < max && l->due <= now && rte_ring_dequeue(idle, &pkt) == 0; n++) {
		choose_flow(l, pkt, queue);
		frame_of(pkt)->came = l->due;
		pkts[n] = pkt;
		schedule_next(l, queue);
	}
	return n;
}

static uint16_t arrive(uint16_t port_id, uint16_t queue, struct rte_mbuf **pkts, uint16_t n,
	uint16_t max, void *arg)
{
	struct line *l = &lines[queue];

	if (drains)
		return n + rte_ring_dequeue_burst(l->arriving, (void **)&pkts[n], max - n, NULL);
	n = wire.gap_ns ? take_due(l, queue, pkts, n, max) : switch_over(l, queue, pkts, n, max);
	for (uint16_t i = 0; i < n; i++)
		frame_of(pkts[i])->number = flows[flow_of(pkts[i])].next++;
	return n;
}

static int make_rings(void)
{
	char name[32];

	for (unsigned i = 0; i < wire.queues; i++) {
		snprintf(name, sizeof(name), "arriving%u", i);
		lines[i].arriving = rte_ring_create(name, ROOM, SOCKET_ID_ANY, RING_F_SC_DEQ);
		if (!lines[i].arriving)
			return -ENOMEM;
	}
	idle = rte_ring_create("idle", ROOM, SOCKET_ID_ANY, 0);
	return idle ? 0 : -ENOMEM;
}

static int stand_around(void)
{
	for (uint16_t i = 0; i < wire.queues; i++) {
		struct haul_queue q = haul_port_queue(port, i);

		lines[i].arrives = rte_eth_add_rx_callback(q.port_id, q.queue_id, arrive, NULL);
		lines[i].departs = rte_eth_add_tx_callback(q.port_id, q.queue_id, depart, NULL);
		if (!lines[i].arrives || !lines[i].departs)
			return -ENOMEM;
	}
	return 0;
}

/* ethdev stores callbacks by port number, so the memory of four ports is never freed. */
static void leave_wire(void)
{
	for (uint16_t i = 0; i < wire.queues; i++) {
		struct haul_queue q = haul_port_queue(port, i);

		rte_eth_remove_rx_callback(q.port_id, q.queue_id, lines[i].arrives);
		rte_eth_remove_tx_callback(q.port_id, q.queue_id, lines[i].departs);
	}
}

int skew_wire_open(const struct skew_wire *w, struct rte_mempool *from, char *why, size_t len)
{
	const struct haul_port_opts opts = {.queues = w->queues, .pool = from};
	int err = haul_port_open(&port, "ring:", &opts, why, len);

	if (!err)
		err = haul_port_start(port, why, len);
	if (err)
		return err;
	wire = *w;
	pool = from;
	for (unsigned i = 0; i < GAPS; i++)
		gaps[i] = (uint64_t)(-log((i + 0.5) / GAPS) * (double)wire.gap_ns);
	for (unsigned i = 0; i < wire.queues; i++)
		lines[i].random = 88172645463325252u + i;
	for (unsigned i = GAPS; i-- > 1;) { /* shuffles them */
		unsigned k = (unsigned)((next_random(&lines[0]) >> 32) % (i + 1));
		uint64_t gap = gaps[i];

		gaps[i] = gaps[k];
		gaps[k] = gap;
	}
	err = make_rings();
	if (!err)
		err = stand_around();
	snprintf(why, len, "no memory for the wire");
	return err;
}

struct haul_port *skew_wire_port(void)
{
	return port;
}

void skew_wire_close(void)
{
	leave_wire();
	haul_port_close(port);
	for (unsigned i = 0; i < wire.queues; i++)
		rte_ring_free(lines[i].arriving);
	rte_ring_free(idle);
}

static struct rte_mbuf *make_packet(void)
{
	struct rte_mbuf *pkt = rte_pktmbuf_alloc(pool);
	struct frame *f;

	if (!pkt)
		abort();
	f = (struct frame *)rte_pktmbuf_append(pkt, sizeof(*f));
	memset(f, 0, sizeof(*f));
	f->ether.ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4);
	f->ip = (struct rte_ipv4_hdr){
		.version_ihl = RTE_IPV4_VHL_DEF,
		.total_length = rte_cpu_to_be_16(sizeof(*f) - sizeof(f->ether)),
		.time_to_live = 64,
		.next_proto_id = IPPROTO_UDP,
		.src_addr = RTE_BE32(RTE_IPV4(192, 0, 2, 1)),
		.dst_addr = RTE_BE32(RTE_IPV4(192, 0, 2, 2)),
	};
	f->ip.hdr_checksum = rte_ipv4_cksum(&f->ip);
	f->udp.dst_port = RTE_BE16(7);
	f->udp.dgram_len = rte_cpu_to_be_16(sizeof(*f) - sizeof(f->ether) - sizeof(f->ip));
	return pkt;
}

void skew_wire_fill(void)
{
	uint64_t now = haul_now();

	for (unsigned i = 0; i < FLOWS; i++) {
		flows[i].next = 0;
		atomic_store(&flows[i].seen, 0);
	}
	for (unsigned i = 0; i < wire.queues; i++)
		lines[i].due = now;
	for (unsigned i = 0; i < wire.packets; i++) {
		struct rte_mbuf *pkt = make_packet();
		unsigned queue = choose_queue(&lines[0]);

		choose_flow(&lines[0], pkt, queue);
		frame_of(pkt)->came = now;
		put(wire.gap_ns ? idle : lines[queue].arriving, pkt);
	}
}

static void drain(struct rte_ring *ring)
{
	void *pkt;

	while (rte_ring_dequeue(ring, &pkt) == 0)
		rte_pktmbuf_free(pkt);
}

void skew_wire_drain(void)
{
	struct rte_mbuf *pkts[64];
	uint16_t n;

	drains = true;
	for (unsigned i = 0; i < wire.queues; i++) {
		struct haul_queue q = haul_port_queue(port, i);

		while ((n = rte_eth_rx_burst(q.port_id, q.queue_id, pkts, 64)) > 0)
			rte_pktmbuf_free_bulk(pkts, n);
	}
	drain(idle);
	drains = false;
}

void skew_wire_count(struct skew_counts *counts)
{
	memset(counts, 0, sizeof(*counts));
	for (unsigned i = 0; i < wire.queues; i++) {
		struct line *l = &lines[i];

		counts->packets += atomic_load_explicit(&l->packets, memory_order_relaxed);
		counts->reordered += atomic_load_explicit(&l->reordered, memory_order_relaxed);
		for (unsigned k = 0; k < SKEW_BUCKETS; k++)
			counts->took[k] += atomic_load_explicit(&l->took[k], memory_order_relaxed);
	}
}

uint64_t skew_percentile(const uint64_t *took, double share)
{
	uint64_t all = 0, below = 0;
	unsigned i;

	for (i = 0; i < SKEW_BUCKETS; i++)
		all += took[i];
	for (i = 0; i < SKEW_BUCKETS - 1; i++) {
		below += took[i];
		if ((double)below >= share * (double)all)
			break;
	}
	return ns_of(i);
}
