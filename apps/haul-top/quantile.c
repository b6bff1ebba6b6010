/* SPDX-License-Identifier: BSD-3-Clause */
#include "quantile.h"

#include <math.h>
#include <stdlib.h>

static int by_value(const void *x, const void *y)
{
	const uint64_t *a = x, *b = y; /* the first member */

	return (*a > *b) - (*a < *b);
}

void top_buckets_get(struct top_buckets *b, const json_t *now, const json_t *before)
{
	const char *last;
	json_t *value;

	b->nb = 0;
	b->all = 0;
	json_object_foreach((json_t *)(uintptr_t)now, last, value)
	{
		int64_t n = json_integer_value(value),
			m = json_integer_value(json_object_get(before, last));

		if (n <= m || m < 0 || b->nb == TOP_BUCKETS)
			continue;
		b->items[b->nb].last = strtoull(last, NULL, 10);
		b->items[b->nb++].n = (uint64_t)(n - m);
		b->all += (uint64_t)(n - m);
	}
	qsort(b->items, b->nb, sizeof(b->items[0]), by_value);
}

/* Four buckets for a power of two, and 8 values at least. */
static double width_of(uint64_t last)
{
	uint64_t power = last > 0 ? (uint64_t)1 << (63 - __builtin_clzll(last)) : 0;

	return power / 4 > 8 ? (double)(power / 4) : 8;
}

double top_quantile(const struct top_buckets *b, double share)
{
	double rank = share * (double)b->all, before = 0;

	for (unsigned i = 0; i < b->nb; i++) {
		const double n = (double)b->items[i].n, last = (double)b->items[i].last;

		if (before + n >= rank || i + 1 == b->nb) /* the values lie evenly in a bucket */
			return last - width_of(b->items[i].last) * (before + n - rank) / n;
		before += n;
	}
	return NAN;
}
