/* SPDX-License-Identifier: BSD-3-Clause */
/* What a key has asked the program, and its reply, in the place of a view. */
#ifndef TOP_PANEL_H
#define TOP_PANEL_H

#include <jansson.h>

#include "page.h"

enum top_panel_kind {
	TOP_NO_PANEL,
	TOP_STACK, /* the call stack of a coroutine */
};

/* A zeroed struct is closed. */
struct top_panel {
	enum top_panel_kind kind;
	char command[64]; /* of telemetry */
	json_t *reply; /* NULL: there is none yet */
	unsigned first; /* the line that is shown at the top */
};

/* A call stack; coroutine: its address, as telemetry has it. */
void top_panel_open_stack(struct top_panel *panel, const char *coroutine);
void top_panel_close(struct top_panel *panel);

/* Takes over the reply, or {"error": why}. Nothing is kept if it was closed meanwhile. */
void top_panel_reply(struct top_panel *panel, json_t *reply);

void top_panel_show(const struct top_panel *panel, struct top_page *p);

#endif
