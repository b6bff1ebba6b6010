/* SPDX-License-Identifier: BSD-3-Clause */
#include "numbered.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <haul-sim/main.h>
#include <haul-sim/net.h>
#include <haul-sim/node.h>
#include <haul/build.h>
#include <haul/haul.h>
#include <haul/net.h>

#include <rte_byteorder.h>
#include <rte_ip.h>
#include <rte_udp.h>

#include "networks.h"

#define FLOWS 8
#define BURST_MOST 16 /* of a flow at once: all flows fit into a ring */
#define RING 256
#define PORT 2000 /* of the first flow, at the receiver */
#define RECOVERY 15 /* simulated seconds: what is clogged arrives within ten */
#define ON_THE_WAY 2

struct end {
	const char *node_name;
	unsigned number;
	struct haul_sim_node *node;
	struct end *from; /* whose datagrams it gets */
	uint64_t sent[FLOWS], before_calm[FLOWS], got_in_calm[FLOWS];
	unsigned got, senders;
	bool ends, may_stop;
};

static struct end ends[2];
static unsigned nb_ends;
static bool calm, flips; /* flips: addresses may be wrong */

struct flow {
	struct end *end;
	unsigned number;
};

static void take(struct haul_rx *rx, struct rte_mbuf *mbuf)
{
	struct end *e = rx->arg;
	struct haul_pkt pkt;
	uint64_t number;
	unsigned flow;

	if (haul_net_parse(&pkt, mbuf) == HAUL_NET_OK && pkt.proto == HAUL_PROTO_UDP &&
		pkt.payload_len >= sizeof(number)) {
		memcpy(&number, pkt.payload, sizeof(number));
		number = rte_be_to_cpu_64(number);
		flow = rte_be_to_cpu_16(pkt.udp->dst_port) - PORT;
		e->got++;
		if (!flips && (rte_be_to_cpu_32(pkt.ip4->src_addr) & 255) != e->from->number)
			haul_sim_fail("%s gets a datagram of its own", e->node_name);
		if (flow < FLOWS && calm && number > e->from->before_calm[flow])
			e->got_in_calm[flow]++;
	}
	haul_drop(rx, &mbuf, 1, HAUL_DROP_CONSUMED);
}

/* NULL: there is no packet buffer. */
static struct rte_mbuf *datagram(struct end *e, unsigned flow, uint64_t number)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(e->node->pool);
	struct haul_head head = {.src_mac = {2, 1, 0, 0, 0, (uint8_t)e->number},
		.dst_mac = {2, 1, 0, 0, 0, (uint8_t)(1 - e->number)},
		.src = {4, {10, 1, 0, (uint8_t)e->number}},
		.dst = {4, {10, 1, 0, (uint8_t)(1 - e->number)}}};
	uint16_t len = (uint16_t)(sizeof(number) + number * 37 % 1000);
	struct haul_pkt pkt;
	uint8_t *payload;

	if (!m)
		return NULL;
	payload = (uint8_t *)rte_pktmbuf_append(m, len);
	memset(payload, (int)number, len);
	number = rte_cpu_to_be_64(number);
	memcpy(payload, &number, sizeof(number));
	if (haul_build_udp(&pkt, m, &head, (uint16_t)(1000 + flow), (uint16_t)(PORT + flow), 0))
		haul_sim_fail("a datagram cannot be built");
	return m;
}

/* Half of the flows do not wait for long: then the datagram is made again. */
static int send_one(struct haul_txq *txq, struct rte_mbuf *m, bool in_time)
{
	HAUL_SCOPE(s, in_time ? haul_in(30 * HAUL_MS) : HAUL_FOREVER, HAUL_SCOPE_ALL);

	return haul_send(txq, m);
}

static void *send_flow(void *arg)
{
	struct flow *f = arg;
	struct end *e = f->end;
	struct haul_txq *txq = haul_io_txq(e->node->io, 0, 0);
	uint64_t *sent = &e->sent[f->number];
	unsigned turn = f->number;

	while (!e->ends) {
		for (unsigned n = turn++ * 5 % BURST_MOST; n > 0; n--) {
			struct rte_mbuf *m = datagram(e, f->number, *sent + 1);
			int err = m ? send_one(txq, m, f->number % 2) : -ETIMEDOUT;

			if (err && err != -ETIMEDOUT)
				haul_sim_fail("%s ends while it sends", e->node_name);
			if (err) {
				rte_pktmbuf_free(m);
				break;
			}
			++*sent;
		}
		haul_sleep(HAUL_MS * (1 + turn * 13 % 50)); /* simulated */
	}
	free(f);
	e->senders--;
	return NULL;
}

static int end(void *arg)
{
	struct end *e = arg;
	const struct haul_sim_node_opts opts = {.name = e->node_name,
		.io = {.on_packet = take, .arg = e, .policy = {.how = HAUL_POLL_SPIN}},
		.mbufs = 4 * RING,
		.ring = RING};

	haul_sim_node_start(&e->node, &opts);
	for (unsigned i = 0; i < FLOWS; i++) {
		struct flow *f = malloc(sizeof(*f));

		*f = (struct flow){e, i};
		if (haul_spawn_on(haul_carrier(e->node->rt, 0), NULL, send_flow, f, NULL) != 0)
			haul_sim_fail("%s: no coroutine", e->node_name);
		e->senders++;
	}
	while (!e->may_stop)
		usleep(100000); /* simulated */
	return haul_sim_node_stop(e->node);
}

void numbered_start(const char *a, const char *b)
{
	nb_ends = b ? 2 : 1;
	for (unsigned i = 0; i < nb_ends; i++) {
		ends[i] = (struct end){
			.node_name = i ? b : a, .number = i, .from = &ends[b ? 1 - i : i]};
		haul_sim_host(ends[i].node_name, end, &ends[i]);
	}
}

void numbered_stop(void)
{
	for (unsigned i = 0; i < nb_ends; i++)
		ends[i].ends = true;
	for (unsigned i = 0; i < nb_ends; i++)
		while (ends[i].senders > 0)
			usleep(100000); /* simulated */
	sleep(ON_THE_WAY); /* simulated */
	for (unsigned i = 0; i < nb_ends; i++) {
		ends[i].may_stop = true;
		if (haul_sim_wait(ends[i].node_name) != 0)
			haul_sim_fail("%s does not end well", ends[i].node_name);
	}
}

static unsigned end_all(void)
{
	unsigned got = 0;

	numbered_stop();
	for (unsigned i = 0; i < nb_ends; i++) {
		struct end *e = &ends[i];

		got += e->got;
		for (unsigned f = 0; f < FLOWS; f++)
			if (e->got_in_calm[f] != e->from->sent[f] - e->from->before_calm[f])
				haul_sim_fail("%s: flow %u: of %" PRIu64 " datagrams %" PRIu64
					      " arrive, with no faults",
					e->node_name, f, e->from->sent[f] - e->from->before_calm[f],
					e->got_in_calm[f]);
	}
	return got;
}

unsigned numbered_run(unsigned trouble, unsigned calm_s)
{
	sleep(1); /* simulated, as the others */
	flips = true;
	networks_trouble(trouble, RECOVERY);
	flips = false;
	for (unsigned i = 0; i < nb_ends; i++)
		memcpy(ends[i].before_calm, ends[i].sent, sizeof(ends[i].sent));
	calm = true;
	sleep(calm_s - RECOVERY); /* simulated */
	return end_all();
}
