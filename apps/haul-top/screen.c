/* SPDX-License-Identifier: BSD-3-Clause */
#include "screen.h"

#include <curses.h>
#include <string.h>

#include "text.h"

#define HEAD 3 /* lines above a view */
#define ESC 27

void top_screen_init(struct top_screen *s, enum top_view view)
{
	*s = (struct top_screen){.view = view};
	for (unsigned i = 0; i < TOP_VIEWS; i++) {
		const enum top_view v = (enum top_view)i;

		s->orders[i] = (struct top_order){top_view_first(v), false, s->filter,
			top_view_is_picked_from(v) ? &s->picks[i] : NULL};
	}
}

void top_screen_end(struct top_screen *s)
{
	top_panel_close(&s->panel);
}

/* The bar at the top: what is shown on the left, how on the right. */
static void put_bar(const struct top_screen *s, const struct top_status *status, struct top_page *p)
{
	char every[16], right[96];

	top_text_time(every, sizeof(every), status->interval);
	snprintf(right, sizeof(right), "%s%s%s%s%s ", status->records ? "recording  " : "",
		s->held ? "HELD  " : "", status->place[0] ? status->place : "every ",
		status->place[0] ? "" : every,
		s->filter[0] && !s->types_filter ? "  filtered" : "");
	top_page_line(p);
	top_page_put(p, TOP_BAR, " %s: %s", status->name, top_view_names[s->view].name);
	while (p->lines[p->nb - 1].n + strlen(right) < p->columns)
		top_page_put(p, TOP_BAR, " ");
	top_page_put(p, TOP_BAR, "%s", right);
}

/* The views with their keys: the key's letter stands out in each name. */
static void put_keys(const struct top_screen *s, struct top_page *p)
{
	for (unsigned i = 0; i < TOP_VIEWS; i++) {
		const struct top_view_name *view = &top_view_names[i];
		const char *at = strchr(view->name, view->key);
		enum top_style style = i == s->view ? TOP_BAR : TOP_PLAIN;

		if (i > 0)
			top_page_put(p, TOP_PLAIN, " ");
		top_page_put(p, style, "%.*s", (int)(at - view->name), view->name);
		top_page_put(p, TOP_KEY, "%c", at[0] - 'a' + 'A');
		top_page_put(p, style, "%s", at + 1);
	}
	top_page_put(p, TOP_KEY, " Q");
	top_page_put(p, TOP_PLAIN, "uit");
}

static void put_foot(const struct top_screen *s, struct top_page *p)
{
	top_page_line(p);
	if (s->types_filter) {
		top_page_put(p, TOP_KEY, "show rows with: ");
		top_page_put(p, TOP_BOLD, "%s_", s->filter);
	} else {
		put_keys(s, p);
	}
	/* A character in the last column of the last row would scroll some terminals. */
	if (p->columns > 0 && p->lines[p->nb - 1].n == p->columns)
		p->lines[p->nb - 1].n--;
}

static bool has_panel(const struct top_screen *s)
{
	return s->panel.kind != TOP_NO_PANEL;
}

/* The line at the top of what is shown. */
static unsigned *first_of(struct top_screen *s)
{
	return has_panel(s) ? &s->panel.first : &s->first[s->view];
}

/* The row that keys move, or NULL: then they scroll. */
static struct top_pick *pick_of(struct top_screen *s)
{
	return has_panel(s) ? NULL : s->orders[s->view].pick;
}

/* Scrolls so that the row can be seen. The titles of the columns are line 0, and stay. */
static void see_pick(struct top_screen *s, unsigned rows)
{
	const struct top_pick *pick = pick_of(s);
	unsigned *first = first_of(s);

	if (!pick || rows < 2)
		return;
	if (*first > pick->row)
		*first = pick->row;
	if (pick->row + 2 > *first + rows)
		*first = pick->row + 2 - rows;
}

static void put_view(
	struct top_screen *s, const struct top_pair *pair, struct top_page *p, unsigned rows)
{
	const bool titles = !has_panel(s) && top_view_columns(s->view);
	struct top_page all = {0};
	unsigned *first = first_of(s);

	top_page_clear(&all, p->columns);
	if (has_panel(s))
		top_panel_show(&s->panel, &all);
	else if (pair->now || s->view == TOP_HELP)
		top_view_show(s->view, pair, &s->orders[s->view], &all, rows);
	else
		top_page_say(&all, TOP_DIM, "no figures yet");
	s->last_lines = all.nb;
	s->last_rows = rows;
	see_pick(s, rows);
	if (*first + rows > all.nb)
		*first = all.nb > rows ? all.nb - rows : 0;
	for (unsigned i = 0; i < rows; i++) {
		unsigned from = i == 0 && titles ? 0 : *first + i;

		top_page_line(p);
		if (from < all.nb)
			p->lines[p->nb - 1] = all.lines[from];
	}
	top_page_free(&all);
}

void top_screen_draw(struct top_screen *s, const struct top_pair *pair,
	const struct top_status *status, struct top_page *p, unsigned columns, unsigned rows)
{
	unsigned foot = status->why[0] ? 2 : 1;

	top_page_clear(p, columns);
	put_bar(s, status, p);
	if (pair->now) {
		top_view_summary(pair, p);
	} else {
		top_page_line(p);
		top_page_line(p);
	}
	top_page_line(p);
	if (rows > p->nb + foot)
		put_view(s, pair, p, rows - p->nb - foot);
	if (status->why[0])
		top_page_say(p, TOP_BAD, "%s", status->why);
	put_foot(s, p);
	if (p->nb > rows) /* the last lines of all matter least in a small terminal */
		p->nb = rows;
}

static void scroll_by(struct top_screen *s, int lines)
{
	struct top_pick *pick = pick_of(s);
	unsigned *first = pick ? &pick->row : first_of(s);

	if (pick)
		pick->id[0] = '\0';
	if (lines < 0 && *first < (unsigned)-lines)
		*first = 0;
	else
		*first += (unsigned)lines;
	if (*first > s->last_lines)
		*first = s->last_lines;
}

static void sort_by(struct top_screen *s, int step)
{
	const struct top_column *columns = top_view_columns(s->view);
	struct top_order *order = &s->orders[s->view];
	int n = 0;

	if (!columns)
		return;
	while (columns[n].title)
		n++;
	do {
		order->sorted += step;
		if (order->sorted >= n)
			order->sorted = 0;
		if (order->sorted < 0)
			order->sorted = n - 1;
	} while (columns[order->sorted].kind == TOP_SHARES);
}

static bool is_enter(int key)
{
	return key == '\n' || key == '\r' || key == KEY_ENTER;
}

static void type_filter(struct top_screen *s, int key)
{
	size_t n = strlen(s->filter);

	if (key == ESC)
		s->filter[0] = '\0';
	if (key == ESC || is_enter(key))
		s->types_filter = false;
	else if ((key == KEY_BACKSPACE || key == 127 || key == '\b') && n > 0)
		s->filter[n - 1] = '\0';
	else if (key >= ' ' && key <= '~' && n + 1 < sizeof(s->filter)) {
		s->filter[n] = (char)key;
		s->filter[n + 1] = '\0';
	}
}

static bool scrolls(struct top_screen *s, int key)
{
	const int page = (int)s->last_rows - 1, all = (int)s->last_lines;

	switch (key) {
	case 'k':
	case KEY_UP:
		scroll_by(s, -1);
		return true;
	case 'j':
	case KEY_DOWN:
		scroll_by(s, 1);
		return true;
	case KEY_PPAGE:
		scroll_by(s, -page);
		return true;
	case KEY_NPAGE:
		scroll_by(s, page);
		return true;
	case KEY_HOME:
		scroll_by(s, -all);
		return true;
	case KEY_END:
		scroll_by(s, all);
		return true;
	default:
		return false;
	}
}

static bool changes_view(struct top_screen *s, int key)
{
	if (key == '?')
		key = 'h';
	if (key == '\t')
		s->view = (enum top_view)((s->view + 1) % TOP_VIEWS);
	else if (key == KEY_BTAB)
		s->view = (enum top_view)((s->view + TOP_VIEWS - 1) % TOP_VIEWS);
	for (unsigned i = 0; i < TOP_VIEWS; i++)
		if (top_view_names[i].key == key)
			s->view = (enum top_view)i;
	return key == '\t' || key == KEY_BTAB || top_view_names[s->view].key == key;
}

bool top_key_is_about_a_row(int key)
{
	return is_enter(key);
}

/* About the row that is picked, or what is asked already. */
static enum top_wish enter(struct top_screen *s)
{
	const struct top_pick *pick = pick_of(s);

	if (has_panel(s))
		return TOP_ASK;
	if (!pick || !pick->id[0])
		return TOP_NONE;
	if (s->view != TOP_WAITS) {
		top_panel_open_policy(&s->panel, pick->id);
		return TOP_NONE;
	}
	top_panel_open_stack(&s->panel, pick->id);
	return TOP_ASK;
}

/* True for keys that choose in the panel. */
static bool chooses(struct top_screen *s, int key)
{
	if (!top_panel_has_choices(&s->panel))
		return false;
	switch (key) {
	case 'k':
	case KEY_UP:
		top_panel_choose(&s->panel, -1);
		return true;
	case 'j':
	case KEY_DOWN:
		top_panel_choose(&s->panel, 1);
		return true;
	case KEY_LEFT:
		top_panel_change_time(&s->panel, -1);
		return true;
	case KEY_RIGHT:
		top_panel_change_time(&s->panel, 1);
		return true;
	default:
		return false;
	}
}

enum top_wish top_screen_key(struct top_screen *s, int key)
{
	if (key == KEY_RESIZE)
		return TOP_NONE;
	if (s->types_filter) {
		type_filter(s, key);
		return TOP_NONE;
	}
	if (chooses(s, key) || scrolls(s, key))
		return TOP_NONE;
	if (is_enter(key))
		return enter(s);
	if (has_panel(s)) {
		top_panel_close(&s->panel);
		if (key == ESC)
			return TOP_NONE;
	}
	if (changes_view(s, key))
		return TOP_NONE;
	switch (key) {
	case 's':
		sort_by(s, 1);
		return TOP_NONE;
	case 'S':
		sort_by(s, -1);
		return TOP_NONE;
	case 'v':
		s->orders[s->view].reversed = !s->orders[s->view].reversed;
		return TOP_NONE;
	case 'b':
		top_panel_open_burst(&s->panel);
		return TOP_NONE;
	case 't':
		top_panel_open_stealing(&s->panel);
		return TOP_NONE;
	case '/':
		s->types_filter = true;
		return TOP_NONE;
	case ESC:
		s->filter[0] = '\0';
		return TOP_NONE;
	case ' ':
		return TOP_HOLD;
	case '+':
	case '=':
		return TOP_SLOWER;
	case '-':
		return TOP_FASTER;
	case KEY_LEFT:
		return TOP_BACK;
	case KEY_RIGHT:
		return TOP_FORTH;
	case 'q':
		return TOP_QUIT;
	default:
		return TOP_NONE;
	}
}
