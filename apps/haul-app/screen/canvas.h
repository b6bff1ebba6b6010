/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of text with styles and bars, from which a screen is made. */
#ifndef HAULI_APP_SCREEN_CANVAS_H
#define HAULI_APP_SCREEN_CANVAS_H

#include <stdbool.h>
#include <stddef.h>

enum hauli_app_style {
	HAULI_APP_PLAIN,
	HAULI_APP_BOLD,
	HAULI_APP_DIM,
	HAULI_APP_BAD,
	HAULI_APP_WORK,
	HAULI_APP_ASLEEP,
	HAULI_APP_KEY,
};

struct hauli_app_canvas_line;

struct hauli_app_canvas {
	unsigned columns; /* what goes beyond is cut */
	bool colour;
	bool utf8; /* bars of blocks; else of ASCII */
	struct hauli_app_canvas_line *lines; /* [nb] */
	unsigned nb, room;
};

void hauli_app_canvas_init(struct hauli_app_canvas *c, bool colour, bool utf8);
void hauli_app_canvas_fini(struct hauli_app_canvas *c);

/* Removes all lines. */
void hauli_app_canvas_clear(struct hauli_app_canvas *c, unsigned columns);

/* Begins a line. */
void hauli_app_canvas_line(struct hauli_app_canvas *c);

/* Appends to the last line. A tab becomes a space, and other characters that are not
 * printable ASCII become "?". */
void hauli_app_canvas_put(struct hauli_app_canvas *c, enum hauli_app_style style,
	const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Appends a bar of cells that shows shares of a whole: work, then empty, then asleep. */
struct hauli_app_shares {
	double work, empty, asleep; /* 0 to 1 each */
};
void hauli_app_canvas_shares(
	struct hauli_app_canvas *c, unsigned cells, const struct hauli_app_shares *shares);

/* A line's bytes, with control sequences, and its length in columns. */
const char *hauli_app_canvas_text(
	const struct hauli_app_canvas *c, unsigned line, size_t *len, unsigned *columns);

#endif
