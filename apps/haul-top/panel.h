/* SPDX-License-Identifier: BSD-3-Clause */
/* What a key has asked the program, and its reply, in the place of a view. */
#ifndef TOP_PANEL_H
#define TOP_PANEL_H

#include <jansson.h>

#include "page.h"

enum top_panel_kind {
	TOP_NO_PANEL,
	TOP_STACK, /* the call stack of a coroutine */
	TOP_POLICY, /* a choice: what a poller is to do while there are no packets */
	TOP_BURST, /* a choice: packets per poll */
	TOP_STEALING, /* a choice: on or off */
};

#define TOP_CHOICES 10 /* at most */

/* A zeroed struct is closed. */
struct top_panel {
	enum top_panel_kind kind;
	char command[64]; /* of telemetry */
	json_t *reply; /* NULL: there is none yet */
	bool asked; /* since the choice has changed */
	unsigned first; /* the line that is shown at the top */

	/* Of choices. */
	char about[48]; /* "carrier 1, port 0" */
	char to[20]; /* "0,1": what the command begins with */
	unsigned chosen;
	uint64_t us[TOP_CHOICES]; /* TOP_POLICY: the time of each; 0: it has none */
};

/* A call stack; coroutine: its address, as telemetry has it. */
void top_panel_open_stack(struct top_panel *panel, const char *coroutine);
/* Choices. to: the port and the carrier, as /haul/set/policy has them, such as "all,1", and perhaps
 * more behind a space. */
void top_panel_open_policy(struct top_panel *panel, const char *to);
void top_panel_open_burst(struct top_panel *panel);
void top_panel_open_stealing(struct top_panel *panel);
void top_panel_close(struct top_panel *panel);

static inline bool top_panel_has_choices(const struct top_panel *panel)
{
	return panel->kind >= TOP_POLICY;
}

/* Chooses one further down, or up; or a longer, or shorter, time for the one that is chosen. */
void top_panel_choose(struct top_panel *panel, int by);
void top_panel_change_time(struct top_panel *panel, int by);

/* What the program is to be asked now. */
const char *top_panel_ask(struct top_panel *panel);

/* Takes over the reply, or {"error": why}. Nothing is kept if it was closed meanwhile, or if the
 * choice has changed. */
void top_panel_reply(struct top_panel *panel, json_t *reply);

void top_panel_show(const struct top_panel *panel, struct top_page *p);

#endif
