/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A flight has one leader, which asks a server, and others that wait for its event:
 *
 *   leader                                  follower
 *   look: adds the flight (lock)            look: finds it, refs++ (lock)
 *   asks a server                           waits for the event
 *   land: removes the flight, sets its      wait: reads the answer, refs-- (lock)
 *     answer and the event, refs-- (lock)
 *
 * All fields of a flight but the event are read and written under the lock of its shard. The answer
 * is there before the event is set, and who gets to the lock after a time-out looks again, so
 * nobody misses it. Whoever takes the last reference frees the flight, under the lock: neither a
 * follower that has given up nor the leader touches it after its own refs--. Setting the event is
 * the last use that its setter makes of it, and happens before the leader's refs--.
 */
#include "shared.h"

#include <errno.h>
#include <stdlib.h>

#include "reply.h"

enum {
	SHARDS_MAX = 1024,
	SHARD_ENTRIES = 256, /* at least */
	SHARD_BYTES = 8 * DNS_MESSAGE_MAX, /* at least: an eighth is the longest answer kept */
	BUCKETS = 64,
	SHARD_SHIFT = 48,
};

struct dns_flight {
	struct haul_event landed;
	struct dns_flight *next;
	struct dns_answer *answer; /* a reference, once it has landed */
	enum dns_ede why; /* of a failure */
	unsigned refs;
	struct dns_key key;
};

struct shard {
	struct haul_mutex lock;
	struct dns_cache *cache;
	struct dns_flight *flights[BUCKETS];
	unsigned nb_flights;
	struct dns_shared_stats stats; /* without those of the cache */
} __attribute__((aligned(64)));

struct dns_shared {
	unsigned shards, flights_max, waiters_max; /* flights_max: of a shard */
	struct shard shard[];
};

unsigned dns_shared_shards(const struct dns_cache_opts *cache, unsigned carriers)
{
	unsigned n = 1;

	while (n < 4 * carriers && n < SHARDS_MAX &&
		cache->entries_max / (2 * n) >= SHARD_ENTRIES &&
		cache->bytes_max / (2 * n) >= SHARD_BYTES)
		n *= 2;
	return n;
}

int dns_shared_create(struct dns_shared **shared, const struct dns_shared_opts *opts)
{
	struct dns_cache_opts each = opts->cache;
	unsigned n = opts->shards;
	struct dns_shared *s;
	size_t bytes;

	if (n == 0 || n > SHARDS_MAX || (n & (n - 1)) != 0)
		return -EINVAL;
	bytes = sizeof(*s) + n * sizeof(s->shard[0]) + 63;
	s = aligned_alloc(64, bytes & ~(size_t)63);
	if (!s)
		return -ENOMEM;
	memset(s, 0, bytes & ~(size_t)63);
	each.bytes_max /= n;
	each.entries_max /= n;
	s->flights_max = opts->flights_max / n > 0 ? opts->flights_max / n : 1;
	s->waiters_max = opts->waiters_max;
	for (; s->shards < n; s->shards++) {
		int rc = dns_cache_create(&s->shard[s->shards].cache, &each);

		if (rc < 0) {
			dns_shared_free(s);
			return rc;
		}
	}
	*shared = s;
	return 0;
}

void dns_shared_free(struct dns_shared *s)
{
	for (unsigned i = 0; s && i < s->shards; i++)
		dns_cache_free(s->shard[i].cache);
	free(s);
}

/* The buckets of the caches take the lowest bits of the hash, their sketches the upper half,
 * too. */
static struct shard *shard_of(struct dns_shared *s, const struct dns_key *key)
{
	return &s->shard[key->hash >> SHARD_SHIFT & (s->shards - 1)];
}

static struct dns_flight **bucket_of(struct shard *sh, const struct dns_key *key)
{
	return &sh->flights[key->hash >> 32 & (BUCKETS - 1)];
}

static struct dns_flight *find_flight(struct shard *sh, const struct dns_key *key)
{
	struct dns_flight *f = *bucket_of(sh, key);

	while (f && !dns_key_equal(&f->key, key))
		f = f->next;
	return f;
}

static struct dns_flight *add_flight(
	struct dns_shared *s, struct shard *sh, const struct dns_key *key)
{
	struct dns_flight *f, **bucket = bucket_of(sh, key);

	if (sh->nb_flights == s->flights_max)
		return NULL;
	f = malloc(sizeof(*f));
	if (!f)
		return NULL;
	*f = (struct dns_flight){.refs = 1, .next = *bucket};
	memcpy(&f->key, key, dns_key_size(key));
	*bucket = f;
	sh->nb_flights++;
	return f;
}

static void release_flight(struct dns_flight *f)
{
	if (--f->refs > 0)
		return;
	dns_answer_release(f->answer);
	free(f);
}

/* why: of a failure (RFC 8914). */
static void write_answer(struct dns_client *c, const struct dns_answer *a, enum dns_ede why)
{
	struct dns_reply_opts opts = c->opts;

	if (opts.ede == DNS_EDE_NONE && a->rcode == DNS_SERVFAIL)
		opts.ede = why;
	else if (opts.ede == DNS_EDE_NONE && dns_answer_is_stale(a, opts.now))
		opts.ede = DNS_EDE_STALE;
	c->n = dns_write_answer(c->out, c->msg, c->query, a, &opts);
}

/* An expired failure says nothing any more. */
static bool is_stale(const struct dns_answer *a, uint64_t now)
{
	return a && a->rcode != DNS_SERVFAIL && dns_answer_age(a, now) == DNS_STALE;
}

static enum dns_look miss(struct dns_shared *s, struct shard *sh, const struct dns_client *c,
	struct dns_flight **flight)
{
	const struct dns_key *key = &c->query->key;
	struct dns_flight *f;

	if (c->hits_only) {
		sh->stats.busy++;
		return DNS_LOOK_BUSY;
	}
	f = find_flight(sh, key);
	if (f && f->refs <= s->waiters_max) {
		f->refs++;
		*flight = f;
		sh->stats.joined++;
		return DNS_LOOK_WAIT;
	}
	*flight = f ? NULL : add_flight(s, sh, key);
	if (!*flight) {
		sh->stats.busy++;
		return DNS_LOOK_BUSY;
	}
	sh->stats.misses++;
	return DNS_LOOK_ASK;
}

static enum dns_look hit(struct dns_shared *s, struct shard *sh, struct dns_client *c,
	const struct dns_answer *a, struct dns_flight **flight)
{
	write_answer(c, a, DNS_EDE_CACHED_ERROR);
	sh->stats.hits++;
	if (c->hits_only || dns_answer_age(a, c->opts.now) != DNS_AGEING ||
		c->opts.now < a->retry_at || find_flight(sh, &c->query->key))
		return DNS_LOOK_HIT;
	*flight = add_flight(s, sh, &c->query->key);
	if (!*flight)
		return DNS_LOOK_HIT;
	sh->stats.refreshed++;
	return DNS_LOOK_REFRESH;
}

static enum dns_look look(
	struct dns_shared *s, struct shard *sh, struct dns_client *c, struct dns_flight **flight)
{
	const struct dns_key *key = &c->query->key;
	struct dns_answer *a = dns_cache_find(sh->cache, key);

	if (a && dns_answer_age(a, c->opts.now) <= DNS_AGEING)
		return hit(s, sh, c, a, flight);
	if (!is_stale(a, c->opts.now) || c->opts.now >= a->retry_at)
		return miss(s, sh, c, flight);
	write_answer(c, a, DNS_EDE_CACHED_ERROR);
	sh->stats.stale++;
	return DNS_LOOK_HIT;
}

enum dns_look dns_shared_look(
	struct dns_shared *s, struct dns_client *client, struct dns_flight **flight)
{
	struct shard *sh = shard_of(s, &client->query->key);
	enum dns_look found;

	*flight = NULL;
	haul_mutex_lock(&sh->lock);
	found = look(s, sh, client, flight);
	haul_mutex_unlock(&sh->lock);
	return found;
}

static bool write_stale(struct shard *sh, struct dns_client *c)
{
	struct dns_answer *a = dns_cache_find(sh->cache, &c->query->key);

	if (!is_stale(a, c->opts.now))
		return false;
	write_answer(c, a, DNS_EDE_CACHED_ERROR);
	sh->stats.stale++;
	return true;
}

bool dns_shared_write_stale(struct dns_shared *s, struct dns_client *client)
{
	struct shard *sh = shard_of(s, &client->query->key);
	bool done;

	haul_mutex_lock(&sh->lock);
	done = write_stale(sh, client);
	haul_mutex_unlock(&sh->lock);
	return done;
}

int dns_shared_wait(struct dns_shared *s, struct dns_flight *f, struct dns_client *client,
	uint64_t patience, uint64_t deadline)
{
	struct shard *sh = shard_of(s, &client->query->key);
	int rc = haul_event_wait(&f->landed, patience < deadline ? patience : deadline);
	bool is_written = false;

	if (rc == -ETIMEDOUT || rc == -EAGAIN) {
		is_written = dns_shared_write_stale(s, client);
		if (!is_written)
			rc = haul_event_wait(&f->landed, deadline);
	}
	haul_mutex_lock(&sh->lock);
	if (f->answer) {
		write_answer(client, f->answer, f->why);
		is_written = true;
	}
	release_flight(f);
	haul_mutex_unlock(&sh->lock);
	if (is_written)
		return 0;
	return rc < 0 ? rc : -ENOMEM;
}

static void remove_flight(struct shard *sh, struct dns_flight *f)
{
	struct dns_flight **link = bucket_of(sh, &f->key);

	while (*link != f)
		link = &(*link)->next;
	*link = f->next;
	sh->nb_flights--;
}

/* What there is instead of an answer, with a reference; NULL only without memory. is_kept: for
 * others, too. */
static struct dns_answer *answer_of_failure(
	struct shard *sh, struct dns_flight *f, bool is_kept, uint64_t now)
{
	struct dns_answer *old = dns_cache_find(sh->cache, &f->key), *a;

	sh->stats.failed++;
	if (old && (is_stale(old, now) || dns_answer_age(old, now) <= DNS_AGEING)) {
		if (is_kept)
			old->retry_at = now + DNS_STALE_RETRY * HAUL_S;
		old->refs++;
		return old;
	}
	a = dns_failure_make(old && dns_answer_age(old, now) != DNS_DEAD ? old : NULL, now);
	if (a && is_kept)
		dns_cache_put(sh->cache, &f->key, a, now);
	return a;
}

/* Under the lock. The answer's reference is the flight's from here on. */
static void land(struct shard *sh, struct dns_flight *f, struct dns_answer *answer,
	struct dns_client *client)
{
	if (client && answer)
		write_answer(client, answer, f->why);
	remove_flight(sh, f);
	f->answer = answer;
	haul_event_set(&f->landed);
	release_flight(f);
}

void dns_shared_land(struct dns_shared *s, struct dns_flight *f, struct dns_answer *answer,
	uint64_t now, struct dns_client *client)
{
	struct shard *sh = shard_of(s, &f->key);

	haul_mutex_lock(&sh->lock);
	if (answer->ttl > 0)
		dns_cache_put(sh->cache, &f->key, answer, now);
	land(sh, f, answer, client);
	haul_mutex_unlock(&sh->lock);
}

void dns_shared_fail(struct dns_shared *s, struct dns_flight *f, int error, uint64_t now,
	struct dns_client *client)
{
	bool is_of_servers = error == -EIO || error == -ETIMEDOUT;
	struct shard *sh = shard_of(s, &f->key);

	haul_mutex_lock(&sh->lock);
	f->why = is_of_servers ? DNS_EDE_NO_REACHABLE : DNS_EDE_OTHER;
	land(sh, f, answer_of_failure(sh, f, is_of_servers, now), client);
	haul_mutex_unlock(&sh->lock);
}

void dns_shared_clear(struct dns_shared *s)
{
	for (unsigned i = 0; i < s->shards; i++) {
		haul_mutex_lock(&s->shard[i].lock);
		dns_cache_clear(s->shard[i].cache);
		haul_mutex_unlock(&s->shard[i].lock);
	}
}

static void add_stats(struct dns_shared_stats *sum, struct shard *sh)
{
	struct dns_cache_stats cache;

	dns_cache_get_stats(sh->cache, &cache);
	sum->cache.bytes += cache.bytes;
	sum->cache.entries += cache.entries;
	sum->cache.is_protected += cache.is_protected;
	sum->cache.evicted += cache.evicted;
	sum->cache.promoted += cache.promoted;
	sum->cache.refused += cache.refused;
	sum->hits += sh->stats.hits;
	sum->stale += sh->stats.stale;
	sum->misses += sh->stats.misses;
	sum->joined += sh->stats.joined;
	sum->busy += sh->stats.busy;
	sum->refreshed += sh->stats.refreshed;
	sum->failed += sh->stats.failed;
	sum->flights += sh->nb_flights;
}

void dns_shared_get_stats(struct dns_shared *s, struct dns_shared_stats *stats)
{
	*stats = (struct dns_shared_stats){0};
	for (unsigned i = 0; i < s->shards; i++) {
		haul_mutex_lock(&s->shard[i].lock);
		add_stats(stats, &s->shard[i]);
		haul_mutex_unlock(&s->shard[i].lock);
	}
}
