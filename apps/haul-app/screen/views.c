/* SPDX-License-Identifier: BSD-3-Clause */
#include "screen/views.h"

#include <string.h>

#include "report/counters.h"
#include "report/line.h"

#define PORT 26 /* columns of the name of a port */
#define CARRIER 14

static double rate(const struct hauli_app_figures *f, uint64_t n)
{
	return f->seconds > 0 ? (double)n / f->seconds : 0;
}

/* A figure at the right end of a column. */
static void put_figure(
	struct hauli_app_canvas *c, enum hauli_app_style style, int columns, double n)
{
	char text[16];
	int len = (int)strlen(hauli_app_scaled(text, n));

	while (len > 0 && text[len - 1] == ' ')
		len--;
	if (n > 0)
		hauli_app_canvas_put(c, style, "%*.*s", columns, len, text);
	else
		hauli_app_canvas_put(c, HAULI_APP_DIM, "%*s", columns, "0");
}

static void put_scaled(struct hauli_app_canvas *c, int columns, double n)
{
	put_figure(c, HAULI_APP_PLAIN, columns, n);
}

static void put_port(struct hauli_app_canvas *c, const struct hauli_app_figures *f, unsigned port)
{
	char spec[PORT];

	hauli_app_canvas_line(c);
	hauli_app_canvas_put(c, HAULI_APP_PLAIN, "%2u %-*s", port, PORT - 3,
		hauli_app_cut(spec, sizeof(spec), haul_port_spec(f->a->ports[port]), PORT - 4));
}

static void put_carrier(
	struct hauli_app_canvas *c, const struct hauli_app_figures *f, unsigned carrier)
{
	int cpu = f->a->plan->places[carrier].cpu;
	char where[16];

	snprintf(where, sizeof(where), cpu < 0 ? "floats" : "cpu %d", cpu);
	hauli_app_canvas_line(c);
	hauli_app_canvas_put(c, HAULI_APP_PLAIN, "%3u %-*s", carrier, CARRIER - 4, where);
}

static uint64_t lost(const struct hauli_app_figures *f, const struct haul_io_stats *st)
{
	struct hauli_app_loss losses[HAULI_APP_LOSSES];
	unsigned nb = hauli_app_losses(losses, f->a->pub.io, st);
	uint64_t n = 0;

	for (unsigned i = 0; i < nb; i++)
		n += losses[i].n;
	return n;
}

/* Bytes are unknown if neither the PMD nor haul counts them. */
static void put_bits(struct hauli_app_canvas *c, int columns, const struct hauli_app_figures *f,
	uint64_t bytes, uint64_t uncounted)
{
	if (uncounted > 0)
		hauli_app_canvas_put(c, HAULI_APP_DIM, "%*s", columns, "-");
	else
		put_scaled(c, columns, rate(f, bytes) * 8);
}

static void draw_port_rates(struct hauli_app_canvas *c, const struct hauli_app_figures *f)
{
	hauli_app_canvas_line(c);
	hauli_app_canvas_put(c, HAULI_APP_BOLD, "%-*s%10s%10s%10s%10s%10s", PORT, " # port",
		"rx pps", "rx bit/s", "tx pps", "tx bit/s", "lost/s");
	for (unsigned i = 0; i < f->a->nb_ports; i++) {
		const struct haul_io_stats *st = &f->period->ports[i];

		put_port(c, f, i);
		put_scaled(c, 10, rate(f, st->rx_packets));
		put_bits(c, 10, f, st->rx_bytes, st->rx_uncounted);
		put_scaled(c, 10, rate(f, st->tx_packets));
		put_bits(c, 10, f, st->tx_bytes, st->tx_uncounted);
		put_figure(c, HAULI_APP_BAD, 10, rate(f, lost(f, st)));
	}
}

static struct hauli_app_shares shares_of(const struct haul_io_share *s)
{
	double all = (double)(s->work_ns + s->empty_ns + s->asleep_ns);

	if (all == 0)
		return (struct hauli_app_shares){0};
	return (struct hauli_app_shares){
		(double)s->work_ns / all, (double)s->empty_ns / all, (double)s->asleep_ns / all};
}

static void put_polled(struct hauli_app_canvas *c, int columns, const struct haul_io_stats *st)
{
	uint64_t polls = st->polls - st->empty_polls;

	if (polls > 0)
		hauli_app_canvas_put(c, HAULI_APP_PLAIN, "%*.1f", columns,
			(double)st->rx_packets / (double)polls);
	else
		hauli_app_canvas_put(c, HAULI_APP_DIM, "%*s", columns, "-");
}

/* Handlers that have waited for long, if there are any. */
static void draw_waits(struct hauli_app_canvas *c, const struct hauli_app_figures *f)
{
	for (unsigned i = 0; i < f->a->plan->carriers; i++) {
		const struct haul_io_waits *w = &f->period->carriers[i].waits;

		if (!w->longest_at[0])
			continue;
		hauli_app_canvas_line(c);
		hauli_app_canvas_put(c, HAULI_APP_BAD,
			"%3u %" PRIu64 " handlers wait, one for %.0f s at %s", i, w->handlers,
			(double)w->longest_ns / 1e9, w->longest_at);
	}
}

static void draw_shares(struct hauli_app_canvas *c, const struct hauli_app_figures *f)
{
	hauli_app_canvas_line(c);
	hauli_app_canvas_put(c, HAULI_APP_BOLD, "  # carrier  %26s", "");
	hauli_app_canvas_put(c, HAULI_APP_WORK, "   work");
	hauli_app_canvas_put(c, HAULI_APP_DIM, "  empty");
	hauli_app_canvas_put(c, HAULI_APP_ASLEEP, " asleep");
	hauli_app_canvas_put(c, HAULI_APP_BOLD, "%9s%10s", "rx pps", "pkt/poll");
	for (unsigned i = 0; i < f->a->plan->carriers; i++) {
		const struct hauli_app_carrier_sample *s = &f->period->carriers[i];
		const struct hauli_app_shares shares = shares_of(&s->share);

		put_carrier(c, f, i);
		hauli_app_canvas_shares(c, 25, &shares);
		hauli_app_canvas_put(c, HAULI_APP_PLAIN, "%5.0f %%%5.0f %%%5.0f %%",
			shares.work * 100, shares.empty * 100, shares.asleep * 100);
		put_scaled(c, 9, rate(f, s->io.rx_packets));
		put_polled(c, 10, &s->io);
	}
	draw_waits(c, f);
}

/* The program's own counters. */
static void draw_counters(struct hauli_app_canvas *c, const struct hauli_app_figures *f)
{
	const struct haul_app_counter *counter = f->a->hooks->counters;
	char text[16];

	if (hauli_app_counters(f->a) == 0)
		return;
	hauli_app_canvas_line(c);
	hauli_app_canvas_line(c);
	hauli_app_canvas_put(
		c, HAULI_APP_BOLD, "   %-28s%16s%20s", "counter", "per second", "total");
	for (unsigned i = 0; i < hauli_app_counters(f->a); i++, counter++) {
		bool gauge = counter->gauge;
		uint64_t now = hauli_app_sample_counter(f->a, f->period, i);

		hauli_app_canvas_line(c);
		hauli_app_canvas_put(c, HAULI_APP_PLAIN, "   %-28s", counter->name);
		hauli_app_canvas_put(c, HAULI_APP_PLAIN, "%16s%20" PRIu64,
			gauge ? "" : hauli_app_scaled(text, rate(f, now)),
			gauge ? now : hauli_app_sample_counter(f->a, f->total, i));
	}
}

/* The lines of the program's report(). */
static void draw_text(struct hauli_app_canvas *c, const char *text)
{
	hauli_app_canvas_line(c);
	while (*text) {
		int len = (int)strcspn(text, "\n");

		hauli_app_canvas_line(c);
		hauli_app_canvas_put(c, HAULI_APP_PLAIN, "%.*s", len, text);
		text += len + (text[len] == '\n');
	}
}

static void draw_overview(struct hauli_app_canvas *c, const struct hauli_app_figures *f)
{
	draw_port_rates(c, f);
	hauli_app_canvas_line(c);
	draw_shares(c, f);
	draw_counters(c, f);
	if (f->text && f->text[0])
		draw_text(c, f->text);
}

static void put_packets(struct hauli_app_canvas *c, const struct hauli_app_figures *f,
	const struct haul_io_stats *period, const struct haul_io_stats *total)
{
	put_scaled(c, 9, rate(f, period->rx_packets));
	hauli_app_canvas_put(c, HAULI_APP_PLAIN, "%14" PRIu64 " ", total->rx_packets);
	put_scaled(c, 9, rate(f, period->tx_packets));
	hauli_app_canvas_put(c, HAULI_APP_PLAIN, "%14" PRIu64, total->tx_packets);
}

static void draw_ports(struct hauli_app_canvas *c, const struct hauli_app_figures *f)
{
	hauli_app_canvas_line(c);
	hauli_app_canvas_put(c, HAULI_APP_BOLD, "%-*s%9s%14s %9s%14s%7s", PORT, " # port", "rx pps",
		"rx packets", "tx pps", "tx packets", "lost");
	for (unsigned i = 0; i < f->a->nb_ports; i++) {
		unsigned queues = haul_port_queues(f->a->ports[i]);
		/* If there are more than carriers, a carrier polls several. */
		const char *part = queues > f->a->plan->carriers ? "carrier" : "queue";

		put_port(c, f, i);
		put_packets(c, f, &f->period->ports[i], &f->total->ports[i]);
		put_figure(c, HAULI_APP_BAD, 7, (double)lost(f, &f->total->ports[i]));
		for (unsigned q = 0; queues > 1 && q < queues && haul_io_txq(f->a->pub.io, i, q);
			q++) {
			hauli_app_canvas_line(c);
			hauli_app_canvas_put(c, HAULI_APP_DIM, "   %s %-*u", part,
				PORT - 4 - (int)strlen(part), q);
			put_packets(c, f, &f->period->carriers[q].queues[i],
				&f->total->carriers[q].queues[i]);
		}
	}
}

/* Of long slices, of all carriers together. */
static void draw_long(struct hauli_app_canvas *c, const struct hauli_app_figures *f)
{
	uint64_t rescues = 0, placed = 0;

	for (unsigned i = 0; i < f->a->plan->carriers; i++) {
		rescues += f->period->carriers[i].sched.rescues;
		placed += f->period->carriers[i].sched.placed_yields;
	}
	if (rescues == 0 && placed == 0)
		return;
	hauli_app_canvas_line(c);
	hauli_app_canvas_put(c, HAULI_APP_DIM, "%-*s", CARRIER, "  long slices");
	put_scaled(c, 9, rate(f, rescues));
	hauli_app_canvas_put(c, HAULI_APP_DIM, " rescued/s");
	put_scaled(c, 10, rate(f, placed));
	hauli_app_canvas_put(c, HAULI_APP_DIM, " placed yields/s");
}

static void draw_carriers(struct hauli_app_canvas *c, const struct hauli_app_figures *f)
{
	hauli_app_canvas_line(c);
	hauli_app_canvas_put(c, HAULI_APP_BOLD, "%-*s%9s%10s%9s%10s%10s%9s%9s", CARRIER,
		"  # carrier", "rx pps", "pkt/poll", "handlers", "tx queue", "slices/s", "stolen/s",
		"wakes/s");
	for (unsigned i = 0; i < f->a->plan->carriers; i++) {
		const struct hauli_app_carrier_sample *s = &f->period->carriers[i];

		put_carrier(c, f, i);
		put_scaled(c, 9, rate(f, s->io.rx_packets));
		put_polled(c, 10, &s->io);
		hauli_app_canvas_put(c, HAULI_APP_PLAIN, "%9" PRIu64 "%10" PRIu64, s->io.in_flight,
			s->io.tx_queued);
		put_scaled(c, 10, rate(f, s->sched.slices));
		put_scaled(c, 9, rate(f, s->sched.stolen));
		put_scaled(c, 9, rate(f, s->wait.wakes));
	}
	draw_long(c, f);
	draw_waits(c, f);
}

#define LATENCY 24 /* columns before percentiles */

static void put_latency_heading(struct hauli_app_canvas *c, const char *what)
{
	hauli_app_canvas_line(c);
	hauli_app_canvas_put(c, HAULI_APP_BOLD, "%-*s%12s%9s%9s%9s%8s%8s", LATENCY, what, "count",
		"p50", "p90", "p99", "p99.9", "max");
}

/* Microseconds; without a decimal if they are many. */
static void put_us(struct hauli_app_canvas *c, int columns, uint64_t ns)
{
	hauli_app_canvas_put(
		c, HAULI_APP_PLAIN, "%*.*f", columns, ns < 10 * HAUL_MS ? 1 : 0, (double)ns / 1e3);
}

static void put_latency(struct hauli_app_canvas *c, const struct haul_hist *h)
{
	hauli_app_canvas_put(c, HAULI_APP_PLAIN, "%12" PRIu64, haul_hist_count(h));
	put_us(c, 9, haul_hist_quantile(h, 0.5));
	put_us(c, 9, haul_hist_quantile(h, 0.9));
	put_us(c, 9, haul_hist_quantile(h, 0.99));
	put_us(c, 8, haul_hist_quantile(h, 0.999));
	put_us(c, 8, haul_hist_max(h));
}

static void draw_stages(
	struct hauli_app_canvas *c, const struct hauli_app_figures *f, unsigned port)
{
	for (unsigned i = 0; i < HAUL_STAGES; i++) {
		enum haul_stage stage = (enum haul_stage)i;

		hauli_app_canvas_line(c);
		hauli_app_canvas_put(
			c, HAULI_APP_PLAIN, "%3u %-*s", port, LATENCY - 4, haul_stage_name(stage));
		put_latency(c, hauli_app_sample_times(f->a, f->total, port, stage));
	}
}

static void draw_latency(struct hauli_app_canvas *c, const struct hauli_app_figures *f)
{
	put_latency_heading(c, "  # wake to handler, us");
	for (unsigned i = 0; i < f->a->plan->carriers; i++) {
		put_carrier(c, f, i);
		hauli_app_canvas_put(c, HAULI_APP_PLAIN, "%*s", LATENCY - CARRIER, "");
		put_latency(c, &f->total->carriers[i].wait.latency);
	}
	hauli_app_canvas_line(c);
	if (!f->a->io_opts.times) {
		hauli_app_canvas_line(c);
		hauli_app_canvas_put(
			c, HAULI_APP_DIM, "    --times records the stages of packets' time, too");
		return;
	}
	put_latency_heading(c, "  # port, stage, us");
	for (unsigned i = 0; i < f->a->nb_ports; i++)
		draw_stages(c, f, i);
}

static void put_reason(
	struct hauli_app_canvas *c, enum hauli_app_style style, const char *name, uint64_t total)
{
	hauli_app_canvas_line(c);
	hauli_app_canvas_put(c, style, "   %-28s%16" PRIu64, name, total);
}

static void draw_drops(struct hauli_app_canvas *c, const struct hauli_app_figures *f)
{
	struct hauli_app_loss losses[HAULI_APP_LOSSES];

	hauli_app_canvas_line(c);
	hauli_app_canvas_put(c, HAULI_APP_BOLD, "   %-28s%16s", "port, reason", "packets");
	for (unsigned i = 0; i < f->a->nb_ports; i++) {
		const struct haul_io_stats *st = &f->total->ports[i];
		unsigned nb = hauli_app_losses(losses, f->a->pub.io, st);

		put_port(c, f, i);
		for (unsigned k = 0; k < nb; k++)
			put_reason(c, HAULI_APP_BAD, losses[k].name, losses[k].n);
		put_reason(
			c, HAULI_APP_DIM, "not for us, no loss", st->dropped[HAUL_DROP_NOT_FOR_US]);
		put_reason(c, HAULI_APP_DIM, "consumed, no loss", st->dropped[HAUL_DROP_CONSUMED]);
	}
}

static void draw_keys(struct hauli_app_canvas *c, const struct hauli_app_figures *f)
{
	static const char *const keys[] = {
		"tab          the next view",
		"up, down     scroll, also by k and j, PgUp and PgDn",
		"space        freeze the figures; again: go on",
		"r            count packets, drops and latencies from now on",
		"q            end the program, as Ctrl-C does",
		"Ctrl-Z       stop it; fg continues",
		"",
		"work         time in handlers, and in polls that found packets",
		"empty        time in polls that found none",
		"pkt/poll     packets per poll that found some",
		"handlers     coroutines that have not ended",
		"tx queue     packets that wait for room in the NIC",
		"wakes/s      sleeps that packets or other threads ended",
	};
	const struct hauli_app_view *view;
	unsigned i;

	for (i = 0; (view = hauli_app_view(i)) != NULL; i++) {
		hauli_app_canvas_line(c);
		hauli_app_canvas_put(c, HAULI_APP_PLAIN, "  %c, %c         %s", view->letter,
			view->digit, view->name);
	}
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		hauli_app_canvas_line(c);
		hauli_app_canvas_put(c, HAULI_APP_PLAIN, "  %s", keys[i]);
	}
}

static const struct hauli_app_view views[] = {
	{'1', 'o', "overview", draw_overview},
	{'2', 'p', "ports", draw_ports},
	{'3', 'c', "carriers", draw_carriers},
	{'4', 'l', "latency", draw_latency},
	{'5', 'd', "drops", draw_drops},
	{'?', 'h', "help", draw_keys},
};

const struct hauli_app_view *hauli_app_view(unsigned i)
{
	return i < sizeof(views) / sizeof(views[0]) ? &views[i] : NULL;
}
