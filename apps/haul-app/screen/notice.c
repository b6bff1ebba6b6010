/* SPDX-License-Identifier: BSD-3-Clause */
#include "screen/notice.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define WIDEST 500 /* columns */

struct row {
	const char *text;
	size_t len;
};

/* A message folded into rows. */
struct folded {
	struct row rows[HAULI_APP_NOTICE];
	unsigned nb;
	uint64_t lines; /* of which something is shown */
	bool whole; /* the last of them is */
};

/* The bytes of a line for one row: whole words, unless one takes half of the row. */
static size_t fitting(const char *line, size_t len, size_t columns)
{
	const char *space;

	if (len <= columns)
		return len;
	space = memrchr(line, ' ', columns + 1);
	return space && space > line + columns / 2 ? (size_t)(space - line) : columns;
}

static struct folded fold(const char *text, unsigned most, unsigned columns)
{
	struct folded f = {.whole = true};
	const char *at = text;

	while (*at && f.nb < most && columns > 0) {
		size_t len = (size_t)(strchrnul(at, '\n') - at);
		size_t fits = fitting(at, len, columns);

		f.lines += f.whole;
		f.whole = fits == len;
		if (len > 0)
			f.rows[f.nb++] = (struct row){at, fits};
		at += fits;
		if (*at == (f.whole ? '\n' : ' '))
			at++;
	}
	return f;
}

/* What is not shown; "": nothing. */
static void tell_rest(
	char buf[80], const struct hauli_app_message *message, const struct folded *f, bool cut)
{
	uint64_t more = message->lines - f->lines;
	char lines[32] = "", earlier[40] = "";

	if (more > 0)
		snprintf(
			lines, sizeof(lines), "%" PRIu64 " more line%s", more, more > 1 ? "s" : "");
	else if (cut)
		snprintf(lines, sizeof(lines), "more");
	if (message->earlier > 0)
		snprintf(earlier, sizeof(earlier), "%" PRIu64 " earlier message%s",
			message->earlier, message->earlier > 1 ? "s" : "");
	buf[0] = '\0';
	if (lines[0] || earlier[0])
		snprintf(buf, 80, "%s%s%s%s at the end%s", cut ? " ... " : "  (", lines,
			lines[0] && earlier[0] ? ", " : "", earlier, cut ? "" : ")");
}

static void put_row(struct hauli_app_canvas *c, const struct row *row)
{
	hauli_app_canvas_line(c);
	hauli_app_canvas_put(c, HAULI_APP_BAD, "%.*s", (int)row->len, row->text);
}

unsigned hauli_app_notice_draw(
	struct hauli_app_canvas *c, const struct hauli_app_message *message, unsigned most)
{
	unsigned columns = c->columns < WIDEST ? c->columns : WIDEST;
	struct folded f = fold(message->text, most, columns);
	struct row *last = f.nb > 0 ? &f.rows[f.nb - 1] : NULL;
	bool cut = !f.whole || f.lines < message->lines;
	unsigned before = c->nb;
	char rest[80], *text = rest;
	size_t len;

	tell_rest(rest, message, &f, cut);
	if (2 * strlen(rest) > (size_t)most * columns)
		strcpy(rest, cut ? " ..." : "");
	len = strlen(rest);
	if (cut && last && len <= columns && last->len > columns - len)
		last->len = columns - len;
	while (cut && last && last->len > 0 && last->text[last->len - 1] == ' ')
		last->len--;
	for (unsigned i = 0; i < f.nb; i++)
		put_row(c, &f.rows[i]);
	if (c->nb == before) {
		hauli_app_canvas_line(c);
	} else if (!cut && c->nb - before < most && last->len + len > columns) {
		hauli_app_canvas_line(c);
		text += 2; /* no space at the begin of a row */
	}
	hauli_app_canvas_put(c, HAULI_APP_DIM, "%s", text);
	return c->nb - before;
}
