/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Answers by question, bounded in bytes and in entries. One thread uses it at a time, or whoever
 * holds the lock of its shard (shared.h).
 *
 * What is evicted is decided by W-TinyLFU (Einziger, Friedman, Manes: TinyLFU: a highly efficient
 * cache admission policy, 2017): new answers are in a window of a hundredth of the cache. An answer
 * that leaves the window goes on probation only if its name was asked for more often, as far as a
 * sketch of all names knows (sketch.h), than the one that has to go for it. An answer that is asked
 * for on probation is protected, in four fifths of the cache. So a flood of names replaces other
 * new answers only, even if each of them is asked for several times.
 *
 * The queues are first in, first out, and an answer that was asked for meanwhile gets another turn:
 * a hit sets a mark, and changes no queue and no sketch.
 */
#ifndef DNS_CACHE_H
#define DNS_CACHE_H

#include "answer.h"

struct dns_cache;

struct dns_cache_opts {
	size_t bytes_max; /* of answers and entries; there are 40 bytes a possible entry besides */
	unsigned entries_max; /* at least 16 */
};

struct dns_cache_stats {
	size_t bytes;
	unsigned entries, is_protected;
	uint64_t evicted, promoted, refused; /* promoted: to those that are protected */
};

/* Returns 0, -EINVAL or -ENOMEM. */
int dns_cache_create(struct dns_cache **cache, const struct dns_cache_opts *opts);
void dns_cache_free(struct dns_cache *c); /* NULL is allowed */

/* The answer, of any age; NULL: none. It is there until the next call that changes the cache.
 * Counts as one that asks for it. */
struct dns_answer *dns_cache_find(struct dns_cache *c, const struct dns_key *key);

/* Keeps the answer, with a reference of its own, in the place of an older one. Does nothing without
 * memory, or for one that is larger than an eighth of the cache. */
void dns_cache_put(
	struct dns_cache *c, const struct dns_key *key, struct dns_answer *a, uint64_t now);

void dns_cache_clear(struct dns_cache *c);

void dns_cache_get_stats(const struct dns_cache *c, struct dns_cache_stats *stats);

#endif
