/* SPDX-License-Identifier: BSD-3-Clause */
#include "terminal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#define LEAVES 2 /* seconds that a terminal may take to show what it was sent before the end */

/* What signals add to the eventfd: those that end the program, and SIGTSTP. */
#define END ((uint64_t)1 << 32)
#define STOP ((uint64_t)1 << 16)

static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
static const int dies[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGQUIT, SIGALRM};

static struct {
	SCREEN *screen;
	attr_t attributes[TOP_STYLES];
	struct termios before;
	char leave[256]; /* the bytes that show the normal screen */
	size_t leave_len;
	int signals; /* an eventfd */
} t = {.signals = -1};

bool top_terminal_is_there(const char **why)
{
	const char *term = getenv("TERM");

	*why = !isatty(STDIN_FILENO)     ? "stdin is no terminal"
		: !isatty(STDOUT_FILENO) ? "stdout is no terminal"
		: !term || !term[0]      ? "TERM does not say which terminal this is"
					 : NULL;
	return !*why;
}

/* In a signal handler. A terminal that takes nothing, such as one stopped by Ctrl-S, would keep
 * the program from its end: then the alarm ends it. */
static void take_signal(int sig)
{
	const uint64_t what = sig == SIGWINCH ? 1 : sig == SIGTSTP ? STOP : END;
	int err = errno;

	if (what == END)
		alarm(LEAVES);
	if (write(t.signals, &what, sizeof(what)) < 0)
		_exit(1);
	errno = err;
}

/* In a signal handler: ncurses must not be called here. */
static void die(int sig)
{
	struct pollfd out = {STDOUT_FILENO, POLLOUT, 0};
	sigset_t none;

	sigemptyset(&none);
	if (poll(&out, 1, 0) == 1 && write(STDOUT_FILENO, t.leave, t.leave_len) < 0)
		_exit(1);
	tcsetattr(STDIN_FILENO, TCSANOW, &t.before);
	signal(sig == SIGALRM ? SIGTERM : sig, SIG_DFL);
	raise(sig == SIGALRM ? SIGTERM : sig);
	sigprocmask(SIG_SETMASK, &none, NULL); /* here it ends */
	_exit(1);
}

static void handle(const int *signals, size_t n, void (*fn)(int))
{
	struct sigaction action = {.sa_handler = fn}, old;

	sigfillset(&action.sa_mask);
	for (size_t i = 0; i < n; i++)
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
}

static void keep(const char *capability)
{
	const char *text = tigetstr(capability);
	size_t n = text && text != (const char *)-1 ? strlen(text) : 0;

	if (t.leave_len + n > sizeof(t.leave))
		return;
	memcpy(t.leave + t.leave_len, text ? text : "", n);
	t.leave_len += n;
}

static void handle_all(void)
{
	static const int others[] = {SIGWINCH, SIGTSTP};

	handle(ends, sizeof(ends) / sizeof(ends[0]), take_signal);
	handle(others, 2, take_signal);
	handle(dies, sizeof(dies) / sizeof(dies[0]), die);
}

/* Styles differ without colours, too. */
static void set_styles(bool colours)
{
	static const struct {
		short colour; /* -1: as the text is */
		attr_t with, without;
	} styles[TOP_STYLES] = {
		[TOP_PLAIN] = {-1, A_NORMAL, A_NORMAL},
		[TOP_BOLD] = {-1, A_BOLD, A_BOLD},
		[TOP_DIM] = {-1, A_DIM, A_NORMAL},
		[TOP_HEAD] = {COLOR_CYAN, A_UNDERLINE, A_UNDERLINE},
		[TOP_SORTED] = {COLOR_CYAN, A_UNDERLINE | A_BOLD | A_REVERSE,
			A_UNDERLINE | A_REVERSE},
		[TOP_BAD] = {COLOR_RED, A_BOLD, A_BOLD},
		[TOP_WORK] = {COLOR_GREEN, A_NORMAL, A_NORMAL},
		[TOP_EMPTY] = {COLOR_BLUE, A_NORMAL, A_NORMAL},
		[TOP_KEY] = {COLOR_YELLOW, A_BOLD, A_BOLD},
		[TOP_BAR] = {-1, A_REVERSE, A_REVERSE},
		[TOP_PICKED] = {-1, A_REVERSE | A_BOLD, A_REVERSE | A_BOLD},
	};

	colours = colours && has_colors() && start_color() == OK && use_default_colors() == OK;
	for (short i = 0; i < TOP_STYLES; i++) {
		t.attributes[i] = colours ? styles[i].with : styles[i].without;
		if (colours && styles[i].colour >= 0 && init_pair(i, styles[i].colour, -1) == OK)
			t.attributes[i] |= (attr_t)COLOR_PAIR(i);
	}
}

bool top_terminal_begin(bool colours)
{
	t.signals = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (t.signals < 0 || tcgetattr(STDIN_FILENO, &t.before) != 0)
		return false;
	/* Before newterm(): ncurses' own handler loses a SIGTSTP that comes while it writes. */
	handle_all();
	t.screen = newterm(NULL, stdout, stdin);
	if (!t.screen)
		return false;
	keep("sgr0");
	keep("cnorm");
	keep("rmkx");
	keep("rmcup");
	set_styles(colours);
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(100);
	curs_set(0);
	leaveok(stdscr, TRUE); /* a hidden cursor need not come back */
	return true;
}

void top_terminal_end(void)
{
	if (t.screen) {
		endwin();
		delscreen(t.screen);
		t.screen = NULL;
		alarm(0);
	}
	if (t.signals >= 0)
		close(t.signals);
	t.signals = -1;
}

int top_terminal_signals(void)
{
	return t.signals;
}

/* Until somebody has it continue. The next page then shows the screen again. */
static void stop(void)
{
	struct sigaction action = {.sa_handler = SIG_DFL}, ours;

	endwin();
	sigaction(SIGTSTP, &action, &ours);
	raise(SIGTSTP);
	sigaction(SIGTSTP, &ours, NULL);
	refresh();
}

bool top_terminal_take_signals(void)
{
	struct winsize size;
	uint64_t what;

	if (read(t.signals, &what, sizeof(what)) != sizeof(what))
		return false;
	if (what % END >= STOP)
		stop();
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0)
		resizeterm(size.ws_row, size.ws_col);
	return what >= END;
}

void top_terminal_size(unsigned *columns, unsigned *rows)
{
	*columns = (unsigned)COLS;
	*rows = (unsigned)LINES;
}

/* The columns from `from` on that have the same style. */
static unsigned run_of(const struct top_line *line, unsigned from)
{
	unsigned n = 1;

	while (from + n < line->n && line->styles[from + n] == line->styles[from])
		n++;
	return n;
}

bool top_terminal_show(const struct top_page *p)
{
	struct pollfd out = {STDOUT_FILENO, POLLOUT, 0};

	if (poll(&out, 1, 0) == 0)
		return false;
	erase();
	for (unsigned i = 0; i < p->nb && (int)i < LINES; i++) {
		const struct top_line *line = &p->lines[i];
		unsigned n;

		move((int)i, 0);
		for (unsigned at = 0; at < line->n; at += n) {
			n = run_of(line, at);
			attrset((int)t.attributes[line->styles[at]]);
			addnstr(line->text + at, (int)n);
		}
	}
	attrset(A_NORMAL);
	refresh();
	return true;
}

int top_terminal_key(void)
{
	return getch();
}
