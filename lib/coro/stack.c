/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The arena. A chunk is a piece of address space for slots of one class, which are carved from low
 * to high addresses. Chunks stay mapped until the arena is destroyed. Their descriptors are in one
 * array that only grows at its end, so any thread may read it without a lock.
 */
#include "coro/stack.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/assert.h"
#include "base/cgroup.h"
#include "base/simulated.h"
#include "base/valgrind.h"
#include "conc/word.h"
#include "coro/overrun.h"

#define SMALLEST ((size_t)16 << 10)
#define TOP ((size_t)4 << 10) /* of a slot: the bytes at its end, which hold the head */
#define TOP_ROOM ((size_t)1 << 10) /* of TOP: for the stack */
#define CHUNK ((size_t)64 << 20)
#define CHUNKS_MAX 16384
#define SLOTS_MAX (CHUNK / SMALLEST)
/* Bytes for each usable byte: a sanitizer makes frames a few times as large. */
#define INFLATION (HAULI_ASAN || HAULI_TSAN ? 4 : 1)
/* Colours from slot to slot, 512 bytes: the room of a head and the hot frames below it. */
#define COLOUR_STEP 8

struct chunk {
	char *base;
	unsigned *stack_ids; /* valgrind's, or NULL */
	uint32_t slots;
	uint32_t guarded; /* slots below this index have guards */
	uint32_t trimmed; /* bits in trimmed_map */
	uint8_t cls;
	struct hauli_u32_published carved; /* slots below this index have, or had, a head */
	uint64_t trimmed_map[SLOTS_MAX / 64]; /* free slots whose pages went to the kernel */
};

struct hauli_stacks {
	struct chunk *chunks; /* address space for CHUNKS_MAX */
	size_t head_size;
	unsigned colours;
	bool marked; /* slots are HAULI_STACK_MARKED. Constant once there are any */
	size_t slot_size[HAULI_STACK_CLASSES];
	struct hauli_u32_published n_chunks;

	pthread_mutex_t lock; /* for all below, and for the fields of chunks that are not atomic */
	struct hauli_guards guards;
	struct hauli_allowance usual, reserve; /* for refill; for get_reserved */
	bool told; /* that the cgroup has no memory for more */
	struct hauli_stack_cache loose; /* single slots, for the shared get and put */
	struct hauli_stack *sets[HAULI_STACK_CLASSES]; /* full sets, linked through next_set */
	int open[HAULI_STACK_CLASSES]; /* the chunk to carve from, or -1 */
	unsigned trimmed[HAULI_STACK_CLASSES]; /* slots in the trimmed_maps */
};

static size_t round_up(size_t n, size_t to)
{
	return (n + to - 1) / to * to;
}

int hauli_stack_class(size_t usable)
{
	for (int cls = 0; cls < HAULI_STACK_CLASSES; cls++) {
		if (usable <= hauli_stack_usable((unsigned)cls))
			return cls;
	}
	return -EINVAL;
}

size_t hauli_stack_usable(unsigned cls)
{
	return HAULI_STACK_USABLE(cls);
}

static void *reserve(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);

	return p != MAP_FAILED ? p : NULL;
}

int hauli_stacks_create(struct hauli_stacks **arena, size_t head_size, enum hauli_guard guard)
{
	struct hauli_stacks *a;
	int rc;

	if (head_size < sizeof(struct hauli_stack) || head_size % HAULI_CACHE_LINE ||
		head_size > TOP - TOP_ROOM)
		return -EINVAL;
	a = calloc(1, sizeof(*a));
	if (!a)
		return -ENOMEM;
	rc = hauli_guards_init(&a->guards, guard);
	if (rc == 0) {
		a->chunks = reserve(CHUNKS_MAX * sizeof(*a->chunks));
		rc = a->chunks ? 0 : -ENOMEM;
	}
	if (rc) {
		free(a);
		return rc;
	}
	pthread_mutex_init(&a->lock, NULL);
	a->head_size = head_size;
	a->colours = (unsigned)((TOP - TOP_ROOM - head_size) / HAULI_CACHE_LINE + 1);
	/* COLOUR_STEP is a power of two, so steps reach each of an odd number of colours. */
	a->colours -= a->colours > 1 && a->colours % 2 == 0;
	hauli_stack_cache_init(&a->loose, a);
	for (unsigned cls = 0; cls < HAULI_STACK_CLASSES; cls++) {
		a->slot_size[cls] = round_up(
			a->guards.size + hauli_stack_usable(cls) * INFLATION + TOP, a->guards.page);
		a->open[cls] = -1;
	}
	*arena = a;
	return 0;
}

void hauli_stacks_mark(struct hauli_stacks *a)
{
	a->marked = true;
}

static char *slot_at(const struct hauli_stacks *a, const struct chunk *c, uint32_t i)
{
	return c->base + i * a->slot_size[c->cls];
}

static struct hauli_stack *head_at(const struct hauli_stacks *a, const struct chunk *c, uint32_t i)
{
	/* Counts across chunks, as a chunk has few slots of a large class. */
	size_t n = (size_t)(c - a->chunks) * c->slots + i;
	size_t colour = n * COLOUR_STEP % a->colours * HAULI_CACHE_LINE;

	return (struct hauli_stack *)(slot_at(a, c, i + 1) - a->head_size - colour);
}

static uint32_t slot_of(
	const struct hauli_stacks *a, const struct chunk *c, const struct hauli_stack *stack)
{
	return (uint32_t)((size_t)((const char *)stack - c->base) / a->slot_size[c->cls]);
}

/* Maps a new chunk of the class, a smaller one if address space is short. */
static struct chunk *open_chunk(struct hauli_stacks *a, unsigned cls)
{
	uint32_t n = hauli_u32_published_get(&a->n_chunks);
	struct chunk *c = &a->chunks[n];

	if (n == CHUNKS_MAX)
		return NULL;
	c->slots = (uint32_t)(CHUNK / a->slot_size[cls]);
	while (!(c->base = reserve(c->slots * a->slot_size[cls]))) {
		c->slots /= 2;
		if (!c->slots)
			return NULL;
	}
	/* A huge page would make unused stacks resident. */
	madvise(c->base, c->slots * a->slot_size[cls], MADV_NOHUGEPAGE);
	c->cls = (uint8_t)cls;
	if (RUNNING_ON_VALGRIND)
		c->stack_ids = calloc(c->slots, sizeof(*c->stack_ids));
	a->open[cls] = (int)n;
	hauli_u32_published_set(&a->n_chunks, n + 1);
	return c;
}

static struct hauli_stack *make_head(struct hauli_stacks *a, struct chunk *c, uint32_t i)
{
	struct hauli_stack *stack = head_at(a, c, i);

	stack->bytes = (uint32_t)((char *)stack - slot_at(a, c, i) - a->guards.size);
	stack->chunk = (uint16_t)(c - a->chunks);
	stack->cls = c->cls;
	stack->checks = i >= c->guarded ? HAULI_STACK_CANARY : 0;
	stack->checks |= a->marked ? HAULI_STACK_MARKED : 0;
	return stack;
}

static void add(struct hauli_stack_set *set, struct hauli_stack *stack)
{
	stack->next = set->free;
	set->free = stack;
	set->count++;
}

/* Fills the set with trimmed slots, whose guards are still in place. */
static void reuse(struct hauli_stacks *a, struct hauli_stack_set *set, unsigned cls)
{
	for (uint32_t n = 0; a->trimmed[cls] && n < hauli_u32_published_get(&a->n_chunks); n++) {
		struct chunk *c = &a->chunks[n];

		if (c->cls != cls)
			continue;
		for (uint32_t i = 0; c->trimmed && i < c->slots; i++) {
			uint64_t bit = UINT64_C(1) << i % 64;

			if (!(c->trimmed_map[i / 64] & bit))
				continue;
			if (set->count == HAULI_STACK_SET)
				return;
			c->trimmed_map[i / 64] &= ~bit;
			c->trimmed--;
			a->trimmed[cls]--;
			add(set, make_head(a, c, i));
		}
	}
}

/* What a stack may take: one of the arena's, or a poller's, which is needed to end the others. */
struct bound {
	struct hauli_allowance *allowance; /* NULL: none */
	size_t kept;
};

static bool may_carve(struct hauli_stacks *a, const struct bound *bound, size_t bytes)
{
	if (!bound->allowance || hauli_allowance_take(bound->allowance, bytes, bound->kept))
		return true;
	if (!a->told)
		fprintf(stderr,
			"haul: the cgroup allows %zu MB more memory: no more packets get a "
			"coroutine until some end\n",
			HAULI_KEPT_MOST >> 20);
	a->told = true;
	return false;
}

/* One slot: its guard is a system call, and its head touches a new page: 2 us or more. */
static void carve(struct hauli_stacks *a, struct hauli_stack_set *set, unsigned cls,
	const struct bound *bound)
{
	struct chunk *c = a->open[cls] < 0 ? NULL : &a->chunks[a->open[cls]];
	struct hauli_stack *stack;
	uint32_t i;

	if (!may_carve(a, bound, hauli_stack_usable(cls)))
		return;
	if (!c || hauli_u32_published_get(&c->carved) == c->slots)
		c = open_chunk(a, cls);
	if (!c)
		return;
	i = hauli_u32_published_get(&c->carved);
	if (hauli_guard_set(&a->guards, slot_at(a, c, i)))
		c->guarded = i + 1;
	stack = make_head(a, c, i);
	if (c->stack_ids)
		c->stack_ids[i] = VALGRIND_STACK_REGISTER(hauli_stack_lo(stack), stack);
	add(set, stack);
	/* Last: for_each reads heads below it without a lock. */
	hauli_u32_published_set(&c->carved, i + 1);
}

/* Fills an empty set from the cheapest source. The caller holds the lock. */
static void fill(struct hauli_stacks *a, struct hauli_stack_set *set, unsigned cls,
	const struct bound *bound)
{
	struct hauli_stack_set *loose = &a->loose.classes[cls];

	if (a->sets[cls]) {
		set->free = a->sets[cls];
		set->count = HAULI_STACK_SET;
		a->sets[cls] = set->free->next_set;
	} else if (loose != set && loose->free) {
		set->free = loose->free;
		set->count = loose->count;
		loose->free = NULL;
		loose->count = 0;
	} else if (a->trimmed[cls]) {
		reuse(a, set, cls);
	} else {
		carve(a, set, cls, bound);
	}
}

static struct hauli_stack *take(struct hauli_stack_set *set)
{
	struct hauli_stack *stack = set->free;

	if (stack) {
		set->free = stack->next;
		set->count--;
	}
	return stack;
}

struct hauli_stack *hauli_stack_refill(struct hauli_stack_cache *cache, unsigned cls)
{
	struct hauli_stack_set *set = &cache->classes[cls];

	if (set->spare) {
		set->free = set->spare;
		set->count = HAULI_STACK_SET;
		set->spare = NULL;
	} else if (!hauli_no_memory()) {
		pthread_mutex_lock(&cache->arena->lock);
		fill(cache->arena, set, cls,
			&(struct bound){&cache->arena->usual, HAULI_KEPT_MOST});
		pthread_mutex_unlock(&cache->arena->lock);
	}
	return take(set);
}

/* Adds a full set, given by its first slot, to the arena. The caller holds the lock. */
static void put_set(struct hauli_stacks *a, struct hauli_stack *first)
{
	first->next_set = a->sets[first->cls];
	a->sets[first->cls] = first;
}

/* The full set becomes the spare one, and the old spare goes to the arena. */
void hauli_stack_spill(struct hauli_stack_cache *cache, unsigned cls)
{
	struct hauli_stack_set *set = &cache->classes[cls];
	struct hauli_stacks *a = cache->arena;

	if (set->spare) {
		pthread_mutex_lock(&a->lock);
		put_set(a, set->spare);
		pthread_mutex_unlock(&a->lock);
	}
	set->spare = set->free;
	set->free = NULL;
	set->count = 0;
}

void hauli_stack_check(const struct hauli_stack *stack, const char *name)
{
	if ((stack->checks & HAULI_STACK_CANARY) && hauli_guard_broken(hauli_stack_lo(stack)))
		hauli_overrun_die(name, hauli_stack_usable(stack->cls));
}

static struct hauli_stack *get_shared(
	struct hauli_stacks *a, unsigned cls, const struct bound *bound)
{
	struct hauli_stack_set *set = &a->loose.classes[cls];
	struct hauli_stack *stack;

	pthread_mutex_lock(&a->lock);
	if (!set->free)
		fill(a, set, cls, bound);
	stack = take(set);
	pthread_mutex_unlock(&a->lock);
	return stack;
}

struct hauli_stack *hauli_stack_get_shared(struct hauli_stacks *a, unsigned cls)
{
	return get_shared(a, cls, &(struct bound){NULL, 0});
}

struct hauli_stack *hauli_stack_get_reserved(struct hauli_stacks *a, unsigned cls)
{
	return get_shared(a, cls, &(struct bound){&a->reserve, HAULI_KEPT_SOME});
}

/* The caller holds the lock. */
static void put_loose(struct hauli_stacks *a, struct hauli_stack *stack)
{
	unsigned cls = stack->cls;
	struct hauli_stack_set *set = &a->loose.classes[cls];

	add(set, stack);
	if (set->count == HAULI_STACK_SET) {
		put_set(a, set->free);
		set->free = NULL;
		set->count = 0;
	}
}

void hauli_stack_put_shared(struct hauli_stacks *a, struct hauli_stack *stack, const char *name)
{
	if (stack->checks)
		hauli_stack_check(stack, name);
	pthread_mutex_lock(&a->lock);
	put_loose(a, stack);
	pthread_mutex_unlock(&a->lock);
}

void hauli_stack_cache_init(struct hauli_stack_cache *cache, struct hauli_stacks *arena)
{
	*cache = (struct hauli_stack_cache){.arena = arena};
}

void hauli_stack_cache_fini(struct hauli_stack_cache *cache)
{
	struct hauli_stacks *a = cache->arena;

	pthread_mutex_lock(&a->lock);
	for (unsigned cls = 0; cls < HAULI_STACK_CLASSES; cls++) {
		struct hauli_stack_set *set = &cache->classes[cls];
		struct hauli_stack *stack;

		while ((stack = take(set)))
			put_loose(a, stack);
		if (set->spare)
			put_set(a, set->spare);
		set->spare = NULL;
	}
	pthread_mutex_unlock(&a->lock);
}

void hauli_stacks_for_each(
	struct hauli_stacks *a, void (*fn)(struct hauli_stack *stack, void *arg), void *arg)
{
	for (uint32_t n = 0; n < hauli_u32_published_get(&a->n_chunks); n++) {
		const struct chunk *c = &a->chunks[n];

		for (uint32_t i = 0; i < hauli_u32_published_get(&c->carved); i++)
			fn(head_at(a, c, i), arg);
	}
}

void hauli_stack_release_flush(struct hauli_stack_release *r)
{
	if (r->lo)
		madvise(r->lo, (size_t)(r->hi - r->lo), MADV_DONTNEED); /* guards stay */
	r->lo = r->hi = NULL;
}

void hauli_stack_release(const struct hauli_stacks *a, struct hauli_stack_release *r,
	const struct hauli_stack *stack)
{
	const struct chunk *c = &a->chunks[stack->chunk];
	char *lo = hauli_stack_lo(stack), *hi = slot_at(a, c, slot_of(a, c, stack) + 1);
	/* Of neighbours, because the memory between them has no canary. */
	bool canary = stack->checks & HAULI_STACK_CANARY, alone = canary || r->canary;

	if (r->lo && !alone && r->hi + a->guards.size == lo) {
		r->hi = hi;
	} else if (r->lo && !alone && hi + a->guards.size == r->lo) {
		r->lo = lo;
	} else {
		hauli_stack_release_flush(r);
		*r = (struct hauli_stack_release){lo, hi, canary};
	}
}

enum hauli_guard hauli_stacks_guard(const struct hauli_stacks *a)
{
	return (enum hauli_guard)hauli_u8_owned_get(&a->guards.kind);
}

/* The slots of one chunk that a trim has taken out of the arena. */
struct taken {
	uint64_t map[SLOTS_MAX / 64];
};

static void free_fiber(struct hauli_stack *stack, void *arg)
{
	hauli_fiber_free(stack->fiber);
	stack->fiber = NULL;
}

static void mark_taken(struct hauli_stacks *a, struct taken *taken, struct hauli_stack *stack)
{
	while (stack) {
		struct hauli_stack *next = stack->next;
		uint32_t i = slot_of(a, &a->chunks[stack->chunk], stack);

		free_fiber(stack, NULL);
		taken[stack->chunk].map[i / 64] |= UINT64_C(1) << i % 64;
		stack = next;
	}
}

/* The resident bytes from lo to hi, without guards, which some kernels report as resident. */
static size_t resident(const struct hauli_stacks *a, const struct chunk *c, char *lo, char *hi)
{
	const size_t page = a->guards.page;
	unsigned char in[256];
	size_t bytes = 0;

	for (; lo < hi; lo += sizeof(in) * page) {
		size_t n = (size_t)(hi - lo) / page;

		n = n < sizeof(in) ? n : sizeof(in);
		if (mincore(lo, n * page, in) != 0)
			break;
		for (size_t i = 0; i < n; i++) {
			bool guard = (size_t)(lo + i * page - c->base) % a->slot_size[c->cls] <
				a->guards.size;

			bytes += in[i] & 1 && !guard ? page : 0;
		}
	}
	return bytes;
}

static size_t trim_chunk(struct hauli_stacks *a, struct chunk *c, const struct taken *t)
{
	size_t bytes = 0;
	uint32_t freed = 0;

	for (uint32_t i = 0, end; i < c->slots; i = end + 1) {
		char *lo, *hi;

		for (end = i; end < c->slots && t->map[end / 64] >> end % 64 & 1; end++)
			;
		if (end == i)
			continue;
		lo = slot_at(a, c, i);
		hi = slot_at(a, c, end);
		bytes += resident(a, c, lo, hi);
		madvise(lo, (size_t)(hi - lo), MADV_DONTNEED); /* guards stay */
		freed += end - i;
	}
	if (!freed)
		return 0;
	pthread_mutex_lock(&a->lock);
	for (size_t w = 0; w < SLOTS_MAX / 64; w++)
		c->trimmed_map[w] |= t->map[w];
	c->trimmed += freed;
	a->trimmed[c->cls] += freed;
	pthread_mutex_unlock(&a->lock);
	return bytes;
}

size_t hauli_stacks_trim(struct hauli_stacks *a)
{
	struct taken *taken = reserve(CHUNKS_MAX * sizeof(*taken));
	size_t bytes = 0;

	if (!taken)
		return 0;
	for (unsigned cls = 0; cls < HAULI_STACK_CLASSES; cls++) {
		struct hauli_stack_set *set = &a->loose.classes[cls];
		struct hauli_stack *loose, *full;

		pthread_mutex_lock(&a->lock);
		loose = set->free;
		full = a->sets[cls];
		set->free = NULL;
		set->count = 0;
		a->sets[cls] = NULL;
		pthread_mutex_unlock(&a->lock);

		mark_taken(a, taken, loose);
		while (full) {
			struct hauli_stack *next = full->next_set;

			mark_taken(a, taken, full);
			full = next;
		}
	}
	for (uint32_t n = 0; n < hauli_u32_published_get(&a->n_chunks); n++)
		bytes += trim_chunk(a, &a->chunks[n], &taken[n]);
	munmap(taken, CHUNKS_MAX * sizeof(*taken));
	return bytes;
}

void hauli_stacks_destroy(struct hauli_stacks *a)
{
	if (HAULI_ASAN || HAULI_TSAN)
		hauli_stacks_for_each(a, free_fiber, NULL);
	for (uint32_t n = 0; n < hauli_u32_published_get(&a->n_chunks); n++) {
		struct chunk *c = &a->chunks[n];
		size_t bytes = c->slots * a->slot_size[c->cls];

		for (uint32_t i = 0; c->stack_ids && i < hauli_u32_published_get(&c->carved); i++)
			VALGRIND_STACK_DEREGISTER(c->stack_ids[i]);
		free(c->stack_ids);
		hauli_fiber_discard(c->base, bytes);
		munmap(c->base, bytes);
	}
	munmap(a->chunks, CHUNKS_MAX * sizeof(*a->chunks));
	pthread_mutex_destroy(&a->lock);
	free(a);
}
