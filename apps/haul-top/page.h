/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of printable ASCII with styles: what a screen shows, or --once prints. */
#ifndef TOP_PAGE_H
#define TOP_PAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define TOP_WIDTH 250 /* columns of a line; what goes beyond is cut */

enum top_style {
	TOP_PLAIN,
	TOP_BOLD,
	TOP_DIM,
	TOP_HEAD, /* titles of columns */
	TOP_SORTED, /* the title of the column that rows are sorted by */
	TOP_BAD,
	TOP_WORK,
	TOP_EMPTY, /* polls that found nothing */
	TOP_KEY, /* what to type */
	TOP_BAR, /* the first line of a screen */
	TOP_PICKED, /* the row that keys are about */
	TOP_STYLES
};

struct top_line {
	char text[TOP_WIDTH + 1];
	uint8_t styles[TOP_WIDTH]; /* enum top_style, of each column */
	unsigned n;
};

struct top_page {
	unsigned columns; /* at most TOP_WIDTH */
	struct top_line *lines; /* [nb] */
	unsigned nb, room;
};

/* Removes all lines. A zeroed struct is a page without lines. */
void top_page_clear(struct top_page *p, unsigned columns);
void top_page_free(struct top_page *p);

/* Begins a line. */
void top_page_line(struct top_page *p);
/* Appends to the last line. What is not printable ASCII becomes '?'. */
__attribute__((format(printf, 3, 4))) void top_page_put(
	struct top_page *p, enum top_style style, const char *format, ...);
/* Appends spaces up to this column. */
void top_page_to(struct top_page *p, unsigned column);
/* A line of one style. */
__attribute__((format(printf, 3, 4))) void top_page_say(
	struct top_page *p, enum top_style style, const char *format, ...);

/* Gives the last line a style, in all columns of the page. */
void top_page_mark(struct top_page *p, enum top_style style);

/* Prints the lines, without styles and without spaces at their ends. */
void top_page_print(const struct top_page *p, FILE *out);

#endif
