/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The figures of a period are drawn once it ends, and after each key. The screen is left and
 * entered again around a stop by SIGTSTP, and left for good at the end. In the background it
 * draws nothing.
 */
#include "screen/screen.h"

#include <langinfo.h>
#include <locale.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "conc/gate.h"
#include "process/interrupts.h"
#include "report/sample.h"
#include "screen/messages.h"
#include "screen/notice.h"
#include "screen/terminal.h"
#include "screen/views.h"

#define ABOVE 2 /* rows above the view */
#define BELOW 1 /* keys; above them the newest message */
#define MESSAGE 5 /* one in 5 rows may be a message's; at least one row */
#define WRITES_MS 1200 /* hauli_app_terminal_leave() takes most of it at most */
/* Some terminals then show nothing until the end of a frame; the others ignore it. */
#define UPDATE "\x1b[?2026h"
#define UPDATED "\x1b[?2026l"

enum { SCREEN_AUTO, SCREEN_ON, SCREEN_OFF }; /* --screen */

static struct {
	bool wanted;
	bool on; /* from begin() to end() */
	bool shown; /* on, and in the foreground */
	bool lost; /* the terminal has gone */
	int terminal, interrupts;
	struct hauli_app_canvas canvas;

	struct hauli_app_sample *last; /* at the end of the last period; NULL: none has ended */
	struct hauli_app_sample *base; /* at the last reset; NULL: the start */
	/* What is shown; NULL: nothing yet. */
	struct hauli_app_sample *period, *total;
	double seconds; /* of the period */
	uint64_t shown_at; /* its end */
	char *text; /* of the program's report() */
	struct hauli_app_message message;
	bool frozen;

	const struct hauli_app_view *view;
	unsigned first; /* line of the view in its first row */
	unsigned page; /* rows of a view */
	unsigned rows; /* of the terminal; 0: the next frame begins with an empty screen */
	char escape[8]; /* the part that has been read of a key with several bytes */
	unsigned escape_len;
} s = {.terminal = -1, .interrupts = -1};

/* The main thread writes to the terminal inside the gate. A thread that ends the process closes the
 * gate, and waits until the main thread is outside: so no frame follows after the terminal has been
 * restored, and a screen that is just being entered is restored, too. */
static struct hauli_gate writing;
static pthread_t main_thread;

/* Async-signal-safe. */
static void write_last(void)
{
	const struct timespec ms = {.tv_nsec = 1000000};

	hauli_gate_close(&writing);
	if (pthread_equal(pthread_self(), main_thread))
		return; /* it has been interrupted */
	for (unsigned i = 0; i < WRITES_MS && !hauli_gate_is_quiet(&writing); i++)
		nanosleep(&ms, NULL);
}

static bool is_utf8(void)
{
	locale_t locale = newlocale(LC_CTYPE_MASK, "", NULL);
	bool utf8 = locale && strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;

	if (locale)
		freelocale(locale);
	return utf8;
}

static bool is_coloured(void)
{
	const char *no = getenv("NO_COLOR");

	return !no || !no[0];
}

/* The reason why reports are to be lines; NULL: they are to be a screen. */
static const char *lacks(const struct hauli_app *a)
{
	const char *why = hauli_app_terminal_lacks(fileno(a->out));

	if (why)
		return why;
	if (a->period == 0)
		return "--period 0 asks for no reports";
	if (!hauli_app_terminal_is_ours(fileno(a->out)))
		return "the program runs in the background";
	s.terminal = hauli_app_terminal_open(fileno(a->out));
	return s.terminal < 0 ? strerror(-s.terminal) : NULL;
}

int hauli_app_screen_choose(struct hauli_app *a)
{
	bool automatic = a->screen == SCREEN_AUTO;
	const char *why;

	if (a->screen == SCREEN_OFF || a->plain || (automatic && a->json && isatty(STDOUT_FILENO)))
		return HAUL_APP_DONE;
	why = lacks(a);
	if (why && !automatic)
		return haul_app_wrong(a->pub.program, "--screen on: no screen on std%s: %s",
			a->json ? "err" : "out", why);
	if (why)
		return HAUL_APP_DONE;
	s.interrupts = hauli_app_interrupts_open();
	s.wanted = s.interrupts >= 0;
	return HAUL_APP_DONE;
}

bool hauli_app_screen_is_on(void)
{
	return s.on;
}

static void move_to(FILE *out, unsigned row)
{
	fprintf(out, "\x1b[%u;1H", row);
}

/* Prints a line of the canvas in a row, and erases what was there. */
static void print_row(FILE *out, unsigned row, unsigned line)
{
	unsigned columns;
	size_t len;
	const char *text = hauli_app_canvas_text(&s.canvas, line, &len, &columns);

	move_to(out, row);
	fwrite(text, 1, len, out);
	if (columns < s.canvas.columns)
		fputs("\x1b[K", out);
}

static void print_empty(FILE *out, unsigned row)
{
	move_to(out, row);
	fputs("\x1b[K", out);
}

/* Its last part: which of the view's lines are shown, if not all. */
static void draw_head(const struct hauli_app *a, unsigned lines)
{
	hauli_app_canvas_line(&s.canvas);
	hauli_app_canvas_put(
		&s.canvas, HAULI_APP_BOLD, " %s: %s", a->pub.program->name, s.view->name);
	hauli_app_canvas_put(
		&s.canvas, HAULI_APP_PLAIN, "   %.1f s", (double)(s.shown_at - a->began_at) / 1e9);
	if (s.base)
		hauli_app_canvas_put(&s.canvas, HAULI_APP_PLAIN, ", reset %.1f s ago",
			(double)(s.shown_at - s.base->at) / 1e9);
	hauli_app_canvas_put(&s.canvas, HAULI_APP_DIM, "   poller %s", a->poller_text);
	if (a->paused)
		hauli_app_canvas_put(&s.canvas, HAULI_APP_BAD, "   PAUSED");
	if (s.frozen)
		hauli_app_canvas_put(&s.canvas, HAULI_APP_BAD, "   FROZEN");
	if (lines > s.page)
		hauli_app_canvas_put(&s.canvas, HAULI_APP_PLAIN, "   lines %u-%u of %u",
			s.first + 1, s.first + s.page, lines);
}

static void draw_view(const struct hauli_app *a)
{
	const struct hauli_app_figures figures = {
		.a = a,
		.period = s.period,
		.seconds = s.seconds,
		.total = s.total,
		.text = s.text,
	};

	if (s.period) {
		s.view->draw(&s.canvas, &figures);
		return;
	}
	hauli_app_canvas_line(&s.canvas);
	hauli_app_canvas_put(&s.canvas, HAULI_APP_PLAIN, " measuring ...");
}

/* "overview", of which the first letter is the key. */
static void put_key(const char *name, bool chosen)
{
	hauli_app_canvas_put(&s.canvas, HAULI_APP_PLAIN, "  ");
	hauli_app_canvas_put(&s.canvas, HAULI_APP_KEY, "%c", name[0]);
	hauli_app_canvas_put(&s.canvas, chosen ? HAULI_APP_BOLD : HAULI_APP_DIM, "%s", name + 1);
}

/* The last row. */
static void draw_keys(void)
{
	const struct hauli_app_view *view;

	hauli_app_canvas_line(&s.canvas);
	for (unsigned i = 0; (view = hauli_app_view(i)) != NULL; i++)
		put_key(view->name, view == s.view);
	hauli_app_canvas_put(&s.canvas, HAULI_APP_PLAIN, "   ");
	put_key("reset", false);
	put_key("quit", false);
	hauli_app_canvas_put(&s.canvas, HAULI_APP_KEY, "  space");
	hauli_app_canvas_put(&s.canvas, HAULI_APP_DIM, " freeze");
}

/* Returns its number of rows. */
static unsigned draw_message(unsigned rows)
{
	unsigned most = rows / MESSAGE;

	if (hauli_gate_enter(&writing)) {
		hauli_app_messages_look(&s.message);
		hauli_gate_leave(&writing);
	}
	if (most > HAULI_APP_NOTICE)
		most = HAULI_APP_NOTICE;
	return hauli_app_notice_draw(&s.canvas, &s.message, most > 0 ? most : 1);
}

/* Ends the program after the loss of its terminal, as after that of a pipe's reader. */
static void check(struct hauli_app *a, int err)
{
	if (err >= 0)
		return;
	s.lost = true;
	haul_app_watch(&a->pub, s.terminal, NULL, NULL);
	haul_app_end(&a->pub);
}

/* Lines of the canvas; those of the view begin at 0. */
struct parts {
	unsigned message, head, keys; /* their first ones */
};

/* Draws them in this order. */
static struct parts draw(const struct hauli_app *a, unsigned rows)
{
	struct parts p;
	unsigned others;

	draw_view(a);
	p.message = s.canvas.nb;
	p.head = p.message + draw_message(rows);
	others = ABOVE + p.head - p.message + BELOW;
	s.page = rows > others ? rows - others : 0;
	if (s.first + s.page > p.message)
		s.first = p.message > s.page ? p.message - s.page : 0;
	draw_head(a, p.message);
	p.keys = s.canvas.nb;
	draw_keys();
	return p;
}

static void print(struct hauli_app *a, FILE *out)
{
	unsigned columns, rows;
	struct parts p;

	hauli_app_terminal_size(&columns, &rows);
	fputs(columns != s.canvas.columns || rows != s.rows ? UPDATE "\x1b[2J" : UPDATE, out);
	s.rows = rows;
	hauli_app_canvas_clear(&s.canvas, columns);
	p = draw(a, rows);
	print_row(out, 1, p.head);
	print_empty(out, 2);
	for (unsigned i = 0; i < s.page; i++) {
		if (s.first + i < p.message)
			print_row(out, ABOVE + 1 + i, s.first + i);
		else
			print_empty(out, ABOVE + 1 + i);
	}
	for (unsigned i = p.message; s.page > 0 && i < p.head; i++)
		print_row(out, rows - BELOW - (p.head - i) + 1, i);
	if (s.page > 0)
		print_row(out, rows, p.keys);
	fputs(UPDATED, out);
}

static void show(struct hauli_app *a)
{
	char *frame;
	size_t len;
	FILE *out;
	int err = 0;

	if (!s.shown || s.lost)
		return;
	out = open_memstream(&frame, &len);
	if (!out)
		abort();
	print(a, out);
	fclose(out);
	if (hauli_gate_enter(&writing)) {
		err = hauli_app_terminal_show(frame, len);
		hauli_gate_leave(&writing);
	}
	if (err > 0)
		s.rows = 0;
	check(a, err);
	free(frame);
}

static void scroll(int lines)
{
	s.first = lines < 0 && s.first < (unsigned)-lines ? 0 : s.first + (unsigned)lines;
}

static void choose_view(char key)
{
	const struct hauli_app_view *view;

	for (unsigned i = 0; (view = hauli_app_view(i)) != NULL; i++) {
		if (view->letter != key && view->digit != key)
			continue;
		s.view = view;
		s.first = 0;
	}
}

static void next_view(void)
{
	unsigned i = 0;

	while (hauli_app_view(i) != s.view)
		i++;
	s.view = hauli_app_view(i + 1) ? hauli_app_view(i + 1) : hauli_app_view(0);
	s.first = 0;
}

static void reset(const struct hauli_app *a)
{
	free(s.base);
	s.base = hauli_app_sample_take(a);
	if (!s.total)
		return;
	free(s.total);
	s.total = hauli_app_sample_since(a, s.base, s.base);
	s.shown_at = s.base->at;
}

static void take_key(struct hauli_app *a, char key)
{
	switch (key) {
	case 'q':
		haul_app_end(&a->pub);
		break;
	case ' ':
		s.frozen = !s.frozen;
		break;
	case 'r':
		reset(a);
		break;
	case '\t':
		next_view();
		break;
	case 'k':
		scroll(-1);
		break;
	case 'j':
		scroll(1);
		break;
	default:
		choose_view(key);
	}
}

/* Keys such as "up" are several bytes: ESC [ A. */
static void take_escape(const char *bytes)
{
	static const struct {
		const char *bytes;
		int lines, pages;
	} keys[] = {
		{"\x1b[A", -1, 0},
		{"\x1bOA", -1, 0},
		{"\x1b[B", 1, 0},
		{"\x1bOB", 1, 0},
		{"\x1b[5~", 0, -1},
		{"\x1b[6~", 0, 1},
	};

	for (unsigned i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strcmp(bytes, keys[i].bytes) == 0)
			scroll(keys[i].lines + keys[i].pages * (int)s.page);
}

static void take_byte(struct hauli_app *a, char byte)
{
	if (byte == '\x1b') {
		s.escape_len = 0;
	} else if (s.escape_len == 0) {
		take_key(a, byte);
		return;
	}
	if (s.escape_len < sizeof(s.escape) - 1)
		s.escape[s.escape_len++] = byte;
	/* The second byte is [ or O; of the next ones, a letter or ~ is the last. */
	if (s.escape_len < 2 || (s.escape_len == 2 && (byte == '[' || byte == 'O')) || byte < '@')
		return;
	s.escape[s.escape_len] = '\0';
	s.escape_len = 0;
	take_escape(s.escape);
}

static void take_keys(struct haul_app *app, int fd, void *arg)
{
	struct hauli_app *a = &hauli_app_state;
	char keys[64];
	int n = hauli_app_terminal_keys(keys, sizeof(keys));

	for (int i = 0; i < n; i++)
		take_byte(a, keys[i]);
	check(a, n);
	show(a);
}

/* The process ends without leave(). */
static void abandon(void)
{
	write_last();
	hauli_app_terminal_abandon();
	hauli_app_messages_release();
}

static void enter(struct hauli_app *a)
{
	if (!hauli_app_terminal_is_ours(s.terminal))
		return;
	main_thread = pthread_self();
	hauli_app_interrupts_before_death(abandon);
	if (!hauli_gate_enter(&writing))
		return;
	hauli_app_messages_keep(s.terminal);
	hauli_app_terminal_enter();
	hauli_gate_leave(&writing);
	haul_app_watch(&a->pub, s.terminal, take_keys, NULL);
	s.shown = true;
}

static void leave(struct hauli_app *a)
{
	if (!s.shown)
		return;
	s.shown = false;
	if (!s.lost)
		haul_app_watch(&a->pub, s.terminal, NULL, NULL);
	if (!hauli_gate_enter(&writing))
		return;
	hauli_app_terminal_leave(hauli_app_terminal_is_ours(s.terminal));
	hauli_app_messages_look(NULL);
	hauli_app_messages_release();
	hauli_gate_leave(&writing);
	hauli_app_interrupts_before_death(NULL);
}

static void take_interrupts(struct haul_app *app, int fd, void *arg)
{
	struct hauli_app *a = &hauli_app_state;
	struct hauli_app_interrupts came = hauli_app_interrupts_read();

	if (came.stop) {
		leave(a);
		hauli_app_interrupts_stop();
		hauli_app_interrupts_read(); /* the SIGCONT */
		came.continued = true;
	}
	if (came.continued && hauli_app_terminal_is_ours(s.terminal))
		enter(a);
	else if (came.continued)
		leave(a); /* in the background: the terminal is a shell's */
	show(a);
}

void hauli_app_screen_begin(struct hauli_app *a)
{
	static bool registered;

	if (!s.wanted)
		return;
	if (!registered)
		atexit(abandon);
	registered = true;
	s.on = true;
	s.view = hauli_app_view(0);
	s.shown_at = a->began_at;
	hauli_app_canvas_init(&s.canvas, is_coloured(), is_utf8());
	haul_app_watch(&a->pub, s.interrupts, take_interrupts, NULL);
	enter(a);
	show(a);
}

static void read_text(struct hauli_app *a)
{
	size_t len;
	FILE *out;

	if (!a->hooks->report)
		return;
	free(s.text);
	out = open_memstream(&s.text, &len);
	if (!out)
		abort();
	a->hooks->report(&a->pub, out, false);
	fclose(out);
}

void hauli_app_screen_period(struct hauli_app *a)
{
	struct hauli_app_sample *now;

	if (!s.shown)
		enter(a); /* in the foreground again, maybe */
	if (a->paused) {
		show(a);
		return;
	}
	now = hauli_app_sample_take(a);
	if (!s.frozen) {
		free(s.period);
		free(s.total);
		s.period = hauli_app_sample_since(a, now, s.last);
		s.total = hauli_app_sample_since(a, now, s.base);
		s.seconds = (double)(now->at - (s.last ? s.last->at : a->began_at)) / 1e9;
		s.shown_at = now->at;
		read_text(a);
	}
	free(s.last);
	s.last = now;
	show(a);
}

void hauli_app_screen_end(struct hauli_app *a)
{
	leave(a);
	if (s.on)
		haul_app_watch(&a->pub, s.interrupts, NULL, NULL);
	s.on = false;
	s.wanted = false;
	hauli_app_terminal_close();
	hauli_app_interrupts_close();
	hauli_app_canvas_fini(&s.canvas);
	free(s.last);
	free(s.base);
	free(s.period);
	free(s.total);
	free(s.text);
	s.last = s.base = s.period = s.total = NULL;
	s.text = NULL;
}
