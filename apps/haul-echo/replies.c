/* SPDX-License-Identifier: BSD-3-Clause */
#include "replies.h"

#include <inttypes.h>
#include <stdlib.h>

#include <haul/runtime.h>

/* One element per carrier, written by that carrier only, and read after the pollers have ended. */
static struct replies {
	uint64_t n[APP_PORTS_MAX][HAUL_PROTOS];
} __rte_cache_aligned *replies;

bool replies_init(unsigned carriers)
{
	size_t size = carriers * sizeof(replies[0]);

	replies = aligned_alloc(RTE_CACHE_LINE_SIZE, size);
	if (replies)
		memset(replies, 0, size);
	return replies;
}

void replies_fini(void)
{
	free(replies);
}

void replies_count(unsigned port, enum haul_proto proto)
{
	replies[haul_carrier_id(haul_carrier_self())].n[port][proto]++;
}

/* The count for one port or all (-1), and one carrier or all (-1). */
static uint64_t sum(const struct app_engine *e, int port, int carrier, enum haul_proto proto)
{
	uint64_t n = 0;

	for (unsigned c = 0; c < e->plan->carriers; c++)
		for (unsigned p = 0; p < e->nb_ports; p++)
			if ((carrier < 0 || (unsigned)carrier == c) &&
				(port < 0 || (unsigned)port == p))
				n += replies[c].n[p][proto];
	return n;
}

void replies_table(struct app_engine *e, FILE *out, void *arg)
{
	fprintf(out, "replies");
	for (enum haul_proto p = HAUL_PROTO_ARP; p < HAUL_PROTOS; p++)
		fprintf(out, "  %s %" PRIu64, haul_proto_name(p), sum(e, -1, -1, p));
	fputc('\n', out);
}

static json_t *by_proto(const struct app_engine *e, int port, int carrier)
{
	json_t *object = json_object();

	for (enum haul_proto p = HAUL_PROTO_ARP; p < HAUL_PROTOS; p++)
		json_object_set_new(object, haul_proto_name(p),
			json_integer((json_int_t)sum(e, port, carrier, p)));
	return object;
}

void replies_json(struct app_engine *e, json_t *object, void *arg)
{
	json_t *ports = json_array();
	json_t *carriers = json_array();

	for (unsigned i = 0; i < e->nb_ports; i++)
		json_array_append_new(ports, by_proto(e, (int)i, -1));
	for (unsigned i = 0; i < e->plan->carriers; i++)
		json_array_append_new(carriers, by_proto(e, -1, (int)i));
	json_object_set_new(object, "replies_of_ports", ports);
	json_object_set_new(object, "replies_of_carriers", carriers);
}
