/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of a port's neighbours. What it makes of answers and of time: neigh.c.
 *
 *	NONE --use--> INCOMPLETE --answer--> REACHABLE --time, another address--> STALE
 *	                  |                    ^   ^                               |
 *	                  | no answer     answer   | answer, confirm              use
 *	                  v                    |   |                               v
 *	               FAILED --time--> NONE   +- PROBE <--------time---------- DELAY
 *	                                            |
 *	                                            +--no answer--> NONE
 *
 * Promise: what arrives creates no entry, and memory never grows; whoever waits for an entry learns
 * of its end; a reader gets the address that one write has put there for this neighbour.
 *
 * An entry's slot, which is what readers see, is a hauli_seq (conc/seq.h): two words of the
 * neighbour's address, one of its link-layer address and state. Everything else belongs to the
 * lock. Writers of slots hold the lock.
 *
 *	who          does
 *	reader       walks the slots of the two buckets in which an address may be. No entry ever
 *	             moves, so an entry that stays is found. It reads a slot that is being written
 *	             again, and after a few times goes to the lock.
 *	user         takes the lock if the address is not found, or STALE, or not yet known
 *	waiter       counted in the entry under the lock, so that no other neighbour gets the entry;
 *	             waits without the lock. It resets the event before it looks, and whoever
 *	             changes what it looks for sets the event afterwards: it misses nothing. An
 *	             event set too late, when another waits there, makes that one look in vain.
 *	the ageing   the coroutine of the host, the only caller of hauli_neigh_age()
 *
 * The ageing sleeps until what hauli_neigh_due() has said. `promised` is that time; it is written
 * under the lock, and whoever makes something due earlier under the lock sees it, and calls
 * on_earlier(). So nothing is late, and a thousand uses make one call.
 *
 * Floods: only a use creates entries. At most half of the table is INCOMPLETE. In the two buckets
 * of a new one a FAILED entry or the longest STALE one makes room; one that is used or asked for
 * does not. The hash has a secret, so nobody outside knows which addresses share a bucket.
 *
 * Model of the slots: tests/model/seq.c. Stress: tests/stress/neigh.c. Unit: tests/unit/neigh.c.
 */
#include "host/neigh_table.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#include "base/cacheline.h"

#define READS 4 /* of a slot that is being written */

/* The first slots of the two buckets of an address. */
struct places {
	uint32_t first[2];
};

static inline struct places places_of(const struct hauli_neigh *t, struct hauli_ip ip)
{
	unsigned __int128 product =
		(unsigned __int128)(ip.hi ^ t->secret[0]) * (ip.lo ^ t->secret[1]);
	uint64_t hash = (uint64_t)product ^ (uint64_t)(product >> 64);

	return (struct places){{((uint32_t)hash & t->mask) * HAULI_NEIGH_BUCKET,
		((uint32_t)(hash >> 32) & t->mask) * HAULI_NEIGH_BUCKET}};
}

static inline uint32_t place(const struct places *p, uint32_t i)
{
	return p->first[i / HAULI_NEIGH_BUCKET] + i % HAULI_NEIGH_BUCKET;
}

/* True if the slot has ip; *whole: false if its value may be of another write. */
static inline bool read_slot(
	const struct hauli_seq *s, struct hauli_ip ip, uint64_t *v, uint32_t *turn, bool *whole)
{
	*turn = hauli_seq_turn(s);
	if (hauli_seq_word(s, 1) != ip.lo || hauli_seq_word(s, 0) != ip.hi)
		return false;
	*v = hauli_seq_word(s, 2);
	*whole = hauli_seq_is_whole(s, *turn);
	return true;
}

/* The third word of ip's slot; 0: there is none, or it is being written all the time. */
static inline uint64_t read_value(
	const struct hauli_neigh *t, struct hauli_ip ip, struct hauli_neigh_seen *seen)
{
	struct places p = places_of(t, ip);

	for (uint32_t i = 0; i < 2 * HAULI_NEIGH_BUCKET; i++) {
		const struct hauli_seq *s = &t->slots[seen->slot = place(&p, i)];
		bool whole = false;
		uint64_t v;

		for (int reads = 0; reads < READS && !whole; reads++)
			if (!read_slot(s, ip, &v, &seen->turn, &whole))
				break;
		if (whole)
			return v;
	}
	return 0;
}

bool hauli_neigh_find(const struct hauli_neigh *t, struct hauli_ip ip, uint8_t mac[6],
	struct hauli_neigh_seen *seen)
{
	uint64_t v = read_value(t, ip, seen);

	memcpy(mac, &v, 6);
	return hauli_neigh_is_usable(hauli_neigh_state_of(v));
}

bool hauli_neigh_is_reachable(const struct hauli_neigh *t, struct hauli_ip ip)
{
	struct hauli_neigh_seen seen;

	return hauli_neigh_state_of(read_value(t, ip, &seen)) == HAUL_NEIGHBOUR_REACHABLE;
}

/* The entry of ip, or HAULI_NO_NEIGH. */
uint32_t hauli_neigh_look_up(const struct hauli_neigh *t, struct hauli_ip ip)
{
	struct places p = places_of(t, ip);

	for (uint32_t i = 0; i < 2 * HAULI_NEIGH_BUCKET; i++) {
		uint32_t slot = place(&p, i);
		struct hauli_ip has = hauli_neigh_ip_at(t, slot);

		if (has.lo == ip.lo && has.hi == ip.hi && !hauli_neigh_is_free(t, slot))
			return slot;
	}
	return HAULI_NO_NEIGH;
}

/* 0.5 to 1.5 times the mean, so that neighbours are not asked all at once (RFC 4861, 6.3.4). */
static uint64_t random_time(struct hauli_neigh *t, uint64_t mean)
{
	uint64_t half = mean / 2;

	return half + hauli_random_next(&t->random) % (2 * half + 1);
}

/* When the state ends, or the next question is due. */
static uint64_t end_of(struct hauli_neigh *t, enum haul_neighbour_state state, uint64_t now)
{
	switch (state) {
	case HAUL_NEIGHBOUR_INCOMPLETE:
	case HAUL_NEIGHBOUR_PROBE:
		return now;
	case HAUL_NEIGHBOUR_REACHABLE:
		return now + random_time(t, t->opts.reachable_ns);
	case HAUL_NEIGHBOUR_DELAY:
		return now + t->opts.delay_ns;
	case HAUL_NEIGHBOUR_FAILED:
		return now + t->opts.failed_ns;
	case HAUL_NEIGHBOUR_STALE:
	case HAUL_NEIGHBOUR_NONE:
		break;
	}
	return HAUL_FOREVER;
}

/* Entry i becomes what ip has. */
static void write_slot(struct hauli_neigh *t, uint32_t i, struct hauli_ip ip, const uint8_t mac[6],
	enum haul_neighbour_state state)
{
	enum haul_neighbour_state old = hauli_neigh_state_at(t, i);
	const uint64_t words[HAULI_SEQ_WORDS] = {ip.hi, ip.lo, hauli_neigh_value(mac, state)};

	t->incomplete += state == HAUL_NEIGHBOUR_INCOMPLETE;
	t->incomplete -= old == HAUL_NEIGHBOUR_INCOMPLETE;
	t->known += state != HAUL_NEIGHBOUR_NONE;
	t->known -= old != HAUL_NEIGHBOUR_NONE;
	hauli_seq_write(&t->slots[i], words);
}

void hauli_neigh_set_state(struct hauli_neigh *t, uint32_t i, const uint8_t mac[6],
	enum haul_neighbour_state state, uint64_t now)
{
	write_slot(t, i, hauli_neigh_ip_at(t, i), mac, state);
	t->entries[i].since = now;
	t->entries[i].asked = 0;
	hauli_due_set(&t->due, i, end_of(t, state, now));
}

/* Frees entry i. Nobody waits for it. */
void hauli_neigh_forget(struct hauli_neigh *t, uint32_t i)
{
	static const uint8_t none[6];

	write_slot(t, i, (struct hauli_ip){0, 0}, none, HAUL_NEIGHBOUR_NONE);
	hauli_due_set(&t->due, i, HAUL_FOREVER);
}

void hauli_neigh_keep_mac(
	struct hauli_neigh *t, uint32_t i, enum haul_neighbour_state state, uint64_t now)
{
	uint8_t mac[6];

	hauli_neigh_get_mac(t, i, mac);
	hauli_neigh_set_state(t, i, mac, state, now);
}

/* Higher: sooner makes room. 0: does not. */
static uint64_t uselessness(const struct hauli_neigh *t, uint32_t i)
{
	enum haul_neighbour_state state = hauli_neigh_state_at(t, i);

	if (t->entries[i].waiters > 0)
		return 0;
	if (state == HAUL_NEIGHBOUR_NONE)
		return UINT64_MAX;
	if (state == HAUL_NEIGHBOUR_FAILED)
		return UINT64_MAX - 1;
	return state == HAUL_NEIGHBOUR_STALE ? UINT64_MAX - 2 - t->entries[i].since : 0;
}

/* An entry for a new address, or HAULI_NO_NEIGH. */
static uint32_t make_room(struct hauli_neigh *t, struct hauli_ip ip)
{
	struct places p = places_of(t, ip);
	uint32_t best = HAULI_NO_NEIGH;
	uint64_t most = 0;

	if (t->incomplete >= t->incomplete_max)
		return HAULI_NO_NEIGH;
	for (uint32_t i = 0; i < 2 * HAULI_NEIGH_BUCKET; i++) {
		uint64_t of = uselessness(t, place(&p, i));

		if (of > most) {
			most = of;
			best = place(&p, i);
		}
	}
	if (best != HAULI_NO_NEIGH && !hauli_neigh_is_free(t, best)) {
		hauli_neigh_forget(t, best);
		t->st.evicted++;
	}
	return best;
}

uint32_t hauli_neigh_create_entry(struct hauli_neigh *t, struct hauli_ip ip, uint64_t now)
{
	static const uint8_t none[6];
	uint32_t i = make_room(t, ip);

	if (i == HAULI_NO_NEIGH)
		return i;
	write_slot(t, i, ip, none, HAUL_NEIGHBOUR_NONE);
	hauli_neigh_set_state(t, i, none, HAUL_NEIGHBOUR_INCOMPLETE, now);
	return i;
}

/* Unlocks. */
void hauli_neigh_unlock(struct hauli_neigh *t)
{
	uint64_t first = hauli_due_first(&t->due);
	bool earlier = first < t->promised;

	if (earlier)
		t->promised = first;
	pthread_mutex_unlock(&t->lock);
	if (earlier && t->opts.on_earlier)
		t->opts.on_earlier(t->opts.arg);
}

void hauli_neigh_close(struct hauli_neigh *t)
{
	uint32_t slots = (t->mask + 1) * HAULI_NEIGH_BUCKET;

	pthread_mutex_lock(&t->lock);
	t->closed = true;
	for (uint32_t i = 0; i < slots; i++)
		if (t->entries[i].waiters == 0)
			hauli_neigh_forget(t, i);
	pthread_mutex_unlock(&t->lock);
	for (uint32_t i = 0; i < slots; i++)
		haul_event_set(&t->entries[i].changed);
}

void hauli_neigh_open(struct hauli_neigh *t)
{
	pthread_mutex_lock(&t->lock);
	t->closed = false;
	t->promised = 0;
	pthread_mutex_unlock(&t->lock);
}

/* Buckets for twice as many, so that hardly ever both of an address are full. */
static uint32_t buckets_for(unsigned neighbours)
{
	uint32_t n = 1;

	while (n * HAULI_NEIGH_BUCKET < 2 * neighbours)
		n *= 2;
	return n;
}

static int seed(struct hauli_neigh *t)
{
	uint64_t from[3] = {t->opts.seed, t->opts.seed * 3, t->opts.seed * 5};

	if (t->opts.seed == 0 && getrandom(from, sizeof(from), 0) != sizeof(from))
		return -EIO;
	t->secret[0] = from[0];
	t->secret[1] = from[1];
	hauli_random_init(&t->random, from[2]);
	return 0;
}

int hauli_neigh_create(struct hauli_neigh **out, const struct hauli_neigh_opts *opts)
{
	struct hauli_neigh *t = calloc(1, sizeof(*t));
	uint32_t slots = buckets_for(opts->neighbours_max) * HAULI_NEIGH_BUCKET;

	if (!t)
		return -ENOMEM;
	t->opts = *opts;
	t->mask = slots / HAULI_NEIGH_BUCKET - 1;
	t->incomplete_max = (opts->neighbours_max + 1) / 2;
	t->slots = aligned_alloc(HAULI_CACHE_LINE,
		(slots * sizeof(t->slots[0]) + HAULI_CACHE_LINE - 1) / HAULI_CACHE_LINE *
			HAULI_CACHE_LINE);
	t->entries = calloc(slots, sizeof(t->entries[0]));
	pthread_mutex_init(&t->lock, NULL);
	if (!t->slots || !t->entries || hauli_due_init(&t->due, slots) || seed(t)) {
		hauli_neigh_free(t);
		return -ENOMEM;
	}
	memset((void *)t->slots, 0, slots * sizeof(t->slots[0]));
	*out = t;
	return 0;
}

void hauli_neigh_free(struct hauli_neigh *t)
{
	if (!t)
		return;
	hauli_due_fini(&t->due);
	pthread_mutex_destroy(&t->lock);
	free((void *)t->slots);
	free(t->entries);
	free(t);
}
