/* SPDX-License-Identifier: BSD-3-Clause */
/* What the terminal shows, and what keys change. Knows nothing of terminals but the numbers of
 * ncurses' keys. */
#ifndef TOP_SCREEN_H
#define TOP_SCREEN_H

#include "panel.h"
#include "views.h"

/* What is to be shown with the figures. */
struct top_status {
	const char *name; /* of the program, or the file */
	const char *place; /* of a replay: "12 of 100"; "": live */
	const char *why; /* why there are no new figures, or "" */
	uint64_t interval; /* ns */
	bool records;
};

struct top_screen {
	enum top_view view;
	struct top_order orders[TOP_VIEWS];
	unsigned first[TOP_VIEWS]; /* the line that is shown at the top */
	struct top_pick picks[TOP_VIEWS];
	struct top_panel panel; /* in the place of the view, unless it is closed */
	char filter[32];
	bool types_filter, held;
	unsigned last_lines, last_rows; /* of the view, when it was shown last */
};

void top_screen_init(struct top_screen *s, enum top_view view);

/* Makes the page: as many lines as the terminal has. pair->now may be NULL: no figures yet. */
void top_screen_draw(struct top_screen *s, const struct top_pair *pair,
	const struct top_status *status, struct top_page *p, unsigned columns, unsigned rows);

/* Also of a screen that was zeroed. */
void top_screen_end(struct top_screen *s);

/* What a key asks for that is not the screen's. TOP_ASK: that the program is asked what the panel
 * needs. */
enum top_wish {
	TOP_NONE,
	TOP_QUIT,
	TOP_SLOWER,
	TOP_FASTER,
	TOP_HOLD,
	TOP_BACK,
	TOP_FORTH,
	TOP_ASK
};
/* True if the key is about the row that was picked when the screen was drawn last. */
bool top_key_is_about_a_row(int key);
enum top_wish top_screen_key(struct top_screen *s, int key);

#endif
