/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading histograms. Counts are read by relaxed loads: their writer may be adding. */
#include <haul/hist.h>

#include <errno.h>
#include <inttypes.h>
#include <math.h>

#define PER_POWER (1u << HAUL_HIST_BITS)

_Static_assert(HAUL_HIST_BUCKETS == (40 - HAUL_HIST_BITS + 1) * PER_POWER,
	"a bucket for each value below 2 * PER_POWER, then PER_POWER for each power up to the "
	"limit");

static uint64_t read(const uint64_t *count)
{
	return __atomic_load_n(count, __ATOMIC_RELAXED);
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static unsigned bucket_of(uint64_t value)
{
	uint64_t v = smaller(value, HAUL_HIST_LIMIT - 1);
	unsigned shift = (63u ^ (unsigned)__builtin_clzll(v | 32)) - HAUL_HIST_BITS;

	return (shift << HAUL_HIST_BITS) + (unsigned)(v >> shift);
}

static uint64_t first_of(unsigned bucket)
{
	if (bucket < 2 * PER_POWER)
		return bucket;
	return (uint64_t)(PER_POWER + bucket % PER_POWER) << (bucket / PER_POWER - 1);
}

uint64_t haul_hist_bucket_last(unsigned bucket)
{
	return first_of(bucket + 1) - 1;
}

void haul_hist_add_large(struct haul_hist *h, uint64_t value, uint64_t n)
{
	uint64_t *count = &h->counts[bucket_of(value)];

	__atomic_store_n(count, read(count) + n, __ATOMIC_RELAXED);
	if (value > h->max)
		__atomic_store_n(&h->max, value, __ATOMIC_RELAXED);
	h->quick = smaller(h->max, HAUL_HIST_LIMIT - 1);
}

void haul_hist_merge(struct haul_hist *to, const struct haul_hist *from)
{
	for (unsigned i = 0; i < HAUL_HIST_BUCKETS; i++)
		to->counts[i] += read(&from->counts[i]);
	if (read(&from->max) > to->max)
		to->max = read(&from->max);
}

void haul_hist_subtract(struct haul_hist *from, const struct haul_hist *earlier)
{
	unsigned highest = 0;

	for (unsigned i = 0; i < HAUL_HIST_BUCKETS; i++) {
		from->counts[i] -= earlier->counts[i];
		if (from->counts[i] > 0)
			highest = i;
	}
	if (from->counts[highest] == 0)
		from->max = 0;
	else if (highest < HAUL_HIST_BUCKETS - 1)
		from->max = smaller(from->max, haul_hist_bucket_last(highest));
	from->quick = 0;
}

uint64_t haul_hist_count(const struct haul_hist *h)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < HAUL_HIST_BUCKETS; i++)
		n += read(&h->counts[i]);
	return n;
}

uint64_t haul_hist_max(const struct haul_hist *h)
{
	return read(&h->max);
}

/* The value reported for a bucket: its end, at most max. The last bucket has no end: max. */
static uint64_t value_of(const struct haul_hist *h, unsigned bucket)
{
	uint64_t max = haul_hist_max(h);

	if (bucket == HAUL_HIST_BUCKETS - 1)
		return max;
	return smaller(haul_hist_bucket_last(bucket), max);
}

uint64_t haul_hist_quantile(const struct haul_hist *h, double share)
{
	double rank = ceil(share * (double)haul_hist_count(h));
	uint64_t below = 0;

	for (unsigned i = 0; i < HAUL_HIST_BUCKETS; i++) {
		below += read(&h->counts[i]);
		if (below > 0 && (double)below >= rank)
			return value_of(h, i);
	}
	return haul_hist_max(h);
}

/* The values of a bucket count as its middle, as in HdrHistogram. */
static double middle_of(const struct haul_hist *h, unsigned bucket)
{
	return ((double)first_of(bucket) + (double)value_of(h, bucket)) / 2;
}

static double mean_of(const struct haul_hist *h, uint64_t n)
{
	double sum = 0;

	for (unsigned i = 0; i < HAUL_HIST_BUCKETS; i++)
		sum += (double)h->counts[i] * middle_of(h, i);
	return n > 0 ? sum / (double)n : 0;
}

static double deviation_of(const struct haul_hist *h, uint64_t n, double mean)
{
	double sum = 0;

	for (unsigned i = 0; i < HAUL_HIST_BUCKETS; i++) {
		double off = h->counts[i] > 0 ? middle_of(h, i) - mean : 0;

		sum += (double)h->counts[i] * off * off;
	}
	return n > 0 ? sqrt(sum / (double)n) : 0;
}

static void write_line(FILE *out, double value, uint64_t below, uint64_t n)
{
	double share = (double)below / (double)n;

	fprintf(out, "%12.3f %2.12f %10" PRIu64, value, share, below);
	/* As HdrHistogram does: the last line has no fourth column, which would be infinite. */
	if (below < n)
		fprintf(out, " %14.2f", 1 / (1 - share));
	fputc('\n', out);
}

int haul_hist_write_hgrm(const struct haul_hist *h, double unit, FILE *out)
{
	struct haul_hist copy = {0};
	uint64_t below = 0;
	uint64_t n;
	double mean;

	haul_hist_merge(&copy, h);
	n = haul_hist_count(&copy);
	fprintf(out, "%12s %14s %10s %14s\n\n", "Value", "Percentile", "TotalCount",
		"1/(1-Percentile)");
	for (unsigned i = 0; i < HAUL_HIST_BUCKETS; i++) {
		double value = (double)value_of(&copy, i) / unit;

		if (copy.counts[i] == 0)
			continue;
		if (below == 0) /* plotters begin a curve at percentile 0 */
			fprintf(out, "%12.3f %2.12f %10" PRIu64 " %14.2f\n", value, 0.0,
				copy.counts[i], 1.0);
		below += copy.counts[i];
		write_line(out, value, below, n);
	}
	mean = mean_of(&copy, n);
	fprintf(out, "#[Mean    = %12.3f, StdDeviation   = %12.3f]\n", mean / unit,
		deviation_of(&copy, n, mean) / unit);
	fprintf(out, "#[Max     = %12.3f, Total count    = %12" PRIu64 "]\n",
		(double)copy.max / unit, n);
	fprintf(out, "#[Buckets = %12u, SubBuckets     = %12u]\n", HAUL_HIST_BUCKETS / PER_POWER,
		PER_POWER);
	return ferror(out) ? -EIO : 0;
}
