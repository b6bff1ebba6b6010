/* SPDX-License-Identifier: BSD-3-Clause */
#include "screen/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "conc/word.h"

/* Alternate screen, no cursor, no wrap at the last column; and back. */
#define ENTER "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[H\x1b[2J"
#define LEAVE "\x1b[?2026l\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l"
#define TAKES 20 /* milliseconds that a terminal may take for a part of a frame */
#define LEAVES 1000 /* the same before it changes screens */

static struct {
	int fd; /* -1: none */
	/* Written by the main thread, and by the thread that ends the program. */
	struct hauli_u32_published entered;
	struct termios before;
	char *rest; /* of a frame that the terminal has not taken */
	size_t rest_len;
} t = {.fd = -1};

const char *hauli_app_terminal_lacks(int fd)
{
	const char *term = getenv("TERM");

	if (!isatty(fd))
		return "it is no terminal";
	if (!term || !term[0] || strcmp(term, "dumb") == 0)
		return "the terminal cannot move its cursor, says TERM";
	return NULL;
}

bool hauli_app_terminal_is_ours(int fd)
{
	return tcgetpgrp(fd) == getpgrp();
}

int hauli_app_terminal_open(int fd)
{
	char path[32];

	/* Not by its name, which a terminal from outside of a container does not have. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	t.fd = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	return t.fd < 0 ? -errno : t.fd;
}

void hauli_app_terminal_close(void)
{
	if (t.fd >= 0)
		close(t.fd);
	t.fd = -1;
	free(t.rest);
	t.rest = NULL;
}

static void keep(const char *text, size_t len)
{
	char *rest = malloc(len);

	if (!rest)
		abort();
	memcpy(rest, text, len);
	free(t.rest);
	t.rest = rest;
	t.rest_len = len;
}

/* Writes, and waits for at most "patience" milliseconds at a time. Returns the number of bytes that
 * the terminal has taken, or -errno. */
static ssize_t put(const char *text, size_t len, int patience)
{
	struct pollfd ready = {.fd = t.fd, .events = POLLOUT};
	size_t done = 0;

	while (done < len) {
		ssize_t n = write(t.fd, text + done, len - done);

		if (n > 0)
			done += (size_t)n;
		else if (n < 0 && errno != EAGAIN)
			return errno == EINTR ? (ssize_t)done : -errno;
		else if (poll(&ready, 1, patience) <= 0)
			break;
	}
	return (ssize_t)done;
}

static ssize_t put_rest(int patience)
{
	ssize_t n = t.rest ? put(t.rest, t.rest_len, patience) : 0;

	if (n < 0)
		return n;
	if ((size_t)n < t.rest_len && t.rest) {
		keep(t.rest + n, t.rest_len - (size_t)n);
		return 0;
	}
	free(t.rest);
	t.rest = NULL;
	return 1;
}

void hauli_app_terminal_enter(void)
{
	struct termios keys;

	if (!hauli_u32_published_get(&t.entered) && tcgetattr(t.fd, &t.before) != 0)
		return;
	keys = t.before;
	keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	hauli_u32_published_set(&t.entered, true);
	tcsetattr(t.fd, TCSANOW, &keys);
	if (put_rest(LEAVES) > 0)
		hauli_app_terminal_show(ENTER, sizeof(ENTER) - 1);
}

void hauli_app_terminal_leave(bool is_ours)
{
	if (!hauli_u32_published_get(&t.entered))
		return;
	hauli_u32_published_set(&t.entered, false);
	if (put_rest(LEAVES) >= 0)
		put(LEAVE, sizeof(LEAVE) - 1, LEAVES);
	free(t.rest);
	t.rest = NULL;
	if (is_ours)
		tcsetattr(t.fd, TCSANOW, &t.before);
}

void hauli_app_terminal_abandon(void)
{
	if (!hauli_u32_published_get(&t.entered))
		return;
	hauli_u32_published_set(&t.entered, false);
	if (write(t.fd, LEAVE, sizeof(LEAVE) - 1) < 0 && errno == EIO)
		return; /* it has gone */
	tcsetattr(t.fd, TCSANOW, &t.before);
}

void hauli_app_terminal_size(unsigned *columns, unsigned *rows)
{
	struct winsize size;
	bool known = ioctl(t.fd, TIOCGWINSZ, &size) == 0;

	*columns = known && size.ws_col > 0 ? size.ws_col : 80;
	*rows = known && size.ws_row > 0 ? size.ws_row : 24;
}

int hauli_app_terminal_show(const char *frame, size_t len)
{
	ssize_t n = put_rest(TAKES);

	if (n <= 0)
		return n < 0 ? (int)n : 1;
	n = put(frame, len, TAKES);
	if (n < 0)
		return (int)n;
	if ((size_t)n < len)
		keep(frame + n, len - (size_t)n);
	return 0;
}

int hauli_app_terminal_keys(char *keys, size_t size)
{
	ssize_t n = read(t.fd, keys, size);

	if (n > 0)
		return (int)n;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	return n < 0 ? -errno : -EIO; /* an end of file: it was hung up */
}
