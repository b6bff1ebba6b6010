/* SPDX-License-Identifier: BSD-3-Clause */
/* The values of one answer are of one sample. */
#include "telemetry/figures.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <haul/version.h>

#include "report/counters.h"
#include "report/sample.h"
#include "report/trace.h"
#include "telemetry/answer.h"
#include "telemetry/control.h"

#define RECENT_NS HAUL_S /* `recent` shares are of the last second or two */

static void set(struct haul_app_json *to, const char *key, uint64_t n)
{
	haul_app_json_number(to, key, (int64_t)n);
}

static void set_choice(struct haul_app_json *to, const char *key, const char *choices, unsigned i)
{
	char name[64];

	haul_app_json_text(to, key, haul_app_choice(name, sizeof(name), choices, i));
}

/* The carriers' shares of time, a second apart, the older ones first. By the main thread, while no
 * reader is inside, and under the lock: others than readers read there. */
static struct {
	pthread_mutex_t lock;
	uint64_t at;
	unsigned carriers;
	struct haul_io_share *shares[2]; /* [carriers]; NULL: none yet */
} recent = {.lock = PTHREAD_MUTEX_INITIALIZER};

void hauli_figures_remember(const struct hauli_app *a)
{
	const uint64_t now = haul_now();
	struct haul_io_share *shares;

	if (recent.shares[1] && now - recent.at < RECENT_NS)
		return;
	shares = calloc(a->plan->carriers, sizeof(shares[0]));
	if (!shares)
		return;
	for (unsigned c = 0; c < a->plan->carriers; c++)
		haul_io_get_share(a->pub.io, c, &shares[c]);
	pthread_mutex_lock(&recent.lock);
	free(recent.shares[0]);
	recent.shares[0] = recent.shares[1];
	recent.shares[1] = shares;
	recent.carriers = a->plan->carriers;
	recent.at = now;
	pthread_mutex_unlock(&recent.lock);
}

void hauli_figures_forget(void)
{
	pthread_mutex_lock(&recent.lock);
	for (unsigned i = 0; i < 2; i++) {
		free(recent.shares[i]);
		recent.shares[i] = NULL;
	}
	pthread_mutex_unlock(&recent.lock);
}

bool hauli_figures_share(unsigned carrier, struct haul_io_share *share)
{
	bool known;

	pthread_mutex_lock(&recent.lock);
	known = recent.shares[1] && carrier < recent.carriers;
	if (known)
		*share = recent.shares[1][carrier];
	pthread_mutex_unlock(&recent.lock);
	return known;
}

static void answer_info(struct hauli_answer *answer)
{
	const struct hauli_app *a = answer->app;
	struct haul_app_json *to = answer->values;

	haul_app_json_text(to, "program", answer->program->name);
	haul_app_json_text(to, "haul", haul_version());
	set(to, "pid", (uint64_t)getpid());
	set(to, "carriers", haul_carriers(answer->rt));
	set(to, "now_ns", haul_now());
	if (!a)
		return;
	set(to, "ports", a->nb_ports);
	set(to, "uptime_ns", haul_now() - a->began_at);
	set(to, "paused", a->paused);
	set(to, "buffers", a->pub.pool->size);
	set(to, "buffers_in_use", rte_mempool_in_use_count(a->pub.pool));
}

static void set_packets(struct haul_app_json *to, const struct haul_io_stats *st)
{
	set(to, "rx_packets", st->rx_packets);
	set(to, "rx_bytes", st->rx_bytes);
	set(to, "tx_packets", st->tx_packets);
	set(to, "tx_bytes", st->tx_bytes);
}

/* Times of a reader that was preempted between them may seem to go back. */
static uint64_t more(uint64_t now, uint64_t base)
{
	return now > base ? now - base : 0;
}

/* Of the time since `base`; all of it without one. */
static void set_recent(
	struct haul_app_json *to, const struct haul_io_share *now, const struct haul_io_share *base)
{
	const struct haul_io_share none = {0};
	uint64_t work, empty, asleep, all;

	base = base ? base : &none;
	work = more(now->work_ns, base->work_ns);
	empty = more(now->empty_ns, base->empty_ns);
	asleep = more(now->asleep_ns, base->asleep_ns);
	all = work + empty + asleep;
	set(to, "recent_ns", all);
	set(to, "recent_work_permille", all > 0 ? work * 1000 / all : 0);
	set(to, "recent_empty_permille", all > 0 ? empty * 1000 / all : 0);
	set(to, "recent_asleep_permille", all > 0 ? asleep * 1000 / all : 0);
}

static void set_share(struct haul_app_json *to, const struct hauli_app_sample *s, unsigned carrier)
{
	const struct haul_io_share *share = &s->carriers[carrier].share,
				   *base = recent.shares[recent.shares[0] ? 0 : 1];

	set(to, "work_ns", share->work_ns);
	set(to, "empty_ns", share->empty_ns);
	set(to, "asleep_ns", share->asleep_ns);
	set_recent(to, share, base ? &base[carrier] : NULL);
}

static void set_carrier(struct haul_app_json *to, const struct hauli_app *a, unsigned c,
	const struct hauli_app_sample *sample)
{
	const struct hauli_app_carrier_sample *s = &sample->carriers[c];

	haul_app_json_number(to, "cpu", a->plan->places[c].cpu);
	set(to, "cluster", a->plan->places[c].cluster);
	set(to, "in_use", haul_io_is_used(a->pub.io, c));
	set_share(to, sample, c);
	set_packets(to, &s->io);
	set(to, "polls", s->io.polls);
	set(to, "empty_polls", s->io.empty_polls);
	set(to, "held_polls", s->io.held_polls);
	set(to, "in_flight", s->io.in_flight);
	set(to, "slices", s->sched.slices);
	set(to, "stolen", s->sched.stolen);
	set(to, "long_slices", s->sched.long_slices);
	set(to, "foreign_waits", s->sched.foreign_waits);
	set(to, "rescues", s->sched.rescues);
	set(to, "placed_yields", s->sched.placed_yields);
}

static void answer_carriers(struct hauli_answer *answer)
{
	struct hauli_app_sample *s;
	unsigned first;

	if (!hauli_answer_number(answer, "carrier", answer->app->plan->carriers, &first))
		return;
	answer->first = first;
	s = hauli_app_sample_counters(answer->app);
	for (unsigned c = 0; c < answer->app->plan->carriers; c++)
		set_carrier(haul_app_json_object(answer->list, NULL), answer->app, c, s);
	free(s);
}

static void set_counters(
	struct haul_app_json *to, const struct hauli_app *a, const uint64_t *counters)
{
	for (unsigned i = 0; i < hauli_app_counters(a); i++)
		set(to, a->hooks->counters[i].name, counters[i]);
}

static void answer_carrier(struct hauli_answer *answer)
{
	const struct hauli_app *a = answer->app;
	struct haul_app_json *to = answer->values;
	struct hauli_app_carrier_sample *s;
	struct hauli_app_sample *all;
	unsigned c;

	if (!hauli_answer_number(answer, "carrier", a->plan->carriers, &c))
		return;
	all = hauli_app_sample_counters(a);
	s = &all->carriers[c];
	set_carrier(to, a, c, all);
	set(to, "tx_queued", s->io.tx_queued);
	set(to, "rounds", s->sched.rounds);
	set(to, "spawned", s->sched.spawned);
	set(to, "ended", s->sched.ended);
	set(to, "messages", s->sched.messages);
	set(to, "wakeups", s->sched.wakeups);
	set(to, "parks", s->sched.parks);
	set(to, "steals_failed", s->sched.steals_failed);
	set(to, "searches", s->sched.searches);
	set(to, "hibernations", s->sched.hibernations);
	set(to, "thaws", s->sched.thaws);
	set(to, "sleeps", s->wait.sleeps);
	set(to, "wakes", s->wait.wakes);
	set(to, "slept_ns", s->wait.slept_ns);
	set(to, "wake_p50_ns", haul_hist_quantile(&s->wait.latency, 0.5));
	set(to, "wake_p99_ns", haul_hist_quantile(&s->wait.latency, 0.99));
	if (a->hooks->counters)
		set_counters(haul_app_json_object(to, "counters"), a, s->counters);
	free(all);
}

/* All reasons of haul and the program, also those of which there are none. */
static void set_drops(
	struct haul_app_json *to, const struct hauli_app *a, const struct haul_io_stats *st)
{
	for (unsigned i = 0; i < HAUL_DROP_REASONS; i++) {
		const char *name = haul_io_drop_name(a->pub.io, (enum haul_drop)i);

		if (name)
			set(to, name, st->dropped[i]);
	}
	set(to, "rx_missed", st->rx_missed);
	set(to, "rx_nombuf", st->rx_nombuf);
	set(to, "rx_errors", st->rx_errors);
	set(to, "tx_errors", st->tx_errors);
}

static void set_port(struct haul_app_json *to, const struct hauli_app *a, unsigned i,
	const struct hauli_app_sample *s)
{
	const struct haul_io_stats *st = &s->ports[i];
	uint64_t dropped = 0;

	for (unsigned k = 0; k < HAUL_DROP_REASONS; k++)
		dropped += k == HAUL_DROP_CONSUMED ? 0 : st->dropped[k];
	haul_app_json_text(to, "spec", haul_port_spec(a->ports[i]));
	set(to, "attached", haul_io_is_attached(a->pub.io, i));
	set_packets(to, st);
	set(to, "uncounted", st->rx_uncounted + st->tx_uncounted);
	set(to, "dropped", dropped);
	set(to, "rx_missed", st->rx_missed);
	set(to, "rx_nombuf", st->rx_nombuf);
	set(to, "rx_errors", st->rx_errors);
	set(to, "tx_errors", st->tx_errors);
}

/* Only with --overload. */
static void set_overload(struct haul_app_json *to, const struct hauli_app *a, unsigned port)
{
	struct haul_overload_stats st;

	if (a->io_opts.overload.target_ns == 0)
		return;
	haul_io_get_overload(a->pub.io, port, HAUL_ALL, &st);
	set(to, "late", st.is_late);
	set(to, "late_episodes", st.episodes);
	set(to, "late_ns", st.late_ns);
	set(to, "late_first", st.first);
	set(to, "late_other", st.other);
	set(to, "late_demoted", st.demoted);
}

static void answer_ports(struct hauli_answer *answer)
{
	struct hauli_app_sample *s;
	unsigned first;

	if (!hauli_answer_number(answer, "port", answer->app->nb_ports, &first))
		return;
	answer->first = first;
	s = hauli_app_sample_counters(answer->app);
	for (unsigned i = 0; i < answer->app->nb_ports; i++)
		set_port(haul_app_json_object(answer->list, NULL), answer->app, i, s);
	free(s);
}

static void add_queues(struct haul_app_json *list, const struct hauli_app *a, unsigned port)
{
	char policy[HAULI_POLICY_TEXT];
	struct haul_queue_stats st;

	for (unsigned q = 0; haul_io_get_queue_stats(a->pub.io, port, q, &st); q++) {
		struct haul_app_json *to = haul_app_json_object(list, NULL);

		set(to, "port", port);
		set(to, "queue", q);
		set(to, "carrier", st.carrier);
		set(to, "rx_packets", st.rx_packets);
		set(to, "polls", st.polls);
		set(to, "empty_polls", st.empty_polls);
		haul_app_json_text(to, "poller", hauli_policy_text(policy, &st.policy));
	}
}

static void answer_port(struct hauli_answer *answer)
{
	struct hauli_app_sample *s;
	unsigned i;

	if (!hauli_answer_number(answer, "port", answer->app->nb_ports, &i))
		return;
	s = hauli_app_sample_counters(answer->app);
	set_port(answer->values, answer->app, i, s);
	set(answer->values, "in_flight", s->ports[i].in_flight);
	set(answer->values, "tx_queued", s->ports[i].tx_queued);
	set_overload(answer->values, answer->app, i);
	set_drops(haul_app_json_object(answer->values, "drops"), answer->app, &s->ports[i]);
	add_queues(answer->list, answer->app, i);
	free(s);
}

/* A list over all ports, from the number on that is asked for. */
static void answer_of_ports(struct hauli_answer *answer, const char *what,
	void (*add)(struct haul_app_json *list, const struct hauli_app *a, unsigned port))
{
	unsigned first;

	if (!hauli_answer_number(answer, what, 1000000, &first))
		return;
	answer->first = first;
	for (unsigned i = 0; i < answer->app->nb_ports; i++)
		add(answer->list, answer->app, i);
}

static void answer_queues(struct hauli_answer *answer)
{
	answer_of_ports(answer, "queue", add_queues);
}

static void add_buckets(struct haul_app_json *list, const struct hauli_app *a, unsigned port)
{
	unsigned n = haul_io_buckets(a->pub.io, port);
	struct haul_bucket_stats st;

	for (unsigned b = 0; b < n; b++) {
		struct haul_app_json *to;

		if (!haul_io_get_bucket_stats(a->pub.io, port, b, &st))
			continue;
		to = haul_app_json_object(list, NULL);
		set(to, "port", port);
		set(to, "bucket", b);
		set(to, "queue", st.queue);
		set(to, "carrier", st.carrier);
		if (st.counted)
			set(to, "rx_packets", st.rx_packets);
	}
}

static void answer_buckets(struct hauli_answer *answer)
{
	answer_of_ports(answer, "bucket", add_buckets);
}

static void answer_drops(struct hauli_answer *answer)
{
	const struct hauli_app *a = answer->app;
	struct hauli_app_sample *s;
	unsigned first;

	if (!hauli_answer_number(answer, "port", a->nb_ports, &first))
		return;
	answer->first = first;
	s = hauli_app_sample_counters(answer->app);
	for (unsigned i = 0; i < a->nb_ports; i++)
		set_drops(haul_app_json_object(answer->list, NULL), a, &s->ports[i]);
	free(s);
}

static void set_stage(struct haul_app_json *to, const struct haul_hist *h)
{
	set(to, "count", haul_hist_count(h));
	set(to, "p50_ns", haul_hist_quantile(h, 0.5));
	set(to, "p90_ns", haul_hist_quantile(h, 0.9));
	set(to, "p99_ns", haul_hist_quantile(h, 0.99));
	set(to, "p999_ns", haul_hist_quantile(h, 0.999));
	set(to, "max_ns", haul_hist_max(h));
}

#define TOGETHER 8 /* buckets of a histogram that are one in an answer: 4 for a power of two */

/* Under the last value of each bucket that is not empty. */
static void set_buckets(struct haul_app_json *to, const struct haul_hist *h)
{
	char last[24];

	for (unsigned b = 0; b < HAUL_HIST_BUCKETS; b += TOGETHER) {
		uint64_t n = 0;

		for (unsigned i = b; i < b + TOGETHER; i++)
			n += h->counts[i];
		snprintf(last, sizeof(last), "%" PRIu64, haul_hist_bucket_last(b + TOGETHER - 1));
		if (n > 0)
			set(to, last, n);
	}
}

static void answer_stages(
	struct hauli_answer *answer, void (*fn)(struct haul_app_json *, const struct haul_hist *))
{
	const struct hauli_app *a = answer->app;
	struct hauli_app_sample *s;
	unsigned first;

	if (!hauli_answer_number(answer, "port", a->nb_ports, &first))
		return;
	if (!a->io_opts.times) {
		hauli_answer_fails(answer, "not recorded: start the program with --times");
		return;
	}
	answer->first = first;
	s = hauli_app_sample_counters(answer->app);
	for (unsigned i = 0; i < a->nb_ports; i++) {
		struct haul_app_json *to = haul_app_json_object(answer->list, NULL);

		for (unsigned stage = 0; stage < HAUL_STAGES; stage++)
			fn(haul_app_json_object(to, haul_stage_name((enum haul_stage)stage)),
				hauli_app_sample_times(a, s, i, (enum haul_stage)stage));
	}
	free(s);
}

static void answer_latency(struct hauli_answer *answer)
{
	answer_stages(answer, set_stage);
}

static void answer_latency_buckets(struct hauli_answer *answer)
{
	answer_stages(answer, set_buckets);
}

static void answer_policies(struct hauli_answer *answer)
{
	const struct hauli_app *a = answer->app;
	struct haul_app_json *to = answer->values;

	haul_app_json_text(to, "poller", a->poller_text);
	set_choice(to, "steal", HAULI_STEAL_NAMES, a->steal);
	set(to, "steals", a->steal != HAUL_STEAL_OFF && !a->no_thefts);
	set_choice(to, "order", HAULI_ORDER_NAMES, a->send_order);
	set_choice(to, "spread", HAULI_SPREAD_NAMES, a->spread);
	set(to, "burst", a->io_opts.burst);
	set(to, "max_in_flight", a->io_opts.max_in_flight);
	set(to, "paused", a->paused);
	set(to, "control", a->telemetry_control);
}

static void answer_counters(struct hauli_answer *answer)
{
	const struct hauli_app *a = answer->app;
	struct hauli_app_sample *s;
	unsigned first;

	if (!hauli_answer_number(answer, "carrier", a->plan->carriers, &first))
		return;
	answer->first = first;
	s = hauli_app_sample_counters(answer->app);
	for (unsigned i = 0; i < hauli_app_counters(a); i++)
		set(answer->values, a->hooks->counters[i].name, hauli_app_sample_counter(a, s, i));
	for (unsigned c = 0; c < a->plan->carriers; c++)
		set_counters(haul_app_json_object(answer->list, NULL), a, s->carriers[c].counters);
	free(s);
}

/* The path is that of the program's command line: a client chooses no file. Another thread writes
 * it, since a reader is to be short. */
static void answer_trace(struct hauli_answer *answer)
{
	const char *path = hauli_app_trace_ask();

	if (path)
		haul_app_json_text(answer->values, "file", path);
	else
		hauli_answer_fails(answer, "there is no timeline: it needs --trace");
}

const struct hauli_telemetry_command hauli_commands_of_ports[] = {
	{"/haul/info", "The program and its runtime. Takes no parameters", HAULI_NEEDS_RUNTIME,
		answer_info},
	{"/haul/buckets", "Buckets of flows. Parameters: int first_bucket", HAULI_NEEDS_PORTS,
		answer_buckets},
	{"/haul/carrier", "All about a carrier. Parameters: int carrier", HAULI_NEEDS_PORTS,
		answer_carrier},
	{"/haul/carriers", "What carriers do. Parameters: int first_carrier", HAULI_NEEDS_PORTS,
		answer_carriers},
	{"/haul/counters", "The program's counters. Parameters: int first_carrier",
		HAULI_NEEDS_PORTS, answer_counters},
	{"/haul/drops", "Lost packets by reason. Parameters: int first_port", HAULI_NEEDS_PORTS,
		answer_drops},
	{"/haul/latency", "Times of packets by stage. Parameters: int first_port",
		HAULI_NEEDS_PORTS, answer_latency},
	{"/haul/latency_buckets", "Histograms of these times. Parameters: int first_port",
		HAULI_NEEDS_PORTS, answer_latency_buckets},
	{"/haul/policies", "What pollers do, stealing. Takes no parameters", HAULI_NEEDS_PORTS,
		answer_policies},
	{"/haul/port", "All about a port. Parameters: int port", HAULI_NEEDS_PORTS, answer_port},
	{"/haul/ports", "Packets of ports. Parameters: int first_port", HAULI_NEEDS_PORTS,
		answer_ports},
	{"/haul/queues", "Receive queues. Parameters: int first_queue", HAULI_NEEDS_PORTS,
		answer_queues},
	{"/haul/trace", "Writes the timeline to its file. Takes no parameters", HAULI_NEEDS_RUNTIME,
		answer_trace},
	{NULL},
};
