/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/large.h"

#include <errno.h>

#include <haul-dpdk/fragment.h>

#include "io/state.h"

/* Makes fragments of payload, which stays as it is, with headers in front, and referred to. */
static int make(struct haul_io *io, const struct hauli_out *out, struct rte_mbuf *payload,
	uint16_t src_port, uint16_t dst_port, struct rte_mbuf **frags)
{
	struct haul_head head = out->head;
	struct haul_pkt pkt;
	int n;

	head.mtu = 0;
	head.may_fragment = true;
	n = haul_build_udp(&pkt, payload, &head, src_port, dst_port, 0);
	if (n)
		return n;
	/* haul_fragment() frees what it has copied. */
	rte_pktmbuf_refcnt_update(payload, 1);
	n = haul_fragment(&pkt, out->head.mtu, io->opts.pool, frags);
	if (n < 0)
		rte_pktmbuf_refcnt_update(payload, -1);
	return n;
}

int hauli_host_send_large(struct haul_host *host, const struct hauli_out *out,
	struct rte_mbuf *payload, uint16_t src_port, uint16_t dst_port, uint64_t deadline)
{
	struct rte_mbuf *frags[HAUL_FRAGMENTS_MAX];
	struct haul_txq *txq = out->txq; /* *out does not last */
	struct haul_io *io = hauli_host_io(host);
	uint32_t len = rte_pktmbuf_pkt_len(payload);
	int n, sent = 0, err = 0;

	if (host->opts.no_fragments)
		return -EMSGSIZE;
	if (!io)
		return -ECANCELED;
	n = make(io, out, payload, src_port, dst_port, frags);
	while (sent < n && (err = hauli_send_on(txq, frags[sent], deadline)) == 0)
		sent++;
	if (n > 0 && sent < n)
		rte_pktmbuf_free_bulk(frags + sent, (unsigned)(n - sent));
	if (n < 0)
		err = n;
	if (!err)
		rte_pktmbuf_free(payload);
	else if (rte_pktmbuf_pkt_len(payload) > len)
		hauli_send_undo(payload, len);
	return err;
}
