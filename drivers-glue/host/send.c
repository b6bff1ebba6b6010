/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/send.h"

#include <errno.h>

#include <haul/scope.h>

#include "base/assert.h"
#include "host/neighbour.h"
#include "io/state.h"

static struct haul_txq *queue_of(const struct haul_io *io, unsigned port)
{
	struct haul_coro *me = haul_self();
	const struct haul_carrier *home = me ? haul_coro_home(me) : NULL;

	if (!home || haul_carrier_runtime(home) != io->rt)
		return NULL;
	return haul_io_txq(io, port, haul_carrier_id(home));
}

struct haul_txq *hauli_host_txq(struct haul_host *host, unsigned port)
{
	struct haul_io *io = hauli_host_io(host);

	return io ? queue_of(io, port) : NULL;
}

int hauli_host_prepare(struct haul_host *host, struct hauli_out *out, const struct haul_addr *dst,
	uint64_t deadline)
{
	struct haul_addr next_hop;
	const struct hauli_host_port *p;
	struct haul_io *io;
	int err;

	out->version = hauli_host_version(host);
	err = hauli_host_route(host, dst, &out->port, &next_hop, &out->head.src);
	if (err)
		return err;
	err = hauli_host_neighbour(host, out->port, hauli_ip_of_addr(&next_hop), out->head.dst_mac,
		&out->neigh, deadline);
	if (err)
		return err;
	if (out->neigh.slot == HAULI_NO_NEIGH)
		out->version = 0;
	io = hauli_host_io(host);
	if (!io)
		return -ECANCELED;
	out->txq = queue_of(io, out->port);
	if (!out->txq)
		return -EPERM;
	p = &host->ports[out->port];
	memcpy(out->head.src_mac, p->mac, 6);
	out->head.dst = *dst;
	out->head.mtu = p->mtu;
	out->offloads = p->offloads;
	out->segments = p->segments;
	return 0;
}

int hauli_send_whole(const struct hauli_out *out, struct rte_mbuf *pkt)
{
	if (hauli_likely(pkt->nb_segs == 1) || out->segments)
		return 0;
	return rte_pktmbuf_linearize(pkt) ? -ENOBUFS : 0;
}

void hauli_send_undo(struct rte_mbuf *pkt, uint32_t len)
{
	pkt->ol_flags &= ~RTE_MBUF_F_TX_OFFLOAD_MASK;
	(void)rte_pktmbuf_adj(pkt, (uint16_t)(rte_pktmbuf_pkt_len(pkt) - len));
}

static __attribute__((noinline)) int send_by(
	struct haul_txq *txq, struct rte_mbuf *pkt, uint64_t deadline)
{
	HAUL_SCOPE(s, deadline, HAUL_SCOPE_ALL);

	return haul_send(txq, pkt);
}

int hauli_send_on(struct haul_txq *txq, struct rte_mbuf *pkt, uint64_t deadline)
{
	int err = haul_try_send(txq, pkt);

	if (hauli_likely(err == 0))
		return 0;
	if (deadline == 0)
		return -EAGAIN;
	return deadline == HAUL_FOREVER ? haul_send(txq, pkt) : send_by(txq, pkt, deadline);
}
