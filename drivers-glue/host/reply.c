/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/reply.h"

#include <errno.h>

#include "host/fragment.h"
#include "io/state.h"

void hauli_host_reply(struct haul_io *io, struct haul_rx *rx, struct rte_mbuf *pkt)
{
	/* The stack of a burst handler must not suspend; a coroutine's is too small for a burst. */
	if (!io->opts.on_burst)
		haul_send_or_drop(rx, rx->reply, pkt);
	else if (haul_try_send(rx->reply, pkt) != 0)
		haul_drop(rx, &pkt, 1, HAUL_DROP_TX_FULL);
}

void hauli_host_reply_in_fragments(
	struct haul_io *io, struct haul_rx *rx, struct haul_pkt *pkt, uint16_t mtu, bool segments)
{
	struct rte_mbuf *frags[HAUL_FRAGMENTS_MAX];
	int n = haul_fragment(pkt, mtu, pkt->mbuf->pool, frags);

	if (n == 1 && !segments && rte_pktmbuf_linearize(pkt->mbuf))
		n = -ENOBUFS;
	if (n < 0)
		haul_drop(rx, &pkt->mbuf, 1, HAUL_DROP_UNSUPPORTED);
	for (int i = 0; i < n; i++)
		hauli_host_reply(io, rx, frags[i]);
}
