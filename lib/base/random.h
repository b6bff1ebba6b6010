/* SPDX-License-Identifier: BSD-3-Clause */
/* A small random generator for choices, not for secrets: xorshift64*, Vigna, "An experimental
 * exploration of Marsaglia's xorshift generators, scrambled", ACM TOMS 42(4), 2016. */
#ifndef HAULI_BASE_RANDOM_H
#define HAULI_BASE_RANDOM_H

#include <stdint.h>

struct hauli_random {
	uint64_t state; /* never 0 */
};

static inline void hauli_random_init(struct hauli_random *r, uint64_t seed)
{
	/* The multiplier spreads small seeds over all bits; | 1 makes the state nonzero. */
	r->state = (seed * UINT64_C(0x9e3779b97f4a7c15)) | 1;
}

static inline uint64_t hauli_random_next(struct hauli_random *r)
{
	uint64_t x = r->state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	r->state = x;
	return x * UINT64_C(0x2545f4914f6cdd1d);
}

/* 0 to n - 1. n > 0. */
static inline uint32_t hauli_random_below(struct hauli_random *r, uint32_t n)
{
	return (uint32_t)(((hauli_random_next(r) >> 32) * n) >> 32);
}

#endif
