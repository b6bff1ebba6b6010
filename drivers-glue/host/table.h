/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of a carrier's flows, by protocol, addresses and ports. Only its carrier uses it, so it
 * has no locks. The flows are the caller's; the table has pointers to the link that each begins
 * with.
 */
#ifndef HAULI_HOST_TABLE_H
#define HAULI_HOST_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/cacheline.h"

/*
 * What tells a flow from others. Words of which those that IPv4 does not use are 0:
 *	w[0]         ports, protocol, version: hauli_flow_ends()
 *	w[1]         IPv4: both addresses, the local one first
 *	w[1] - w[4]  IPv6: the same
 */
struct hauli_flow_key {
	uint64_t w[5];
};

#define HAULI_FLOW_IS_IP6 UINT64_C(1)

/* ports in host byte order; protocol: an IPPROTO. */
static inline uint64_t hauli_flow_ends(
	bool ip6, uint8_t protocol, uint16_t local_port, uint16_t remote_port)
{
	return (uint64_t)local_port << 48 | (uint64_t)remote_port << 32 | (uint64_t)protocol << 8 |
		(ip6 ? HAULI_FLOW_IS_IP6 : 0);
}

static inline uint16_t hauli_flow_local_port(const struct hauli_flow_key *key)
{
	return (uint16_t)(key->w[0] >> 48);
}

static inline uint16_t hauli_flow_remote_port(const struct hauli_flow_key *key)
{
	return (uint16_t)(key->w[0] >> 32);
}

static inline uint8_t hauli_flow_protocol(const struct hauli_flow_key *key)
{
	return (uint8_t)(key->w[0] >> 8);
}

static inline bool hauli_flow_is_ip6(const struct hauli_flow_key *key)
{
	return key->w[0] & HAULI_FLOW_IS_IP6;
}

/* local, remote: 4 bytes, or 16 for IPv6, in network byte order. */
static inline void hauli_flow_key_set(struct hauli_flow_key *key, bool ip6, uint8_t protocol,
	const void *local, uint16_t local_port, const void *remote, uint16_t remote_port)
{
	key->w[0] = hauli_flow_ends(ip6, protocol, local_port, remote_port);
	if (ip6) {
		memcpy(&key->w[1], local, 16);
		memcpy(&key->w[3], remote, 16);
	} else {
		memcpy((char *)&key->w[1], local, 4);
		memcpy((char *)&key->w[1] + 4, remote, 4);
		key->w[2] = key->w[3] = key->w[4] = 0;
	}
}

static inline const void *hauli_flow_local(const struct hauli_flow_key *key)
{
	return &key->w[1];
}

static inline const void *hauli_flow_remote(const struct hauli_flow_key *key)
{
	return hauli_flow_is_ip6(key) ? (const char *)&key->w[3] : (const char *)&key->w[1] + 4;
}

static inline bool hauli_flow_key_equal(
	const struct hauli_flow_key *a, const struct hauli_flow_key *b)
{
	if (((a->w[0] ^ b->w[0]) | (a->w[1] ^ b->w[1])) != 0)
		return false;
	return !hauli_flow_is_ip6(a) ||
		((a->w[2] ^ b->w[2]) | (a->w[3] ^ b->w[3]) | (a->w[4] ^ b->w[4])) == 0;
}

/* The first field of what is in the table. */
struct hauli_flow_link {
	struct hauli_flow_key key;
};

struct hauli_flow_slot {
	uint64_t hash; /* valid if link is not NULL */
	struct hauli_flow_link *link; /* NULL: the slot is free */
};

struct hauli_flow_table {
	struct hauli_flow_slot *slots;
	uint64_t mask; /* number of slots, a power of two, minus 1 */
	uint64_t used;
	uint64_t secret[3]; /* of the hash: who sends packets cannot make them collide */
};

/* Room for n flows without growth. 0 or -ENOMEM. */
int hauli_flow_table_init(struct hauli_flow_table *t, size_t n);
/* Frees the table, not what is in it. */
void hauli_flow_table_fini(struct hauli_flow_table *t);

/* Adds a link whose key is not in the table. 0 or -ENOMEM. */
int hauli_flow_table_add(struct hauli_flow_table *t, struct hauli_flow_link *link);
/* Takes a link out of the table, which has it. */
void hauli_flow_table_remove(struct hauli_flow_table *t, struct hauli_flow_link *link);

/* Walks the table. *at is 0 at first. Looks at up to n slots; returns the next link, or NULL: there
 * is none in these slots, and *at is where to go on, or 0 after the last slot. Meanwhile the caller
 * adds nothing; if it removes the link that it got, it goes on with hauli_flow_table_back(). */
struct hauli_flow_link *hauli_flow_table_walk(
	const struct hauli_flow_table *t, uint64_t *at, uint64_t n);
static inline void hauli_flow_table_back(uint64_t *at)
{
	--*at;
}

/* The product of two words, folded. A bit depends on many bits of both, but not on all for each
 * value of the other: a factor that ends in zeros leaves the low bits to the high half. */
static inline uint64_t hauli_flow_mix(uint64_t a, uint64_t b)
{
	__extension__ unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t hauli_flow_hash(
	const struct hauli_flow_table *t, const struct hauli_flow_key *key)
{
	uint64_t h = hauli_flow_mix(key->w[0] ^ t->secret[0], key->w[1] ^ t->secret[1]);

	if (hauli_flow_is_ip6(key)) {
		h = hauli_flow_mix(key->w[2] ^ h, key->w[3] ^ t->secret[2]);
		h ^= hauli_flow_mix(key->w[4] ^ t->secret[0], h ^ t->secret[1]);
	}
	/* Once more, so that no secret is a bad one. The factor is 2^64 by the golden ratio. */
	return hauli_flow_mix(h, UINT64_C(0x9e3779b97f4a7c15));
}

static inline struct hauli_flow_link *hauli_flow_table_find(
	const struct hauli_flow_table *t, const struct hauli_flow_key *key)
{
	uint64_t hash = hauli_flow_hash(t, key);

	for (uint64_t i = hash & t->mask;; i = (i + 1) & t->mask) {
		const struct hauli_flow_slot *slot = &t->slots[i];

		if (!slot->link)
			return NULL;
		if (hauli_likely(slot->hash == hash) &&
			hauli_likely(hauli_flow_key_equal(&slot->link->key, key)))
			return slot->link;
	}
}

#endif
