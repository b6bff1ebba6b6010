/* SPDX-License-Identifier: BSD-3-Clause */
#include "io_flows.h"

#include <stdatomic.h>
#include <string.h>

#include <rte_ethdev.h>

#define SOURCE_MAC 11 /* position of its last byte */

static struct {
	struct flows flows;
	uint32_t next[FLOWS]; /* least number of the flow's next packet */
	atomic_bool wrong;
	struct haul_queue queue; /* of port 1, where packets are checked */
	const void *looks;
	uint32_t first, packets; /* to be sent */
} s;

/* Called in the thread that polls the queue. */
static uint16_t look(
	uint16_t port, uint16_t queue, struct rte_mbuf **pkts, uint16_t n, uint16_t max, void *arg)
{
	for (uint16_t i = 0; i < n && !s.flows.disorder; i++) {
		uint32_t number = bed_number(pkts[i]);

		if (number < s.next[s.flows.of(number)])
			s.wrong = true;
		s.next[s.flows.of(number)] = number + 1;
	}
	return n;
}

void flows_open(struct bed *bed, unsigned queues, enum haul_steal steal, const struct flows *flows)
{
	memset(&s, 0, sizeof(s));
	s.flows = *flows;
	bed_open_with(bed, (const char *const[]){"ring:", "ring:", NULL}, queues, steal);
	s.queue = haul_port_queue(bed->ports[1], 0);
	s.looks = rte_eth_add_rx_callback(s.queue.port_id, s.queue.queue_id, look, NULL);
	ck_assert_ptr_nonnull(s.looks);
}

static void *generate(void *arg)
{
	struct bed *bed = arg;

	for (uint32_t i = s.first; i < s.first + s.packets; i++) {
		struct rte_mbuf *pkt = bed_packet(bed, i);

		rte_pktmbuf_mtod(pkt, char *)[SOURCE_MAC] = (char)s.flows.of(i);
		ck_assert_int_eq(haul_send(haul_io_txq(bed->io, 0, 0), pkt), 0);
		if (s.flows.burst && i % s.flows.burst == 0)
			haul_yield();
	}
	return NULL;
}

void flows_send(struct bed *bed, uint32_t first, uint32_t packets)
{
	struct haul_coro *co;

	s.first = first;
	s.packets = packets;
	ck_assert_int_eq(haul_spawn_on(haul_carrier(bed->rt, 0), &co, generate, bed, NULL), 0);
	ck_assert_int_eq(haul_join(co, NULL, HAUL_FOREVER), 0);
}

void flows_run(struct bed *bed, struct haul_io_opts *opts, uint32_t packets)
{
	opts->ports = bed->ports;
	opts->nb_ports = bed->nb_ports;
	opts->pool = bed->pool;
	bed_start(bed, opts);
	flows_send(bed, 0, packets);
}

bool flows_stop(struct bed *bed)
{
	ck_assert_msg(haul_io_stop(bed->io, HAUL_FOREVER, bed->errbuf, sizeof(bed->errbuf)) == 0,
		"%s", bed->errbuf);
	rte_eth_remove_rx_callback(s.queue.port_id, s.queue.queue_id, s.looks);
	return !s.wrong;
}

void flows_work(uint64_t ns)
{
	uint64_t until = haul_now() + ns;

	while (haul_now() < until)
		;
}
