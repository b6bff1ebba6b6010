/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Log-linear histograms, for latencies in nanoseconds: values below 64 have a bucket each, larger
 * ones share 32 buckets per power of two, so that a bucket is at most 1/32 (3 %) wide. Values from
 * 2^40 (18 minutes) on fall into the last bucket.
 *
 * A histogram of zeros is empty. One thread at a time adds to it; any thread may read it meanwhile,
 * and sees no torn value, but not the state of one instant.
 */
#ifndef HAUL_HIST_H
#define HAUL_HIST_H

#include <stdio.h>

#include <haul/base.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HAUL_HIST_BITS 5 /* below the leading one */
#define HAUL_HIST_LIMIT (UINT64_C(1) << 40)
#define HAUL_HIST_BUCKETS 1152u

struct haul_hist {
	uint64_t counts[HAUL_HIST_BUCKETS];
	uint64_t max; /* the largest value; exact, also beyond the last bucket */
	uint64_t quick; /* haul_hist_add() does not compare values up to this with max */
};

/* The largest value of a bucket; the smallest one is that of the bucket before, plus 1. The last
 * bucket has no largest value: the result is HAUL_HIST_LIMIT - 1. */
HAUL_API uint64_t haul_hist_bucket_last(unsigned bucket);

/* Part of haul_hist_add(): a value that may be the largest one. */
HAUL_API void haul_hist_add_large(struct haul_hist *h, uint64_t value, uint64_t n);

/* Adds n values that are equal: about 15 instructions. The writing thread only. */
static inline void haul_hist_add(struct haul_hist *h, uint64_t value, uint64_t n)
{
	uint64_t shift;
	uint64_t *count;

	/* The constant is for compilers that warn: no value above `quick` gets beyond this. */
	if (__builtin_expect(value > h->quick, 0) ||
		(__builtin_constant_p(value) && value >= HAUL_HIST_LIMIT)) {
		haul_hist_add_large(h, value, n);
		return;
	}
	shift = (63u ^ (unsigned)__builtin_clzll(value | 32)) - HAUL_HIST_BITS;
	count = &h->counts[(shift << HAUL_HIST_BITS) + (value >> shift)];
	/* No atomic addition: other threads only read. */
	__atomic_store_n(count, __atomic_load_n(count, __ATOMIC_RELAXED) + n, __ATOMIC_RELAXED);
}

/* Adds the values of from, which another thread may write, to the caller's own histogram. */
HAUL_API void haul_hist_merge(struct haul_hist *to, const struct haul_hist *from);

/* Subtracts an earlier copy of the same histogram: the values added since remain. max is then the
 * end of the highest bucket with a value, or the total's max if that is less. */
HAUL_API void haul_hist_subtract(struct haul_hist *from, const struct haul_hist *earlier);

/* The number of values, and the largest one; 0 if there is none. */
HAUL_API uint64_t haul_hist_count(const struct haul_hist *h);
HAUL_API uint64_t haul_hist_max(const struct haul_hist *h);

/*
 * The value that a share of all values does not exceed: share is 0.5 for the median, 0.99 for the
 * 99th percentile; 0 gives the bucket of the smallest value. The result is the end of the bucket,
 * at most max: never less than the exact value, and at most 1/32 more. 0 if the histogram is
 * empty.
 */
HAUL_API uint64_t haul_hist_quantile(const struct haul_hist *h, double share);

/*
 * Writes the percentiles as text of the format .hgrm, which HdrHistogram's plotters read: a line
 * for each bucket with values. Values are divided by unit: 1000 for microseconds. Returns 0, or
 * -EIO if out has an error.
 */
HAUL_API int haul_hist_write_hgrm(const struct haul_hist *h, double unit, FILE *out);

#ifdef __cplusplus
}
#endif

#endif
