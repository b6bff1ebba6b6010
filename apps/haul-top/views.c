/* SPDX-License-Identifier: BSD-3-Clause */
#include "views.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "text.h"

/* The growth of a port's counter for each second, of all ports. */
static double sum(const struct top_pair *pair, const char *key)
{
	const json_t *ports = top_values(pair->now, "/haul/ports");
	double all = 0;

	for (unsigned i = 0; top_item(ports, i); i++)
		all += top_rate(pair, "/haul/ports", (int)i, key);
	return all;
}

static void put_rate(
	struct top_page *p, const char *name, double rate, const char *unit, enum top_style style)
{
	char text[16];

	top_text_number(text, sizeof(text), rate);
	top_page_put(p, TOP_DIM, "%s ", name);
	top_page_put(p, style, "%s%s", text, unit);
	top_page_put(p, TOP_PLAIN, "  ");
}

static void put_packets(const struct top_pair *pair, struct top_page *p)
{
	double dropped = sum(pair, "dropped"),
	       lost = sum(pair, "rx_missed") + sum(pair, "rx_nombuf") + sum(pair, "rx_errors") +
		sum(pair, "tx_errors");

	put_rate(p, "rx", sum(pair, "rx_packets"), "/s", TOP_BOLD);
	put_rate(p, "tx", sum(pair, "tx_packets"), "/s", TOP_BOLD);
	put_rate(p, "drops", dropped, "/s", dropped > 0 ? TOP_BAD : TOP_BOLD);
	put_rate(p, "lost", lost, "/s", lost > 0 ? TOP_BAD : TOP_BOLD);
}

static void put_buffers(const json_t *info, struct top_page *p)
{
	char used[16], all[16];

	if (top_number(info, "buffers") <= 0)
		return;
	top_text_number(used, sizeof(used), (double)top_number(info, "buffers_in_use"));
	top_text_number(all, sizeof(all), (double)top_number(info, "buffers"));
	top_page_put(p, TOP_DIM, "buffers ");
	top_page_put(p, TOP_BOLD, "%s of %s", used, all);
	top_page_put(p, TOP_PLAIN, "  ");
}

static void put_coroutines(const struct top_pair *pair, struct top_page *p)
{
	const json_t *all = top_values(pair->now, "/haul/coroutines");
	char text[16];

	if (!all)
		return;
	top_text_number(text, sizeof(text),
		(double)(top_number(all, "ready") + top_number(all, "waiting")));
	top_page_put(p, TOP_DIM, "  coroutines ");
	top_page_put(p, TOP_BOLD, "%s", text);
}

/* A program of before has no "steals". */
static bool thefts_are_off(const json_t *policies)
{
	const json_t *steals = json_object_get(policies, "steals");

	return steals && json_integer_value(steals) == 0 &&
		strcmp(top_string(policies, "steal"), "off") != 0;
}

void top_view_summary(const struct top_pair *pair, struct top_page *p)
{
	const json_t *info = top_values(pair->now, "/haul/info");
	const json_t *policies = top_values(pair->now, "/haul/policies");
	char up[24] = "?";

	top_page_line(p);
	if (json_object_get(info, "uptime_ns")) {
		top_text_clock(
			up, sizeof(up), (uint64_t)top_number(info, "uptime_ns") / 1000000000);
		top_page_put(p, TOP_DIM, "up ");
		top_page_put(p, TOP_BOLD, "%s", up);
		top_page_put(p, TOP_PLAIN, "  ");
	}
	if (policies) {
		top_page_put(p, TOP_DIM, "poller ");
		top_page_put(p, TOP_BOLD, "%s", top_string(policies, "poller"));
		top_page_put(p, TOP_DIM, "  stealing ");
		top_page_put(p, TOP_BOLD, "%s%s", top_string(policies, "steal"),
			thefts_are_off(policies) ? ", now off" : "");
		top_page_put(p, TOP_DIM, "  order ");
		top_page_put(p, TOP_BOLD, "%s", top_string(policies, "order"));
		top_page_put(p, TOP_BAD, "%s", top_number(policies, "paused") ? "  stopped" : "");
	} else {
		top_page_put(p, TOP_DIM, "carriers ");
		top_page_put(p, TOP_BOLD, "%" PRId64, top_number(info, "carriers"));
	}
	put_coroutines(pair, p);
	top_page_line(p);
	if (top_values(pair->now, "/haul/ports"))
		put_packets(pair, p);
	put_buffers(info, p);
}

/* The first rows of a view, and where the others are. */
static void show_part(const struct top_pair *pair, enum top_view view, const char *filter,
	struct top_page *p, unsigned rows)
{
	const struct top_order order = {top_view_first(view), false, filter};
	struct top_table t;

	top_view_fill(&t, view, pair);
	if (t.nb_rows > 0) {
		unsigned shown = t.nb_rows <= rows ? t.nb_rows : rows - 1;

		if (p->nb > 0)
			top_page_line(p);
		top_table_show(&t, &order, p, shown);
		if (shown < t.nb_rows)
			top_page_say(p, TOP_DIM, "... %u more %s: key %c", t.nb_rows - shown,
				top_view_names[view].name, top_view_names[view].key);
	}
	top_table_free(&t);
}

/* What is left of the rows, at least as many as given. */
static unsigned left(const struct top_page *p, unsigned rows, unsigned least)
{
	return p->nb + 2 + least < rows ? rows - p->nb - 2 : least;
}

/* How many coroutines wait for what, those with most of them first. */
static void put_causes(const struct top_pair *pair, struct top_page *p)
{
	const json_t *values = top_values(pair->now, "/haul/causes"), *cause;
	char n[16];

	if (!values || top_number(values, "waiting") <= 0)
		return;
	if (p->nb > 0)
		top_page_line(p);
	top_page_line(p);
	top_text_number(n, sizeof(n), (double)top_number(values, "waiting"));
	top_page_put(p, TOP_BOLD, "%s", n);
	top_page_put(p, TOP_DIM, " wait:");
	for (unsigned i = 0; (cause = top_item(values, i)) != NULL; i++) {
		if (top_number(cause, "waiting") <= 0)
			continue;
		top_text_number(n, sizeof(n), (double)top_number(cause, "waiting"));
		top_page_put(p, TOP_BOLD, "%s %s", i > 0 ? "," : "", n);
		top_page_put(p, TOP_PLAIN, " %s", top_string(cause, "what"));
	}
}

static void show_overview(
	const struct top_pair *pair, const char *filter, struct top_page *p, unsigned rows)
{
	const bool ports = top_values(pair->now, "/haul/ports") != NULL;
	const unsigned above = p->nb;

	if (ports) {
		show_part(pair, TOP_CARRIERS, filter, p, 6);
		show_part(pair, TOP_PORTS, filter, p, 4);
		show_part(pair, TOP_DROPS, filter, p, 3);
	} else {
		show_part(pair, TOP_COROUTINES, filter, p, 6);
	}
	put_causes(pair, p);
	show_part(pair, TOP_WAITS, filter, p, left(p, rows, 2));
	if (p->nb == above)
		top_page_say(p, TOP_PLAIN, "%s", top_view_none(TOP_CARRIERS, pair));
}

static void show_help(struct top_page *p)
{
	static const struct {
		const char *key, *does;
	} lines[] = {
		{"o c p u d", "overview, carriers, ports, queues, drops"},
		{"r w l n", "coroutines, waits, latency, counts of the program's own"},
		{"Tab", "the next view"},
		{"s S", "sort by the next column, or the one before; v: the other way round"},
		{"/", "show rows with a text only: type it, then Enter; Esc: all rows"},
		{"Enter", "waits: the call stack of the row's oldest; Esc: back"},
		{"", "carriers, queues: choose what pollers do without packets"},
		{"b", "choose how many packets a poll takes"},
		{"t", "let carriers steal, or not"},
		{"space", "hold the figures; again: go on"},
		{"+ -", "a longer, or shorter, interval"},
		{"arrows", "pick a row, or scroll; also j k, PgUp and PgDn, Home and End"},
		{"h ?", "this page"},
		{"q", "quit"},
	};

	for (unsigned i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		top_page_line(p);
		top_page_put(p, TOP_KEY, " %-10s ", lines[i].key);
		top_page_put(p, TOP_PLAIN, "%s", lines[i].does);
	}
	top_page_line(p);
	top_page_say(p, TOP_PLAIN,
		"Numbers of carriers, but for those in flight, are for each second. A carrier's");
	top_page_say(p, TOP_PLAIN,
		"time: # works, . polls that find nothing, blank: asleep. drops: by the");
	top_page_say(p, TOP_PLAIN,
		"program; lost: by the NIC or the kernel. flight: handlers. found: polls with");
	top_page_say(p, TOP_PLAIN,
		"packets; burst: packets in these. long: slices that others had to wait for.");
	top_page_say(
		p, TOP_PLAIN, "held: polls that took nothing, since handlers were at their limit.");
	top_page_say(p, TOP_PLAIN, "Latency: of packets between two looks; max: since the start.");
}

static void show_table(enum top_view view, const struct top_pair *pair,
	const struct top_order *order, struct top_page *p)
{
	struct top_table t;

	top_view_fill(&t, view, pair);
	if (top_table_show(&t, order, p, t.nb_rows) == 0)
		top_page_say(p, TOP_PLAIN, "%s",
			t.nb_rows > 0 ? "no row has this text" : top_view_none(view, pair));
	top_table_free(&t);
}

void top_view_show(enum top_view view, const struct top_pair *pair, const struct top_order *order,
	struct top_page *p, unsigned rows)
{
	if (view == TOP_HELP)
		show_help(p);
	else if (view == TOP_OVERVIEW)
		show_overview(pair, order->filter, p, rows);
	else
		show_table(view, pair, order, p);
}
