/* SPDX-License-Identifier: BSD-3-Clause */
#include "page.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

void top_page_clear(struct top_page *p, unsigned columns)
{
	p->columns = columns < TOP_WIDTH ? columns : TOP_WIDTH;
	p->nb = 0;
}

void top_page_free(struct top_page *p)
{
	free(p->lines);
	*p = (struct top_page){0};
}

void top_page_line(struct top_page *p)
{
	if (p->nb == p->room) {
		p->room = p->room ? 2 * p->room : 64;
		p->lines = realloc(p->lines, p->room * sizeof(p->lines[0]));
		if (!p->lines)
			abort();
	}
	p->lines[p->nb].n = 0;
	p->lines[p->nb].text[0] = '\0';
	p->nb++;
}

static void put(struct top_page *p, enum top_style style, const char *text)
{
	struct top_line *line = &p->lines[p->nb - 1];

	for (; *text && line->n < p->columns; text++) {
		line->styles[line->n] = (uint8_t)style;
		line->text[line->n++] = *text;
	}
	line->text[line->n] = '\0';
}

static void put_args(struct top_page *p, enum top_style style, const char *format, va_list ap)
{
	char text[TOP_WIDTH + 1];

	vsnprintf(text, sizeof(text), format, ap);
	top_text_clean(text);
	put(p, style, text);
}

void top_page_put(struct top_page *p, enum top_style style, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	put_args(p, style, format, ap);
	va_end(ap);
}

void top_page_to(struct top_page *p, unsigned column)
{
	while (p->lines[p->nb - 1].n < column && p->lines[p->nb - 1].n < p->columns)
		put(p, TOP_PLAIN, " ");
}

void top_page_say(struct top_page *p, enum top_style style, const char *format, ...)
{
	va_list ap;

	top_page_line(p);
	va_start(ap, format);
	put_args(p, style, format, ap);
	va_end(ap);
}

void top_page_mark(struct top_page *p, enum top_style style)
{
	struct top_line *line = &p->lines[p->nb - 1];

	top_page_to(p, p->columns);
	memset(line->styles, style, line->n);
}

void top_page_print(const struct top_page *p, FILE *out)
{
	for (unsigned i = 0; i < p->nb; i++) {
		unsigned n = p->lines[i].n;

		while (n > 0 && p->lines[i].text[n - 1] == ' ')
			n--;
		fprintf(out, "%.*s\n", (int)n, p->lines[i].text);
	}
}
