/* SPDX-License-Identifier: BSD-3-Clause */
/* Percentiles of what was added to a histogram between two samples. */
#ifndef TOP_QUANTILE_H
#define TOP_QUANTILE_H

#include <jansson.h>
#include <stdint.h>

#define TOP_BUCKETS 256

struct top_buckets {
	struct {
		uint64_t last, n; /* its largest value, and how many */
	} items[TOP_BUCKETS]; /* by value; none is empty */
	unsigned nb;
	uint64_t all;
};

/* From objects of /haul/latency_buckets. before may be NULL: since the start. */
void top_buckets_get(struct top_buckets *b, const json_t *now, const json_t *before);

/* The value that the share, from 0 to 1, of all values does not exceed. NaN if there are none. */
double top_quantile(const struct top_buckets *b, double share);

#endif
