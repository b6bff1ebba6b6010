/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prefixes lie in each other or apart, so they cut the space of addresses into ranges, each with
 * the longest prefix that covers it: n prefixes make at most 2n + 1. A search among the ranges'
 * first addresses finds the route, in as many steps as their number has bits; a table for one
 * network and a default route has some 30 ranges, and takes less than 2 KiB. The host's own
 * addresses are in a table of open addressing besides.
 */
#include "host/route.h"

#include <stdlib.h>

struct range {
	struct hauli_ip first;
	uint32_t route;
};

struct hauli_routes {
	struct hauli_own *owns;
	struct hauli_route *routes;
	struct range *ranges; /* by first; the first one begins at :: */
	const struct hauli_own **places; /* of owns by hash; at most half of them */
	unsigned nb_owns, nb_routes, nb_ranges;
	uint32_t mask; /* number of places - 1 */
};

/* Where no unicast packet goes; IPv6's default does not cover IPv4. The last one is no more than a
 * ground: an IPv4 default route takes its place. */
static const struct hauli_route fixed[] = {
	{{0, HAULI_IP4_MAPPED}, 104, HAULI_ROUTE_GROUP, 0, {0, 0}, NULL}, /* 0.0.0.0/8 */
	{{0, HAULI_IP4_MAPPED | 0x7f000000}, 104, HAULI_ROUTE_GROUP, 0, {0, 0}, NULL},
	{{0, HAULI_IP4_MAPPED | 0xe0000000}, 100, HAULI_ROUTE_GROUP, 0, {0, 0}, NULL},
	{{0, HAULI_IP4_MAPPED | 0xffffffff}, 128, HAULI_ROUTE_GROUP, 0, {0, 0}, NULL},
	{{0, 0}, 127, HAULI_ROUTE_GROUP, 0, {0, 0}, NULL}, /* :: and ::1 */
	{{UINT64_C(0xff) << 56, 0}, 8, HAULI_ROUTE_GROUP, 0, {0, 0}, NULL},
};
static const struct hauli_route ground[] = {
	{{0, HAULI_IP4_MAPPED}, HAULI_IP4_LENGTH, HAULI_ROUTE_NONE, 0, {0, 0}, NULL},
	{{0, 0}, 0, HAULI_ROUTE_NONE, 0, {0, 0}, NULL},
};
#define FIXED (sizeof(fixed) / sizeof(fixed[0]))
#define GROUND (sizeof(ground) / sizeof(ground[0]))
#define PER_OWN 4u /* itself, its network, and the two edges of that */

static struct hauli_ip prefix_of(struct hauli_ip ip, unsigned length)
{
	struct hauli_ip host = hauli_ip_host_bits(length);

	return (struct hauli_ip){ip.hi & ~host.hi, ip.lo & ~host.lo};
}

static struct hauli_ip last_of(const struct hauli_route *route)
{
	struct hauli_ip host = hauli_ip_host_bits(route->length);

	return (struct hauli_ip){route->to.hi | host.hi, route->to.lo | host.lo};
}

static void add(struct hauli_routes *r, struct hauli_route route)
{
	route.to = prefix_of(route.to, route.length);
	r->routes[r->nb_routes++] = route;
}

/* True if packets to the network of an address may have to go to another port. */
static bool is_ambiguous(const struct hauli_routes *r, const struct hauli_own *own)
{
	for (unsigned i = 0; i < r->nb_owns; i++)
		if (r->owns[i].port != own->port && hauli_ip_is_link_local(r->owns[i].ip) &&
			hauli_ip_is_link_local(own->ip))
			return true;
	return false;
}

/* The routes that follow from an address. */
static void add_own(struct hauli_routes *r, const struct hauli_own *own)
{
	struct hauli_route route = {
		.to = own->ip, .length = 128, .kind = HAULI_ROUTE_OWN, .port = own->port};

	if (hauli_own_is_valid(own)) {
		route.own = own;
		add(r, route);
	}
	route.kind = is_ambiguous(r, own) ? HAULI_ROUTE_AMBIGUOUS : HAULI_ROUTE_DIRECT;
	if (route.kind == HAULI_ROUTE_AMBIGUOUS)
		route.own = NULL;
	route.length = own->length;
	add(r, route);
	if (!hauli_ip_is_4(own->ip) || own->length > 126)
		return;
	route.to = prefix_of(own->ip, own->length);
	route.kind = HAULI_ROUTE_GROUP;
	route.length = 128;
	add(r, route);
	route.to.lo |= hauli_ip_host_bits(own->length).lo;
	add(r, route);
}

/* By first address, then shorter ones, then in the order in which they were added. */
static int compare(const void *a, const void *b)
{
	const struct hauli_route *x = *(const struct hauli_route *const *)a;
	const struct hauli_route *y = *(const struct hauli_route *const *)b;

	if (!hauli_ip_equal(x->to, y->to))
		return hauli_ip_is_below(x->to, y->to) ? -1 : 1;
	if (x->length != y->length)
		return x->length < y->length ? -1 : 1;
	return x < y ? -1 : 1;
}

/* From an address on, a route counts. */
static void begin_range(
	struct hauli_routes *r, struct hauli_ip first, const struct hauli_route *route)
{
	uint32_t number = (uint32_t)(route - r->routes);

	if (r->nb_ranges > 0 && hauli_ip_equal(r->ranges[r->nb_ranges - 1].first, first))
		r->nb_ranges--;
	if (r->nb_ranges > 0 && r->ranges[r->nb_ranges - 1].route == number)
		return;
	r->ranges[r->nb_ranges++] = (struct range){first, number};
}

/* Ends the innermost of n prefixes that lie in each other. */
static void end_prefix(struct hauli_routes *r, const struct hauli_route *const *open, unsigned n)
{
	struct hauli_ip next = last_of(open[n - 1]);

	next.lo++;
	next.hi += next.lo == 0;
	if (n > 1 && (next.hi | next.lo) != 0)
		begin_range(r, next, open[n - 2]);
}

static void make_ranges(struct hauli_routes *r, const struct hauli_route **sorted)
{
	const struct hauli_route *open[129]; /* one of each length at most */
	unsigned n = 0;

	for (unsigned i = 0; i < r->nb_routes; i++) {
		const struct hauli_route *route = sorted[i];

		while (n > 0 && hauli_ip_is_below(last_of(open[n - 1]), route->to))
			end_prefix(r, open, n--);
		if (n > 0 && open[n - 1]->length == route->length)
			continue; /* the same prefix: the first counts */
		open[n++] = route;
		begin_range(r, route->to, route);
	}
	while (n > 0)
		end_prefix(r, open, n--);
}

/* Packets go beyond the link of a gateway, where its link-local addresses mean nothing. */
static const struct hauli_own *source_by(
	const struct hauli_routes *r, unsigned port, struct hauli_ip gateway)
{
	if (hauli_ip_is_link_local(gateway))
		for (unsigned i = 0; i < r->nb_owns; i++)
			if (r->owns[i].port == port && hauli_own_is_valid(&r->owns[i]) &&
				!hauli_ip_is_4(r->owns[i].ip) &&
				!hauli_ip_is_link_local(r->owns[i].ip))
				return &r->owns[i];
	return hauli_routes_source(r, port, gateway);
}

/* The address from which packets of a route are sent. */
static void choose_sources(struct hauli_routes *r)
{
	for (unsigned i = 0; i < r->nb_routes; i++) {
		struct hauli_route *route = &r->routes[i];

		if (route->kind == HAULI_ROUTE_GATEWAY)
			route->own = source_by(r, route->port, route->gateway);
		else if (route->kind == HAULI_ROUTE_DIRECT && !route->own)
			route->own = hauli_routes_source(r, route->port, route->to);
	}
}

static uint32_t hash(struct hauli_ip ip)
{
	return (uint32_t)((ip.hi ^ ip.lo) * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

/* An address that is a broadcast address of another one before it is none of the host. */
static void place_owns(struct hauli_routes *r)
{
	for (unsigned i = 0; i < r->nb_owns; i++) {
		uint32_t at = hash(r->owns[i].ip) & r->mask;

		if (hauli_routes_find(r, r->owns[i].ip)->own != &r->owns[i])
			continue;
		while (r->places[at])
			at = (at + 1) & r->mask;
		r->places[at] = &r->owns[i];
	}
}

static uint32_t places_for(unsigned nb)
{
	uint32_t n = 2;

	while (n < 2 * nb)
		n *= 2;
	return n;
}

static void add_all(struct hauli_routes *r, const struct hauli_route *routes, unsigned n)
{
	for (unsigned i = 0; i < FIXED; i++)
		add(r, fixed[i]);
	for (unsigned i = 0; i < r->nb_owns; i++)
		add_own(r, &r->owns[i]);
	for (unsigned i = 0; i < n; i++)
		add(r, routes[i]);
	for (unsigned i = 0; i < GROUND; i++)
		add(r, ground[i]);
}

struct hauli_routes *hauli_routes_build(
	const struct hauli_own *owns, unsigned nb, const struct hauli_route *routes, unsigned n)
{
	size_t most = FIXED + GROUND + (size_t)PER_OWN * nb + n;
	const struct hauli_route **sorted = calloc(most, sizeof(const struct hauli_route *));
	struct hauli_routes *r = calloc(1, sizeof(*r));

	if (r) {
		r->owns = calloc(nb + 1u, sizeof(r->owns[0]));
		r->routes = calloc(most, sizeof(r->routes[0]));
		r->ranges = calloc(2 * most + 1, sizeof(r->ranges[0]));
		r->mask = places_for(nb) - 1;
		r->places = calloc(r->mask + 1, sizeof(r->places[0]));
	}
	if (!sorted || !r || !r->owns || !r->routes || !r->ranges || !r->places) {
		free(sorted);
		hauli_routes_free(r);
		return NULL;
	}
	if (nb > 0)
		memcpy(r->owns, owns, nb * sizeof(owns[0]));
	r->nb_owns = nb;
	add_all(r, routes, n);
	choose_sources(r);
	for (unsigned i = 0; i < r->nb_routes; i++)
		sorted[i] = &r->routes[i];
	qsort(sorted, r->nb_routes, sizeof(sorted[0]), compare);
	make_ranges(r, sorted);
	free(sorted);
	place_owns(r);
	return r;
}

void hauli_routes_free(struct hauli_routes *r)
{
	if (!r)
		return;
	free(r->owns);
	free(r->routes);
	free(r->ranges);
	free(r->places);
	free(r);
}

const struct hauli_route *hauli_routes_find(const struct hauli_routes *r, struct hauli_ip ip)
{
	const struct range *at = r->ranges;
	unsigned n = r->nb_ranges;

	/* The wanted range is one of n from `at` on. */
	while (n > 1) {
		unsigned half = n / 2;

		at = hauli_ip_is_below(ip, at[half].first) ? at : at + half;
		n -= half;
	}
	return &r->routes[at->route];
}

const struct hauli_own *hauli_routes_own(
	const struct hauli_routes *r, unsigned port, struct hauli_ip ip)
{
	for (uint32_t at = hash(ip) & r->mask;; at = (at + 1) & r->mask) {
		const struct hauli_own *own = r->places[at];

		if (!own)
			return NULL;
		if (hauli_ip_equal(own->ip, ip))
			return own->port == port ? own : NULL;
	}
}

const struct hauli_own *hauli_routes_source(
	const struct hauli_routes *r, unsigned port, struct hauli_ip ip)
{
	const struct hauli_own *best = NULL;
	bool within = false;

	for (unsigned i = 0; i < r->nb_owns; i++) {
		const struct hauli_own *own = &r->owns[i];
		bool has = hauli_ip_within(own->ip, ip, own->length);

		if (!hauli_own_is_valid(own))
			continue;
		if (own->port != port || hauli_ip_is_4(own->ip) != hauli_ip_is_4(ip))
			continue;
		if (!best || (has && (!within || own->length > best->length))) {
			best = own;
			within = has;
		}
	}
	return best;
}
