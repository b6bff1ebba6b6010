/* SPDX-License-Identifier: BSD-3-Clause */
#include "panel.h"

#include <inttypes.h>
#include <string.h>

#include <haul-dpdk/io.h>

#include "sample.h"

static const unsigned bursts[] = {1, 4, 8, 16, 32, 64, 128, 256, 512};
#define USUAL 4 /* the burst that is chosen at first */

void top_panel_open_stack(struct top_panel *panel, const char *coroutine)
{
	top_panel_close(panel);
	panel->kind = TOP_STACK;
	snprintf(panel->command, sizeof(panel->command), "/haul/stack,%s", coroutine);
}

void top_panel_open_policy(struct top_panel *panel, const char *to)
{
	const size_t port = strcspn(to, ","), all = strcspn(to, " ");
	const bool every = strncmp(to, "all,", strlen("all,")) == 0;
	const struct haul_poll_kind *kind;

	top_panel_close(panel);
	panel->kind = TOP_POLICY;
	snprintf(panel->to, sizeof(panel->to), "%.*s", (int)all, to);
	snprintf(panel->about, sizeof(panel->about), "carrier %s, %s%.*s",
		panel->to[port] ? panel->to + port + 1 : "", every ? "all ports" : "port ",
		every ? 0 : (int)port, to);
	for (unsigned i = 0; i < TOP_CHOICES && (kind = haul_poll_kind(i)) != NULL; i++)
		panel->us[i] = kind->ns / HAUL_US;
}

void top_panel_open_burst(struct top_panel *panel)
{
	top_panel_close(panel);
	panel->kind = TOP_BURST;
	panel->chosen = USUAL;
	snprintf(panel->about, sizeof(panel->about), "all carriers and ports");
}

void top_panel_open_stealing(struct top_panel *panel)
{
	top_panel_close(panel);
	panel->kind = TOP_STEALING;
	snprintf(panel->about, sizeof(panel->about), "all carriers in use");
}

void top_panel_close(struct top_panel *panel)
{
	json_decref(panel->reply);
	*panel = (struct top_panel){0};
}

static void forget(struct top_panel *panel)
{
	json_decref(panel->reply);
	panel->reply = NULL;
	panel->asked = false;
}

static unsigned choices_of(const struct top_panel *panel)
{
	unsigned n = 0;

	if (panel->kind == TOP_BURST)
		return sizeof(bursts) / sizeof(bursts[0]);
	if (panel->kind == TOP_STEALING)
		return 2;
	while (n < TOP_CHOICES && haul_poll_kind(n))
		n++;
	return n;
}

void top_panel_choose(struct top_panel *panel, int by)
{
	const unsigned n = choices_of(panel);

	forget(panel);
	panel->chosen = (panel->chosen + n + (unsigned)(by % (int)n)) % n;
}

/* Ten times as long, or a tenth, as far as there are such times. */
void top_panel_change_time(struct top_panel *panel, int by)
{
	uint64_t *us = &panel->us[panel->chosen], next = by > 0 ? *us * 10 : *us / 10;

	if (panel->kind != TOP_POLICY || next == 0 ||
		next > haul_poll_kind(panel->chosen)->ns_max / HAUL_US)
		return;
	forget(panel);
	*us = next;
}

/* The text of a choice, as the program's options have it. */
static void put_choice(const struct top_panel *panel, unsigned i, char *text, size_t size)
{
	if (panel->kind == TOP_BURST)
		snprintf(text, size, "%u", bursts[i]);
	else if (panel->kind == TOP_STEALING)
		snprintf(text, size, "%s", i == 0 ? "on" : "off");
	else if (panel->us[i] > 0)
		snprintf(text, size, "%s:%" PRIu64, haul_poll_kind(i)->name, panel->us[i]);
	else
		snprintf(text, size, "%s", haul_poll_kind(i)->name);
}

const char *top_panel_ask(struct top_panel *panel)
{
	char text[24];

	panel->asked = true;
	if (!top_panel_has_choices(panel))
		return panel->command; /* the last reply is shown until the next one comes */
	forget(panel);
	panel->asked = true;
	put_choice(panel, panel->chosen, text, sizeof(text));
	if (panel->kind == TOP_BURST)
		snprintf(panel->command, sizeof(panel->command), "/haul/set/burst,%s", text);
	else if (panel->kind == TOP_STEALING)
		snprintf(panel->command, sizeof(panel->command), "/haul/set/stealing,%s", text);
	else
		snprintf(panel->command, sizeof(panel->command), "/haul/set/policy,%s,%s",
			panel->to, text);
	return panel->command;
}

void top_panel_reply(struct top_panel *panel, json_t *reply)
{
	json_decref(panel->reply);
	panel->reply = panel->asked ? reply : NULL;
	if (!panel->reply)
		json_decref(reply);
}

static void show_stack(const json_t *reply, struct top_page *p)
{
	const json_t *place;

	top_page_line(p);
	top_page_put(p, TOP_BOLD, "%s", top_string(reply, "name"));
	top_page_put(p, TOP_PLAIN, " %s  ", top_string(reply, "coroutine"));
	top_page_put(p, TOP_DIM, "home ");
	top_page_put(p, TOP_PLAIN, "%" PRId64 "  %s%s", top_number(reply, "carrier"),
		top_string(reply, "what"), top_number(reply, "hibernates") ? ", hibernates" : "");
	top_page_line(p);
	for (unsigned i = 0; (place = top_item(reply, i)) != NULL; i++)
		top_page_say(p, TOP_PLAIN, "%3u  %s", i, json_string_value(place));
	if (!top_item(reply, 0))
		top_page_say(p, TOP_DIM, "no call stack: it has none, or is about to run");
}

/* One line, above what may have no place in a small terminal. */
static void show_reply(const struct top_panel *panel, struct top_page *p)
{
	const char *error = top_string(panel->reply, "error");
	char text[24];

	put_choice(panel, panel->chosen, text, sizeof(text));
	if (!panel->asked)
		top_page_line(p);
	else if (!panel->reply)
		top_page_say(p, TOP_DIM, "asking the program for %s", panel->command);
	else if (error[0])
		top_page_say(p, TOP_BAD, "%s", error);
	else
		top_page_say(p, TOP_BOLD, "set to %s", text);
}

static const char *question_of(const struct top_panel *panel)
{
	if (panel->kind == TOP_BURST)
		return "packets per poll, at most";
	if (panel->kind == TOP_STEALING)
		return "idle carriers take handlers of busy ones";
	return "what the poller does while there are no packets";
}

static void show_choices(const struct top_panel *panel, struct top_page *p)
{
	char text[24];

	top_page_line(p);
	top_page_put(p, TOP_BOLD, "%s", panel->about);
	top_page_put(p, TOP_PLAIN, ": %s", question_of(panel));
	show_reply(panel, p);
	for (unsigned i = 0; i < choices_of(panel); i++) {
		put_choice(panel, i, text, sizeof(text));
		top_page_line(p);
		top_page_put(p, TOP_PLAIN, "  %-13s", text);
		if (panel->kind == TOP_POLICY)
			top_page_put(p, TOP_DIM, " %s", haul_poll_kind(i)->help);
		if (i == panel->chosen)
			top_page_mark(p, TOP_PICKED);
	}
}

static void put_keys(const struct top_panel *panel, struct top_page *p)
{
	top_page_line(p);
	top_page_put(p, TOP_KEY, "Esc");
	top_page_put(p, TOP_PLAIN, " back  ");
	if (top_panel_has_choices(panel)) {
		top_page_put(p, TOP_KEY, "up down");
		top_page_put(p, TOP_PLAIN, " choose  ");
	}
	if (panel->kind == TOP_POLICY) {
		top_page_put(p, TOP_KEY, "left right");
		top_page_put(p, TOP_PLAIN, " its time in us  ");
	}
	top_page_put(p, TOP_KEY, "Enter");
	top_page_put(p, TOP_PLAIN, top_panel_has_choices(panel) ? " set it" : " ask again");
}

void top_panel_show(const struct top_panel *panel, struct top_page *p)
{
	const char *error = top_string(panel->reply, "error");

	put_keys(panel, p);
	if (top_panel_has_choices(panel))
		show_choices(panel, p);
	else if (panel->reply && !error[0])
		show_stack(panel->reply, p);
	else
		show_reply(panel, p);
}
