/* SPDX-License-Identifier: BSD-3-Clause */
/* toptalkers: the busiest IPv4 source addresses, in a table of each carrier, so without locks. */
#include <arpa/inet.h>
#include <stdlib.h>

#include <rte_ip.h>

#include <haul-app/app.h>

#define SLOTS 4096
#define WAYS 8 /* slots in which an address may be */

static struct talker {
	unsigned long packets;
	rte_be32_t ip;
} tables[HAUL_CARRIERS_MAX][SLOTS];

/* A new address replaces the one with the fewest packets in its slots, and takes over that count:
 * no address with more packets than that is missed ("space saving", Metwally et al. 2005). */
static void add(struct talker *table, rte_be32_t ip, unsigned long packets)
{
	struct talker *slots = &table[(ip * 2654435761u >> 16) % SLOTS / WAYS * WAYS], *t = slots;

	for (unsigned i = 0; i < WAYS && t->ip != ip; i++)
		if (slots[i].ip == ip || slots[i].packets < t->packets)
			t = &slots[i];
	*t = (struct talker){t->packets + packets, ip};
}

static void count(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++) {
		struct rte_ether_hdr *eth = rte_pktmbuf_mtod(pkts[i], struct rte_ether_hdr *);
		struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)(eth + 1);

		if (pkts[i]->data_len >= sizeof(*eth) + sizeof(*ip) &&
			eth->ether_type == RTE_BE16(RTE_ETHER_TYPE_IPV4))
			add(tables[rx->carrier], ip->src_addr, 1);
	}
	haul_drop(rx, pkts, n, HAUL_DROP_CONSUMED);
}

/* Runs on one carrier after the other, between two bursts: nobody writes the tables meanwhile. */
static int merge(struct haul_app *app, unsigned carrier, void *all)
{
	(void)app;
	for (struct talker *t = tables[carrier]; t < tables[carrier] + SLOTS; t++)
		if (t->packets > 0)
			add(all, t->ip, t->packets);
	return HAUL_APP_DONE;
}

static int compare(const void *a, const void *b)
{
	const struct talker *s = a, *t = b;

	return (s->packets < t->packets) - (s->packets > t->packets);
}

static void print(struct haul_app *app, FILE *out, bool final)
{
	struct talker all[SLOTS] = {0};
	char ip[INET_ADDRSTRLEN];

	(void) final;
	haul_app_on_carriers(app, merge, all);
	qsort(all, SLOTS, sizeof(all[0]), compare);
	for (struct talker *t = all; t < all + 10 && t->packets > 0; t++)
		fprintf(out, "%12lu packets from %s\n", t->packets,
			inet_ntop(AF_INET, &t->ip, ip, sizeof(ip)));
}

int main(int argc, char **argv)
{
	static const struct haul_app_program program = {
		.name = "toptalkers", .purpose = "Prints the busiest IPv4 source addresses."};
	static const struct haul_app_hooks hooks = {.on_burst = count, .report = print};

	return haul_app_main(&program, &hooks, argc, argv);
}
