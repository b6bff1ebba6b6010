/* SPDX-License-Identifier: BSD-3-Clause */
/* Statistics as one JSON object. */
#include <stdlib.h>

#include "report.h"
#include "sample.h"
#include "text.h"

static void set(json_t *object, const char *key, uint64_t n)
{
	json_object_set_new(object, key, json_integer((json_int_t)n));
}

void app_report_choice(json_t *object, const char *key, const char *choices, unsigned i)
{
	char name[64];

	json_object_set_new(
		object, key, json_string(app_choice_name(name, sizeof(name), choices, i)));
}

static json_t *drops(const struct haul_io_stats *st)
{
	json_t *object = json_object();
	unsigned i;

	for (i = 0; i < HAUL_DROP_REASONS; i++)
		set(object, haul_drop_name((enum haul_drop)i), st->dropped[i]);
	set(object, "rx_missed", st->rx_missed);
	set(object, "rx_nombuf", st->rx_nombuf);
	set(object, "rx_errors", st->rx_errors);
	set(object, "tx_errors", st->tx_errors);
	return object;
}

static json_t *queue(unsigned q, const struct haul_io_stats *st)
{
	json_t *object = json_object();

	set(object, "carrier", q);
	set(object, "rx_packets", st->rx_packets);
	set(object, "rx_bytes", st->rx_bytes);
	set(object, "tx_packets", st->tx_packets);
	set(object, "tx_bytes", st->tx_bytes);
	set(object, "polls", st->polls);
	set(object, "empty_polls", st->empty_polls);
	return object;
}

/* The queues of port i, one for each carrier that has one. */
static json_t *queues(const struct app_engine *e, unsigned i, const struct app_sample *s)
{
	json_t *array = json_array();
	unsigned q;

	for (q = 0; q < haul_port_queues(e->ports[i]) && haul_io_txq(e->io, i, q); q++)
		json_array_append_new(array, queue(q, &s->carriers[q].queues[i]));
	return array;
}

static json_t *port(const struct app_engine *e, unsigned i, const struct app_sample *s)
{
	const struct haul_io_stats *st = &s->ports[i];
	json_t *object = json_object();

	json_object_set_new(object, "spec", app_json_text(haul_port_spec(e->ports[i])));
	set(object, "rx_packets", st->rx_packets);
	set(object, "rx_bytes", st->rx_bytes);
	set(object, "tx_packets", st->tx_packets);
	set(object, "tx_bytes", st->tx_bytes);
	/* Some PMDs count no bytes, and haul may not count them either (count_bytes). */
	json_object_set_new(object, "bytes_known",
		json_boolean((st->rx_bytes > 0 || st->rx_packets == 0) &&
			(st->tx_bytes > 0 || st->tx_packets == 0)));
	json_object_set_new(object, "dropped", drops(st));
	json_object_set_new(object, "queues", queues(e, i, s));
	return object;
}

static void set_latency(json_t *object, const struct haul_io_wait_stats *st)
{
	set(object, "wake_p50_ns", haul_io_latency_ns(st, 0.5));
	set(object, "wake_p99_ns", haul_io_latency_ns(st, 0.99));
}

static json_t *carrier(const struct app_engine *e, unsigned c, const struct app_carrier_sample *s)
{
	json_t *object = json_object();

	set(object, "id", c);
	json_object_set_new(object, "cpu", json_integer(e->plan->places[c].cpu));
	set(object, "cluster", e->plan->places[c].cluster);
	set(object, "rounds", s->sched.rounds);
	set(object, "slices", s->sched.slices);
	set(object, "spawned", s->sched.spawned);
	set(object, "parks", s->sched.parks);
	set(object, "stolen", s->sched.stolen);
	set(object, "searches", s->sched.searches);
	set(object, "sleeps", s->wait.sleeps);
	set(object, "wakes", s->wait.wakes);
	set(object, "slept_ns", s->wait.slept_ns);
	set_latency(object, &s->wait);
	set(object, "rx_packets", s->io.rx_packets);
	set(object, "rx_bytes", s->io.rx_bytes);
	set(object, "tx_packets", s->io.tx_packets);
	set(object, "tx_bytes", s->io.tx_bytes);
	set(object, "polls", s->io.polls);
	set(object, "empty_polls", s->io.empty_polls);
	return object;
}

/* The policy as text, because the text includes the time. */
static void set_poller(json_t *object, const struct app_engine *e)
{
	struct haul_io_wait_stats all;

	haul_io_get_wait_stats(e->io, -1, &all);
	json_object_set_new(object, "poller", json_string(e->poller_text));
	app_report_choice(object, "steal", APP_STEAL_NAMES, e->steal);
	app_report_choice(object, "order", APP_ORDER_NAMES, e->send_order);
	app_report_choice(object, "spread", APP_SPREAD_NAMES, e->spread);
	set_latency(object, &all);
}

void app_report_json(struct app_engine *e, json_t *object)
{
	struct app_sample *s = app_sample_take(e);
	json_t *ports = json_array();
	json_t *carriers = json_array();
	unsigned i;

	for (i = 0; i < e->nb_ports; i++)
		json_array_append_new(ports, port(e, i, s));
	for (i = 0; i < e->plan->carriers; i++)
		json_array_append_new(carriers, carrier(e, i, &s->carriers[i]));
	json_object_set_new(
		object, "seconds", json_real((double)(e->ended_at - e->began_at) / 1e9));
	set_poller(object, e);
	json_object_set_new(object, "ports", ports);
	json_object_set_new(object, "carriers", carriers);
	free(s);
}
