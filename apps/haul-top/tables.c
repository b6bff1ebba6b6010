/* SPDX-License-Identifier: BSD-3-Clause */
#include "tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "quantile.h"

static double rate(const struct top_pair *pair, const char *command, unsigned i, const char *key)
{
	return top_rate(pair, command, (int)i, key);
}

static double count(const json_t *object, const char *key)
{
	return (double)top_number(object, key);
}

static const struct top_column carrier_columns[] = {{"#", 3, TOP_ID}, {"cpu", 3, TOP_ID},
	{"share of time", 8, TOP_SHARES}, {"work", 4, TOP_COUNT}, {"empty", 5, TOP_COUNT},
	{"asleep", 6, TOP_COUNT}, {"rx/s", 5, TOP_COUNT}, {"polls", 5, TOP_COUNT},
	{"slices", 6, TOP_COUNT}, {"steals", 6, TOP_COUNT}, {"long", 5, TOP_COUNT},
	{"flight", 6, TOP_COUNT}, {"held", 4, TOP_COUNT}, {"rescued", 7, TOP_COUNT},
	{"placed", 6, TOP_COUNT}, {NULL}};

/* The share of polls that received nothing since handlers were at their limit. */
static double held(const struct top_pair *pair, unsigned i)
{
	double polls = rate(pair, "/haul/carriers", i, "polls");

	return polls > 0 ? rate(pair, "/haul/carriers", i, "held_polls") / polls : NAN;
}

/* Of the time between the samples; before there are two, of what the program calls recent. */
static void get_shares(const struct top_pair *pair, const json_t *c, unsigned i, double *work,
	double *empty, double *asleep)
{
	double sum;

	*work = rate(pair, "/haul/carriers", i, "work_ns");
	*empty = rate(pair, "/haul/carriers", i, "empty_ns");
	*asleep = rate(pair, "/haul/carriers", i, "asleep_ns");
	sum = *work + *empty + *asleep;
	if (isnan(sum) || sum <= 0) {
		*work = count(c, "recent_work_permille");
		*empty = count(c, "recent_empty_permille");
		*asleep = count(c, "recent_asleep_permille");
		sum = 1000;
	}
	*work /= sum;
	*empty /= sum;
	*asleep /= sum;
}

static void fill_carriers(struct top_table *t, const struct top_pair *pair)
{
	const json_t *list = top_values(pair->now, "/haul/carriers"), *c;
	double work, empty, asleep;

	for (unsigned i = 0; (c = top_item(list, i)) != NULL; i++) {
		get_shares(pair, c, i, &work, &empty, &asleep);
		top_table_row(t);
		top_table_id(t, "all,%u", i);
		top_table_number(t, i);
		top_table_number(t, count(c, "cpu"));
		top_table_bar(t, work, empty);
		top_table_share(t, work);
		top_table_share(t, empty);
		top_table_share(t, asleep);
		top_table_number(t, rate(pair, "/haul/carriers", i, "rx_packets"));
		top_table_number(t, rate(pair, "/haul/carriers", i, "polls"));
		top_table_number(t, rate(pair, "/haul/carriers", i, "slices"));
		top_table_number(t, rate(pair, "/haul/carriers", i, "stolen"));
		top_table_bad(t, rate(pair, "/haul/carriers", i, "long_slices"));
		top_table_number(t, count(c, "in_flight"));
		top_table_share(t, held(pair, i));
		top_table_bad(t, rate(pair, "/haul/carriers", i, "rescues"));
		top_table_number(t, rate(pair, "/haul/carriers", i, "placed_yields"));
	}
}

static const struct top_column port_columns[] = {{"#", 3, TOP_ID}, {"port", 8, TOP_WORDS},
	{"rx/s", 6, TOP_COUNT}, {"tx/s", 6, TOP_COUNT}, {"rx bit/s", 8, TOP_COUNT},
	{"tx bit/s", 8, TOP_COUNT}, {"drops/s", 7, TOP_COUNT}, {"lost/s", 6, TOP_COUNT},
	{"dropped", 7, TOP_COUNT}, {NULL}};

/* Not every mode counts bytes. */
static double bits(const struct top_pair *pair, unsigned i, const json_t *port, const char *packets,
	const char *bytes)
{
	if (top_number(port, bytes) == 0 && top_number(port, packets) > 0)
		return NAN;
	return 8 * rate(pair, "/haul/ports", i, bytes);
}

/* What the NIC and the kernel have not handed over, or not sent. */
static double lost(const struct top_pair *pair, unsigned i)
{
	return rate(pair, "/haul/ports", i, "rx_missed") +
		rate(pair, "/haul/ports", i, "rx_nombuf") +
		rate(pair, "/haul/ports", i, "rx_errors") +
		rate(pair, "/haul/ports", i, "tx_errors");
}

static void fill_ports(struct top_table *t, const struct top_pair *pair)
{
	const json_t *list = top_values(pair->now, "/haul/ports"), *port;

	for (unsigned i = 0; (port = top_item(list, i)) != NULL; i++) {
		top_table_row(t);
		top_table_number(t, i);
		top_table_words(t, "%s", top_string(port, "spec"));
		top_table_number(t, rate(pair, "/haul/ports", i, "rx_packets"));
		top_table_number(t, rate(pair, "/haul/ports", i, "tx_packets"));
		top_table_number(t, bits(pair, i, port, "rx_packets", "rx_bytes"));
		top_table_number(t, bits(pair, i, port, "tx_packets", "tx_bytes"));
		top_table_bad(t, rate(pair, "/haul/ports", i, "dropped"));
		top_table_bad(t, lost(pair, i));
		top_table_number(t, count(port, "dropped"));
	}
}

static const struct top_column queue_columns[] = {{"port", 4, TOP_ID}, {"queue", 5, TOP_ID},
	{"carrier", 7, TOP_ID}, {"rx/s", 8, TOP_COUNT}, {"polls/s", 8, TOP_COUNT},
	{"found", 6, TOP_COUNT}, {"burst", 6, TOP_COUNT}, {"packets", 8, TOP_COUNT},
	{"poller", 12, TOP_WORDS}, {NULL}};

static void fill_queues(struct top_table *t, const struct top_pair *pair)
{
	const json_t *list = top_values(pair->now, "/haul/queues"), *q;

	for (unsigned i = 0; (q = top_item(list, i)) != NULL; i++) {
		double polls = rate(pair, "/haul/queues", i, "polls");
		double full = polls - rate(pair, "/haul/queues", i, "empty_polls");
		double packets = rate(pair, "/haul/queues", i, "rx_packets");

		top_table_row(t);
		top_table_id(t, "%.0f,%.0f queue %.0f", count(q, "port"), count(q, "carrier"),
			count(q, "queue"));
		top_table_number(t, count(q, "port"));
		top_table_number(t, count(q, "queue"));
		top_table_number(t, count(q, "carrier"));
		top_table_number(t, packets);
		top_table_number(t, polls);
		top_table_share(t, polls > 0 ? full / polls : NAN);
		top_table_number(t, full > 0 ? packets / full : NAN);
		top_table_number(t, count(q, "rx_packets"));
		top_table_words(t, "%s", top_string(q, "poller"));
	}
}

static const struct top_column drop_columns[] = {{"port", 4, TOP_ID}, {"reason", 12, TOP_WORDS},
	{"per second", 10, TOP_COUNT}, {"packets", 10, TOP_COUNT}, {NULL}};

static void fill_drops(struct top_table *t, const struct top_pair *pair)
{
	const json_t *list = top_values(pair->now, "/haul/drops"), *port;
	const char *reason;
	json_t *value;

	for (unsigned i = 0; (port = top_item(list, i)) != NULL; i++)
		json_object_foreach((json_t *)(uintptr_t)port, reason, value)
		{
			if (json_integer_value(value) == 0)
				continue;
			top_table_row(t);
			top_table_number(t, i);
			top_table_words(t, "%s", reason);
			top_table_bad(t, rate(pair, "/haul/drops", i, reason));
			top_table_number(t, (double)json_integer_value(value));
		}
}

static const struct top_column coroutine_columns[] = {{"name", 12, TOP_WORDS},
	{"all", 5, TOP_COUNT}, {"ready", 5, TOP_COUNT}, {"parked", 6, TOP_COUNT},
	{"asleep", 6, TOP_COUNT}, {"join", 5, TOP_COUNT}, {"blocked", 7, TOP_COUNT},
	{"order", 5, TOP_COUNT}, {"ended", 5, TOP_COUNT}, {"longest", 7, TOP_COUNT}, {NULL}};

static void add_counts(struct top_table *t, const json_t *counts)
{
	top_table_number(
		t, count(counts, "ready") + count(counts, "waiting") + count(counts, "unjoined"));
	top_table_number(t, count(counts, "ready"));
	top_table_number(t, count(counts, "parked"));
	top_table_number(t, count(counts, "sleeping"));
	top_table_number(t, count(counts, "joining"));
	top_table_number(t, count(counts, "blocked"));
	top_table_number(t, count(counts, "ordered"));
	top_table_number(t, count(counts, "unjoined"));
	top_table_time(t, count(counts, "longest_wait_ns"));
}

static bool is_any_of(const char *text, const char *const *texts, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (strcmp(text, texts[i]) == 0)
			return true;
	return false;
}

/* What `blocked` has, by kinds of objects. The other kinds of waits have a column each. */
static void add_causes(struct top_table *t, const struct top_pair *pair)
{
	static const char *const columns[] = {"parked", "sleeping", "joining", "ordered"};
	const json_t *values = top_values(pair->now, "/haul/causes"), *cause;

	for (unsigned i = 0; (cause = top_item(values, i)) != NULL; i++) {
		const char *what = top_string(cause, "what");
		json_t *counts;

		if (is_any_of(what, columns, 4))
			continue;
		counts = json_pack("{s:O?, s:O?, s:O?}", "waiting",
			json_object_get(cause, "waiting"), "blocked",
			json_object_get(cause, "waiting"), "longest_wait_ns",
			json_object_get(cause, "longest_wait_ns"));
		top_table_row(t);
		top_table_words(t, "(for %s)", what);
		add_counts(t, counts);
		json_decref(counts);
	}
}

static void fill_coroutines(struct top_table *t, const struct top_pair *pair)
{
	const json_t *values = top_values(pair->now, "/haul/coroutines"), *group;

	if (!values)
		return;
	top_table_row(t);
	top_table_words(t, "(all)");
	add_counts(t, values);
	add_causes(t, pair);
	for (unsigned i = 0; (group = top_item(values, i)) != NULL; i++) {
		top_table_row(t);
		top_table_words(t, "%s", top_string(group, "name"));
		add_counts(t, group);
	}
}

/* n: coroutines of this name that wait for the same, or each for another descriptor. */
static const struct top_column wait_columns[] = {{"name", 12, TOP_WORDS}, {"n", 4, TOP_COUNT},
	{"home", 4, TOP_ID}, {"waits for", 20, TOP_WORDS}, {"for", 7, TOP_COUNT},
	{"left", 7, TOP_COUNT}, {NULL}};

struct waits {
	const char *name, *oldest; /* the address of the coroutine that has waited longest */
	char object[TOP_CELL];
	unsigned n;
	double home; /* NaN: several */
	double ns, left_ns; /* of the one that has waited longest; the least, NaN: for ever */
};

static void put_object(char *text, const json_t *w)
{
	const char *what = top_string(w, "what"), *object = top_string(w, "object");
	const char *holder = top_string(w, "holder"), *fd = strstr(what, " fd ");

	snprintf(text, TOP_CELL, "%.*s%s%s%s%s", fd ? (int)(fd - what) + 3 : TOP_CELL, what,
		holder[0] ? " held by " : "", holder, object[0] ? " " : "", object);
}

static void add_wait(struct waits *to, const json_t *w)
{
	double home = count(w, "carrier"), ns = count(w, "ns"),
	       left = json_object_get(w, "left_ns") ? count(w, "left_ns") : NAN;

	if (to->n++ == 0) {
		to->oldest = top_string(w, "coroutine");
		to->home = home;
		to->ns = ns;
		to->left_ns = left;
		return;
	}
	if (to->home != home)
		to->home = NAN;
	if (ns > to->ns)
		to->oldest = top_string(w, "coroutine");
	to->ns = fmax(to->ns, ns);
	to->left_ns = fmin(to->left_ns, left); /* of a number and NaN, the number */
}

static struct waits *waits_like(struct waits *all, unsigned n, const struct waits *one)
{
	for (unsigned i = 0; i < n; i++)
		if (strcmp(all[i].name, one->name) == 0 && strcmp(all[i].object, one->object) == 0)
			return &all[i];
	return NULL;
}

static void put_waits(struct top_table *t, const struct waits *w)
{
	top_table_row(t);
	top_table_id(t, "%s", w->oldest);
	top_table_words(t, "%s", w->name);
	top_table_number(t, w->n);
	top_table_number(t, w->home);
	top_table_words(t, "%s", w->object);
	top_table_time(t, w->ns);
	top_table_time(t, w->left_ns);
}

static void fill_waits(struct top_table *t, const struct top_pair *pair)
{
	const json_t *list = top_values(pair->now, "/haul/waits"), *w;
	struct waits *all = calloc(json_object_size(list) + 1, sizeof(all[0]));
	unsigned n = 0;

	if (!all)
		abort();
	for (unsigned i = 0; (w = top_item(list, i)) != NULL; i++) {
		struct waits one = {.name = top_string(w, "name")}, *like;

		put_object(one.object, w);
		like = waits_like(all, n, &one);
		if (!like) {
			like = &all[n++];
			*like = one;
		}
		add_wait(like, w);
	}
	for (unsigned i = 0; i < n; i++)
		put_waits(t, &all[i]);
	free(all);
}

static const struct top_column latency_columns[] = {{"port", 4, TOP_ID}, {"stage", 10, TOP_WORDS},
	{"packets", 7, TOP_COUNT}, {"per s", 6, TOP_COUNT}, {"p50", 6, TOP_COUNT},
	{"p90", 6, TOP_COUNT}, {"p99", 6, TOP_COUNT}, {"p99.9", 6, TOP_COUNT},
	{"max", 6, TOP_COUNT}, {NULL}};

static const json_t *stage_of(
	const json_t *sample, const char *command, unsigned port, const char *name)
{
	return json_object_get(top_item(top_values(sample, command), port), name);
}

/* Of the packets between the samples; of all packets if the program has no histograms. */
static void add_quantiles(struct top_table *t, const struct top_pair *pair, unsigned port,
	const char *name, const json_t *stage)
{
	static const struct {
		double share;
		const char *key;
	} shown[] = {{0.5, "p50_ns"}, {0.9, "p90_ns"}, {0.99, "p99_ns"}, {0.999, "p999_ns"}};
	const json_t *now = stage_of(pair->now, "/haul/latency_buckets", port, name);
	struct top_buckets b;

	top_buckets_get(&b, now, stage_of(pair->before, "/haul/latency_buckets", port, name));
	for (unsigned i = 0; i < sizeof(shown) / sizeof(shown[0]); i++)
		top_table_time(
			t, now ? top_quantile(&b, shown[i].share) : count(stage, shown[i].key));
}

static void add_stage(struct top_table *t, const struct top_pair *pair, unsigned port,
	const char *name, const json_t *stage)
{
	const json_t *before = stage_of(pair->before, "/haul/latency", port, name);
	double seconds = top_seconds(pair, "/haul/latency");

	top_table_row(t);
	top_table_number(t, port);
	top_table_words(t, "%s", name);
	top_table_number(t, count(stage, "count"));
	top_table_number(t,
		before && seconds > 0 ? (count(stage, "count") - count(before, "count")) / seconds
				      : NAN);
	add_quantiles(t, pair, port, name, stage);
	top_table_time(t, count(stage, "max_ns"));
}

static void fill_latency(struct top_table *t, const struct top_pair *pair)
{
	const json_t *list = top_values(pair->now, "/haul/latency"), *port;
	const char *name;
	json_t *stage;

	for (unsigned i = 0; (port = top_item(list, i)) != NULL; i++)
		json_object_foreach((json_t *)(uintptr_t)port, name, stage)
			add_stage(t, pair, i, name, stage);
}

static const struct top_column counter_columns[] = {
	{"counter", 20, TOP_WORDS}, {"per second", 10, TOP_COUNT}, {"now", 10, TOP_COUNT}, {NULL}};

static void fill_counters(struct top_table *t, const struct top_pair *pair)
{
	const json_t *values = top_values(pair->now, "/haul/counters");
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)values, name, value)
	{
		if (!json_is_integer(value) || strcmp(name, "next") == 0)
			continue;
		top_table_row(t);
		top_table_words(t, "%s", name);
		top_table_number(t, top_rate(pair, "/haul/counters", TOP_WHOLE, name));
		top_table_number(t, (double)json_integer_value(value));
	}
}

const struct top_view_name top_view_names[TOP_VIEWS] = {
	[TOP_OVERVIEW] = {"overview", 'o'},
	[TOP_CARRIERS] = {"carriers", 'c'},
	[TOP_PORTS] = {"ports", 'p'},
	[TOP_QUEUES] = {"queues", 'u'},
	[TOP_DROPS] = {"drops", 'd'},
	[TOP_COROUTINES] = {"coroutines", 'r'},
	[TOP_WAITS] = {"waits", 'w'},
	[TOP_LATENCY] = {"latency", 'l'},
	[TOP_COUNTERS] = {"counts", 'n'},
	[TOP_HELP] = {"help", 'h'},
};

/* The views with one table. */
static const struct {
	const char *command;
	const struct top_column *columns;
	void (*fill)(struct top_table *, const struct top_pair *);
	int first;
	const char *none; /* what it says without rows */
} tables[TOP_VIEWS] = {
	[TOP_CARRIERS] = {"/haul/carriers", carrier_columns, fill_carriers, 0, "no carriers"},
	[TOP_PORTS] = {"/haul/ports", port_columns, fill_ports, 0, "no ports"},
	[TOP_QUEUES] = {"/haul/queues", queue_columns, fill_queues, 0, "no queues"},
	[TOP_DROPS] = {"/haul/drops", drop_columns, fill_drops, 3, "no packet was dropped"},
	[TOP_COROUTINES] = {"/haul/coroutines", coroutine_columns, fill_coroutines, 1,
		"no coroutines"},
	[TOP_WAITS] = {"/haul/waits", wait_columns, fill_waits, 4, "no coroutine waits"},
	[TOP_LATENCY] = {"/haul/latency", latency_columns, fill_latency, -1, "no ports"},
	[TOP_COUNTERS] = {"/haul/counters", counter_columns, fill_counters, -1,
		"the program has no counters of its own"},
};

bool top_view_is_picked_from(enum top_view view)
{
	return view == TOP_WAITS || view == TOP_CARRIERS || view == TOP_QUEUES;
}

const struct top_column *top_view_columns(enum top_view view)
{
	return tables[view].columns;
}

int top_view_first(enum top_view view)
{
	return tables[view].columns ? tables[view].first : -1;
}

void top_view_fill(struct top_table *t, enum top_view view, const struct top_pair *pair)
{
	top_table_begin(t, tables[view].columns);
	tables[view].fill(t, pair);
}

const char *top_view_none(enum top_view view, const struct top_pair *pair)
{
	const char *error = top_error(pair->now, tables[view].command);

	return error ? error : tables[view].none;
}
