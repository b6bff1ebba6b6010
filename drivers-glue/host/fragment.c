/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/fragment.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include <rte_mbuf.h>

#include "base/assert.h"
#include "net/reassembly.h"

#define MOST (1u << 20)
#define LONGEST_NS (86400 * HAUL_S)

_Static_assert(HAUL_FRAGMENTS_MAX == HAULI_FRAGMENTS_OF_PACKET, "others are made whole, too");

/*
 * The lock is held for the steps of one fragment. Handlers of a carrier run at the same time if one
 * is stolen, and fragments of a packet may come on several queues; so a table of each carrier would
 * need a lock, too, and miss packets.
 */
struct haul_reassembly {
	pthread_mutex_t lock;
	struct hauli_reassembly *r; /* under the lock */
	uint64_t malformed; /* the same */
};

/* The MTU for which a fragment fits into one mbuf. */
static uint16_t mtu_of_pool(const struct haul_pkt *pkt, struct rte_mempool *pool)
{
	uint32_t l2 = (uint32_t)((uint8_t *)pkt->l3 - (uint8_t *)pkt->eth);
	uint32_t room = rte_pktmbuf_data_room_size(pool);

	return room < RTE_PKTMBUF_HEADROOM + l2 ? 0 : (uint16_t)(room - RTE_PKTMBUF_HEADROOM - l2);
}

int haul_fragment(struct haul_pkt *pkt, uint16_t mtu, struct rte_mempool *pool,
	struct rte_mbuf *frags[HAUL_FRAGMENTS_MAX])
{
	int n = hauli_fragments(pkt, mtu);

	if (n == 1)
		frags[0] = pkt->mbuf;
	if (n <= 1)
		return n;
	mtu = RTE_MIN(mtu, mtu_of_pool(pkt, pool));
	n = hauli_fragments(pkt, mtu);
	if (n < 0)
		return n;
	if (n > HAUL_FRAGMENTS_MAX)
		return -EMSGSIZE;
	if (rte_pktmbuf_alloc_bulk(pool, frags, (unsigned)n))
		return -ENOBUFS;

	uint32_t id = hauli_fragments_id(pkt);

	for (int i = 0; i < n; i++)
		HAUL_BUG_ON(hauli_fragment_write(pkt, mtu, (unsigned)i, id, frags[i]));
	rte_pktmbuf_free(pkt->mbuf);
	return n;
}

static void free_pkt(struct rte_mbuf *pkt, void *arg)
{
	(void)arg;
	rte_pktmbuf_free(pkt);
}

int haul_reassembly_create(struct haul_reassembly **table, const struct haul_reassembly_opts *opts)
{
	static const struct haul_reassembly_opts defaults;

	HAUL_MISUSE_IF(!table, "the place for the table is NULL");
	if (!opts)
		opts = &defaults;

	const struct hauli_reassembly_limits limits = {
		.packets = opts->packets ? opts->packets : 256,
		.of_source = opts->per_source ? opts->per_source : 16,
		.fragments = opts->fragments ? opts->fragments : 1024,
		.bytes = opts->bytes ? opts->bytes : 1u << 20,
		.ns = opts->timeout_ns ? opts->timeout_ns : 30 * HAUL_S,
	};

	if (limits.packets > MOST || limits.fragments > MOST || limits.ns > LONGEST_NS)
		return -EINVAL;

	struct haul_reassembly *t = calloc(1, sizeof(*t));

	if (t)
		t->r = hauli_reassembly_create(&limits, free_pkt, NULL);
	if (!t || !t->r) {
		free(t);
		return -ENOMEM;
	}
	pthread_mutex_init(&t->lock, NULL);
	*table = t;
	return 0;
}

void haul_reassembly_destroy(struct haul_reassembly *table)
{
	if (!table)
		return;
	hauli_reassembly_destroy(table->r);
	pthread_mutex_destroy(&table->lock);
	free(table);
}

enum haul_verdict hauli_reassembly_find(struct haul_reassembly *table,
	struct hauli_fragment *fragment, struct rte_mbuf *mbuf, bool *is_fragment)
{
	enum haul_verdict v = hauli_fragment_find(fragment, mbuf, is_fragment);

	/* Of frames that are no fragment haul_net_parse() tells what is wrong. */
	if (!*is_fragment)
		return HAUL_NET_OK;
	if (v == HAUL_NET_MALFORMED) {
		pthread_mutex_lock(&table->lock);
		table->malformed++;
		pthread_mutex_unlock(&table->lock);
	}
	return v;
}

enum haul_verdict hauli_reassembly_take(struct haul_reassembly *table,
	const struct hauli_fragment *fragment, unsigned port, struct rte_mbuf **mbuf)
{
	struct rte_mbuf *pkt;
	enum haul_verdict v;

	pthread_mutex_lock(&table->lock);
	v = hauli_reassemble(table->r, fragment, port, haul_now(), &pkt);
	pthread_mutex_unlock(&table->lock);
	if (v == HAUL_NET_OK)
		*mbuf = pkt;
	return v;
}

static bool is_of(const struct haul_net_if *nif, const struct haul_addr *dst)
{
	struct haul_addr own =
		dst->version == 4 ? haul_addr_from(4, nif->ip4) : haul_addr_from(6, nif->ip6);

	return haul_addr_equal(&own, dst);
}

enum haul_verdict haul_reassemble(struct haul_reassembly *table, const struct haul_net_if *nif,
	unsigned port, struct rte_mbuf **mbuf)
{
	struct hauli_fragment fragment;
	bool is_fragment;
	enum haul_verdict v = hauli_reassembly_find(table, &fragment, *mbuf, &is_fragment);

	if (v || !is_fragment)
		return v;
	if (nif && !is_of(nif, &fragment.dst))
		return HAUL_NET_NOT_FOR_US;
	return hauli_reassembly_take(table, &fragment, port, mbuf);
}

void haul_reassembly_expire(struct haul_reassembly *table)
{
	HAUL_MISUSE_IF(!table, "the table is NULL");
	pthread_mutex_lock(&table->lock);
	hauli_reassembly_expire(table->r, haul_now());
	pthread_mutex_unlock(&table->lock);
}

void haul_reassembly_get_stats(struct haul_reassembly *table, struct haul_reassembly_stats *stats)
{
	HAUL_MISUSE_IF(!table, "the table is NULL");
	HAUL_MISUSE_IF(!stats, "the place for the statistics is NULL");

	pthread_mutex_lock(&table->lock);

	const struct hauli_reassembly_counts *c = hauli_reassembly_counts(table->r);

	*stats = (struct haul_reassembly_stats){
		.fragments = c->fragments + table->malformed,
		.whole = c->whole,
		.malformed = table->malformed,
		.duplicates = c->duplicates,
		.bad = c->bad,
		.late = c->late,
		.expired = c->expired,
		.given_up = c->given_up,
		.given_up_of_source = c->given_up_of_source,
	};
	hauli_reassembly_held(
		table->r, &stats->packets_held, &stats->fragments_held, &stats->bytes_held);
	pthread_mutex_unlock(&table->lock);
}
