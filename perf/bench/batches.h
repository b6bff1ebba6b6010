/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time of operations of two threads on a machine that others use, too: that of the median batch
 * of operations, times the number of batches. A batch in which a thread has lost its CPU takes
 * milliseconds, and the mean is of such batches; but they are few.
 */
#ifndef PERF_BATCHES_H
#define PERF_BATCHES_H

#include <stdlib.h>

#include "harness/harness.h"

#define PERF_BATCH 16 /* the unit of the cases */
#define PERF_BATCHES_MAX 4096

static inline int perf_batches_compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static inline uint64_t perf_by_batches(uint64_t n, void (*op)(void))
{
	static uint64_t took[PERF_BATCHES_MAX];
	uint64_t batches = n / PERF_BATCH, kept = 0;

	for (uint64_t i = 0; i < batches; i++) {
		uint64_t start = perf_now();

		for (unsigned j = 0; j < PERF_BATCH; j++)
			op();
		took[kept++ % PERF_BATCHES_MAX] = perf_now() - start;
	}
	if (kept > PERF_BATCHES_MAX)
		kept = PERF_BATCHES_MAX;
	qsort(took, kept, sizeof(took[0]), perf_batches_compare);
	return took[kept / 2] * batches;
}

#endif
