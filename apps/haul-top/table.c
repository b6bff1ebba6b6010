/* SPDX-License-Identifier: BSD-3-Clause */
#include "table.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

#define WORDS_MOST 40 /* columns of a page that a column of words takes */
#define BAR_MOST 60

void top_table_begin(struct top_table *t, const struct top_column *columns)
{
	*t = (struct top_table){.columns = columns};
	while (columns[t->nb_columns].title)
		t->nb_columns++;
}

void top_table_free(struct top_table *t)
{
	free(t->cells);
	free(t->ids);
	t->cells = NULL;
	t->ids = NULL;
}

void top_table_row(struct top_table *t)
{
	if (t->nb_rows == t->room) {
		t->room = t->room ? 2 * t->room : 16;
		t->cells = realloc(t->cells, t->room * t->nb_columns * sizeof(t->cells[0]));
		t->ids = realloc(t->ids, t->room * sizeof(t->ids[0]));
		if (!t->cells || !t->ids)
			abort();
	}
	memset(&t->cells[t->nb_rows * t->nb_columns], 0, t->nb_columns * sizeof(t->cells[0]));
	t->ids[t->nb_rows][0] = '\0';
	t->nb_rows++;
	t->at = 0;
}

void top_table_id(struct top_table *t, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(t->ids[t->nb_rows - 1], TOP_ROW_ID, format, ap);
	va_end(ap);
}

static struct top_cell *next_cell(struct top_table *t)
{
	return &t->cells[(t->nb_rows - 1) * t->nb_columns + t->at++];
}

void top_table_words(struct top_table *t, const char *format, ...)
{
	struct top_cell *cell = next_cell(t);
	va_list ap;

	va_start(ap, format);
	vsnprintf(cell->text, sizeof(cell->text), format, ap);
	va_end(ap);
	top_text_clean(cell->text);
}

void top_table_number(struct top_table *t, double n)
{
	struct top_cell *cell = next_cell(t);

	cell->key = n;
	top_text_number(cell->text, sizeof(cell->text), n);
}

void top_table_bad(struct top_table *t, double n)
{
	struct top_cell *cell = &t->cells[(t->nb_rows - 1) * t->nb_columns + t->at];

	top_table_number(t, n);
	cell->style = n > 0 ? TOP_BAD : TOP_PLAIN;
}

void top_table_share(struct top_table *t, double share)
{
	struct top_cell *cell = next_cell(t);

	cell->key = share;
	if (isnan(share))
		snprintf(cell->text, sizeof(cell->text), "-");
	else
		snprintf(cell->text, sizeof(cell->text), "%.0f%%", 100 * share);
}

void top_table_time(struct top_table *t, double ns)
{
	struct top_cell *cell = next_cell(t);

	cell->key = ns;
	if (isnan(ns) || ns < 0)
		snprintf(cell->text, sizeof(cell->text), "-");
	else
		top_text_time(cell->text, sizeof(cell->text), (uint64_t)ns);
}

void top_table_bar(struct top_table *t, double work, double empty)
{
	struct top_cell *cell = next_cell(t);

	cell->key = cell->work = work;
	cell->empty = empty;
}

static bool has(const char *text, const char *part)
{
	return strcasestr(text, part) != NULL;
}

static bool is_shown(const struct top_table *t, unsigned row, const char *filter)
{
	for (unsigned i = 0; i < t->nb_columns; i++)
		if (has(t->cells[row * t->nb_columns + i].text, filter))
			return true;
	return false;
}

/* What a comparison needs to know. */
struct place {
	const struct top_table *table;
	const struct top_order *order;
	unsigned row;
};

static bool is_number(enum top_column_kind kind)
{
	return kind == TOP_COUNT || kind == TOP_ID;
}

static int compare_cells(
	const struct top_cell *a, const struct top_cell *b, enum top_column_kind kind)
{
	if (kind == TOP_WORDS)
		return strcasecmp(a->text, b->text);
	if (isnan(a->key) || isnan(b->key))
		return isnan(a->key) - isnan(b->key);
	return kind == TOP_ID ? (a->key > b->key) - (a->key < b->key)
			      : (a->key < b->key) - (a->key > b->key);
}

static int compare(const void *x, const void *y)
{
	const struct place *a = x, *b = y;
	const struct top_table *t = a->table;
	const int column = a->order->sorted;
	int by = 0;

	if (column >= 0)
		by = compare_cells(&t->cells[a->row * t->nb_columns + (unsigned)column],
			&t->cells[b->row * t->nb_columns + (unsigned)column],
			t->columns[column].kind);
	if (by == 0)
		by = a->row < b->row ? -1 : 1;
	return a->order->reversed ? -by : by;
}

/* The widths: of numbers as given, the rest of the page among the others. The last columns are left
 * out if the page is too narrow. */
static void place_columns(struct top_table *t, unsigned columns, unsigned *widths)
{
	unsigned used = 0, flexible = 0, i;

	for (i = 0; i < t->nb_columns; i++) {
		widths[i] = t->columns[i].width;
		if (i > 0 && used + 1 + widths[i] > columns)
			break;
		used += widths[i] + (i > 0);
		flexible += !is_number(t->columns[i].kind);
	}
	t->nb_shown = i;
	for (i = 0; i < t->nb_shown && used < columns; i++) {
		unsigned more, most = t->columns[i].kind == TOP_WORDS ? WORDS_MOST : BAR_MOST;

		if (is_number(t->columns[i].kind))
			continue;
		more = (columns - used) / flexible--;
		if (widths[i] + more > most)
			more = most > widths[i] ? most - widths[i] : 0;
		widths[i] += more;
		used += more;
	}
}

static void put_titles(const struct top_table *t, const struct top_order *order,
	const unsigned *widths, struct top_page *p)
{
	top_page_line(p);
	for (unsigned i = 0; i < t->nb_shown; i++) {
		enum top_style style = (int)i == order->sorted ? TOP_SORTED : TOP_HEAD;
		int width = (int)widths[i];

		if (i > 0)
			top_page_put(p, TOP_HEAD, " ");
		if (!is_number(t->columns[i].kind))
			width = -width;
		top_page_put(p, style, "%*.*s", width, (int)widths[i], t->columns[i].title);
	}
	while (p->lines[p->nb - 1].n < p->columns)
		top_page_put(p, TOP_HEAD, " ");
}

static unsigned cells_of(double share, unsigned all)
{
	return share >= 1 ? all : share > 0 ? (unsigned)(share * all + 0.5) : 0;
}

/* Its characters differ, for terminals without colours. */
static void put_bar(const struct top_cell *cell, unsigned width, struct top_page *p)
{
	unsigned all = width - 2, work = cells_of(cell->work, all);
	unsigned both = cells_of(cell->work + cell->empty, all);

	top_page_put(p, TOP_DIM, "[");
	for (unsigned i = 0; i < all; i++)
		if (i < work)
			top_page_put(p, TOP_WORK, "#");
		else if (i < both)
			top_page_put(p, TOP_EMPTY, ".");
		else
			top_page_put(p, TOP_PLAIN, " ");
	top_page_put(p, TOP_DIM, "]");
}

static void put_row(
	const struct top_table *t, unsigned row, const unsigned *widths, struct top_page *p)
{
	top_page_line(p);
	for (unsigned i = 0; i < t->nb_shown; i++) {
		const struct top_cell *cell = &t->cells[row * t->nb_columns + i];

		if (i > 0)
			top_page_put(p, TOP_PLAIN, " ");
		if (t->columns[i].kind == TOP_SHARES)
			put_bar(cell, widths[i], p);
		else if (t->columns[i].kind == TOP_WORDS)
			top_page_put(p, cell->style, "%-*.*s", (int)widths[i], (int)widths[i],
				cell->text);
		else
			top_page_put(p, cell->style, "%*s", (int)widths[i], cell->text);
	}
}

/* Sets the pick to its row: where its id is now, or else to what is in its row now. */
static void find_pick(
	const struct top_table *t, const struct place *places, unsigned n, struct top_pick *pick)
{
	unsigned i = 0;

	while (i < n && (!pick->id[0] || strcmp(t->ids[places[i].row], pick->id) != 0))
		i++;
	if (i < n)
		pick->row = i;
	else if (pick->row >= n)
		pick->row = n > 0 ? n - 1 : 0;
	snprintf(pick->id, sizeof(pick->id), "%s", n > 0 ? t->ids[places[pick->row].row] : "");
}

unsigned top_table_show(
	struct top_table *t, const struct top_order *order, struct top_page *p, unsigned rows)
{
	struct place *places = calloc(t->nb_rows + 1, sizeof(places[0]));
	unsigned widths[TOP_COLUMNS], n = 0;

	if (!places)
		abort();
	for (unsigned i = 0; i < t->nb_rows; i++)
		if (is_shown(t, i, order->filter))
			places[n++] = (struct place){t, order, i};
	qsort(places, n, sizeof(places[0]), compare);
	place_columns(t, p->columns, widths);
	put_titles(t, order, widths, p);
	if (order->pick)
		find_pick(t, places, n, order->pick);
	for (unsigned i = 0; i < n && i < rows; i++) {
		put_row(t, places[i].row, widths, p);
		if (order->pick && i == order->pick->row)
			top_page_mark(p, TOP_PICKED);
	}
	free(places);
	return n;
}
