/* SPDX-License-Identifier: BSD-3-Clause */
/* Statistics as text. */
#include "report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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

/* Prints the counters of lost packets. Packets for other hosts do not count as lost. */
static void print_losses(FILE *out, const struct haul_io_stats *st)
{
	unsigned i;

	for (i = 0; i < HAUL_DROP_REASONS; i++)
		if (i != HAUL_DROP_NOT_FOR_US)
			print_loss(out, haul_drop_name((enum haul_drop)i), st->dropped[i]);
	print_loss(out, "rx_missed", st->rx_missed);
	print_loss(out, "rx_nombuf", st->rx_nombuf);
	print_loss(out, "rx_errors", st->rx_errors);
	print_loss(out, "tx_errors", st->tx_errors);
}

static void print_rates(
	FILE *out, const char *first, const struct haul_io_stats *st, double seconds)
{
	fprintf(out, "  %-30s", first);
	print_flow(out, "rx", st->rx_packets, st->rx_bytes, seconds);
	print_flow(out, "tx", st->tx_packets, st->tx_bytes, seconds);
	print_loss(out, "not_for_us", st->dropped[HAUL_DROP_NOT_FOR_US]);
	print_losses(out, st);
	fputc('\n', out);
}

static void print_port(FILE *out, const struct app_engine *e, unsigned i,
	const struct app_sample *s, double seconds)
{
	unsigned queues = haul_port_queues(e->ports[i]);
	char first[64];
	unsigned q;

	snprintf(first, sizeof(first), "port %-2u %s", i, haul_port_spec(e->ports[i]));
	print_rates(out, first, &s->ports[i], seconds);
	for (q = 0; queues > 1 && q < queues; q++) {
		snprintf(first, sizeof(first), "  queue %u", q);
		print_rates(out, first, &s->carriers[q].queues[i], seconds);
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
		(double)haul_io_latency_ns(st, 0.5) / 1e3,
		(double)haul_io_latency_ns(st, 0.99) / 1e3);
}

static void print_carrier(FILE *out, const struct app_engine *e, unsigned c,
	const struct app_carrier_sample *s, double seconds)
{
	char polls[16], slices[16], stolen[16];
	char first[32];
	int cpu = e->plan->places[c].cpu;

	snprintf(first, sizeof(first), cpu < 0 ? "carrier %u floats" : "carrier %u cpu %d", c, cpu);
	fprintf(out, "  %-30s", first);
	print_flow(out, "rx", s->io.rx_packets, s->io.rx_bytes, seconds);
	fprintf(out, "  polls %7s/s %3.0f %% empty  slices %7s/s",
		scaled(polls, (double)s->io.polls / seconds),
		s->io.polls ? 100.0 * (double)s->io.empty_polls / (double)s->io.polls : 0.0,
		scaled(slices, (double)s->sched.slices / seconds));
	if (e->steal != HAUL_STEAL_OFF)
		fprintf(out, "  stolen %7s/s", scaled(stolen, (double)s->sched.stolen / seconds));
	fputc('\n', out);
	if (s->wait.sleeps > 0)
		print_wait(out, &s->wait, seconds);
}

static void print_all(
	FILE *out, const struct app_engine *e, const struct app_sample *s, double seconds)
{
	unsigned i;

	for (i = 0; i < e->nb_ports; i++)
		print_port(out, e, i, s, seconds);
	for (i = 0; i < e->plan->carriers; i++)
		print_carrier(out, e, i, &s->carriers[i], seconds);
}

void app_report_period(struct app_engine *e)
{
	struct app_sample *now = app_sample_take(e);
	struct app_sample *since = app_sample_since(e, now, e->last);
	uint64_t from = e->last ? e->last->at : e->began_at;

	fprintf(e->out, "%.1f s\n", (double)(now->at - e->began_at) / 1e9);
	print_all(e->out, e, since, (double)(now->at - from) / 1e9);
	fflush(e->out);
	free(since);
	free(e->last);
	e->last = now;
}

static void print_row(FILE *out, const char *first, const struct haul_io_stats *st)
{
	fprintf(out, "  %-28s %14" PRIu64 " %16" PRIu64 " %14" PRIu64 " %16" PRIu64 " %10" PRIu64,
		first, st->rx_packets, st->rx_bytes, st->tx_packets, st->tx_bytes,
		st->dropped[HAUL_DROP_NOT_FOR_US]);
	print_losses(out, st);
	fputc('\n', out);
}

void app_report_totals(struct app_engine *e, FILE *out)
{
	double seconds = (double)(e->ended_at - e->began_at) / 1e9;
	struct app_sample *s = app_sample_take(e);
	char first[64];
	unsigned i;

	fprintf(out, "total of %.1f s\n", seconds);
	fprintf(out, "  %-28s %14s %16s %14s %16s %10s  %s\n", "", "rx packets", "rx bytes",
		"tx packets", "tx bytes", "not for us", "lost");
	for (i = 0; i < e->nb_ports; i++) {
		snprintf(first, sizeof(first), "port %-2u %s", i, haul_port_spec(e->ports[i]));
		print_row(out, first, &s->ports[i]);
	}
	for (i = 0; i < e->plan->carriers; i++) {
		snprintf(first, sizeof(first), "carrier %u", i);
		print_row(out, first, &s->carriers[i].io);
	}
	fprintf(out, "mean\n");
	print_all(out, e, s, seconds);
	free(s);
}

void app_report_free(struct app_engine *e)
{
	free(e->last);
	e->last = NULL;
}
