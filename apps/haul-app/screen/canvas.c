/* SPDX-License-Identifier: BSD-3-Clause */
#include "screen/canvas.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES 1024 /* of a line, control sequences included */
#define LONGEST 8 /* bytes of a control sequence */

struct hauli_app_canvas_line {
	char text[BYTES];
	size_t len;
	unsigned columns;
};

static const char *const styles[] = {
	[HAULI_APP_PLAIN] = "",
	[HAULI_APP_BOLD] = "\x1b[1m",
	[HAULI_APP_DIM] = "\x1b[2m",
	[HAULI_APP_BAD] = "\x1b[31m",
	[HAULI_APP_WORK] = "\x1b[32m",
	[HAULI_APP_ASLEEP] = "\x1b[34m",
	[HAULI_APP_KEY] = "\x1b[1;4m",
};

/* A cell of a bar, as UTF-8 and as ASCII. */
struct cell {
	enum hauli_app_style style;
	const char *block, *ascii;
};
static const struct cell work = {HAULI_APP_WORK, "\u2588", "#"};
static const struct cell empty = {HAULI_APP_DIM, "\u2591", "-"};
static const struct cell asleep = {HAULI_APP_ASLEEP, "\u00b7", "."};
static const struct cell blank = {HAULI_APP_PLAIN, " ", " "};

void hauli_app_canvas_init(struct hauli_app_canvas *c, bool colour, bool utf8)
{
	*c = (struct hauli_app_canvas){.colour = colour, .utf8 = utf8};
}

void hauli_app_canvas_fini(struct hauli_app_canvas *c)
{
	free(c->lines);
	c->lines = NULL;
	c->nb = c->room = 0;
}

void hauli_app_canvas_clear(struct hauli_app_canvas *c, unsigned columns)
{
	c->columns = columns;
	c->nb = 0;
}

void hauli_app_canvas_line(struct hauli_app_canvas *c)
{
	if (c->nb == c->room) {
		c->room = c->room ? 2 * c->room : 32;
		c->lines = realloc(c->lines, c->room * sizeof(c->lines[0]));
		if (!c->lines)
			abort();
	}
	c->lines[c->nb].len = 0;
	c->lines[c->nb++].columns = 0;
}

static void append(struct hauli_app_canvas_line *line, const char *bytes)
{
	size_t len = strlen(bytes);

	memcpy(line->text + line->len, bytes, len);
	line->len += len;
}

/* True if the line has room for a character, and for the end of its style. */
static bool has_room(const struct hauli_app_canvas *c)
{
	const struct hauli_app_canvas_line *line = &c->lines[c->nb - 1];

	return line->columns < c->columns && line->len + 2 * LONGEST < BYTES;
}

static void begin_style(const struct hauli_app_canvas *c, enum hauli_app_style style)
{
	if (c->colour && style != HAULI_APP_PLAIN && has_room(c))
		append(&c->lines[c->nb - 1], styles[style]);
}

static void end_style(const struct hauli_app_canvas *c, enum hauli_app_style style)
{
	if (c->colour && style != HAULI_APP_PLAIN)
		append(&c->lines[c->nb - 1], "\x1b[0m");
}

void hauli_app_canvas_put(
	struct hauli_app_canvas *c, enum hauli_app_style style, const char *format, ...)
{
	struct hauli_app_canvas_line *line = &c->lines[c->nb - 1];
	char text[512];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	if (!has_room(c))
		return;
	begin_style(c, style);
	for (const char *p = text; *p && has_room(c); p++) {
		line->text[line->len++] = *p;
		if (*p < ' ' || *p > '~')
			line->text[line->len - 1] = *p == '\t' ? ' ' : '?';
		line->columns++;
	}
	end_style(c, style);
}

static void put_cells(struct hauli_app_canvas *c, const struct cell *cell, unsigned n)
{
	struct hauli_app_canvas_line *line = &c->lines[c->nb - 1];

	if (n == 0 || !has_room(c))
		return;
	begin_style(c, cell->style);
	for (unsigned i = 0; i < n && has_room(c); i++) {
		append(line, c->utf8 ? cell->block : cell->ascii);
		line->columns++;
	}
	end_style(c, cell->style);
}

/* The number of cells up to a share; not 0 for a share that is not 0. */
static unsigned cells_of(double share, unsigned cells)
{
	double n = share * cells;

	if (n > cells)
		return cells;
	return n > 0 && n < 1 ? 1 : (unsigned)(n + 0.5);
}

void hauli_app_canvas_shares(
	struct hauli_app_canvas *c, unsigned cells, const struct hauli_app_shares *shares)
{
	bool is_known = shares->work + shares->empty + shares->asleep > 0;
	unsigned first = cells_of(shares->work, cells);
	unsigned last = cells_of(shares->asleep, cells);

	if (last > cells - first)
		last = cells - first;
	put_cells(c, &work, first);
	put_cells(c, is_known ? &empty : &blank, cells - first - last);
	put_cells(c, &asleep, last);
}

const char *hauli_app_canvas_text(
	const struct hauli_app_canvas *c, unsigned line, size_t *len, unsigned *columns)
{
	*len = c->lines[line].len;
	*columns = c->lines[line].columns;
	return c->lines[line].text;
}
