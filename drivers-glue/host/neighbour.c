/* SPDX-License-Identifier: BSD-3-Clause */
/* What programs ask a host: where packets go, and neighbours' link-layer addresses. */
#include "host/neighbour.h"

#include <errno.h>
#include <string.h>

#include "base/assert.h"

#define NO_HOST "NULL is given; give what haul_host_create() has given"

int hauli_host_route(struct haul_host *host, const struct haul_addr *dst, unsigned *port,
	struct haul_addr *next_hop, struct haul_addr *src)
{
	const struct hauli_route *route =
		hauli_routes_find(hauli_host_routes(host), hauli_ip_of_addr(dst));

	if (route->kind == HAULI_ROUTE_NONE)
		return -ENETUNREACH;
	if (route->kind == HAULI_ROUTE_GROUP || route->kind == HAULI_ROUTE_OWN ||
		route->kind == HAULI_ROUTE_AMBIGUOUS)
		return -EINVAL;
	if (!route->own)
		return -EADDRNOTAVAIL;
	*port = route->port;
	*next_hop = route->kind == HAULI_ROUTE_GATEWAY ? hauli_ip_addr(route->gateway) : *dst;
	*src = hauli_ip_addr(route->own->ip);
	return 0;
}

bool hauli_host_has(struct haul_host *host, unsigned port, const struct haul_addr *addr)
{
	const struct hauli_route *route =
		hauli_routes_find(hauli_host_routes(host), hauli_ip_of_addr(addr));

	return route->kind == HAULI_ROUTE_OWN && (port == HAUL_ANY || route->port == port);
}

/* True if a neighbour on a port can have an address, and can be asked for it. */
static bool can_ask(struct haul_host *host, unsigned port, struct hauli_ip ip)
{
	const struct hauli_routes *routes = hauli_host_routes(host);
	const struct hauli_route *route = hauli_routes_find(routes, ip);

	return route->kind != HAULI_ROUTE_GROUP && route->kind != HAULI_ROUTE_OWN &&
		hauli_routes_source(routes, port, ip);
}

static int wait_for(struct hauli_neigh *t, uint32_t entry, uint8_t mac[6], uint64_t deadline)
{
	int err = 0, result;

	while ((result = hauli_neigh_look(t, entry, mac)) == -EAGAIN && !err)
		err = haul_event_wait(hauli_neigh_event(t, entry), deadline);
	hauli_neigh_leave(t, entry);
	return result == -EAGAIN ? err : result;
}

static __attribute__((noinline)) int use(struct haul_host *host, unsigned port, struct hauli_ip ip,
	uint8_t mac[6], uint64_t deadline)
{
	struct hauli_neigh *t = host->ports[port].neighbours;
	uint32_t entry;
	int err;

	if (!can_ask(host, port, ip))
		return -EINVAL;
	err = hauli_neigh_use(t, ip, haul_now(), mac, deadline ? &entry : NULL);
	return err == -EAGAIN && deadline ? wait_for(t, entry, mac, deadline) : err;
}

int hauli_host_neighbour(struct haul_host *host, unsigned port, struct hauli_ip next_hop,
	uint8_t mac[6], struct hauli_neigh_seen *seen, uint64_t deadline)
{
	struct hauli_neigh *t = host->ports[port].neighbours;
	uint8_t again[6];
	int err;

	if (hauli_likely(hauli_neigh_find(t, next_hop, mac, seen)))
		return 0;
	err = use(host, port, next_hop, mac, deadline);
	if (!err && (!hauli_neigh_find(t, next_hop, again, seen) || memcmp(again, mac, 6)))
		seen->slot = HAULI_NO_NEIGH;
	return err;
}

int haul_host_neighbour(struct haul_host *host, unsigned port, const struct haul_addr *next_hop,
	uint8_t mac[6], uint64_t deadline)
{
	struct hauli_neigh_seen seen;

	HAUL_MISUSE_IF(!host || !next_hop, NO_HOST);
	HAUL_MISUSE_IF(port >= host->opts.nb_ports, "there is no port %u", port);
	return hauli_host_neighbour(host, port, hauli_ip_of_addr(next_hop), mac, &seen, deadline);
}

void hauli_host_confirm(struct haul_host *host, unsigned port, uint32_t slot, struct hauli_ip dst)
{
	struct haul_addr to = hauli_ip_addr(dst), next_hop, src;
	unsigned now_port;

	/* Packets may go another way by now. */
	if (hauli_host_route(host, &to, &now_port, &next_hop, &src) == 0 && now_port == port)
		hauli_neigh_confirm_at(host->ports[port].neighbours, slot,
			hauli_ip_of_addr(&next_hop), haul_now());
}

void haul_host_confirm(struct haul_host *host, unsigned port, const struct haul_addr *next_hop)
{
	HAUL_MISUSE_IF(!host || !next_hop, NO_HOST);
	HAUL_MISUSE_IF(port >= host->opts.nb_ports, "there is no port %u", port);
	hauli_neigh_confirm(host->ports[port].neighbours, hauli_ip_of_addr(next_hop), haul_now());
}

enum haul_neighbour_state haul_host_look(
	struct haul_host *host, unsigned port, const struct haul_addr *next_hop, uint8_t mac[6])
{
	HAUL_MISUSE_IF(!host || !next_hop, NO_HOST);
	HAUL_MISUSE_IF(port >= host->opts.nb_ports, "there is no port %u", port);
	return hauli_neigh_state(host->ports[port].neighbours, hauli_ip_of_addr(next_hop), mac);
}

const char *haul_neighbour_state_name(enum haul_neighbour_state state)
{
	static const char *const names[] = {
		"none", "incomplete", "reachable", "stale", "delay", "probe", "failed"};

	return (unsigned)state < sizeof(names) / sizeof(names[0]) ? names[state] : "?";
}

void haul_host_get_stats(struct haul_host *host, unsigned port, struct haul_host_stats *st)
{
	HAUL_MISUSE_IF(!host || !st, NO_HOST);
	*st = (struct haul_host_stats){0};
	for (unsigned i = 0; i < host->opts.nb_ports; i++) {
		const struct hauli_host_port *p = &host->ports[i];

		if (port != HAUL_ALL && port != i)
			continue;
		hauli_neigh_add_stats(p->neighbours, st);
		st->answered += hauli_u64_shared_get(&p->answered);
		st->duplicates += hauli_u64_shared_get(&p->duplicates);
		st->not_sent += hauli_u64_shared_get(&p->not_sent);
	}
}
