/* SPDX-License-Identifier: BSD-3-Clause */
/* Statistics as text. */
#include "report/report.h"

#include <stdlib.h>

#include "report/capture.h"
#include "report/counters.h"
#include "report/latency.h"
#include "report/line.h"
#include "report/sample.h"

#define NAMES 28 /* columns of the name of a port */
#define INDENT 10 /* of lines that continue another one */
#define TOTALS 22 /* columns before the totals, which need 58 */

/* "port 0  null:": with a spec that is cut if the figures are to follow in the same line. */
static const char *port_name(
	char *buf, size_t len, const struct hauli_app *a, unsigned i, unsigned columns)
{
	char spec[HAULI_APP_COLUMNS];

	snprintf(buf, len, "  port %-2u %s", i,
		hauli_app_cut(spec, sizeof(spec), haul_port_spec(a->ports[i]), columns));
	return buf;
}

static const char *carrier_name(char *buf, size_t len, const struct hauli_app *a, unsigned c)
{
	int cpu = a->plan->places[c].cpu;

	if (cpu < 0)
		snprintf(buf, len, "  carrier %u floats", c);
	else
		snprintf(buf, len, "  carrier %u cpu %d", c, cpu);
	return buf;
}

static void add_flow(struct hauli_app_line *line, const char *what, uint64_t packets,
	uint64_t bytes, uint64_t uncounted, double seconds)
{
	char pps[16], bps[16];

	hauli_app_scaled(pps, (double)packets / seconds);
	if (uncounted == 0)
		hauli_app_line_add(line, "%s %6spps %6sbit/s", what, pps,
			hauli_app_scaled(bps, (double)bytes * 8 / seconds));
	else /* neither the PMD nor haul counts bytes */
		hauli_app_line_add(line, "%s %6spps %11s", what, pps, "-");
}

/* Packets that were received and not sent, in a line of their own, if there are any. */
static void print_unsent(FILE *out, const struct hauli_app *a, const struct haul_io_stats *st)
{
	struct hauli_app_loss losses[HAULI_APP_LOSSES];
	uint64_t consumed = st->dropped[HAUL_DROP_CONSUMED];
	uint64_t not_for_us = st->dropped[HAUL_DROP_NOT_FOR_US];
	unsigned n = hauli_app_losses(losses, a->pub.io, st);
	struct hauli_app_line line;

	if (n == 0 && consumed == 0 && not_for_us == 0)
		return;
	line = hauli_app_line(out, "", INDENT);
	if (consumed > 0)
		hauli_app_line_add(&line, "consumed %" PRIu64, consumed);
	if (not_for_us > 0)
		hauli_app_line_add(&line, "not for us %" PRIu64, not_for_us);
	for (unsigned i = 0; i < n; i++)
		hauli_app_line_add(&line, "%s%s %" PRIu64, i == 0 ? "lost: " : "", losses[i].name,
			losses[i].n);
	hauli_app_line_end(&line);
}

static void print_rates(
	FILE *out, const char *first, const struct haul_io_stats *st, double seconds)
{
	struct hauli_app_line line = hauli_app_line(out, first, NAMES);

	add_flow(&line, "rx", st->rx_packets, st->rx_bytes, st->rx_uncounted, seconds);
	add_flow(&line, "tx", st->tx_packets, st->tx_bytes, st->tx_uncounted, seconds);
	hauli_app_line_end(&line);
}

static void print_port(FILE *out, const struct hauli_app *a, unsigned i,
	const struct hauli_app_sample *s, double seconds)
{
	char first[64];

	print_rates(out, port_name(first, sizeof(first), a, i, NAMES - INDENT - 1), &s->ports[i],
		seconds);
}

/* "    queue 0", or "    queues 0, 2": those that the carrier polls. */
static void name_queues(
	char *name, size_t size, const struct hauli_app *a, unsigned port, unsigned carrier)
{
	struct haul_queue_stats st;
	char numbers[48] = "";
	unsigned n = 0;
	size_t len = 0;

	for (unsigned q = 0; haul_io_get_queue_stats(a->pub.io, port, q, &st); q++)
		if (st.carrier == carrier && len < sizeof(numbers))
			len += (size_t)snprintf(
				numbers + len, sizeof(numbers) - len, "%s%u", n++ ? ", " : "", q);
	snprintf(name, size, "    queue%s %s", n > 1 ? "s" : "", numbers);
}

static void print_queues(FILE *out, const struct hauli_app *a, unsigned i,
	const struct hauli_app_sample *s, double seconds)
{
	unsigned queues = haul_port_queues(a->ports[i]);
	char first[64];

	for (unsigned q = 0; queues > 1 && q < queues && haul_io_txq(a->pub.io, i, q); q++) {
		name_queues(first, sizeof(first), a, i, q);
		print_rates(out, first, &s->carriers[q].queues[i], seconds);
		print_unsent(out, a, &s->carriers[q].queues[i]);
	}
}

/* For pollers that wait. */
static void add_wait(
	struct hauli_app_line *line, const struct haul_io_wait_stats *st, double seconds)
{
	char sleeps[16];

	hauli_app_line_add(
		line, "sleeps %s/s", hauli_app_scaled(sleeps, (double)st->sleeps / seconds));
	hauli_app_line_add(line, "wake to handler p50 %.1f us p99 %.1f us",
		(double)haul_hist_quantile(&st->latency, 0.5) / 1e3,
		(double)haul_hist_quantile(&st->latency, 0.99) / 1e3);
}

static void add_share(struct hauli_app_line *line, const struct haul_io_share *s)
{
	double percent = 100 / (double)(s->work_ns + s->empty_ns + s->asleep_ns);

	hauli_app_line_add(line, "work %3.0f %%  empty polls %3.0f %%  asleep %3.0f %%",
		(double)s->work_ns * percent, (double)s->empty_ns * percent,
		(double)s->asleep_ns * percent);
}

static double percent_of_polls(const struct haul_io_stats *st, uint64_t n)
{
	return st->polls ? 100.0 * (double)n / (double)st->polls : 0.0;
}

static void add_handlers(struct hauli_app_line *line, const struct hauli_app_carrier_sample *s)
{
	hauli_app_line_add(line, "in flight %" PRIu64, s->io.in_flight);
	if (s->io.held_polls > 0)
		hauli_app_line_add(line, "at the limit in %.0f %% of polls",
			percent_of_polls(&s->io, s->io.held_polls));
	if (s->waits.longest_ns >= HAUL_MS)
		hauli_app_line_add(line, "longest wait %.3f s", (double)s->waits.longest_ns / 1e9);
}

static void print_carrier(FILE *out, const struct hauli_app *a, unsigned c,
	const struct hauli_app_carrier_sample *s, double seconds)
{
	char pps[16], polls[16], slices[16], stolen[16], rescued[16], placed[16];
	char first[40];
	struct hauli_app_line line =
		hauli_app_line(out, carrier_name(first, sizeof(first), a, c), 20);

	hauli_app_line_add(
		&line, "rx %6spps", hauli_app_scaled(pps, (double)s->io.rx_packets / seconds));
	hauli_app_line_add(&line, "polls %6s/s %3.0f %% empty",
		hauli_app_scaled(polls, (double)s->io.polls / seconds),
		percent_of_polls(&s->io, s->io.empty_polls));
	hauli_app_line_add(
		&line, "slices %6s/s", hauli_app_scaled(slices, (double)s->sched.slices / seconds));
	hauli_app_line_end(&line);
	line = hauli_app_line(out, "", 20);
	if (s->share.work_ns + s->share.empty_ns + s->share.asleep_ns > 0) /* it has a poller */
		add_share(&line, &s->share);
	if (s->sched.stolen > 0)
		hauli_app_line_add(&line, "stolen %s/s",
			hauli_app_scaled(stolen, (double)s->sched.stolen / seconds));
	if (s->sched.rescues > 0)
		hauli_app_line_add(&line, "rescued %s/s",
			hauli_app_scaled(rescued, (double)s->sched.rescues / seconds));
	if (s->sched.placed_yields > 0)
		hauli_app_line_add(&line, "placed yields %s/s",
			hauli_app_scaled(placed, (double)s->sched.placed_yields / seconds));
	if (s->wait.sleeps > 0)
		add_wait(&line, &s->wait, seconds);
	if (a->io_opts.on_packet)
		add_handlers(&line, s);
	hauli_app_line_end(&line);
	if (s->waits.longest_at[0]) {
		line = hauli_app_line(out, "", 20);
		hauli_app_line_add(&line, "it waits at %s", s->waits.longest_at);
		hauli_app_line_end(&line);
	}
}

static void print_carriers(
	FILE *out, const struct hauli_app *a, const struct hauli_app_sample *s, double seconds)
{
	for (unsigned i = 0; i < a->plan->carriers; i++)
		print_carrier(out, a, i, &s->carriers[i], seconds);
}

/* Packet buffers, if few are free: ports then receive nothing, while polls and handlers look well.
 * In use are those in receive rings, in flight, in transmit queues, and those that leaked. */
static void print_buffers(FILE *out, const struct hauli_app *a)
{
	unsigned size = a->pub.pool->size, in_use = rte_mempool_in_use_count(a->pub.pool);
	struct hauli_app_line line;

	if (in_use < size - size / 16)
		return;
	line = hauli_app_line(out, "  buffers", 20);
	hauli_app_line_add(&line, "%u of %u in use: ports may receive nothing", in_use, size);
	hauli_app_line_add(&line, "more --mbufs, or do handlers keep packets?");
	hauli_app_line_end(&line);
}

/* The program's own counters: rates. */
static void print_counters(
	FILE *out, const struct hauli_app *a, const struct hauli_app_sample *s, double seconds)
{
	const struct haul_app_counter *counter = a->hooks->counters;
	struct hauli_app_line line;
	char rate[16], first[64];
	unsigned i;

	if (hauli_app_counters(a) == 0)
		return;
	snprintf(first, sizeof(first), "  %s", a->pub.program->name);
	line = hauli_app_line(out, first, 20);
	for (i = 0; i < hauli_app_counters(a); i++, counter++) {
		uint64_t n = hauli_app_sample_counter(a, s, i);

		if (counter->gauge)
			hauli_app_line_add(&line, "%s %" PRIu64, counter->name, n);
		else
			hauli_app_line_add(&line, "%s %s/s", counter->name,
				hauli_app_scaled(rate, (double)n / seconds));
	}
	hauli_app_line_end(&line);
}

/* Totals in a line each, with those of the carriers. */
static void print_counted(FILE *out, const struct hauli_app *a, const struct hauli_app_sample *s)
{
	struct hauli_app_line line;
	char first[64];

	for (unsigned i = 0; i < hauli_app_counters(a); i++) {
		snprintf(first, sizeof(first), "  %s", a->hooks->counters[i].name);
		line = hauli_app_line(out, first, TOTALS);
		hauli_app_line_add(&line, "%13" PRIu64, hauli_app_sample_counter(a, s, i));
		for (unsigned c = 0; a->plan->carriers > 1 && c < a->plan->carriers; c++)
			hauli_app_line_add(
				&line, "carrier %u %" PRIu64, c, s->carriers[c].counters[i]);
		hauli_app_line_end(&line);
	}
}

static void print_period(FILE *out, struct hauli_app *a)
{
	struct hauli_app_sample *now = hauli_app_sample_take(a);
	struct hauli_app_sample *since = hauli_app_sample_since(a, now, a->last);
	double seconds = (double)(now->at - (a->last ? a->last->at : a->began_at)) / 1e9;

	fprintf(out, "%.1f s\n", (double)(now->at - a->began_at) / 1e9);
	for (unsigned i = 0; i < a->nb_ports; i++) {
		print_port(out, a, i, since, seconds);
		print_unsent(out, a, &since->ports[i]);
	}
	print_carriers(out, a, since, seconds);
	print_buffers(out, a);
	print_counters(out, a, since, seconds);
	if (a->hooks->report)
		a->hooks->report(&a->pub, out, false);
	free(since);
	free(a->last);
	a->last = now;
}

char *hauli_app_report_period(struct hauli_app *a, size_t *len)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, len);

	if (!out)
		abort();
	print_period(out, a);
	if (fclose(out) != 0)
		abort();
	return text;
}

static void print_flow(FILE *out, uint64_t packets, uint64_t bytes, uint64_t uncounted)
{
	if (uncounted == 0)
		fprintf(out, "%12" PRIu64 " %15" PRIu64, packets, bytes);
	else
		fprintf(out, "%12" PRIu64 " %15s", packets, "-");
}

static void print_row(
	FILE *out, const struct hauli_app *a, const char *first, const struct haul_io_stats *st)
{
	hauli_app_line(out, first, TOTALS);
	fputc(' ', out);
	print_flow(out, st->rx_packets, st->rx_bytes, st->rx_uncounted);
	fputc(' ', out);
	print_flow(out, st->tx_packets, st->tx_bytes, st->tx_uncounted);
	fputc('\n', out);
	print_unsent(out, a, st);
}

void hauli_app_report_totals(struct hauli_app *a, FILE *out)
{
	double seconds = (double)(a->ended_at - a->began_at) / 1e9;
	struct hauli_app_sample *s = hauli_app_sample_take(a);
	char first[HAULI_APP_COLUMNS + 1];
	unsigned i;

	fprintf(out, "total of %.1f s\n", seconds);
	fprintf(out, "%*s%13s %15s %12s %15s\n", TOTALS, "", "rx packets", "rx bytes", "tx packets",
		"tx bytes");
	for (i = 0; i < a->nb_ports; i++)
		print_row(out, a, port_name(first, sizeof(first), a, i, HAULI_APP_COLUMNS - INDENT),
			&s->ports[i]);
	for (i = 0; i < a->plan->carriers; i++)
		print_row(out, a, carrier_name(first, sizeof(first), a, i), &s->carriers[i].io);
	print_counted(out, a, s);
	hauli_app_capture_report(a, out);
	fprintf(out, "mean\n");
	for (i = 0; i < a->nb_ports; i++) {
		print_port(out, a, i, s, seconds);
		print_queues(out, a, i, s, seconds);
	}
	print_carriers(out, a, s, seconds);
	hauli_latency_print(a, out);
	if (a->hooks->report)
		a->hooks->report(&a->pub, out, true);
	free(s);
}

void hauli_app_report_free(struct hauli_app *a)
{
	free(a->last);
	a->last = NULL;
}
