/* SPDX-License-Identifier: BSD-3-Clause */
/* Statistics as text. */
#include "report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "counters.h"
#include "sample.h"

/* "21.4 M": a rate with about three digits and a prefix. */
static const char *scaled(char buf[16], double n)
{
	static const char prefix[] = {' ', 'k', 'M', 'G', 'T'};
	unsigned i = 0;

	while (n >= 999.5 && i < sizeof(prefix) - 1) {
		n /= 1000;
		i++;
	}
	snprintf(buf, 16, "%.*f %c", n < 9.995 ? 2 : n < 99.95 ? 1 : 0, n, prefix[i]);
	return buf;
}

static void print_flow(
	FILE *out, const char *what, uint64_t packets, uint64_t bytes, double seconds)
{
	char pps[16], bps[16];

	fprintf(out, "  %s %7spps", what, scaled(pps, (double)packets / seconds));
	if (bytes > 0 || packets == 0)
		fprintf(out, " %7sbit/s", scaled(bps, (double)bytes * 8 / seconds));
	else
		fprintf(out, " %12s", "-"); /* neither the PMD nor haul counts bytes */
}

static void print_loss(FILE *out, const char *name, uint64_t n)
{
	if (n > 0)
		fprintf(out, "  %s %" PRIu64, name, n);
}

static bool is_loss(unsigned reason)
{
	return reason != HAUL_DROP_NOT_FOR_US && reason != HAUL_DROP_CONSUMED;
}

/* Prints the counters of lost packets. Used packets, and those for other hosts, are not lost. */
static void print_losses(FILE *out, const struct hauli_app *a, const struct haul_io_stats *st)
{
	const char *name;
	unsigned i;

	for (i = 0; i < HAUL_DROP_REASONS; i++) {
		name = haul_io_drop_name(a->pub.io, (enum haul_drop)i);
		if (is_loss(i))
			print_loss(out, name ? name : haul_drop_name((enum haul_drop)i),
				st->dropped[i]);
	}
	print_loss(out, "rx_missed", st->rx_missed);
	print_loss(out, "rx_nombuf", st->rx_nombuf);
	print_loss(out, "rx_errors", st->rx_errors);
	print_loss(out, "tx_errors", st->tx_errors);
}

static void print_rates(FILE *out, const struct hauli_app *a, const char *first,
	const struct haul_io_stats *st, double seconds)
{
	fprintf(out, "  %-30s", first);
	print_flow(out, "rx", st->rx_packets, st->rx_bytes, seconds);
	print_flow(out, "tx", st->tx_packets, st->tx_bytes, seconds);
	print_loss(out, "consumed", st->dropped[HAUL_DROP_CONSUMED]);
	print_loss(out, "not_for_us", st->dropped[HAUL_DROP_NOT_FOR_US]);
	print_losses(out, a, st);
	fputc('\n', out);
}

static void print_port(FILE *out, const struct hauli_app *a, unsigned i,
	const struct hauli_app_sample *s, double seconds)
{
	unsigned queues = haul_port_queues(a->ports[i]);
	char first[64];
	unsigned q;

	snprintf(first, sizeof(first), "port %-2u %s", i, haul_port_spec(a->ports[i]));
	print_rates(out, a, first, &s->ports[i], seconds);
	for (q = 0; queues > 1 && q < queues; q++) {
		snprintf(first, sizeof(first), "  queue %u", q);
		print_rates(out, a, first, &s->carriers[q].queues[i], seconds);
	}
}

/* For pollers that wait. */
static void print_wait(FILE *out, const struct haul_io_wait_stats *st, double seconds)
{
	char sleeps[16];

	fprintf(out,
		"  %-30s  sleeps %7s/s  asleep %3.0f %%  wake to handler p50 %.1f us p99 %.1f us\n",
		"", scaled(sleeps, (double)st->sleeps / seconds),
		100.0 * (double)st->slept_ns / (seconds * 1e9),
		(double)haul_hist_quantile(&st->latency, 0.5) / 1e3,
		(double)haul_hist_quantile(&st->latency, 0.99) / 1e3);
}

static void print_carrier(FILE *out, const struct hauli_app *a, unsigned c,
	const struct hauli_app_carrier_sample *s, double seconds)
{
	char polls[16], slices[16], stolen[16];
	char first[32];
	int cpu = a->plan->places[c].cpu;

	snprintf(first, sizeof(first), cpu < 0 ? "carrier %u floats" : "carrier %u cpu %d", c, cpu);
	fprintf(out, "  %-30s", first);
	print_flow(out, "rx", s->io.rx_packets, s->io.rx_bytes, seconds);
	fprintf(out, "  polls %7s/s %3.0f %% empty  slices %7s/s",
		scaled(polls, (double)s->io.polls / seconds),
		s->io.polls ? 100.0 * (double)s->io.empty_polls / (double)s->io.polls : 0.0,
		scaled(slices, (double)s->sched.slices / seconds));
	if (a->steal != HAUL_STEAL_OFF)
		fprintf(out, "  stolen %7s/s", scaled(stolen, (double)s->sched.stolen / seconds));
	fputc('\n', out);
	if (s->wait.sleeps > 0)
		print_wait(out, &s->wait, seconds);
}

static void print_all(
	FILE *out, const struct hauli_app *a, const struct hauli_app_sample *s, double seconds)
{
	unsigned i;

	for (i = 0; i < a->nb_ports; i++)
		print_port(out, a, i, s, seconds);
	for (i = 0; i < a->plan->carriers; i++)
		print_carrier(out, a, i, &s->carriers[i], seconds);
}

#define COLUMNS 100 /* of a line of the program's counters */

static uint64_t sum(const struct hauli_app *a, const struct hauli_app_sample *s, unsigned counter)
{
	uint64_t n = 0;

	for (unsigned c = 0; c < a->plan->carriers; c++)
		n += s->carriers[c].counters[counter];
	return n;
}

/* The program's own counters: rates in one line. */
static void print_counters(
	FILE *out, const struct hauli_app *a, const struct hauli_app_sample *s, double seconds)
{
	const struct haul_app_counter *counter = a->hooks->counters;
	int column = 0;
	char rate[16], figure[32];
	unsigned i;

	if (hauli_app_counters(a) == 0)
		return;
	for (i = 0; i < hauli_app_counters(a); i++, counter++) {
		if (counter->gauge)
			snprintf(figure, sizeof(figure), "%" PRIu64, sum(a, s, i));
		else
			snprintf(figure, sizeof(figure), "%s/s",
				scaled(rate, (double)sum(a, s, i) / seconds));
		if (column == 0 || column + (int)(strlen(counter->name) + strlen(figure)) > COLUMNS)
			column = fprintf(out, "%s  %-30s", i > 0 ? "\n" : "",
				i > 0 ? "" : a->pub.program->name);
		column += fprintf(out, "  %s %s", counter->name, figure);
	}
	fputc('\n', out);
}

/* Totals in a line each, with those of the carriers. */
static void print_counted(FILE *out, const struct hauli_app *a, const struct hauli_app_sample *s)
{
	for (unsigned i = 0; i < hauli_app_counters(a); i++) {
		fprintf(out, "  %-28s %14" PRIu64, a->hooks->counters[i].name, sum(a, s, i));
		for (unsigned c = 0; a->plan->carriers > 1 && c < a->plan->carriers; c++)
			fprintf(out, "  carrier %u %" PRIu64, c, s->carriers[c].counters[i]);
		fputc('\n', out);
	}
}

void hauli_app_report_period(struct hauli_app *a)
{
	struct hauli_app_sample *now = hauli_app_sample_take(a);
	struct hauli_app_sample *since = hauli_app_sample_since(a, now, a->last);
	uint64_t from = a->last ? a->last->at : a->began_at;

	fprintf(a->out, "%.1f s\n", (double)(now->at - a->began_at) / 1e9);
	print_all(a->out, a, since, (double)(now->at - from) / 1e9);
	print_counters(a->out, a, since, (double)(now->at - from) / 1e9);
	if (a->hooks->report)
		a->hooks->report(&a->pub, a->out, false);
	fflush(a->out);
	free(since);
	free(a->last);
	a->last = now;
}

static void print_row(
	FILE *out, const struct hauli_app *a, const char *first, const struct haul_io_stats *st)
{
	fprintf(out, "  %-28s %14" PRIu64 " %16" PRIu64 " %14" PRIu64 " %16" PRIu64 " %10" PRIu64,
		first, st->rx_packets, st->rx_bytes, st->tx_packets, st->tx_bytes,
		st->dropped[HAUL_DROP_NOT_FOR_US]);
	print_losses(out, a, st);
	fputc('\n', out);
}

void hauli_app_report_totals(struct hauli_app *a, FILE *out)
{
	double seconds = (double)(a->ended_at - a->began_at) / 1e9;
	struct hauli_app_sample *s = hauli_app_sample_take(a);
	char first[64];
	unsigned i;

	fprintf(out, "total of %.1f s\n", seconds);
	fprintf(out, "  %-28s %14s %16s %14s %16s %10s  %s\n", "", "rx packets", "rx bytes",
		"tx packets", "tx bytes", "not for us", "lost");
	for (i = 0; i < a->nb_ports; i++) {
		snprintf(first, sizeof(first), "port %-2u %s", i, haul_port_spec(a->ports[i]));
		print_row(out, a, first, &s->ports[i]);
	}
	for (i = 0; i < a->plan->carriers; i++) {
		snprintf(first, sizeof(first), "carrier %u", i);
		print_row(out, a, first, &s->carriers[i].io);
	}
	print_counted(out, a, s);
	fprintf(out, "mean\n");
	print_all(out, a, s, seconds);
	if (a->hooks->report)
		a->hooks->report(&a->pub, out, true);
	free(s);
}

void hauli_app_report_free(struct hauli_app *a)
{
	free(a->last);
	a->last = NULL;
}
