/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim.h"

static unsigned bucket_of(uint64_t ns)
{
	unsigned shift;

	if (ns < 128)
		return (unsigned)ns;
	shift = 63 - (unsigned)__builtin_clzll(ns) - 6;
	return shift * 64 + (unsigned)(ns >> shift);
}

/* The least duration in the bucket. */
static uint64_t bucket_begins(unsigned b)
{
	return b < 128 ? b : (uint64_t)(b % 64 + 64) << (b / 64 - 1);
}

void sim_times_add(struct sim_times *h, uint64_t ns)
{
	h->n++;
	h->sum += ns;
	if (ns > h->most)
		h->most = ns;
	h->buckets[bucket_of(ns)]++;
}

uint64_t sim_times_at(const struct sim_times *h, double q)
{
	uint64_t before = 0;

	for (unsigned b = 0; b < SIM_BUCKETS; b++) {
		before += h->buckets[b];
		if ((double)before > q * (double)h->n)
			return bucket_begins(b);
	}
	return h->most;
}
