/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The thread that polls a queue, or sends on it, copies what is printed of each packet to a ring of
 * the queue; a timer lets the main thread print the rings. So a poller waits for no output: what
 * does not fit the ring until the next print is only counted.
 */
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <rte_mbuf_ptype.h>
#include <rte_net.h>
#include <rte_ring.h>
#include <rte_ring_elem.h>

#include <haul-dpdk/port_info.h>

#include "command.h"
#include "verbose.h"

#define ROOM 128 /* packets of a queue between two prints */
#define TICK_NS 100000000
#define QUEUES_MAX 128 /* receive and transmit queues */

struct packet {
	struct rte_ether_addr dst, src;
	uint16_t type; /* in network order */
	uint16_t segs;
	uint32_t len;
	uint32_t number; /* packets of the queue, up to this one */
	const struct rte_mempool *pool;
	uint64_t flags;
	uint32_t hw_type, sw_type; /* RTE_PTYPE_... of the device; of the headers */
	struct rte_net_hdr_lens headers;
	uint32_t hash;
	uint16_t vlan, outer_vlan;
};
_Static_assert(sizeof(struct packet) % 4 == 0, "rte_ring_create_elem()");

static struct verbose_queue {
	unsigned port, queue;
	bool rx;
	struct haul_port_callback *callback;
	struct rte_ring *ring;
	uint32_t seen; /* packets; callback's */
	uint32_t printed; /* main thread's */
} queues[QUEUES_MAX];
static unsigned nb_queues;
static int timer = -1;

static void copy(struct rte_mbuf **pkts, uint16_t n, void *arg)
{
	struct verbose_queue *q = arg;

	for (uint16_t i = 0; i < n; i++) {
		const struct rte_ether_hdr *eth = rte_pktmbuf_mtod(pkts[i], const void *);
		struct packet r = {
			.segs = pkts[i]->nb_segs,
			.len = pkts[i]->pkt_len,
			.pool = pkts[i]->pool,
			.flags = pkts[i]->ol_flags,
			.hw_type = pkts[i]->packet_type,
			.hash = pkts[i]->hash.rss,
			.vlan = pkts[i]->vlan_tci,
			.outer_vlan = pkts[i]->vlan_tci_outer,
		};

		if (pkts[i]->data_len >= sizeof(*eth)) {
			rte_ether_addr_copy(&eth->dst_addr, &r.dst);
			rte_ether_addr_copy(&eth->src_addr, &r.src);
			r.type = eth->ether_type;
			r.sw_type = rte_net_get_ptype(pkts[i], &r.headers, RTE_PTYPE_ALL_MASK);
		}
		r.number = ++q->seen;
		rte_ring_sp_enqueue_elem(q->ring, &r, sizeof(r));
	}
}

/* What the device says of a packet, or is asked to do. */
static void print_offloads(const struct packet *r, const struct verbose_queue *q)
{
	if (r->flags & RTE_MBUF_F_RX_RSS_HASH)
		printf(" - RSS hash=0x%x - RSS queue=0x%x", r->hash, q->queue);
	if (r->flags & (q->rx ? RTE_MBUF_F_RX_QINQ : RTE_MBUF_F_TX_QINQ))
		printf(" - QinQ VLAN tci=0x%x, VLAN tci outer=0x%x", r->vlan, r->outer_vlan);
	else if (r->flags & (q->rx ? RTE_MBUF_F_RX_VLAN : RTE_MBUF_F_TX_VLAN))
		printf(" - VLAN tci=0x%x", r->vlan);
}

static void print_types(const struct packet *r)
{
	char name[256];

	if (r->hw_type && rte_get_ptype_name(r->hw_type, name, sizeof(name)) == 0)
		printf(" - hw ptype: %s", name);
	if (rte_get_ptype_name(r->sw_type, name, sizeof(name)) == 0)
		printf(" - sw ptype: %s", name);
	if (r->sw_type & RTE_PTYPE_L2_MASK)
		printf(" - l2_len=%u", r->headers.l2_len);
	if (r->sw_type & RTE_PTYPE_L3_MASK)
		printf(" - l3_len=%u", r->headers.l3_len);
	if (r->sw_type & RTE_PTYPE_L4_MASK)
		printf(" - l4_len=%u", r->headers.l4_len);
}

/* testpmd's two lines. */
static void print_packet(const struct packet *r, const struct verbose_queue *q)
{
	char src[RTE_ETHER_ADDR_FMT_SIZE], dst[RTE_ETHER_ADDR_FMT_SIZE], flags[256];
	int err;

	rte_ether_format_addr(src, sizeof(src), &r->src);
	rte_ether_format_addr(dst, sizeof(dst), &r->dst);
	printf("  src=%s - dst=%s - pool=%s - type=0x%04x - length=%u - nb_segs=%u", src, dst,
		r->pool->name, rte_be_to_cpu_16(r->type), r->len, r->segs);
	print_offloads(r, q);
	print_types(r);
	err = (q->rx ? rte_get_rx_ol_flag_list : rte_get_tx_ol_flag_list)(
		r->flags, flags, sizeof(flags));
	printf(" - %s queue=0x%x\n  ol_flags: %s\n", q->rx ? "Receive" : "Send", q->queue,
		err ? "" : flags);
}

static void print_queue(struct verbose_queue *q)
{
	struct packet r[ROOM];
	unsigned n = rte_ring_sc_dequeue_burst_elem(q->ring, r, sizeof(r[0]), ROOM, NULL);
	uint32_t left;

	if (n == 0)
		return;
	printf("port %u/queue %u: %s %u packets\n", q->port, q->queue, q->rx ? "received" : "sent",
		r[n - 1].number - q->printed);
	left = r[n - 1].number - q->printed - n;
	for (unsigned i = 0; i < n; i++)
		print_packet(&r[i], q);
	if (left > 0)
		printf("  and %u more\n", left);
	q->printed = r[n - 1].number;
}

void fwd_verbose_print(void)
{
	for (unsigned i = 0; i < nb_queues; i++)
		print_queue(&queues[i]);
}

static void print_often(struct haul_app *app, int fd, void *arg)
{
	uint64_t ticks;

	if (read(fd, &ticks, sizeof(ticks)) >= 0)
		fwd_verbose_print();
}

static bool begin_queue(struct haul_port *port, unsigned i, unsigned n, bool rx)
{
	struct verbose_queue *q = &queues[nb_queues];
	char name[RTE_RING_NAMESIZE];

	if (nb_queues == QUEUES_MAX)
		return false;
	*q = (struct verbose_queue){.port = i, .queue = n, .rx = rx};
	snprintf(name, sizeof(name), "verbose_%u", nb_queues);
	q->ring = rte_ring_create_elem(name, sizeof(struct packet), ROOM, SOCKET_ID_ANY,
		RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);
	if (!q->ring)
		return false;
	nb_queues++;
	q->callback = haul_port_add_callback(port, n, rx, copy, q);
	return q->callback;
}

static bool begin_side(struct haul_app *app, bool rx)
{
	for (unsigned i = 0; i < app->nb_ports; i++)
		for (unsigned n = 0; n < haul_port_queues(app->ports[i]); n++)
			if (!begin_queue(app->ports[i], i, n, rx))
				return false;
	return true;
}

/* 1: what is received; 2: what is sent; more: both. */
static bool begin(struct haul_app *app, unsigned level)
{
	const struct itimerspec often = {{0, TICK_NS}, {0, TICK_NS}};

	timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (timer < 0)
		return false;
	timerfd_settime(timer, 0, &often, NULL);
	if ((level != 2 && !begin_side(app, true)) || (level >= 2 && !begin_side(app, false)))
		return false;
	haul_app_watch(app, timer, print_often, NULL);
	return true;
}

/* No poller runs. The end of the program needs no call: it frees all memory of DPDK. */
static void end(struct haul_app *app)
{
	if (timer < 0)
		return;
	haul_app_watch(app, timer, NULL, NULL);
	close(timer);
	timer = -1;
	for (unsigned i = 0; i < nb_queues; i++) {
		if (queues[i].callback)
			haul_port_remove_callback(queues[i].callback);
		print_queue(&queues[i]);
		rte_ring_free(queues[i].ring);
	}
	nb_queues = 0;
}

static unsigned level_now;

bool fwd_verbose_goes_on(struct haul_app *app)
{
	if (level_now == 0)
		return true;
	end(app);
	return begin(app, level_now);
}

static bool set_verbose(const struct fwd_call *call)
{
	const unsigned level = (unsigned)RTE_MIN(call->words[2].number, UINT32_MAX);
	const unsigned before = level_now;

	if (!haul_app_is_paused(call->app)) {
		fprintf(call->out, "Packets are forwarded: give stop first\n");
		return false;
	}
	end(call->app);
	level_now = 0;
	if (level > 0 && !begin(call->app, level)) {
		end(call->app);
		fprintf(call->out, "Cannot watch the queues: no memory, or more than %u queues\n",
			QUEUES_MAX);
		return false;
	}
	level_now = level;
	fprintf(call->out, "Change verbose level from %u to %u\n", before, level_now);
	return true;
}

const struct fwd_command fwd_commands_verbose[] = {
	{"set verbose N", set_verbose,
		"1: print lines for each received packet, as far as there is time; 2: for each "
		"that is sent; 3: for both; after stop."},
	{0},
};
