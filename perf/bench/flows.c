/* SPDX-License-Identifier: BSD-3-Clause */
/* What does it cost to find a packet's flow among many, and to add and remove one, beside
 * rte_hash? Keys are in random order, and all of them are in the table. */
#include <errno.h>
#include <stdlib.h>

#include <rte_hash.h>
#include <rte_hash_crc.h>
#include <rte_jhash.h>

#include "base/random.h"
#include "harness/eal.h"
#include "harness/harness.h"
#include "host/table.h"

#define IP6 UINT64_C(1)
#define CHANGES UINT64_C(2) /* each operation adds and removes a flow */
#define MANY UINT64_C(4)
#define MANY_FLOWS 100000u
#define FEW_FLOWS 1000u

static struct hauli_flow_link *links;
static unsigned nb_links, users;
static uint32_t next; /* position among the flows, as a random sequence */
static bool changes;

static struct hauli_flow_table table;

/* rte_hash: a key of the bytes that the version needs. */
struct key4 {
	uint32_t local, remote, ports, protocol;
};
static struct rte_hash *by_crc, *by_jhash;
static bool ip6;

/* The first side of a case makes them, the last one frees them. */
static int make_links(uint64_t param)
{
	struct hauli_random random;
	uint64_t local[2] = {1, 2}, remote[2];

	if (users++ > 0)
		return 0;
	hauli_random_init(&random, 1);
	changes = param & CHANGES;
	ip6 = param & IP6;
	nb_links = param & MANY ? MANY_FLOWS : FEW_FLOWS;
	links = calloc(nb_links, sizeof(*links));
	if (!links)
		return -ENOMEM;
	for (unsigned i = 0; i < nb_links; i++) {
		remote[0] = hauli_random_next(&random);
		remote[1] = i;
		hauli_flow_key_set(&links[i].key, ip6, 17, local,
			(uint16_t)hauli_random_next(&random), remote, 53);
	}
	next = 0;
	return 0;
}

static void free_links(void)
{
	if (--users == 0)
		free(links);
}

/* Any step that has no factor in common with the number visits all. */
static struct hauli_flow_link *one(void)
{
	next = (next + 7919) % nb_links;
	return &links[next];
}

static int haul_setup(uint64_t param)
{
	int err = make_links(param);

	if (!err)
		err = hauli_flow_table_init(&table, nb_links);
	for (unsigned i = 0; !err && i < nb_links; i++)
		err = hauli_flow_table_add(&table, &links[i]);
	return err;
}

static uint64_t haul_run(uint64_t n)
{
	uint64_t start = perf_now();

	for (uint64_t i = 0; i < n; i++) {
		struct hauli_flow_link *link = one();

		if (changes) {
			hauli_flow_table_remove(&table, link);
			perf_must(hauli_flow_table_add(&table, link), "hauli_flow_table_add");
		} else {
			PERF_KEEP(hauli_flow_table_find(&table, &link->key));
		}
	}
	return perf_now() - start;
}

static void haul_teardown(void)
{
	hauli_flow_table_fini(&table);
	free_links();
}

static const void *key_of(const struct hauli_flow_link *link, struct key4 *key)
{
	if (ip6)
		return &link->key;
	*key = (struct key4){(uint32_t)link->key.w[1], (uint32_t)(link->key.w[1] >> 32),
		(uint32_t)(link->key.w[0] >> 32), (uint32_t)link->key.w[0]};
	return key;
}

static int dpdk_setup(
	struct rte_hash **hash, uint64_t param, const char *name, rte_hash_function fn)
{
	struct rte_hash_parameters p = {.name = name, .hash_func = fn, .hash_func_init_val = 1};
	struct key4 key;
	int err = perf_eal(1) ? make_links(param) : -ENODEV;

	if (err)
		return err;
	p.entries = 2 * nb_links; /* fewer, and it may be full */
	p.key_len = ip6 ? sizeof(struct hauli_flow_key) : sizeof(struct key4);
	p.socket_id = 0;
	*hash = rte_hash_create(&p);
	if (!*hash)
		return -ENOMEM;
	for (unsigned i = 0; !err && i < nb_links; i++)
		err = rte_hash_add_key_data(*hash, key_of(&links[i], &key), &links[i]);
	return err;
}

static int crc_setup(uint64_t param)
{
	return dpdk_setup(&by_crc, param, "crc", rte_hash_crc);
}

static int jhash_setup(uint64_t param)
{
	return dpdk_setup(&by_jhash, param, "jhash", rte_jhash);
}

static uint64_t dpdk_run(struct rte_hash *hash, uint64_t n)
{
	uint64_t start = perf_now();
	struct key4 key;

	for (uint64_t i = 0; i < n; i++) {
		struct hauli_flow_link *link = one();
		void *found = NULL;

		if (changes) {
			(void)rte_hash_del_key(hash, key_of(link, &key));
			perf_must(rte_hash_add_key_data(hash, key_of(link, &key), link),
				"rte_hash_add_key_data");
		} else {
			(void)rte_hash_lookup_data(hash, key_of(link, &key), &found);
			PERF_KEEP(found);
		}
	}
	return perf_now() - start;
}

static uint64_t crc_run(uint64_t n)
{
	return dpdk_run(by_crc, n);
}

static uint64_t jhash_run(uint64_t n)
{
	return dpdk_run(by_jhash, n);
}

static void crc_teardown(void)
{
	rte_hash_free(by_crc);
	free_links();
}

static void jhash_teardown(void)
{
	rte_hash_free(by_jhash);
	free_links();
}

#define CASE(text, text2, flags)                                                    \
	{                                                                           \
		.name = text, .question = text2, .param = flags,                    \
		.sides = {                                                          \
			{"haul table", haul_setup, haul_run, haul_teardown},        \
			{"rte_hash crc", crc_setup, crc_run, crc_teardown},         \
			{"rte_hash jhash", jhash_setup, jhash_run, jhash_teardown}, \
		},                                                                  \
	}

static const struct perf_case cases[] = {
	CASE("flows/find4", "find one of 1,000, IPv4; each", 0),
	CASE("flows/find6", "find one of 1,000, IPv6; each", IP6),
	CASE("flows/change4", "add and remove one of 1,000, IPv4; each", CHANGES),
	CASE("flows/change6", "add and remove one of 1,000, IPv6; each", CHANGES | IP6),
	CASE("flows/find4-many", "find one of 100,000, IPv4; each", MANY),
	CASE("flows/find6-many", "find one of 100,000, IPv6; each", MANY | IP6),
	CASE("flows/change4-many", "add and remove one of 100,000, IPv4; each", MANY | CHANGES),
	{0},
};

int main(int argc, char **argv)
{
	return perf_main(argc, argv, cases);
}
