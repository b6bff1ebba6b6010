/* SPDX-License-Identifier: BSD-3-Clause */
/* The final report of mode generate. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "generate.h"

#define WORST 5 /* flows that are listed */
#define BACKLOG_MAX UINT64_C(10000000) /* counted */
#define LATE_SHARE 10 /* a lateness above a tenth of the latency makes it doubtful */

static const struct {
	const char *text, *key;
	double share;
} percentiles[] = {{"p50", "p50_ns", 0.5}, {"p90", "p90_ns", 0.9}, {"p99", "p99_ns", 0.99},
	{"p99.9", "p999_ns", 0.999}, {"max", "max_ns", 1}};
#define PERCENTILES (sizeof(percentiles) / sizeof(percentiles[0]))

struct packets {
	uint64_t sent, received, lost, reordered, duplicated;
};

struct flow_sums {
	uint32_t flow;
	bool foreign;
	struct packets n;
};

struct sums {
	struct packets n; /* sent, received, lost: own ones; the rest: also another generator's */
	uint64_t unstamped, foreign, foreign_lost;
	uint64_t due, blocked, no_buffer;
	double seconds;
	struct haul_hist intended, actual, late;
	struct flow_sums worst[WORST];
	unsigned nb_worst;
	bool open_loop; /* packets have times of their own */
};

static uint64_t sent_of(uint32_t id)
{
	const struct generate_options *o = &generate.options;
	uint32_t port = id / o->flows, flow = id % o->flows;
	unsigned c;

	for (c = 0; c < generate.app->plan->carriers; c++) {
		const struct generate_stream *s = generate_stream_of(c, port);

		if (flow >= s->turn.from && flow < s->turn.to)
			return s->turn.sequence + (flow < s->turn.flow);
	}
	return 0;
}

static uint64_t badness(const struct flow_sums *f)
{
	return f->n.lost + f->n.reordered + f->n.duplicated;
}

/* Inserts the flow into the worst ones, sorted. */
static void consider(struct sums *sums, const struct flow_sums *f)
{
	unsigned i = sums->nb_worst;

	if (badness(f) == 0)
		return;
	while (i > 0 && badness(&sums->worst[i - 1]) < badness(f))
		i--;
	if (i == WORST)
		return;
	if (sums->nb_worst < WORST)
		sums->nb_worst++;
	memmove(&sums->worst[i + 1], &sums->worst[i], (sums->nb_worst - 1 - i) * sizeof(*f));
	sums->worst[i] = *f;
}

static void add_flow(struct sums *sums, uint32_t id, bool foreign)
{
	struct receiver_flow all = {0};
	struct flow_sums f = {.flow = id, .foreign = foreign};
	unsigned c;

	for (c = 0; c < generate.app->plan->carriers; c++)
		receiver_merge(&all,
			foreign ? &generate.carriers[c].foreign[id]
				: &generate.carriers[c].own[id]);
	f.n.sent = foreign ? all.next - all.first : sent_of(id);
	f.n.received = all.received;
	f.n.lost = f.n.sent > f.n.received ? f.n.sent - f.n.received : 0;
	f.n.reordered = all.reordered;
	f.n.duplicated = all.duplicated;
	if (foreign) {
		sums->foreign += f.n.received;
		sums->foreign_lost += f.n.lost;
	} else {
		sums->n.received += f.n.received;
		sums->n.lost += f.n.lost;
	}
	sums->n.reordered += f.n.reordered;
	sums->n.duplicated += f.n.duplicated;
	/* A generator whose packets end elsewhere has not lost them. */
	if (foreign || f.n.received > 0 || sums->n.received > 0)
		consider(sums, &f);
}

static void add_stream(struct sums *sums, const struct generate_stream *s)
{
	sums->n.sent += s->sent;
	sums->due += s->sent + generate_backlog(s, generate.stop, BACKLOG_MAX);
	sums->blocked += s->blocked;
	sums->no_buffer += s->no_buffer;
	haul_hist_merge(&sums->late, &s->late);
}

static struct sums *sum_up(void)
{
	const struct generate_options *o = &generate.options;
	unsigned nb_ports = generate.app->nb_ports;
	struct sums *sums = calloc(1, sizeof(*sums));
	unsigned c, i;

	if (!sums)
		abort();
	sums->open_loop = o->speed > 0 || o->plan.nb_phases > 0;
	sums->seconds =
		generate.stop > generate.start ? (double)(generate.stop - generate.start) / 1e9 : 0;
	for (c = 0; c < generate.app->plan->carriers; c++) {
		haul_hist_merge(&sums->intended, &generate.carriers[c].intended);
		haul_hist_merge(&sums->actual, &generate.carriers[c].actual);
		for (i = 0; i < nb_ports; i++)
			add_stream(sums, generate_stream_of(c, i));
	}
	for (i = 0; o->replay.n == 0 && i < o->flows * nb_ports; i++)
		add_flow(sums, i, false);
	for (i = 0; i < RECEIVER_FLOWS_MAX; i++)
		add_flow(sums, i, true);
	sums->unstamped = haul_app_counted(generate.app, GENERATE_UNSTAMPED, HAUL_ALL);
	return sums;
}

/* The first percentile that the generator's own lateness may have changed; PERCENTILES: none. */
static unsigned first_doubtful(const struct sums *sums)
{
	unsigned i;

	for (i = 0; i < PERCENTILES; i++) {
		uint64_t late = haul_hist_quantile(&sums->late, percentiles[i].share);

		if (late * LATE_SHARE > haul_hist_quantile(&sums->intended, percentiles[i].share))
			return i;
	}
	return i;
}

static void print_row(FILE *out, const char *name, const struct haul_hist *h)
{
	fprintf(out, "  %-22s", name);
	for (unsigned i = 0; i < PERCENTILES; i++)
		fprintf(out, " %10.1f", (double)haul_hist_quantile(h, percentiles[i].share) / 1e3);
	fputc('\n', out);
}

static void print_latencies(FILE *out, const struct sums *sums)
{
	unsigned i, doubtful = first_doubtful(sums);

	fprintf(out, "  %-22s", "latency, us");
	for (i = 0; i < PERCENTILES; i++)
		fprintf(out, " %10s", percentiles[i].text);
	fputc('\n', out);
	if (haul_hist_count(&sums->intended) > 0)
		print_row(out, "from intended time", &sums->intended);
	if (haul_hist_count(&sums->actual) > 0)
		print_row(out, "from sending", &sums->actual);
	if (!sums->open_loop)
		return;
	print_row(out, "generator late by", &sums->late);
	if (haul_hist_count(&sums->intended) > 0 && doubtful < PERCENTILES)
		fprintf(out,
			"  the generator was late: %s %.0f us; latencies from %s on are not "
			"reliable\n",
			percentiles[doubtful].text,
			(double)haul_hist_quantile(&sums->late, percentiles[doubtful].share) / 1e3,
			percentiles[doubtful].text);
}

static void print_rate(FILE *out, const struct sums *sums)
{
	double seconds = sums->seconds, share = seconds > 0 ? 1 / seconds : 0;

	if (sums->open_loop)
		fprintf(out, "  %.1f packets/s due, %.1f/s sent (%.3f %%) in %.3f s\n",
			(double)sums->due * share, (double)sums->n.sent * share,
			sums->due > 0 ? 100.0 * (double)sums->n.sent / (double)sums->due : 100.0,
			seconds);
	else
		fprintf(out, "  %.1f packets/s sent in %.3f s\n", (double)sums->n.sent * share,
			seconds);
	if (sums->due > sums->n.sent)
		fprintf(out, "  the rate was not kept: %" PRIu64 "%s packets due were not sent\n",
			sums->due - sums->n.sent,
			sums->due - sums->n.sent >= BACKLOG_MAX ? " or more" : "");
	if (sums->blocked > 0)
		fprintf(out, "  the port was full when %" PRIu64 " packets were due\n",
			sums->blocked);
	if (sums->no_buffer > 0)
		fprintf(out, "  the pool was empty %" PRIu64 " times: give more --mbufs\n",
			sums->no_buffer);
}

static void print_flows(FILE *out, const struct sums *sums)
{
	for (unsigned i = 0; i < sums->nb_worst; i++) {
		const struct flow_sums *f = &sums->worst[i];

		fprintf(out,
			"  %sflow %-5u sent %" PRIu64 " received %" PRIu64 " lost %" PRIu64
			" reordered %" PRIu64 " duplicated %" PRIu64 "\n",
			f->foreign ? "foreign " : "", f->flow, f->n.sent, f->n.received, f->n.lost,
			f->n.reordered, f->n.duplicated);
	}
}

void generate_report_period(FILE *out)
{
	fprintf(out, "generator");
	for (unsigned i = 0; generate_counters[i].name; i++)
		fprintf(out, "%s %s %" PRIu64, i == 4 ? "\n          " : "",
			generate_counters[i].name, haul_app_counted(generate.app, i, HAUL_ALL));
	fputc('\n', out);
}

void generate_report(FILE *out)
{
	struct sums *sums = sum_up();

	fprintf(out, "generator\n");
	if (generate_options_send(&generate.options))
		print_rate(out, sums);
	fprintf(out, "  sent %" PRIu64 ", received %" PRIu64, sums->n.sent, sums->n.received);
	if (sums->n.received > 0)
		fprintf(out, ", lost %" PRIu64, sums->n.lost);
	fprintf(out, ", reordered %" PRIu64 ", duplicated %" PRIu64 "\n", sums->n.reordered,
		sums->n.duplicated);
	if (sums->foreign > 0)
		fprintf(out, "  from another generator: received %" PRIu64 ", lost %" PRIu64 "\n",
			sums->foreign, sums->foreign_lost);
	if (sums->unstamped > 0)
		fprintf(out, "  without a stamp: received %" PRIu64 "\n", sums->unstamped);
	if (haul_hist_count(&sums->actual) > 0 || haul_hist_count(&sums->late) > 0)
		print_latencies(out, sums);
	print_flows(out, sums);
	free(sums);
}

static void add_hist(struct haul_app_json *to, const char *key, const struct haul_hist *h)
{
	struct haul_app_json *object = haul_app_json_object(to, key);

	for (unsigned i = 0; i < PERCENTILES; i++)
		haul_app_json_number(object, percentiles[i].key,
			(int64_t)haul_hist_quantile(h, percentiles[i].share));
	haul_app_json_number(object, "count", (int64_t)haul_hist_count(h));
}

static void add_number(struct haul_app_json *to, const char *key, uint64_t n)
{
	haul_app_json_number(to, key, (int64_t)n);
}

/* The buckets with packets: the largest value of each, and their number. */
static void add_buckets(struct haul_app_json *to, const struct haul_hist *h)
{
	for (unsigned i = 0; i < HAUL_HIST_BUCKETS; i++) {
		struct haul_app_json *bucket;

		if (h->counts[i] == 0)
			continue;
		bucket = haul_app_json_array(to, NULL);
		haul_app_json_number(bucket, NULL, (int64_t)haul_hist_bucket_last(i));
		haul_app_json_number(bucket, NULL, (int64_t)h->counts[i]);
	}
}

static void add_packets(struct haul_app_json *to, const struct packets *n)
{
	add_number(to, "sent", n->sent);
	add_number(to, "received", n->received);
	add_number(to, "lost", n->lost);
	add_number(to, "reordered", n->reordered);
	add_number(to, "duplicated", n->duplicated);
}

void generate_json(struct haul_app_json *object)
{
	struct haul_app_json *to = haul_app_json_object(object, "generator");
	struct sums *sums = sum_up();
	unsigned doubtful = first_doubtful(sums);
	struct haul_app_json *flows;

	haul_app_json_real(to, "seconds", sums->seconds);
	haul_app_json_real(
		to, "rate", sums->seconds > 0 ? (double)sums->n.sent / sums->seconds : 0);
	add_number(to, "due", sums->due);
	add_packets(to, &sums->n);
	add_number(to, "foreign", sums->foreign);
	add_number(to, "foreign_lost", sums->foreign_lost);
	add_number(to, "unstamped", sums->unstamped);
	add_number(to, "blocked", sums->blocked);
	add_number(to, "no_buffer", sums->no_buffer);
	add_hist(to, "from_intended", &sums->intended);
	add_hist(to, "from_sending", &sums->actual);
	add_hist(to, "late", &sums->late);
	add_buckets(haul_app_json_array(to, "histogram"), &sums->intended);
	haul_app_json_text(
		to, "unreliable_from", doubtful < PERCENTILES ? percentiles[doubtful].text : NULL);
	flows = haul_app_json_array(to, "worst_flows");
	for (unsigned i = 0; i < sums->nb_worst; i++) {
		const struct flow_sums *f = &sums->worst[i];
		struct haul_app_json *flow = haul_app_json_object(flows, NULL);

		add_number(flow, "flow", f->flow);
		haul_app_json_bool(flow, "foreign", f->foreign);
		add_packets(flow, &f->n);
	}
	free(sums);
}
