/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chunks are address space, carved from low to high addresses, some at a time. Their descriptors
 * are in an array that only grows at its end, so any thread may read it without a lock.
 */
#include "coro/slab.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/cgroup.h"
#include "base/simulated.h"
#include "conc/word.h"

#define CHUNK ((size_t)64 << 20)
#define CHUNK_MIN ((size_t)64 << 10)
#define CHUNKS_MAX 1024
#define CARVE 16 /* objects at a time: coroutines on less than a new page */

struct chunk {
	char *base;
	size_t bytes;
	uint32_t objects; /* that it has room for */
	/* Objects below this index were handed out, or soon will be. */
	struct hauli_u32_published carved;
};

struct hauli_slab {
	size_t size; /* of an object */
	struct hauli_u32_published n_chunks;
	struct chunk chunks[CHUNKS_MAX];

	pthread_mutex_t lock; /* for all below, and for the growth of the chunks */
	struct hauli_allowance allowance;
	void **sets; /* full sets, linked through the second word of their first object */
	void **loose; /* single objects, for the shared get and put */
	unsigned loose_count;
};

int hauli_slab_create(struct hauli_slab **slab, size_t size)
{
	struct hauli_slab *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->size = size;
	pthread_mutex_init(&s->lock, NULL);
	*slab = s;
	return 0;
}

void hauli_slab_destroy(struct hauli_slab *s)
{
	for (uint32_t n = 0; n < hauli_u32_published_get(&s->n_chunks); n++)
		munmap(s->chunks[n].base, s->chunks[n].bytes);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

/* Maps one more chunk, a smaller one if address space is short. */
static struct chunk *open_chunk(struct hauli_slab *s)
{
	uint32_t n = hauli_u32_published_get(&s->n_chunks);
	struct chunk *c = &s->chunks[n];

	if (n == CHUNKS_MAX)
		return NULL;
	for (c->bytes = CHUNK; c->bytes >= CHUNK_MIN; c->bytes /= 2) {
		c->base = mmap(NULL, c->bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (c->base == MAP_FAILED)
			continue;
		c->objects = (uint32_t)(c->bytes / s->size);
		hauli_u32_published_set(&s->n_chunks, n + 1);
		return c;
	}
	return NULL;
}

/* Carves some new objects; returns their number. The caller holds the lock. bounded: only while the
 * cgroup has memory for them. */
static unsigned carve(struct hauli_slab *s, void ***first, bool bounded)
{
	uint32_t chunks = hauli_u32_published_get(&s->n_chunks), begin, end;
	struct chunk *c = chunks > 0 ? &s->chunks[chunks - 1] : NULL;
	unsigned n = 0;

	if (bounded && !hauli_allowance_take(&s->allowance, CARVE * s->size, HAULI_KEPT_SOME))
		return 0;
	if (!c || hauli_u32_published_get(&c->carved) == c->objects)
		c = open_chunk(s);
	if (!c)
		return 0;
	begin = hauli_u32_published_get(&c->carved);
	end = c->objects - begin < CARVE ? c->objects : begin + CARVE;
	*first = NULL;
	/* Backwards: they are handed out by rising addresses. */
	for (uint32_t i = end; i-- > begin; n++) {
		void **object = (void **)(c->base + i * s->size);

		*object = *first;
		*first = object;
	}
	hauli_u32_published_set(&c->carved, end);
	return n;
}

/* Free objects from the cheapest source; returns their number. The caller holds the lock. */
static unsigned fill(struct hauli_slab *s, void ***first, bool bounded)
{
	unsigned n = HAULI_SLAB_SET;

	if (s->sets) {
		*first = s->sets;
		s->sets = (void **)s->sets[1];
	} else if (s->loose) {
		*first = s->loose;
		n = s->loose_count;
		s->loose = NULL;
		s->loose_count = 0;
	} else {
		n = carve(s, first, bounded);
	}
	return n;
}

static void put_set(struct hauli_slab *s, void **first)
{
	first[1] = s->sets;
	s->sets = first;
}

/* The caller holds the lock. */
static void put_loose(struct hauli_slab *s, void **object)
{
	*object = s->loose;
	s->loose = object;
	if (++s->loose_count == HAULI_SLAB_SET) {
		put_set(s, s->loose);
		s->loose = NULL;
		s->loose_count = 0;
	}
}

void hauli_slab_cache_init(struct hauli_slab_cache *cache, struct hauli_slab *slab)
{
	*cache = (struct hauli_slab_cache){.slab = slab};
}

void hauli_slab_cache_fini(struct hauli_slab_cache *cache)
{
	struct hauli_slab *s = cache->slab;

	pthread_mutex_lock(&s->lock);
	while (cache->free) {
		void **object = cache->free;

		cache->free = (void **)*object;
		put_loose(s, object);
	}
	if (cache->spare)
		put_set(s, cache->spare);
	pthread_mutex_unlock(&s->lock);
	*cache = (struct hauli_slab_cache){.slab = s};
}

__attribute__((noinline)) void *hauli_slab_refill(struct hauli_slab_cache *cache)
{
	if (cache->spare) {
		cache->free = cache->spare;
		cache->count = HAULI_SLAB_SET;
		cache->spare = NULL;
	} else {
		if (hauli_no_memory())
			return NULL;
		pthread_mutex_lock(&cache->slab->lock);
		cache->count = fill(cache->slab, &cache->free, true);
		pthread_mutex_unlock(&cache->slab->lock);
		if (cache->count == 0)
			return NULL;
	}
	return hauli_slab_get(cache);
}

/* The full set becomes the spare one, and the old spare goes to the slab. */
__attribute__((noinline)) void hauli_slab_spill(struct hauli_slab_cache *cache)
{
	struct hauli_slab *s = cache->slab;

	if (cache->spare) {
		pthread_mutex_lock(&s->lock);
		put_set(s, cache->spare);
		pthread_mutex_unlock(&s->lock);
	}
	cache->spare = cache->free;
	cache->free = NULL;
	cache->count = 0;
}

void *hauli_slab_get_shared(struct hauli_slab *s)
{
	void **object;

	pthread_mutex_lock(&s->lock);
	if (!s->loose)
		s->loose_count = fill(s, &s->loose, false);
	object = s->loose;
	if (object) {
		s->loose = (void **)*object;
		s->loose_count--;
	}
	pthread_mutex_unlock(&s->lock);
	return object;
}

void hauli_slab_put_shared(struct hauli_slab *s, void *object)
{
	pthread_mutex_lock(&s->lock);
	put_loose(s, object);
	pthread_mutex_unlock(&s->lock);
}

bool hauli_slab_walk(struct hauli_slab *s, struct hauli_slab_walk *at, unsigned n,
	void (*fn)(void *object, void *arg), void *arg)
{
	for (; at->chunk < hauli_u32_published_get(&s->n_chunks); at->chunk++, at->object = 0) {
		struct chunk *c = &s->chunks[at->chunk];

		for (; at->object < hauli_u32_published_get(&c->carved); at->object++) {
			if (n-- == 0)
				return true;
			fn(c->base + at->object * s->size, arg);
		}
	}
	return false;
}

void hauli_slab_for_each(struct hauli_slab *s, void (*fn)(void *object, void *arg), void *arg)
{
	struct hauli_slab_walk all = {0, 0};

	while (hauli_slab_walk(s, &all, UINT_MAX, fn, arg))
		;
}

bool hauli_slab_has(const struct hauli_slab *s, const void *p)
{
	for (uint32_t n = 0; n < hauli_u32_published_get(&s->n_chunks); n++) {
		const struct chunk *c = &s->chunks[n];
		size_t off = (uintptr_t)p - (uintptr_t)c->base;

		if (off < hauli_u32_published_get(&c->carved) * s->size)
			return off % s->size == 0;
	}
	return false;
}
