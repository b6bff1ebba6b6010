/* SPDX-License-Identifier: BSD-3-Clause */
/* Buckets of struct haul_io_wait_stats: eight for each power of two. */
#ifndef HAULI_IO_LATENCY_H
#define HAULI_IO_LATENCY_H

#include <haul-dpdk/io.h>

static inline unsigned hauli_latency_bucket(uint64_t ns)
{
	unsigned power, i;

	if (ns < 8)
		return (unsigned)ns;
	power = 63 - (unsigned)__builtin_clzll(ns);
	i = (power - 2) * 8 + (unsigned)((ns >> (power - 3)) & 7);
	return i < HAUL_LATENCY_BUCKETS ? i : HAUL_LATENCY_BUCKETS - 1;
}

#endif
