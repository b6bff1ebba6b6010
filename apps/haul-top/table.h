/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows and columns, sorted by one column and filtered by a text, that fit into a page's width. */
#ifndef TOP_TABLE_H
#define TOP_TABLE_H

#include "page.h"

#define TOP_COLUMNS 15
#define TOP_CELL 124 /* bytes of a cell's text */
#define TOP_ROW_ID 32

enum top_column_kind {
	TOP_COUNT, /* numbers, to the right; the largest are sorted first */
	TOP_ID, /* the same; the smallest are sorted first */
	TOP_WORDS, /* to the left; these columns share what is left of the width */
	TOP_SHARES, /* a bar, to the left, of the shares of time; the same */
};

struct top_column {
	const char *title; /* NULL ends the columns */
	unsigned width; /* of numbers; the least of the others */
	enum top_column_kind kind;
};

struct top_cell {
	char text[TOP_CELL];
	double key; /* what numbers are sorted by; NaN: last */
	double work, empty; /* TOP_SHARES: 0 to 1; the rest is idle */
	enum top_style style;
};

struct top_table {
	const struct top_column *columns;
	unsigned nb_columns, nb_shown; /* shown: those that fit into the page */
	struct top_cell *cells; /* [nb_rows][nb_columns] */
	char (*ids)[TOP_ROW_ID]; /* [nb_rows]; what each row is about, or "" */
	unsigned nb_rows, room, at; /* at: the column to be set next */
};

/* The row that keys are about. It stays with what it is about, as long as that is shown. */
struct top_pick {
	unsigned row; /* among those shown, from 0 */
	char id[TOP_ROW_ID]; /* of that row; "": not known yet, or there is none */
};

/* How the rows of a table are shown. */
struct top_order {
	int sorted; /* the column; -1: as they were added */
	bool reversed;
	const char *filter; /* rows in which a cell has this text, in any case; "": all */
	struct top_pick *pick; /* NULL: no row is picked */
};

void top_table_begin(struct top_table *t, const struct top_column *columns);
void top_table_free(struct top_table *t);

/* Add a row, and then set its cells from left to right. */
void top_table_row(struct top_table *t);
/* What the row is about. */
__attribute__((format(printf, 2, 3))) void top_table_id(
	struct top_table *t, const char *format, ...);
__attribute__((format(printf, 2, 3))) void top_table_words(
	struct top_table *t, const char *format, ...);
void top_table_number(struct top_table *t, double n); /* "12.3k" */
void top_table_bad(struct top_table *t, double n); /* the same; in red if there are any */
void top_table_share(struct top_table *t, double share); /* "12%", of 0 to 1 */
void top_table_time(struct top_table *t, double ns); /* "1.23ms" */
void top_table_bar(struct top_table *t, double work, double empty);

/* Adds the titles and at most `rows` rows to the page, and finds the row that is picked. Returns
 * the number of rows that the filter leaves, also of those that had no place. */
unsigned top_table_show(
	struct top_table *t, const struct top_order *order, struct top_page *p, unsigned rows);

#endif
