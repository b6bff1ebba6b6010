/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/report_json.h"

#include <stdlib.h>

#include "process/balance.h"
#include "report/cancelled.h"
#include "report/capture.h"
#include "report/counters.h"
#include "report/latency.h"
#include "report/sample.h"

static void set(struct haul_app_json *to, const char *key, uint64_t n)
{
	haul_app_json_number(to, key, (int64_t)n);
}

static void set_choice(struct haul_app_json *to, const char *key, const char *choices, unsigned i)
{
	char name[64];

	haul_app_json_text(to, key, haul_app_choice(name, sizeof(name), choices, i));
}

static void set_drops(
	struct haul_app_json *to, const struct hauli_app *a, const struct haul_io_stats *st)
{
	const char *name;

	for (unsigned i = 0; i < HAUL_DROP_REASONS; i++) {
		name = haul_io_drop_name(a->pub.io, (enum haul_drop)i);
		if (!name && st->dropped[i] > 0)
			name = haul_drop_name((enum haul_drop)i);
		if (name)
			set(to, name, st->dropped[i]);
	}
	set(to, "rx_missed", st->rx_missed);
	set(to, "rx_nombuf", st->rx_nombuf);
	set(to, "rx_errors", st->rx_errors);
	set(to, "tx_errors", st->tx_errors);
}

static void set_packets(struct haul_app_json *to, const struct haul_io_stats *st)
{
	set(to, "rx_packets", st->rx_packets);
	set(to, "rx_bytes", st->rx_bytes);
	set(to, "tx_packets", st->tx_packets);
	set(to, "tx_bytes", st->tx_bytes);
}

static void set_polls(struct haul_app_json *to, const struct haul_io_stats *st)
{
	set(to, "polls", st->polls);
	set(to, "empty_polls", st->empty_polls);
}

/* The receive queues of port i that a carrier polls. */
static void add_rx_queues(
	struct haul_app_json *to, const struct hauli_app *a, unsigned i, unsigned carrier)
{
	struct haul_queue_stats st;

	for (unsigned q = 0; haul_io_get_queue_stats(a->pub.io, i, q, &st); q++) {
		struct haul_app_json *queue;

		if (st.carrier != carrier)
			continue;
		queue = haul_app_json_object(to, NULL);
		set(queue, "queue", q);
		set(queue, "rx_packets", st.rx_packets);
	}
}

/* The queues of port i, one for each carrier that has one. */
static void add_queues(struct haul_app_json *to, const struct hauli_app *a, unsigned i,
	const struct hauli_app_sample *s)
{
	for (unsigned q = 0; q < haul_port_queues(a->ports[i]); q++) {
		struct haul_app_json *queue;

		if (!haul_io_txq(a->pub.io, i, q))
			break;
		queue = haul_app_json_object(to, NULL);
		set(queue, "carrier", q);
		add_rx_queues(haul_app_json_array(queue, "rx_queues"), a, i, q);
		set_packets(queue, &s->carriers[q].queues[i]);
		set_polls(queue, &s->carriers[q].queues[i]);
	}
}

/* Only with --overload. */
static void set_overload(struct haul_app_json *port, const struct hauli_app *a, unsigned i)
{
	struct haul_overload_stats st;
	struct haul_app_json *to;

	if (a->io_opts.overload.target_ns == 0)
		return;
	haul_io_get_overload(a->pub.io, i, HAUL_ALL, &st);
	to = haul_app_json_object(port, "overload");
	set(to, "episodes", st.episodes);
	set(to, "late_ns", st.late_ns);
	set(to, "first", st.first);
	set(to, "other", st.other);
	set(to, "demoted", st.demoted);
}

static void add_port(struct haul_app_json *ports, const struct hauli_app *a, unsigned i,
	const struct hauli_app_sample *s)
{
	const struct haul_io_stats *st = &s->ports[i];
	struct haul_app_json *port = haul_app_json_object(ports, NULL);

	haul_app_json_text(port, "spec", haul_port_spec(a->ports[i]));
	set_packets(port, st);
	/* Some PMDs count no bytes, and haul may not count them either (count_bytes). */
	haul_app_json_bool(port, "bytes_known", st->rx_uncounted == 0 && st->tx_uncounted == 0);
	set_drops(haul_app_json_object(port, "dropped"), a, st);
	set_overload(port, a, i);
	add_queues(haul_app_json_array(port, "queues"), a, i, s);
	hauli_latency_json(a, i, port);
}

static void set_latency(struct haul_app_json *to, const struct haul_io_wait_stats *st)
{
	set(to, "wake_p50_ns", haul_hist_quantile(&st->latency, 0.5));
	set(to, "wake_p99_ns", haul_hist_quantile(&st->latency, 0.99));
}

/* Adds work, empty and asleep as shares of the time elapsed, 0 to 1. */
static void set_share(struct haul_app_json *to, const struct haul_io_share *s)
{
	double all = (double)(s->work_ns + s->empty_ns + s->asleep_ns);

	haul_app_json_real(to, "work", all > 0 ? (double)s->work_ns / all : 0);
	haul_app_json_real(to, "empty", all > 0 ? (double)s->empty_ns / all : 0);
	haul_app_json_real(to, "asleep", all > 0 ? (double)s->asleep_ns / all : 0);
}

static void set_times(struct haul_app_json *to, const struct haul_io_share *s)
{
	set(to, "work_ns", s->work_ns);
	set(to, "empty_ns", s->empty_ns);
	set(to, "asleep_ns", s->asleep_ns);
}

static void set_counters(
	struct haul_app_json *to, const struct hauli_app *a, const uint64_t *counters)
{
	for (unsigned i = 0; i < hauli_app_counters(a); i++)
		set(to, a->hooks->counters[i].name, counters[i]);
}

static void add_carrier(struct haul_app_json *carriers, const struct hauli_app *a, unsigned c,
	const struct hauli_app_carrier_sample *s)
{
	struct haul_app_json *carrier = haul_app_json_object(carriers, NULL);

	set(carrier, "id", c);
	haul_app_json_number(carrier, "cpu", a->plan->places[c].cpu);
	set(carrier, "cluster", a->plan->places[c].cluster);
	set(carrier, "rounds", s->sched.rounds);
	set(carrier, "slices", s->sched.slices);
	set(carrier, "spawned", s->sched.spawned);
	set(carrier, "parks", s->sched.parks);
	set(carrier, "stolen", s->sched.stolen);
	set(carrier, "searches", s->sched.searches);
	set(carrier, "long_slices", s->sched.long_slices);
	set(carrier, "foreign_waits", s->sched.foreign_waits);
	set(carrier, "rescues", s->sched.rescues);
	set(carrier, "placed_yields", s->sched.placed_yields);
	set(carrier, "sleeps", s->wait.sleeps);
	set(carrier, "wakes", s->wait.wakes);
	set(carrier, "slept_ns", s->wait.slept_ns);
	set_latency(carrier, &s->wait);
	set_packets(carrier, &s->io);
	set_polls(carrier, &s->io);
	set(carrier, "in_flight", s->io.in_flight);
	set(carrier, "held_polls", s->io.held_polls);
	set(carrier, "waiting", s->waits.handlers);
	set(carrier, "longest_wait_ns", s->waits.longest_ns);
	if (s->waits.longest_at[0])
		haul_app_json_text(carrier, "longest_wait_at", s->waits.longest_at);
	set_share(haul_app_json_object(carrier, "share"), &s->share);
	set_times(carrier, &s->share);
	if (a->hooks->counters)
		set_counters(haul_app_json_object(carrier, "counters"), a, s->counters);
}

static void set_balance(struct haul_app_json *to)
{
	struct haul_app_json *object;
	unsigned in_use;
	uint64_t moves;

	if (!hauli_app_balance_done(&moves, &in_use))
		return;
	object = haul_app_json_object(to, "balance");
	set(object, "moves", moves);
	set(object, "carriers_in_use", in_use);
}

/* The policy as text, because the text includes the time. */
static void set_poller(struct haul_app_json *to, const struct hauli_app *a)
{
	struct haul_io_wait_stats all;

	haul_io_get_wait_stats(a->pub.io, HAUL_ALL, &all);
	haul_app_json_text(to, "poller", a->poller_text);
	set_choice(to, "steal", HAULI_STEAL_NAMES, a->steal);
	set_choice(to, "order", HAULI_ORDER_NAMES, a->send_order);
	set_choice(to, "spread", HAULI_SPREAD_NAMES, a->spread);
	set_latency(to, &all);
	set_balance(to);
}

static void set_sums(
	struct haul_app_json *to, const struct hauli_app *a, const struct hauli_app_sample *s)
{
	uint64_t sums[HAUL_APP_COUNTERS_MAX] = {0};

	for (unsigned c = 0; c < a->plan->carriers; c++)
		for (unsigned i = 0; i < hauli_app_counters(a); i++)
			sums[i] += s->carriers[c].counters[i];
	set_counters(to, a, sums);
}

void hauli_app_report_json(struct hauli_app *a, struct haul_app_json *object)
{
	struct hauli_app_sample *s = hauli_app_sample_take(a);
	struct haul_app_json *ports, *carriers, *buffers;
	unsigned i;

	haul_app_json_real(object, "seconds",
		(double)((a->ended_at ? a->ended_at : haul_now()) - a->began_at) / 1e9);
	set_poller(object, a);
	if (a->hooks->counters)
		set_sums(haul_app_json_object(object, "counters"), a, s);
	buffers = haul_app_json_object(object, "buffers");
	set(buffers, "size", a->pub.pool->size);
	set(buffers, "in_use", rte_mempool_in_use_count(a->pub.pool));
	hauli_app_cancelled_json(a, object);
	hauli_app_capture_json(a, object);
	ports = haul_app_json_array(object, "ports");
	for (i = 0; i < a->nb_ports; i++)
		add_port(ports, a, i, s);
	carriers = haul_app_json_array(object, "carriers");
	for (i = 0; i < a->plan->carriers; i++)
		add_carrier(carriers, a, i, &s->carriers[i]);
	free(s);
}

void haul_app_json_figures(struct haul_app *app, struct haul_app_json *object)
{
	hauli_app_report_json(&hauli_app_state, object);
}
