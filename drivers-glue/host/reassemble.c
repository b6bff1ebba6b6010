/* SPDX-License-Identifier: BSD-3-Clause */
/* Fragments for a host's addresses. */
#include "base/assert.h"
#include "host/fragment.h"
#include "host/neighbour.h"

bool haul_host_reassemble(struct haul_host *host, struct haul_reassembly *table, struct haul_rx *rx,
	struct rte_mbuf **pkt)
{
	struct hauli_fragment fragment;
	bool is_fragment;
	enum haul_verdict v;

	HAUL_MISUSE_IF(!host || !table || !rx || !pkt,
		"NULL is given; give a host, a table and what the handler has got");
	v = hauli_reassembly_find(table, &fragment, *pkt, &is_fragment);
	if (v == HAUL_NET_OK) {
		if (!is_fragment || !hauli_host_io(host) ||
			!hauli_host_has(host, rx->port, &fragment.dst))
			return false;
		v = hauli_reassembly_take(table, &fragment, rx->port, pkt);
	}
	if (v != HAUL_NET_OK) {
		haul_drop_verdict(rx, *pkt, v);
		*pkt = NULL;
	}
	return *pkt == NULL;
}
