/* SPDX-License-Identifier: BSD-3-Clause */
#include "net/sketch.h"

#include <string.h>

#define MASK ((1u << HAULI_SKETCH_BITS) - 1)

void hauli_sketch_init(struct hauli_sketch *s, uint64_t secret0, uint64_t secret1)
{
	s->secret[0] = secret0;
	s->secret[1] = secret1 | 1; /* a multiplication by it loses nothing */
	hauli_sketch_clear(s);
}

void hauli_sketch_clear(struct hauli_sketch *s)
{
	memset(s->counts, 0, sizeof(s->counts));
}

/* Both halves of a product of 128 bits, for the secret; and the last steps of splitmix64, without
 * which the low bits of neighbouring addresses would be more regular than chance. */
static uint64_t hash_of(const struct hauli_sketch *s, uint64_t source)
{
	unsigned __int128 product = (unsigned __int128)(source ^ s->secret[0]) * s->secret[1];
	uint64_t h = (uint64_t)product ^ (uint64_t)(product >> 64);

	h = (h ^ h >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	h = (h ^ h >> 27) * UINT64_C(0x94d049bb133111eb);
	return h ^ h >> 31;
}

uint32_t hauli_sketch_add(struct hauli_sketch *s, uint64_t source)
{
	uint64_t hash = hash_of(s, source);
	uint32_t *at[HAULI_SKETCH_ROWS];
	uint32_t least = UINT32_MAX;

	for (unsigned i = 0; i < HAULI_SKETCH_ROWS; i++) {
		at[i] = &s->counts[i][hash >> (i * HAULI_SKETCH_BITS) & MASK];
		if (*at[i] < least)
			least = *at[i];
	}
	if (least == UINT32_MAX)
		return least;
	for (unsigned i = 0; i < HAULI_SKETCH_ROWS; i++)
		if (*at[i] == least)
			*at[i] = least + 1;
	return least + 1;
}

void hauli_sketch_halve(struct hauli_sketch *s)
{
	for (unsigned i = 0; i < HAULI_SKETCH_ROWS; i++)
		for (unsigned k = 0; k <= MASK; k++)
			s->counts[i][k] /= 2;
}

uint32_t hauli_sketch_sources(const struct hauli_sketch *s)
{
	uint32_t unused = 0, sources = 0;

	for (unsigned k = 0; k <= MASK; k++)
		unused += s->counts[0][k] == 0;
	/* While i counters are unused, one source of (MASK + 1) / i reaches one. In 1024ths. */
	for (unsigned i = unused + 1; i <= MASK + 1; i++)
		sources += ((MASK + 1) << 10) / i;
	return (sources + 512) >> 10;
}
