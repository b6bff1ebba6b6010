/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cache that all carriers share, and the questions that are under way. It has shards, by the
 * hash of the question, each with a lock: a hit writes its message under that. An equal question
 * that comes while one is under way waits for the same answer.
 *
 *   look: DNS_LOOK_HIT or REFRESH: a message was written
 *         DNS_LOOK_ASK or REFRESH: the caller asks a server, then land()
 *         DNS_LOOK_WAIT: the caller calls wait()
 *
 * All are called by coroutines.
 */
#ifndef DNS_SHARED_H
#define DNS_SHARED_H

#include <haul/sync.h>

#include "cache.h"

struct dns_shared;
struct dns_flight; /* a question under way */

struct dns_shared_opts {
	struct dns_cache_opts cache; /* of all shards together */
	unsigned shards; /* a power of 2 up to 1024: dns_shared_shards() */
	unsigned flights_max; /* questions under way */
	unsigned waiters_max; /* of one question */
};

struct dns_shared_stats {
	struct dns_cache_stats cache;
	uint64_t hits, stale, misses, joined, busy, refreshed, failed;
	unsigned flights;
};

/* A query, and where its answer is written: opts->max bytes at out. */
struct dns_client {
	const uint8_t *msg;
	const struct dns_query *query;
	uint8_t *out;
	size_t n; /* bytes written */
	bool hits_only; /* BUSY in place of ASK and WAIT, HIT of REFRESH */
	struct dns_reply_opts opts;
};

enum dns_look {
	DNS_LOOK_HIT,
	DNS_LOOK_REFRESH, /* written, and the caller asks a server, as it expires soon */
	DNS_LOOK_ASK,
	DNS_LOOK_WAIT,
	DNS_LOOK_BUSY, /* nothing was written: too much is under way, or no memory */
};

/* Four for each carrier, which make waits for a lock rare, but so few that each of them has a place
 * for a long answer. */
unsigned dns_shared_shards(const struct dns_cache_opts *cache, unsigned carriers);

/* Returns 0, -EINVAL or -ENOMEM. */
int dns_shared_create(struct dns_shared **s, const struct dns_shared_opts *opts);

/* Nothing is under way any more. */
void dns_shared_free(struct dns_shared *s);

enum dns_look dns_shared_look(
	struct dns_shared *s, struct dns_client *client, struct dns_flight **flight) HAUL_SUSPENDS;

/*
 * After DNS_LOOK_WAIT: waits for the answer of another one, and writes it. From the time patience
 * on, an expired answer is as good (RFC 8767, 5). Returns 0; -ETIMEDOUT, -ECANCELED, -ENOMEM:
 * nothing was written. The flight is not the caller's any more.
 */
int dns_shared_wait(struct dns_shared *s, struct dns_flight *f, struct dns_client *client,
	uint64_t patience, uint64_t deadline) HAUL_SUSPENDS;

/*
 * After DNS_LOOK_ASK or DNS_LOOK_REFRESH, one of the two in every case. Wakes those who wait.
 * Writes the client's message, too, unless client is NULL.
 *
 * dns_shared_land: answer is one of a server, with a reference that is taken over.
 * dns_shared_fail: there is none, and an expired answer is as good. error -EIO, -ETIMEDOUT: servers
 *     have failed, which is kept for a while (RFC 9520). Any other is an error of our own: it is
 *     for those only who have asked already. Without memory nothing is written.
 */
void dns_shared_land(struct dns_shared *s, struct dns_flight *f, struct dns_answer *answer,
	uint64_t now, struct dns_client *client) HAUL_SUSPENDS;
void dns_shared_fail(struct dns_shared *s, struct dns_flight *f, int error, uint64_t now,
	struct dns_client *client) HAUL_SUSPENDS;

/* Writes an expired answer, or returns false. For who asks a server that is slow. */
bool dns_shared_write_stale(struct dns_shared *s, struct dns_client *client) HAUL_SUSPENDS;

void dns_shared_clear(struct dns_shared *s) HAUL_SUSPENDS;
void dns_shared_get_stats(struct dns_shared *s, struct dns_shared_stats *stats) HAUL_SUSPENDS;

#endif
