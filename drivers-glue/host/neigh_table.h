/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of a port's neighbours: slots, entries, their states. neigh.h has what is done with
 * it. */
#ifndef HAULI_HOST_NEIGH_TABLE_H
#define HAULI_HOST_NEIGH_TABLE_H

#include <pthread.h>
#include <string.h>

#include <haul-dpdk/host.h>
#include <haul/sync.h>

#include "base/random.h"
#include "conc/seq.h"
#include "host/due.h"
#include "host/ip.h"

#define HAULI_NEIGH_BUCKET 4u /* slots: two cache lines */
#define HAULI_NO_NEIGH UINT32_MAX

struct hauli_neigh_entry {
	struct haul_event changed; /* the entry is not INCOMPLETE any more */
	uint64_t since; /* the beginning of the state */
	uint32_t waiters;
	uint32_t asked; /* questions, in this state */
};

struct hauli_neigh_opts {
	unsigned neighbours_max, waiters_max, tries;
	uint64_t reachable_ns, delay_ns, retrans_ns, failed_ns;
	/* Called without the table's lock when something is due earlier than hauli_neigh_due() has
	 * said. */
	void (*on_earlier)(void *arg);
	void *arg;
	uint64_t seed; /* of hashes and random times; 0: a secret one */
};

struct hauli_neigh {
	struct hauli_neigh_opts opts; /* constant, as the next four */
	struct hauli_seq *slots;
	uint64_t secret[2];
	uint32_t mask; /* number of buckets - 1 */
	uint32_t incomplete_max;

	/* Under the lock. */
	pthread_mutex_t lock;
	bool closed;
	struct hauli_neigh_entry *entries; /* by slot */
	struct hauli_due due;
	uint64_t promised;
	struct hauli_random random;
	uint32_t incomplete, waiters, known;
	struct haul_host_stats st;
};

/* The third word of a slot. */
static inline uint64_t hauli_neigh_value(const uint8_t mac[6], enum haul_neighbour_state state)
{
	uint64_t v = 0;

	memcpy(&v, mac, 6);
	return v | (uint64_t)state << 48;
}

static inline enum haul_neighbour_state hauli_neigh_state_of(uint64_t v)
{
	return (enum haul_neighbour_state)(v >> 48);
}

static inline bool hauli_neigh_is_usable(enum haul_neighbour_state state)
{
	return state == HAUL_NEIGHBOUR_REACHABLE || state == HAUL_NEIGHBOUR_DELAY ||
		state == HAUL_NEIGHBOUR_PROBE;
}

static inline struct hauli_ip hauli_neigh_ip_at(const struct hauli_neigh *t, uint32_t i)
{
	return (struct hauli_ip){
		hauli_seq_own_word(&t->slots[i], 0), hauli_seq_own_word(&t->slots[i], 1)};
}

static inline uint64_t hauli_neigh_value_at(const struct hauli_neigh *t, uint32_t i)
{
	return hauli_seq_own_word(&t->slots[i], 2);
}

static inline enum haul_neighbour_state hauli_neigh_state_at(
	const struct hauli_neigh *t, uint32_t i)
{
	return hauli_neigh_state_of(hauli_neigh_value_at(t, i));
}

static inline bool hauli_neigh_is_free(const struct hauli_neigh *t, uint32_t i)
{
	return hauli_neigh_state_at(t, i) == HAUL_NEIGHBOUR_NONE;
}

static inline void hauli_neigh_get_mac(const struct hauli_neigh *t, uint32_t i, uint8_t mac[6])
{
	uint64_t v = hauli_neigh_value_at(t, i);

	memcpy(mac, &v, 6);
}

static inline bool hauli_neigh_has_mac(const struct hauli_neigh *t, uint32_t i, const uint8_t *mac)
{
	return (hauli_neigh_value_at(t, i) << 16) ==
		(hauli_neigh_value(mac, HAUL_NEIGHBOUR_NONE) << 16);
}

/* Return 0 or -ENOMEM. */
int hauli_neigh_create(struct hauli_neigh **t, const struct hauli_neigh_opts *opts);
void hauli_neigh_free(struct hauli_neigh *t); /* NULL is allowed */

/* Forgets all neighbours, and lets all that wait go with -ECANCELED: until the next open. */
void hauli_neigh_close(struct hauli_neigh *t);
void hauli_neigh_open(struct hauli_neigh *t);

/* Where a neighbour was found: its slot, and the turn of that (conc/seq.h). */
struct hauli_neigh_seen {
	uint32_t slot, turn;
};
/* The usual case: true, and the address, and where it is, if it needs no question. Any thread,
 * without a lock, as the next three. */
bool hauli_neigh_find(const struct hauli_neigh *t, struct hauli_ip ip, uint8_t mac[6],
	struct hauli_neigh_seen *seen);
/* True if what was found is still so. */
static inline bool hauli_neigh_is_as_seen(const struct hauli_neigh *t, struct hauli_neigh_seen seen)
{
	return hauli_seq_turn(&t->slots[seen.slot]) == seen.turn;
}
bool hauli_neigh_is_reachable(const struct hauli_neigh *t, struct hauli_ip ip);
/* True if whoever is in a slot is REACHABLE. */
static inline bool hauli_neigh_is_reachable_at(const struct hauli_neigh *t, uint32_t slot)
{
	uint64_t v = hauli_seq_word(&t->slots[slot], 2);

	return hauli_neigh_state_of(v) == HAUL_NEIGHBOUR_REACHABLE;
}

/* The lock is held for the rest. */

/* Unlocks. */
void hauli_neigh_unlock(struct hauli_neigh *t);
/* The entry of ip, or HAULI_NO_NEIGH. */
uint32_t hauli_neigh_look_up(const struct hauli_neigh *t, struct hauli_ip ip);
/* A new entry, INCOMPLETE, or HAULI_NO_NEIGH: nothing makes room. */
uint32_t hauli_neigh_create_entry(struct hauli_neigh *t, struct hauli_ip ip, uint64_t now);
/* Frees entry i. Nobody waits for it. */
void hauli_neigh_forget(struct hauli_neigh *t, uint32_t i);
void hauli_neigh_set_state(struct hauli_neigh *t, uint32_t i, const uint8_t mac[6],
	enum haul_neighbour_state state, uint64_t now);
void hauli_neigh_keep_mac(
	struct hauli_neigh *t, uint32_t i, enum haul_neighbour_state state, uint64_t now);

#endif
