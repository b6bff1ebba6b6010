/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the packets of a carrier's flows go: what hauli_host_prepare() has found for the last few
 * destinations. Most flows go to a few servers or gateways. A way is used as long as neither the
 * host's routes nor what is known of the neighbour have changed. Of one carrier: code that runs on
 * its thread, and does not suspend meanwhile.
 */
#ifndef HAULI_HOST_WAY_H
#define HAULI_HOST_WAY_H

#include "host/send.h"
#include "host/table.h"

#define HAULI_WAYS 32u

struct hauli_way {
	struct hauli_flow_key ends; /* addresses and version */
	struct hauli_out out;
};

/* All zero: none is known. */
struct hauli_ways {
	struct hauli_way ways[HAULI_WAYS];
};

/* The place of the way to the remote end of a flow. */
static inline struct hauli_way *hauli_way_place(
	struct hauli_ways *w, const struct hauli_flow_key *key)
{
	uint64_t to = key->w[3] ^ key->w[4];

	if (!hauli_flow_is_ip6(key))
		to = key->w[1] >> 32;
	return &w->ways[to * UINT64_C(0x9e3779b97f4a7c15) >> 32 & (HAULI_WAYS - 1)];
}

static inline bool hauli_way_is_valid(const struct haul_host *host, const struct hauli_way *way)
{
	const struct hauli_out *out = &way->out;

	return out->version == hauli_host_version(host) &&
		hauli_neigh_is_as_seen(host->ports[out->port].neighbours, out->neigh);
}

/* The way of a flow's packets, or NULL: it is not known. */
static inline struct hauli_out *hauli_way_find(
	struct hauli_ways *w, const struct haul_host *host, const struct hauli_flow_key *key)
{
	struct hauli_way *way = hauli_way_place(w, key);
	struct hauli_flow_key ends = *key;

	ends.w[0] &= HAULI_FLOW_IS_IP6;
	if (!hauli_flow_key_equal(&way->ends, &ends) || !hauli_way_is_valid(host, way))
		return NULL;
	return &way->out;
}

/* The same for a flow to an address, which has no local address yet. */
static inline const struct hauli_out *hauli_way_find_to(
	struct hauli_ways *w, const struct haul_host *host, const struct haul_addr *to)
{
	struct hauli_flow_key key;
	struct hauli_way *way;

	hauli_flow_key_set(&key, to->version == 6, 0, to->bytes, 0, to->bytes, 0);
	way = hauli_way_place(w, &key);
	if (!haul_addr_equal(&way->out.head.dst, to) || !hauli_way_is_valid(host, way))
		return NULL;
	return &way->out;
}

/* Keeps what hauli_host_prepare() has found for packets of a flow, in place of another one. Returns
 * the copy. */
static inline struct hauli_out *hauli_way_keep(
	struct hauli_ways *w, const struct hauli_flow_key *key, const struct hauli_out *out)
{
	struct hauli_way *way = hauli_way_place(w, key);

	way->ends = *key;
	way->ends.w[0] &= HAULI_FLOW_IS_IP6;
	way->out = *out;
	return &way->out;
}

#endif
