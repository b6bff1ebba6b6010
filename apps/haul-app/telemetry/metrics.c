/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names follow OpenMetrics: base units, which are also in the name, and `_total` for what only
 * grows. Figures of one scrape are of one sample.
 */
#include "telemetry/metrics.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <haul/look.h>
#include <haul/version.h>

#include "process/readers.h"
#include "report/counters.h"
#include "report/sample.h"
#include "telemetry/command.h"

#define GROUPS 64 /* names of coroutines: each is a series, which the scraper keeps */
#define CAUSES 64
#define FINEST 6 /* the first bucket of a histogram ends at 2^6 - 1 ns, the last at 2^36 - 1 */
#define COARSEST 36

enum kind { COUNTER, GAUGE, HISTOGRAM };

struct page {
	FILE *out;
	enum hauli_metrics_format format;
	const char *family; /* the present one */
	enum kind kind;
};

/* Begins the metrics of a name. unit: "", or the last word of the name. */
static void begin(
	struct page *p, enum kind kind, const char *name, const char *unit, const char *help)
{
	static const char *const kinds[] = {"counter", "gauge", "histogram"};
	const bool open = p->format == HAULI_METRICS_OPENMETRICS;
	const char *total = kind == COUNTER && !open ? "_total" : "";

	p->family = name;
	p->kind = kind;
	fprintf(p->out, "# HELP %s%s %s\n# TYPE %s%s %s\n", name, total, help, name, total,
		kinds[kind]);
	if (open && unit[0])
		fprintf(p->out, "# UNIT %s %s\n", name, unit);
}

/* The name and labels of a value; NULL: it has none. */
__attribute__((format(printf, 2, 0))) static void name_value(
	struct page *p, const char *labels, va_list ap)
{
	fprintf(p->out, "%s%s", p->family, p->kind == COUNTER ? "_total" : "");
	if (!labels)
		return;
	fputc('{', p->out);
	vfprintf(p->out, labels, ap);
	fputc('}', p->out);
}

__attribute__((format(printf, 3, 4))) static void value(
	struct page *p, uint64_t n, const char *labels, ...)
{
	va_list ap;

	va_start(ap, labels);
	name_value(p, labels, ap);
	va_end(ap);
	fprintf(p->out, " %" PRIu64 "\n", n);
}

__attribute__((format(printf, 3, 4))) static void seconds(
	struct page *p, uint64_t ns, const char *labels, ...)
{
	va_list ap;

	va_start(ap, labels);
	name_value(p, labels, ap);
	va_end(ap);
	fprintf(p->out, " %" PRIu64 ".%09" PRIu64 "\n", ns / HAUL_S, ns % HAUL_S);
}

/* A text as the value of a label. Returns buf. */
static const char *quoted(char *buf, size_t len, const char *text)
{
	size_t n = 0;

	for (; *text && n + 2 < len; text++) {
		if (*text == '"' || *text == '\\')
			buf[n++] = '\\';
		buf[n++] = *text >= ' ' && *text <= '~' ? *text : '?';
	}
	buf[n] = '\0';
	return buf;
}

static void add_program(struct page *p, const struct hauli_answer *about)
{
	char name[64];

	begin(p, GAUGE, "haul_build_info", "", "The program and the version of haul.");
	value(p, 1, "program=\"%s\",version=\"%s\"",
		quoted(name, sizeof(name), about->program->name), haul_version());
}

/* Of each carrier, without ports. */
static const struct {
	const char *name, *help;
	size_t at;
} sched[] = {
	{"haul_carrier_slices", "Resumptions of coroutines.",
		offsetof(struct haul_carrier_stats, slices)},
	{"haul_carrier_spawned_coroutines", "Coroutines spawned with this home.",
		offsetof(struct haul_carrier_stats, spawned)},
	{"haul_carrier_ended_coroutines", "Ended coroutines of this home.",
		offsetof(struct haul_carrier_stats, ended)},
	{"haul_carrier_stolen_coroutines", "Coroutines stolen from other carriers.",
		offsetof(struct haul_carrier_stats, stolen)},
	{"haul_carrier_wakeups", "Calls of other threads that woke it from sleep.",
		offsetof(struct haul_carrier_stats, wakeups)},
	{"haul_carrier_long_slices", "Slices and cycles of pollers found too long.",
		offsetof(struct haul_carrier_stats, long_slices)},
	{"haul_carrier_foreign_waits", "Slices that kept the thread in a system call.",
		offsetof(struct haul_carrier_stats, foreign_waits)},
	{"haul_carrier_rescues", "Slices left behind, while another thread served the carrier.",
		offsetof(struct haul_carrier_stats, rescues)},
	{"haul_carrier_placed_yields", "Yields that the compiler had placed.",
		offsetof(struct haul_carrier_stats, placed_yields)},
};

static void add_sched(struct page *p, struct haul_runtime *rt)
{
	struct haul_carrier_stats st;

	for (size_t k = 0; k < sizeof(sched) / sizeof(sched[0]); k++) {
		begin(p, COUNTER, sched[k].name, "", sched[k].help);
		for (unsigned i = 0; i < haul_carriers(rt); i++) {
			haul_carrier_get_stats(haul_carrier(rt, i), &st);
			value(p, *(const uint64_t *)((const char *)&st + sched[k].at),
				"carrier=\"%u\"", i);
		}
	}
}

static void add_states(struct page *p, const struct haul_look *l)
{
	const struct {
		const char *state;
		uint64_t n;
	} states[] = {
		{"ready", l->all.ready},
		{"parked", l->all.parked},
		{"sleeping", l->all.sleeping},
		{"joining", l->all.joining},
		{"blocked", l->all.blocked},
		{"ordered", l->all.ordered},
		{"unjoined", l->all.unjoined},
	};

	begin(p, GAUGE, "haul_coroutines", "", "Coroutines by what they do.");
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		value(p, states[i].n, "state=\"%s\"", states[i].state);
	begin(p, GAUGE, "haul_timers", "", "Waits that end at a deadline.");
	value(p, l->all.timers, NULL);
	begin(p, GAUGE, "haul_longest_wait_seconds", "seconds", "The age of the oldest wait.");
	seconds(p, l->all.longest_ns, NULL);
}

static void add_names(struct page *p, const struct haul_look *l)
{
	char name[2 * HAUL_LOOK_TEXT];

	begin(p, GAUGE, "haul_named_coroutines", "", "Coroutines by name, ready and waiting ones.");
	for (unsigned i = 0; i < l->nb_groups; i++) {
		const struct haul_look_group *g = &l->groups[i];

		quoted(name, sizeof(name), g->name);
		value(p, g->counts.ready, "name=\"%s\",state=\"ready\"", name);
		value(p, g->counts.waiting, "name=\"%s\",state=\"waiting\"", name);
	}
	begin(p, GAUGE, "haul_named_longest_wait_seconds", "seconds",
		"The age of the oldest wait by the name of the coroutine.");
	for (unsigned i = 0; i < l->nb_groups; i++)
		seconds(p, l->groups[i].counts.longest_ns, "name=\"%s\"",
			quoted(name, sizeof(name), l->groups[i].name));
}

static void add_causes(struct page *p, const struct haul_look *l)
{
	char what[2 * HAUL_LOOK_TEXT];

	begin(p, GAUGE, "haul_waiting_coroutines", "",
		"Coroutines that wait by what they wait for.");
	for (unsigned i = 0; i < l->nb_causes; i++)
		value(p, l->causes[i].waiting, "cause=\"%s\"",
			quoted(what, sizeof(what), l->causes[i].what));
	begin(p, GAUGE, "haul_waiting_longest_seconds", "seconds",
		"The age of the oldest wait by what it is for.");
	for (unsigned i = 0; i < l->nb_causes; i++)
		seconds(p, l->causes[i].longest_ns, "cause=\"%s\"",
			quoted(what, sizeof(what), l->causes[i].what));
}

static void add_coroutines(struct page *p, struct haul_runtime *rt)
{
	struct haul_look_cause causes[CAUSES];
	struct haul_look l = {.groups = calloc(GROUPS, sizeof(l.groups[0])),
		.groups_max = GROUPS,
		.causes = causes,
		.causes_max = CAUSES};

	if (!l.groups)
		abort();
	haul_look(rt, &l);
	add_states(p, &l);
	add_names(p, &l);
	add_causes(p, &l);
	free(l.groups);
}

/* A look of its own: one look reads a bounded number of names and waits. */
static void add_locks(struct page *p, struct haul_runtime *rt)
{
	struct haul_look_wait oldest = {0};
	struct haul_look l = {.waits = &oldest, .waits_max = 1, .which = HAUL_LOOK_MUTEXES};

	haul_look(rt, &l);
	begin(p, GAUGE, "haul_longest_mutex_wait_seconds", "seconds",
		"The age of the oldest wait for a mutex.");
	seconds(p, oldest.ns, NULL);
}

static void add_shares(struct page *p, const struct hauli_app *a, const struct hauli_app_sample *s)
{
	begin(p, COUNTER, "haul_carrier_seconds", "seconds",
		"Time of the poller's carrier: work, polls that found nothing, sleep.");
	for (unsigned c = 0; c < a->plan->carriers; c++) {
		const struct haul_io_share *share = &s->carriers[c].share;

		seconds(p, share->work_ns, "carrier=\"%u\",state=\"work\"", c);
		seconds(p, share->empty_ns, "carrier=\"%u\",state=\"empty\"", c);
		seconds(p, share->asleep_ns, "carrier=\"%u\",state=\"asleep\"", c);
	}
}

static void add_carriers(
	struct page *p, const struct hauli_app *a, const struct hauli_app_sample *s)
{
	const unsigned n = a->plan->carriers;

	add_shares(p, a, s);
	begin(p, COUNTER, "haul_carrier_polls", "", "Polls of receive queues.");
	for (unsigned c = 0; c < n; c++)
		value(p, s->carriers[c].io.polls, "carrier=\"%u\"", c);
	begin(p, COUNTER, "haul_carrier_empty_polls", "", "Polls that found nothing.");
	for (unsigned c = 0; c < n; c++)
		value(p, s->carriers[c].io.empty_polls, "carrier=\"%u\"", c);
	begin(p, COUNTER, "haul_carrier_held_polls", "",
		"Polls that received nothing because too many handlers had not ended.");
	for (unsigned c = 0; c < n; c++)
		value(p, s->carriers[c].io.held_polls, "carrier=\"%u\"", c);
	begin(p, COUNTER, "haul_carrier_sleeps", "", "Waits of the poller.");
	for (unsigned c = 0; c < n; c++)
		value(p, s->carriers[c].wait.sleeps, "carrier=\"%u\"", c);
	begin(p, GAUGE, "haul_carrier_handlers_in_flight", "", "Handlers that have not ended.");
	for (unsigned c = 0; c < n; c++)
		value(p, s->carriers[c].io.in_flight, "carrier=\"%u\"", c);
}

static const struct {
	const char *name, *unit, *help;
	size_t at;
} of_port[] = {
	{"haul_port_received_packets", "", "Packets received.",
		offsetof(struct haul_io_stats, rx_packets)},
	{"haul_port_received_bytes", "bytes", "Bytes of the packets whose bytes are counted.",
		offsetof(struct haul_io_stats, rx_bytes)},
	{"haul_port_sent_packets", "", "Packets passed to the NIC.",
		offsetof(struct haul_io_stats, tx_packets)},
	{"haul_port_sent_bytes", "bytes", "Bytes of the packets whose bytes are counted.",
		offsetof(struct haul_io_stats, tx_bytes)},
};

static void add_drops(
	struct page *p, const struct hauli_app *a, unsigned i, const struct haul_io_stats *st)
{
	const struct {
		const char *name;
		uint64_t n;
	} below[] = {
		{"rx_missed", st->rx_missed},
		{"rx_nombuf", st->rx_nombuf},
		{"rx_errors", st->rx_errors},
		{"tx_errors", st->tx_errors},
	};
	char reason[64];

	for (unsigned k = 0; k < HAUL_DROP_REASONS; k++) {
		const char *name = haul_io_drop_name(a->pub.io, (enum haul_drop)k);

		if (name)
			value(p, st->dropped[k], "port=\"%u\",reason=\"%s\"", i,
				quoted(reason, sizeof(reason), name));
	}
	for (size_t k = 0; k < sizeof(below) / sizeof(below[0]); k++)
		value(p, below[k].n, "port=\"%u\",reason=\"%s\"", i, below[k].name);
}

static void add_ports(struct page *p, const struct hauli_app *a, const struct hauli_app_sample *s)
{
	char spec[128];

	begin(p, GAUGE, "haul_port_info", "", "Ports and what they are.");
	for (unsigned i = 0; i < a->nb_ports; i++)
		value(p, 1, "port=\"%u\",spec=\"%s\"", i,
			quoted(spec, sizeof(spec), haul_port_spec(a->ports[i])));
	begin(p, GAUGE, "haul_port_attached", "",
		"1: the port has its device; 0: it was lost or detached, or is empty.");
	for (unsigned i = 0; i < a->nb_ports; i++)
		value(p, haul_io_is_attached(a->pub.io, i), "port=\"%u\"", i);
	for (size_t k = 0; k < sizeof(of_port) / sizeof(of_port[0]); k++) {
		begin(p, COUNTER, of_port[k].name, of_port[k].unit, of_port[k].help);
		for (unsigned i = 0; i < a->nb_ports; i++)
			value(p, *(const uint64_t *)((const char *)&s->ports[i] + of_port[k].at),
				"port=\"%u\"", i);
	}
	begin(p, COUNTER, "haul_port_dropped_packets", "",
		"Packets by the reason of their end; those of reason consumed are no loss.");
	for (unsigned i = 0; i < a->nb_ports; i++)
		add_drops(p, a, i, &s->ports[i]);
}

/* Only with --overload. */
static void add_overload(struct page *p, const struct hauli_app *a)
{
	struct haul_overload_stats st[HAUL_APP_PORTS_MAX];

	if (a->io_opts.overload.target_ns == 0)
		return;
	for (unsigned i = 0; i < a->nb_ports; i++)
		haul_io_get_overload(a->pub.io, i, HAUL_ALL, &st[i]);
	begin(p, GAUGE, "haul_port_late", "", "1: handlers cannot serve what a queue receives.");
	for (unsigned i = 0; i < a->nb_ports; i++)
		value(p, st[i].is_late, "port=\"%u\"", i);
	begin(p, COUNTER, "haul_port_late_seconds", "seconds",
		"Time for which queues were late, each counted.");
	for (unsigned i = 0; i < a->nb_ports; i++)
		seconds(p, st[i].late_ns, "port=\"%u\"", i);
	begin(p, COUNTER, "haul_port_late_packets", "",
		"Packets that late queues received, by class; demoted: of class first, handled as "
		"others.");
	for (unsigned i = 0; i < a->nb_ports; i++) {
		value(p, st[i].first, "port=\"%u\",class=\"first\"", i);
		value(p, st[i].other, "port=\"%u\",class=\"other\"", i);
		value(p, st[i].demoted, "port=\"%u\",class=\"demoted\"", i);
	}
}

static void add_queues(struct page *p, const struct hauli_app *a)
{
	struct haul_queue_stats st;

	begin(p, COUNTER, "haul_queue_received_packets", "", "Packets of receive queues.");
	for (unsigned i = 0; i < a->nb_ports; i++)
		for (unsigned q = 0; haul_io_get_queue_stats(a->pub.io, i, q, &st); q++)
			value(p, st.rx_packets, "port=\"%u\",queue=\"%u\",carrier=\"%u\"", i, q,
				st.carrier);
}

static void add_buffers(struct page *p, const struct hauli_app *a)
{
	begin(p, GAUGE, "haul_buffers", "", "Packet buffers of the pool.");
	value(p, a->pub.pool->size, NULL);
	begin(p, GAUGE, "haul_buffers_in_use", "", "Packet buffers in use, those in caches too.");
	value(p, rte_mempool_in_use_count(a->pub.pool), NULL);
}

/* Buckets end at powers of two, less 1 ns: there haul's own buckets end, so counts are exact. The
 * sum is of the middles of haul's buckets, to 1.6 %. */
static void add_histogram(
	struct page *p, const struct haul_hist *h, unsigned port, const char *stage)
{
	uint64_t n = 0, first = 0;
	unsigned power = FINEST;
	double sum = 0;

	for (unsigned b = 0; b < HAUL_HIST_BUCKETS; b++) {
		uint64_t last = haul_hist_bucket_last(b), count = h->counts[b];

		for (; power <= COARSEST && last >= UINT64_C(1) << power; power++)
			fprintf(p->out,
				"%s_bucket{port=\"%u\",stage=\"%s\",le=\"%.12g\"} %" PRIu64 "\n",
				p->family, port, stage, (double)((UINT64_C(1) << power) - 1) / 1e9,
				n);
		n += count;
		sum += (double)count * ((double)first + (double)last) / 2;
		first = last + 1;
	}
	fprintf(p->out,
		"%s_bucket{port=\"%u\",stage=\"%s\",le=\"+Inf\"} %" PRIu64 "\n"
		"%s_sum{port=\"%u\",stage=\"%s\"} %.9g\n"
		"%s_count{port=\"%u\",stage=\"%s\"} %" PRIu64 "\n",
		p->family, port, stage, n, p->family, port, stage, sum / 1e9, p->family, port,
		stage, n);
}

static void add_times(struct page *p, const struct hauli_app *a, const struct hauli_app_sample *s)
{
	if (!a->io_opts.times)
		return;
	begin(p, HISTOGRAM, "haul_packet_seconds", "seconds",
		"Times of packets in a stage: arrival, start, handler, transmit.");
	for (unsigned i = 0; i < a->nb_ports; i++)
		for (unsigned k = 0; k < HAUL_STAGES; k++)
			add_histogram(p, hauli_app_sample_times(a, s, i, (enum haul_stage)k), i,
				haul_stage_name((enum haul_stage)k));
}

/* Those of the program. */
static void add_counters(
	struct page *p, const struct hauli_app *a, const struct hauli_app_sample *s)
{
	for (unsigned i = 0; i < hauli_app_counters(a); i++) {
		const struct haul_app_counter *counter = &a->hooks->counters[i];
		char name[128];

		snprintf(name, sizeof(name), "haul_program_%s", counter->name);
		begin(p, counter->gauge ? GAUGE : COUNTER, name, "", "A figure of the program.");
		for (unsigned c = 0; c < a->plan->carriers; c++)
			value(p, s->carriers[c].counters[i], "carrier=\"%u\"", c);
	}
}

/* Of the last scrape; NULL: none yet. By the reader inside. */
static struct hauli_app_sample *told;

void hauli_metrics_forget(void)
{
	free(told);
	told = NULL;
}

static void keep(uint64_t *value, uint64_t before)
{
	*value = *value > before ? *value : before;
}

/* Figures that are made of several words, which change while they are read, may seem to go back. A
 * scraper takes that for a restart, and adds the whole figure. */
static void keep_largest(const struct hauli_app *a, struct hauli_app_sample *s)
{
	for (unsigned i = 0; told && i < a->nb_ports; i++) {
		keep(&s->ports[i].rx_packets, told->ports[i].rx_packets);
		keep(&s->ports[i].rx_bytes, told->ports[i].rx_bytes);
		keep(&s->ports[i].tx_packets, told->ports[i].tx_packets);
		keep(&s->ports[i].tx_bytes, told->ports[i].tx_bytes);
	}
	for (unsigned c = 0; told && c < a->plan->carriers; c++) {
		struct haul_io_share *share = &s->carriers[c].share;
		const struct haul_io_share *before = &told->carriers[c].share;

		keep(&share->work_ns, before->work_ns);
		keep(&share->empty_ns, before->empty_ns);
		keep(&share->asleep_ns, before->asleep_ns);
	}
}

static void add_packets(struct page *p, const struct hauli_app *a)
{
	struct hauli_app_sample *s = hauli_app_sample_counters(a);

	keep_largest(a, s);
	begin(p, GAUGE, "haul_uptime_seconds", "seconds", "Since the pollers began.");
	seconds(p, s->at - a->began_at, NULL);
	add_carriers(p, a, s);
	add_ports(p, a, s);
	add_queues(p, a);
	add_buffers(p, a);
	add_overload(p, a);
	add_times(p, a, s);
	add_counters(p, a, s);
	free(told);
	told = s;
}

char *hauli_metrics_text(enum hauli_metrics_format format, size_t *len, const char **why)
{
	struct hauli_answer about;
	struct page p = {.format = format};
	char *text = NULL;

	p.out = open_memstream(&text, len);
	if (!p.out)
		abort();
	if (!hauli_reader_enter(why)) {
		fclose(p.out);
		free(text);
		return NULL;
	}
	hauli_telemetry_about(&about);
	add_program(&p, &about);
	if (about.rt) {
		add_sched(&p, about.rt);
		add_coroutines(&p, about.rt);
		add_locks(&p, about.rt);
	}
	if (about.app)
		add_packets(&p, about.app);
	hauli_reader_leave();
	if (format == HAULI_METRICS_OPENMETRICS)
		fputs("# EOF\n", p.out);
	fclose(p.out);
	if (!text)
		abort();
	return text;
}
