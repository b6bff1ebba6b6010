/* SPDX-License-Identifier: BSD-3-Clause */
#include "panel.h"

#include <inttypes.h>

#include "sample.h"

void top_panel_open_stack(struct top_panel *panel, const char *coroutine)
{
	top_panel_close(panel);
	panel->kind = TOP_STACK;
	snprintf(panel->command, sizeof(panel->command), "/haul/stack,%s", coroutine);
}

void top_panel_close(struct top_panel *panel)
{
	json_decref(panel->reply);
	*panel = (struct top_panel){0};
}

void top_panel_reply(struct top_panel *panel, json_t *reply)
{
	json_decref(panel->reply);
	panel->reply = panel->kind == TOP_NO_PANEL ? NULL : reply;
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

void top_panel_show(const struct top_panel *panel, struct top_page *p)
{
	const char *error = top_string(panel->reply, "error");

	top_page_line(p);
	top_page_put(p, TOP_KEY, "Esc");
	top_page_put(p, TOP_PLAIN, " back  ");
	top_page_put(p, TOP_KEY, "Enter");
	top_page_put(p, TOP_PLAIN, " ask again");
	if (!panel->reply)
		top_page_say(p, TOP_DIM, "asking the program for %s", panel->command);
	else if (error[0])
		top_page_say(p, TOP_BAD, "%s", error);
	else
		show_stack(panel->reply, p);
}
