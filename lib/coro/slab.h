/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slabs: objects of one size, packed densely, and a cache of free ones for each thread. Their
 * memory stays mapped until the slab is destroyed, so a stale pointer still reads an object. The
 * first 16 bytes of a free object link it; the rest is as its last user left it, or zero.
 */
#ifndef HAULI_CORO_SLAB_H
#define HAULI_CORO_SLAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/assert.h"
#include "base/cacheline.h"

struct hauli_slab;

/* Objects. They move between caches and the slab a whole set at a time. */
#define HAULI_SLAB_SET 64

/* One for each thread that gets objects, which alone uses it. */
struct hauli_slab_cache {
	void **free; /* linked through the first word */
	void **spare; /* HAULI_SLAB_SET of them, or NULL */
	unsigned count; /* of free */
	struct hauli_slab *slab;
};

/* Any thread. size: of an object, a multiple of the cache line. 0 or -ENOMEM. destroy() unmaps all
 * memory. */
int hauli_slab_create(struct hauli_slab **slab, size_t size);
void hauli_slab_destroy(struct hauli_slab *slab);

void hauli_slab_cache_init(struct hauli_slab_cache *cache, struct hauli_slab *slab);
/* Gives all cached objects to the slab. */
void hauli_slab_cache_fini(struct hauli_slab_cache *cache);

/* The slow paths of get and put. */
void *hauli_slab_refill(struct hauli_slab_cache *cache);
void hauli_slab_spill(struct hauli_slab_cache *cache);

/* An object, or NULL: the cache has none. */
static inline void *hauli_slab_try_get(struct hauli_slab_cache *cache)
{
	void **object = cache->free;

	if (hauli_unlikely(!object))
		return NULL;
	cache->free = (void **)*object;
	cache->count--;
	return object;
}

/* The same; if the cache has none, from the slab. NULL: no memory. */
static inline void *hauli_slab_get(struct hauli_slab_cache *cache)
{
	void *object = hauli_slab_try_get(cache);

	return hauli_likely(object != NULL) ? object : hauli_slab_refill(cache);
}

static inline void hauli_slab_put(struct hauli_slab_cache *cache, void *object)
{
	/* Before the put, so that a get and a put in turn do not move a set each time. */
	if (hauli_unlikely(cache->count == HAULI_SLAB_SET))
		hauli_slab_spill(cache);
	cache->count++;
	*(void **)object = cache->free;
	cache->free = (void **)object;
}

/* Get and put for threads without a cache. */
void *hauli_slab_get_shared(struct hauli_slab *slab);
void hauli_slab_put_shared(struct hauli_slab *slab, void *object);

/*
 * Calls fn for each object that was ever handed out, and for some that were not yet (all zero after
 * the link). fn must tell from the object if it is in use. Any thread, also while other threads get
 * and put.
 */
void hauli_slab_for_each(struct hauli_slab *slab, void (*fn)(void *object, void *arg), void *arg);

/* The progress of a walk over all objects. All zero: at its beginning. */
struct hauli_slab_walk {
	uint32_t chunk, object; /* the next */
};

/* As hauli_slab_for_each(), for the next n objects. False: there are no more; at the end of the
 * walk or later objects may have been handed out that it has not visited. */
bool hauli_slab_walk(struct hauli_slab *slab, struct hauli_slab_walk *at, unsigned n,
	void (*fn)(void *object, void *arg), void *arg);

/* True if p, which may be any address, is an object. Any thread. */
bool hauli_slab_has(const struct hauli_slab *slab, const void *p);

#endif
