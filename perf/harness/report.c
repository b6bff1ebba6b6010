/* SPDX-License-Identifier: BSD-3-Clause */
#include "harness/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "harness/machine.h"

/* Above this ratio the figures of the first and the last third of the runs differ by more than
 * those of a machine at rest. */
#define DRIFT 1.1

struct stat {
	double median;
	double best;
	double spread; /* interquartile range, in ns */
};

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Interpolates between the two neighbouring values. */
static double quantile(const double *sorted, unsigned n, double q)
{
	double at = q * (n - 1);
	unsigned below = (unsigned)at;
	unsigned above = below + 1 < n ? below + 1 : below;

	return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
}

static double median_of(const double *values, unsigned n)
{
	double sorted[PERF_RUNS_MAX];

	memcpy(sorted, values, n * sizeof(*values));
	qsort(sorted, n, sizeof(*sorted), compare);
	return quantile(sorted, n, 0.5);
}

static struct stat stat_of(const double *values, unsigned n)
{
	double sorted[PERF_RUNS_MAX];

	memcpy(sorted, values, n * sizeof(*values));
	qsort(sorted, n, sizeof(*sorted), compare);
	return (struct stat){
		.median = quantile(sorted, n, 0.5),
		.best = sorted[0],
		.spread = quantile(sorted, n, 0.75) - quantile(sorted, n, 0.25),
	};
}

/* The ratio of ours to theirs: the median over pairs of neighbouring runs, because a slowdown of
 * the machine affects both. */
static double ratio_of(const double *ours, const double *theirs, unsigned n)
{
	double ratios[PERF_RUNS_MAX];

	for (unsigned i = 0; i < n; i++)
		ratios[i] = theirs[i] > 0 ? ours[i] / theirs[i] : 0;
	return median_of(ratios, n);
}

static bool is_drifting(const double *values, unsigned n)
{
	unsigned third = n / 3;
	double first, last;

	if (third < 1)
		return false;
	first = median_of(values, third);
	last = median_of(values + n - third, third);
	return first > last * DRIFT || last > first * DRIFT;
}

void perf_report_table(FILE *out, const struct perf_case *c, const struct perf_series *series,
	unsigned sides, unsigned runs)
{
	fprintf(out, "\n%s: %s\n", c->name, c->question);
	fprintf(out, "  %-16s %12s %12s %10s %16s\n", "side", "median ns", "best ns", "spread",
		"ours/this");
	for (unsigned i = 0; i < sides; i++) {
		struct stat st = stat_of(series[i].ns, runs);

		fprintf(out, "  %-16s %12.2f %12.2f %9.1f%%", series[i].side->name, st.median,
			st.best, st.median > 0 ? 100 * st.spread / st.median : 0);
		if (i > 0)
			fprintf(out, " %15.2fx", ratio_of(series[0].ns, series[i].ns, runs));
		if (is_drifting(series[i].ns, runs))
			fprintf(out, "%s  drifting", i > 0 ? "" : "                 ");
		for (unsigned k = 0; k < series[i].last.nb_extras; k++)
			fprintf(out, "  %s %.6g", series[i].last.extras[k].name,
				series[i].last.extras[k].value);
		fputc('\n', out);
	}
	fflush(out);
}

static void json_side(
	FILE *out, const struct perf_series *s, const struct perf_series *ours, unsigned runs)
{
	struct stat st = stat_of(s->ns, runs);

	fprintf(out,
		"{\"side\":\"%s\",\"n\":%" PRIu64
		",\"ns\":{\"median\":%.4g,\"best\":%.4g,\"spread\":%.4g,\"runs\":[",
		s->side->name, s->n, st.median, st.best, st.spread);
	for (unsigned i = 0; i < runs; i++)
		fprintf(out, "%s%.5g", i ? "," : "", s->ns[i]);
	fprintf(out, "]}");
	if (s != ours)
		fprintf(out, ",\"ratio\":%.4g,\"ratio_best\":%.4g", ratio_of(ours->ns, s->ns, runs),
			st.best > 0 ? stat_of(ours->ns, runs).best / st.best : 0);
	for (unsigned k = 0; k < s->last.nb_extras; k++)
		fprintf(out, ",\"%s\":%.9g", s->last.extras[k].name, s->last.extras[k].value);
	fputc('}', out);
}

void perf_report_json(FILE *out, const struct perf_case *c, const struct perf_series *series,
	unsigned sides, unsigned runs)
{
	fprintf(out, "{\"case\":\"%s\",\"question\":\"%s\",\"sides\":[", c->name, c->question);
	for (unsigned i = 0; i < sides; i++) {
		if (i > 0)
			fputc(',', out);
		json_side(out, &series[i], &series[0], runs);
	}
	fprintf(out, "],");
	perf_machine_json(out);
	fprintf(out, "}\n");
	fflush(out);
}
