/* SPDX-License-Identifier: BSD-3-Clause */
/* The lookup tables of routes: DPDK's FIB library. */
#include <errno.h>
#include <string.h>

#include <rte_errno.h>

#include "route_list.h"

#define ROUTES_SPARE 16 /* beyond those of the file */

/* Tables of 256 prefixes that extend the main table, which ends at 24 bits. */
static unsigned extensions(const struct fwd_routes *routes, unsigned version)
{
	uint64_t n = 1;

	for (unsigned i = 0; i < routes->nb_routes; i++) {
		const struct fwd_route *r = &routes->routes[i];

		if (r->version == version && r->len > 24)
			n += (r->len - 24 + 7) / 8;
	}
	return n > FWD_HOPS_MAX ? FWD_HOPS_MAX : (unsigned)n;
}

static int make_tables(struct fwd_fib *fib, const struct fwd_routes *routes)
{
	struct rte_fib_conf conf4 = {
		.type = RTE_FIB_DIR24_8,
		.max_routes = (int)routes->nb_routes + ROUTES_SPARE,
		.dir24_8 = {.nh_sz = RTE_FIB_DIR24_8_2B, .num_tbl8 = extensions(routes, 4)},
	};
	struct rte_fib6_conf conf6 = {
		.type = RTE_FIB6_TRIE,
		.max_routes = (int)routes->nb_routes + ROUTES_SPARE,
		.trie = {.nh_sz = RTE_FIB6_TRIE_2B, .num_tbl8 = extensions(routes, 6)},
	};

	fib->ip4 = rte_fib_create("haul-fwd-4", SOCKET_ID_ANY, &conf4);
	fib->ip6 = fib->ip4 ? rte_fib6_create("haul-fwd-6", SOCKET_ID_ANY, &conf6) : NULL;
	return fib->ip6 ? 0 : -rte_errno;
}

static int add_route(const struct fwd_fib *fib, const struct fwd_route *r)
{
	rte_be32_t ip4;

	if (r->version == 6) /* an array before DPDK 24.11, then a struct */
		return rte_fib6_add(fib->ip6, (const void *)r->prefix, r->len, r->hop);
	memcpy(&ip4, r->prefix, sizeof(ip4));
	return rte_fib_add(fib->ip4, rte_be_to_cpu_32(ip4), r->len, r->hop);
}

/* A next hop without an address of its own is the peer of its port. */
static void complete(struct fwd_routes *routes, const struct fwd *fwd)
{
	for (unsigned i = 1; i < routes->nb_hops; i++) {
		struct fwd_hop *hop = &routes->hops[i];

		hop->macs[1] = fwd_ports(fwd)[hop->port].mac;
		if (!hop->has_mac)
			hop->macs[0] = fwd_ports(fwd)[hop->port].peer_mac;
	}
}

void fwd_fib_attached(
	struct fwd_fib *fib, const struct fwd_routes *routes, const struct fwd *fwd, unsigned port)
{
	struct fwd_hop *hops = fwd_versions_copy(&fib->hops);

	for (unsigned i = 1; i < routes->nb_hops; i++)
		if (hops[i].port == port)
			hops[i].macs[1] = fwd_ports(fwd)[port].mac;
	fwd_versions_show(&fib->hops);
}

/* A second version of the hops, for addresses that change. */
static int make_hops(struct fwd_fib *fib, struct fwd_routes *routes)
{
	size_t size = routes->nb_hops * sizeof(*routes->hops);

	fib->other = malloc(size);
	if (!fib->other)
		return -ENOMEM;
	fwd_versions_init(&fib->hops, routes->hops, fib->other, size);
	return 0;
}

int fwd_fib_make(struct fwd_fib *fib, struct fwd_routes *routes, const struct fwd *fwd)
{
	int err = make_tables(fib, routes);

	for (unsigned i = 0; err == 0 && i < routes->nb_routes; i++)
		err = add_route(fib, &routes->routes[i]);
	if (err == 0)
		err = make_hops(fib, routes);
	if (err) {
		haul_app_say(fwd->app->program, "no tables for %u routes: %s%s", routes->nb_routes,
			rte_strerror(-err),
			err == -ENOMEM ? "; give DPDK more memory by --eal -m MEGABYTES" : "");
		fwd_fib_free(fib);
		return HAUL_APP_FAILED;
	}
	complete(routes, fwd);
	return HAUL_APP_DONE;
}

void fwd_fib_free(struct fwd_fib *fib)
{
	rte_fib_free(fib->ip4);
	rte_fib6_free(fib->ip6);
	free(fib->other);
	*fib = (struct fwd_fib){0};
}
