/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/memory.h"

#include <stdbool.h>
#include <stdint.h>

#include "coro/fiber.h"
#include "sim/hosts.h"
#include "sim/steps.h"
#include "sim/world.h"

#define BUCKETS_MIN 1024

/* Of malloc() and its kin. */
struct block {
	void *at;
	unsigned host;
	struct block *next; /* of the bucket */
	struct block *next_of_host, **prev_of_host;
};

struct mapping {
	char *at;
	size_t len;
	unsigned host;
};

static struct {
	struct block **buckets;
	size_t size, n; /* size: a power of two */
	struct block **of_hosts; /* by number */
	unsigned hosts; /* numbers that of_hosts has */
	struct mapping *mappings;
	size_t nb_mappings, mappings_room;
	unsigned shared;
} m;

static bool is_owned(void)
{
	return m.shared == 0 && hauli_sim_is_on() && hauli_sim_host() > 0;
}

static struct block **bucket_of(const void *at)
{
	uint64_t hash = ((uintptr_t)at >> 4) * UINT64_C(0x9e3779b97f4a7c15);

	return &m.buckets[(hash >> 32) & (m.size - 1)];
}

static void grow(void)
{
	struct block **old = m.buckets;
	size_t size = m.size;

	m.size = size ? 2 * size : BUCKETS_MIN;
	m.buckets = hauli_sim_needed(calloc(m.size, sizeof(m.buckets[0])));
	for (size_t i = 0; i < size; i++)
		for (struct block *b = old[i], *next; b; b = next) {
			struct block **bucket = bucket_of(b->at);

			next = b->next;
			b->next = *bucket;
			*bucket = b;
		}
	free(old);
}

/* Room for a host's number. */
static void know(unsigned host)
{
	unsigned n = m.hosts;

	if (host < n)
		return;
	m.hosts = 2 * host + 16;
	m.of_hosts = hauli_sim_needed(realloc(m.of_hosts, m.hosts * sizeof(m.of_hosts[0])));
	memset(&m.of_hosts[n], 0, (m.hosts - n) * sizeof(m.of_hosts[0]));
	for (unsigned i = 0; i < n; i++)
		if (m.of_hosts[i])
			m.of_hosts[i]->prev_of_host = &m.of_hosts[i];
}

static void put(struct block *b)
{
	struct block **bucket, **first;

	if (m.n == m.size)
		grow();
	bucket = bucket_of(b->at);
	first = &m.of_hosts[b->host];
	b->next = *bucket;
	*bucket = b;
	b->next_of_host = *first;
	b->prev_of_host = first;
	if (*first)
		(*first)->prev_of_host = &b->next_of_host;
	*first = b;
	m.n++;
}

/* Its link in its bucket; NULL: it is nobody's. */
static struct block **find(const void *at)
{
	struct block **link = m.n > 0 ? bucket_of(at) : NULL;

	while (link && *link && (*link)->at != at)
		link = &(*link)->next;
	return link && *link ? link : NULL;
}

/* Takes it out; NULL: it is nobody's. */
static struct block *take(const void *at)
{
	struct block **link = find(at), *b;

	if (!link)
		return NULL;
	b = *link;
	*link = b->next;
	*b->prev_of_host = b->next_of_host;
	if (b->next_of_host)
		b->next_of_host->prev_of_host = b->prev_of_host;
	m.n--;
	return b;
}

static void *owned(void *at)
{
	struct block *b;

	if (!at || !is_owned())
		return at;
	b = hauli_sim_needed(malloc(sizeof(*b)));
	*b = (struct block){.at = at, .host = hauli_sim_host()};
	know(b->host);
	put(b);
	return at;
}

void *hauli_sim_malloc(size_t size)
{
	return owned(malloc(size));
}

void *hauli_sim_calloc(size_t n, size_t size)
{
	return owned(calloc(n, size));
}

void *hauli_sim_aligned_alloc(size_t alignment, size_t size)
{
	return owned(aligned_alloc(alignment, size));
}

char *hauli_sim_strdup(const char *text)
{
	return owned(strdup(text));
}

char *hauli_sim_strndup(const char *text, size_t most)
{
	return owned(strndup(text, most));
}

void *hauli_sim_realloc(void *old, size_t size)
{
	struct block *b = take(old);
	void *new = realloc(old, size);

	if (!b)
		return old ? new : owned(new);
	if (new)
		b->at = new;
	put(b);
	return new;
}

void hauli_sim_free(void *memory)
{
	free(take(memory));
	free(memory);
}

void *hauli_sim_mmap(void *at, size_t len, int prot, int flags, int fd, off_t offset)
{
	char *memory = mmap(at, len, prot, flags, fd, offset);

	if (memory == MAP_FAILED || flags & MAP_FIXED || !is_owned())
		return memory;
	if (m.nb_mappings == m.mappings_room) {
		m.mappings_room = 2 * m.mappings_room + 64;
		m.mappings = hauli_sim_needed(
			realloc(m.mappings, m.mappings_room * sizeof(m.mappings[0])));
	}
	m.mappings[m.nb_mappings++] = (struct mapping){memory, len, hauli_sim_host()};
	return memory;
}

/* The begin, the end or all of a mapping is nobody's from now on. */
static void cut(const char *at, size_t len)
{
	for (size_t i = m.nb_mappings; i-- > 0;) { /* a young one, as a rule */
		struct mapping *map = &m.mappings[i];

		if (at < map->at || at >= map->at + map->len)
			continue;
		if (at > map->at) {
			map->len = (size_t)(at - map->at);
		} else if (len < map->len) {
			map->at += len;
			map->len -= len;
		} else {
			*map = m.mappings[--m.nb_mappings];
		}
		return;
	}
}

int hauli_sim_munmap(void *at, size_t len)
{
	cut(at, len);
	return munmap(at, len);
}

void hauli_sim_shared_begin(void)
{
	m.shared++;
}

void hauli_sim_shared_end(void)
{
	m.shared--;
}

bool hauli_sim_memory_has(unsigned host, const void *at)
{
	struct block **link = find(at);

	return link && (*link)->host == host;
}

void hauli_sim_memory_free(unsigned host)
{
	while (host < m.hosts && m.of_hosts[host])
		hauli_sim_free(m.of_hosts[host]->at);
	for (size_t i = m.nb_mappings; i-- > 0;) {
		if (m.mappings[i].host != host)
			continue;
		hauli_fiber_discard(m.mappings[i].at, m.mappings[i].len); /* it has stacks */
		munmap(m.mappings[i].at, m.mappings[i].len);
		m.mappings[i] = m.mappings[--m.nb_mappings];
	}
}
