/* SPDX-License-Identifier: BSD-3-Clause */
/* What does it cost to find the route of a packet, beside rte_fib, and the link-layer address of
 * its neighbour, beside rte_hash? Addresses are in random order; all are in a table. */
#include <errno.h>
#include <stdlib.h>

#include <rte_fib.h>
#include <rte_hash.h>
#include <rte_hash_crc.h>

#include "base/random.h"
#include "harness/eal.h"
#include "harness/harness.h"
#include "host/neigh.h"
#include "host/route.h"

#define MANY UINT64_C(1) /* routes */
#define NEIGHBOURS 1000u
#define ASKED 4096u /* addresses to look up */

static struct hauli_ip asked[ASKED];
static uint32_t asked4[ASKED];
static struct hauli_routes *routes;
static struct hauli_neigh *neighbours;
static struct rte_fib *fib;
static struct rte_hash *hash;
static uint64_t macs[2 * NEIGHBOURS];

static unsigned nb_routes(uint64_t param)
{
	return param & MANY ? 1000 : 1;
}

/* Route i: the default, and then 10.i.j.0/24. */
static uint32_t prefix(unsigned i)
{
	return i == 0 ? 0 : 0x0a000000 | i << 8;
}

static void choose(uint64_t param)
{
	struct hauli_random random;

	hauli_random_init(&random, 1);
	for (unsigned i = 0; i < ASKED; i++) {
		uint32_t ip = prefix(hauli_random_below(&random, nb_routes(param)));

		/* The default: all over the space. */
		ip = ip ? ip | hauli_random_below(&random, 256)
			: 0x20000000 + hauli_random_below(&random, 0x30000000);
		asked4[i] = ip;
		asked[i] = (struct hauli_ip){0, HAULI_IP4_MAPPED | ip};
	}
}

static int routes_setup(uint64_t param)
{
	const struct hauli_own own = {.ip = {0, HAULI_IP4_MAPPED | 0xc0a80001}, .length = 120};
	struct hauli_route *all = calloc(nb_routes(param), sizeof(*all));

	if (!all)
		return -ENOMEM;
	choose(param);
	for (unsigned i = 0; i < nb_routes(param); i++)
		all[i] = (struct hauli_route){
			.to = {0, HAULI_IP4_MAPPED | prefix(i)},
			.length = i == 0 ? 96 : 120,
			.kind = HAULI_ROUTE_GATEWAY,
			.gateway = {0, HAULI_IP4_MAPPED | 0xc0a80002},
		};
	routes = hauli_routes_build(&own, 1, all, nb_routes(param));
	free(all);
	return routes ? 0 : -ENOMEM;
}

static uint64_t routes_run(uint64_t n)
{
	uint64_t start = perf_now();

	for (uint64_t i = 0; i < n; i++)
		PERF_KEEP(hauli_routes_find(routes, asked[i % ASKED]));
	return perf_now() - start;
}

static void routes_teardown(void)
{
	hauli_routes_free(routes);
}

static int fib_setup(uint64_t param, enum rte_fib_type type)
{
	struct rte_fib_conf conf = {.type = type, .default_nh = 0, .max_routes = 1 << 12};

	if (!perf_eal(1))
		return -ENODEV;
	choose(param);
	if (type == RTE_FIB_DIR24_8) {
		conf.dir24_8.nh_sz = RTE_FIB_DIR24_8_4B;
		conf.dir24_8.num_tbl8 = 256;
	}
	fib = rte_fib_create(type == RTE_FIB_DUMMY ? "dummy" : "dir", 0, &conf);
	if (!fib)
		return -ENOMEM;
	for (unsigned i = 0; i < nb_routes(param); i++)
		if (rte_fib_add(fib, prefix(i), i == 0 ? 0 : 24, i + 1))
			return -EIO;
	return 0;
}

static int dummy_setup(uint64_t param)
{
	return fib_setup(param, RTE_FIB_DUMMY);
}

static int dir_setup(uint64_t param)
{
	return fib_setup(param, RTE_FIB_DIR24_8);
}

static uint64_t fib_run(uint64_t n)
{
	uint64_t start = perf_now(), next;

	for (uint64_t i = 0; i < n; i++) {
		(void)rte_fib_lookup_bulk(fib, &asked4[i % ASKED], &next, 1);
		PERF_KEEP(next);
	}
	return perf_now() - start;
}

static void fib_teardown(void)
{
	rte_fib_free(fib);
}

static struct hauli_ip neighbour(unsigned i)
{
	return (struct hauli_ip){0, HAULI_IP4_MAPPED | 0x0a000000 | i};
}

static void choose_neighbours(void)
{
	struct hauli_random random;

	hauli_random_init(&random, 2);
	for (unsigned i = 0; i < ASKED; i++)
		asked[i] = neighbour(hauli_random_below(&random, NEIGHBOURS));
}

static int neigh_setup(uint64_t param)
{
	const struct hauli_neigh_opts opts = {.neighbours_max = 2 * NEIGHBOURS,
		.waiters_max = 1,
		.tries = 3,
		.reachable_ns = HAUL_S,
		.seed = 1};
	uint8_t mac[6] = {2};
	int err = hauli_neigh_create(&neighbours, &opts);

	(void)param;
	choose_neighbours();
	for (unsigned i = 0; !err && i < NEIGHBOURS; i++) {
		if (hauli_neigh_use(neighbours, neighbour(i), 0, mac, NULL) != -EAGAIN)
			return -EIO;
		hauli_neigh_answer(neighbours, neighbour(i), mac, true, true, 0);
	}
	return err;
}

static uint64_t neigh_run(uint64_t n)
{
	uint64_t start = perf_now();
	uint8_t mac[8] = {0};
	struct hauli_neigh_seen seen;

	for (uint64_t i = 0; i < n; i++) {
		PERF_KEEP(hauli_neigh_find(neighbours, asked[i % ASKED], mac, &seen));
		PERF_KEEP(mac[5]);
	}
	return perf_now() - start;
}

static void neigh_teardown(void)
{
	hauli_neigh_free(neighbours);
}

/* With readers that take no lock, as in the table. */
static int hash_setup(uint64_t param)
{
	struct rte_hash_parameters p = {.name = "neigh",
		.entries = 2 * NEIGHBOURS,
		.key_len = sizeof(struct hauli_ip),
		.hash_func = rte_hash_crc,
		.hash_func_init_val = 1,
		.extra_flag = RTE_HASH_EXTRA_FLAGS_RW_CONCURRENCY_LF};
	int err = 0;

	(void)param;
	if (!perf_eal(1))
		return -ENODEV;
	choose_neighbours();
	hash = rte_hash_create(&p);
	for (unsigned i = 0; hash && !err && i < NEIGHBOURS; i++) {
		struct hauli_ip ip = neighbour(i);

		err = rte_hash_add_key_data(hash, &ip, &macs[i]);
	}
	return hash ? err : -ENOMEM;
}

static uint64_t hash_run(uint64_t n)
{
	uint64_t start = perf_now();

	for (uint64_t i = 0; i < n; i++) {
		void *found = NULL;

		(void)rte_hash_lookup_data(hash, &asked[i % ASKED], &found);
		PERF_KEEP(found);
	}
	return perf_now() - start;
}

static void hash_teardown(void)
{
	rte_hash_free(hash);
}

#define ROUTES(text, text2, flags)                                             \
	{                                                                      \
		.name = text, .question = text2, .param = flags,               \
		.sides = {                                                     \
			{"haul", routes_setup, routes_run, routes_teardown},   \
			{"rte_fib dummy", dummy_setup, fib_run, fib_teardown}, \
			{"rte_fib dir24_8", dir_setup, fib_run, fib_teardown}, \
		},                                                             \
	}

static const struct perf_case cases[] = {
	ROUTES("host/route", "find the route, with a default and one address; each", 0),
	ROUTES("host/route-many", "find the route, one of 1,000; each", MANY),
	{
		.name = "host/neighbour",
		.question = "find one of 1,000 neighbours; each",
		.sides =
			{
				{"haul", neigh_setup, neigh_run, neigh_teardown},
				{"rte_hash crc", hash_setup, hash_run, hash_teardown},
			},
	},
	{0},
};

int main(int argc, char **argv)
{
	return perf_main(argc, argv, cases);
}
