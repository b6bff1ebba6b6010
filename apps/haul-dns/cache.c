/* SPDX-License-Identifier: BSD-3-Clause */
#include "cache.h"

#include <errno.h>
#include <stdlib.h>

#include "sketch.h"

enum {
	ENTRIES_MIN = 16,
	MALLOC = 16, /* bytes that malloc() needs for itself */
	TURNS_MAX = 64, /* entries that get another turn in one eviction: it must not take long */
	WINDOW = 100, /* a part in so many */
	WORDS = 4, /* of the sketch, for each entry */
};

enum place { IN_WINDOW, ON_PROBATION, PROTECTED, PLACES };

struct entry {
	struct entry *next; /* of its bucket */
	struct entry *newer, *older; /* of its queue */
	struct dns_answer *answer;
	size_t bytes;
	bool was_asked; /* since it was put, or since its queue was looked at */
	uint8_t place; /* enum place */
	struct dns_key key; /* dns_key_size() bytes of it */
};

struct queue {
	struct entry *newest, *oldest;
	size_t bytes;
	unsigned n;
};

struct dns_cache {
	struct entry **buckets;
	uint64_t mask;
	struct queue queues[PLACES];
	struct dns_sketch sketch; /* of names that were put, and of those that were asked for */
	size_t bytes_max;
	unsigned entries_max;
	uint64_t evicted, promoted, refused;
};

int dns_cache_create(struct dns_cache **cache, const struct dns_cache_opts *opts)
{
	struct dns_cache *c;
	uint64_t n = ENTRIES_MIN;

	if (opts->entries_max < ENTRIES_MIN || opts->bytes_max == 0)
		return -EINVAL;
	while (n < opts->entries_max)
		n *= 2;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->buckets = calloc(n, sizeof(*c->buckets));
	c->mask = n - 1;
	c->bytes_max = opts->bytes_max;
	c->entries_max = opts->entries_max;
	*cache = c;
	if (dns_sketch_init(&c->sketch, WORDS * n) == 0 && c->buckets)
		return 0;
	dns_cache_free(c);
	return -ENOMEM;
}

static void push(struct queue *q, struct entry *e)
{
	e->older = q->newest;
	e->newer = NULL;
	*(q->newest ? &q->newest->newer : &q->oldest) = e;
	q->newest = e;
	q->bytes += e->bytes;
	q->n++;
}

static void take(struct queue *q, struct entry *e)
{
	*(e->newer ? &e->newer->older : &q->newest) = e->older;
	*(e->older ? &e->older->newer : &q->oldest) = e->newer;
	q->bytes -= e->bytes;
	q->n--;
}

static struct queue *queue_of(struct dns_cache *c, const struct entry *e)
{
	return &c->queues[e->place];
}

/* To the newest end of that queue. */
static void move(struct dns_cache *c, struct entry *e, enum place to)
{
	take(queue_of(c, e), e);
	e->place = (uint8_t)to;
	push(queue_of(c, e), e);
}

static void drop(struct dns_cache *c, struct entry *e)
{
	struct entry **link = &c->buckets[e->key.hash & c->mask];

	while (*link != e)
		link = &(*link)->next;
	*link = e->next;
	take(queue_of(c, e), e);
	dns_answer_release(e->answer);
	free(e);
}

void dns_cache_clear(struct dns_cache *c)
{
	for (int i = 0; i < PLACES; i++)
		while (c->queues[i].oldest)
			drop(c, c->queues[i].oldest);
}

void dns_cache_free(struct dns_cache *c)
{
	if (!c)
		return;
	dns_cache_clear(c);
	free(c->buckets);
	dns_sketch_fini(&c->sketch);
	free(c);
}

static struct entry *find(const struct dns_cache *c, const struct dns_key *key)
{
	struct entry *e = c->buckets[key->hash & c->mask];

	while (e && !dns_key_equal(&e->key, key))
		e = e->next;
	return e;
}

struct dns_answer *dns_cache_find(struct dns_cache *c, const struct dns_key *key)
{
	struct entry *e = find(c, key);

	if (!e)
		return NULL;
	e->was_asked = true;
	return e->answer;
}

static void evict(struct dns_cache *c, struct entry *e)
{
	drop(c, e);
	c->evicted++;
}

/* Clients that have asked for it since the last time count as one. */
static bool was_asked(struct dns_cache *c, struct entry *e)
{
	bool asked = e->was_asked;

	if (asked)
		dns_sketch_add(&c->sketch, e->key.hash);
	e->was_asked = false;
	return asked;
}

/* True if a queue has more than this part of the cache. */
static bool is_over(const struct dns_cache *c, enum place place, unsigned part, unsigned of)
{
	const struct queue *q = &c->queues[place];

	return q->n > 1 &&
		(q->bytes / part > c->bytes_max / of ||
			(uint64_t)q->n * of > (uint64_t)c->entries_max * part);
}

/* Protected answers that were not asked for go back on probation if they are too many. */
static void demote(struct dns_cache *c)
{
	for (int i = 0; is_over(c, PROTECTED, 4, 5); i++) {
		struct entry *e = c->queues[PROTECTED].oldest;

		move(c, e, i < TURNS_MAX && was_asked(c, e) ? PROTECTED : ON_PROBATION);
	}
}

/* The next one to go; NULL: there is none outside the window. */
static struct entry *victim(struct dns_cache *c, uint64_t now)
{
	for (int i = 0;; i++) {
		struct entry *e = c->queues[ON_PROBATION].oldest;

		if (!e)
			e = c->queues[PROTECTED].oldest;
		if (!e || i >= TURNS_MAX || dns_answer_age(e->answer, now) == DNS_DEAD ||
			!was_asked(c, e))
			return e;
		c->promoted += e->place == ON_PROBATION;
		move(c, e, PROTECTED);
		demote(c);
	}
}

static bool is_full(const struct dns_cache *c)
{
	size_t bytes = 0;
	unsigned n = 0;

	for (int i = 0; i < PLACES; i++) {
		bytes += c->queues[i].bytes;
		n += c->queues[i].n;
	}
	return bytes > c->bytes_max || n > c->entries_max;
}

/* The oldest one of the window goes on probation, or is evicted, or somebody is in its place. */
static void leave_window(struct dns_cache *c, uint64_t now)
{
	struct entry *e = c->queues[IN_WINDOW].oldest, *other;
	uint64_t hash = e->key.hash;

	was_asked(c, e);
	if (!is_full(c)) {
		move(c, e, ON_PROBATION);
		return;
	}
	other = victim(c, now);
	if (other && dns_answer_age(e->answer, now) != DNS_DEAD &&
		(dns_answer_age(other->answer, now) == DNS_DEAD ||
			dns_sketch_get(&c->sketch, hash) >
				dns_sketch_get(&c->sketch, other->key.hash))) {
		evict(c, other);
		return; /* it may need the room of several */
	}
	evict(c, e);
	c->refused++;
}

static void make_room(struct dns_cache *c, uint64_t now)
{
	while (is_over(c, IN_WINDOW, 1, WINDOW) || is_full(c)) {
		struct entry *other;

		if (is_over(c, IN_WINDOW, 1, WINDOW)) {
			leave_window(c, now);
			continue;
		}
		other = victim(c, now);
		evict(c, other ? other : c->queues[IN_WINDOW].oldest);
	}
}

static size_t entry_bytes(const struct dns_key *key, const struct dns_answer *a)
{
	return offsetof(struct entry, key) + dns_key_size(key) + dns_answer_bytes(a) + 2 * MALLOC;
}

static struct entry *add(struct dns_cache *c, const struct dns_key *key, size_t bytes)
{
	struct entry *e = malloc(offsetof(struct entry, key) + dns_key_size(key));
	struct entry **bucket = &c->buckets[key->hash & c->mask];

	if (!e)
		return NULL;
	memcpy(&e->key, key, dns_key_size(key));
	e->answer = NULL;
	e->was_asked = false;
	e->bytes = bytes;
	e->place = IN_WINDOW;
	dns_sketch_add(&c->sketch, key->hash);
	e->next = *bucket;
	*bucket = e;
	push(queue_of(c, e), e);
	return e;
}

void dns_cache_put(
	struct dns_cache *c, const struct dns_key *key, struct dns_answer *a, uint64_t now)
{
	size_t bytes = entry_bytes(key, a);
	struct entry *e = find(c, key);

	if (bytes > c->bytes_max / 8) {
		if (e)
			drop(c, e);
		return;
	}
	if (!e)
		e = add(c, key, bytes);
	if (!e)
		return;
	queue_of(c, e)->bytes += bytes - e->bytes;
	e->bytes = bytes;
	a->refs++;
	dns_answer_release(e->answer);
	e->answer = a;
	make_room(c, now);
}

void dns_cache_get_stats(const struct dns_cache *c, struct dns_cache_stats *stats)
{
	*stats = (struct dns_cache_stats){
		.evicted = c->evicted,
		.promoted = c->promoted,
		.refused = c->refused,
	};
	for (int i = 0; i < PLACES; i++) {
		stats->bytes += c->queues[i].bytes;
		stats->entries += c->queues[i].n;
	}
	stats->is_protected = c->queues[PROTECTED].n;
}
