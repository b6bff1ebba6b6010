/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets for a service of the program: are they the host's, and could they have been sent? */
#include "base/assert.h"
#include "host/config.h"

enum haul_verdict haul_host_for_us(struct haul_host *host, const struct haul_rx *rx,
	const struct haul_pkt *pkt, struct haul_net_if *nif)
{
	struct haul_addr dst, src;
	const struct hauli_routes *routes;
	const struct hauli_own *own;
	enum hauli_route_kind from;

	HAUL_MISUSE_IF(!host || !rx || !pkt || !nif, "NULL is given; give what the handler has");
	dst = haul_pkt_dst(pkt);
	src = haul_pkt_src(pkt);
	if (!hauli_host_io(host) || dst.version == 0)
		return HAUL_NET_NOT_FOR_US;
	routes = hauli_host_routes(host);
	own = hauli_routes_own(routes, rx->port, hauli_ip_of_addr(&dst));
	if (!own)
		return HAUL_NET_NOT_FOR_US;
	*nif = own->nif;
	from = hauli_routes_find(routes, hauli_ip_of_addr(&src))->kind;
	if (from == HAULI_ROUTE_OWN || from == HAULI_ROUTE_GROUP)
		return HAUL_NET_MALFORMED;
	return haul_net_for_us(nif, pkt);
}
