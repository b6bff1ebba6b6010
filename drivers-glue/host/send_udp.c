/* SPDX-License-Identifier: BSD-3-Clause */
/* Datagrams of a host's own, without a flow. */
#include <errno.h>

#include <rte_mbuf.h>

#include <haul-dpdk/host.h>

#include "base/assert.h"
#include "host/large.h"
#include "host/send.h"

int haul_host_send_udp(struct haul_host *host, struct rte_mbuf *payload,
	const struct haul_addr *dst, uint16_t src_port, uint16_t dst_port, uint64_t deadline)
{
	struct hauli_out out = {0};
	struct haul_pkt pkt;
	uint32_t len;
	int err;

	HAUL_MISUSE_IF(
		!host || !payload || !dst, "NULL is given; give a host, a payload and an address");
	err = hauli_host_prepare(host, &out, dst, deadline);
	if (err)
		return err;
	len = rte_pktmbuf_pkt_len(payload);
	err = haul_build_udp(&pkt, payload, &out.head, src_port, dst_port, out.offloads);
	if (err == -EMSGSIZE)
		return hauli_host_send_large(host, &out, payload, src_port, dst_port, deadline);
	if (err)
		return err;
	err = hauli_send_whole(&out, payload);
	if (!err)
		err = deadline ? haul_send(out.txq, payload) : haul_try_send(out.txq, payload);
	if (err)
		hauli_send_undo(payload, len);
	return err;
}
