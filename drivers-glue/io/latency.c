/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/latency.h"

/* The highest value in the bucket. */
static uint64_t bucket_end(unsigned i)
{
	if (i < 8)
		return i;
	return ((uint64_t)(8 + i % 8 + 1) << (i / 8 - 1)) - 1;
}

uint64_t haul_io_latency_ns(const struct haul_io_wait_stats *st, double share)
{
	uint64_t all = 0, below = 0;
	unsigned i;

	for (i = 0; i < HAUL_LATENCY_BUCKETS; i++)
		all += st->latency[i];
	for (i = 0; i < HAUL_LATENCY_BUCKETS && all > 0; i++) {
		below += st->latency[i];
		if ((double)below >= share * (double)all)
			return bucket_end(i);
	}
	return 0;
}
