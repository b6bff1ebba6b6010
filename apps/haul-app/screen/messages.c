/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stderr is a file in memory meanwhile. Other threads write there at any time, so what is left out
 * becomes a hole in the file, and all else stays where it is.
 */
#include "screen/messages.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conc/word.h"

/* In bytes. */
#define PART (64 << 10) /* at the begin and at the end of a long message, and at the begin of all */
#define LONG (4 * PART) /* of a message */
#define MOST (1 << 20) /* of all messages */
#define HOLES 16

struct hole {
	off_t from, to;
	uint64_t lines;
	char text[80]; /* in their place */
};

struct holes {
	struct hole hole[HOLES]; /* [nb], in their order */
	unsigned nb;
};

static struct {
	int file;
	int err; /* the former stderr */
	/* Written by the main thread, and by the thread that ends the program. */
	struct hauli_u32_published keeps;

	/* One is filled while a signal handler may read the other. */
	struct holes sets[2];
	struct hauli_ptr_published holes; /* a struct holes */

	off_t end; /* of what has been looked at */
	bool amid; /* it ends in a line */
	off_t newest; /* begin of the newest message */
	uint64_t lines; /* of it */
	uint64_t messages;
} m;

static const struct holes *holes_now(void)
{
	return hauli_ptr_published_get(&m.holes);
}

static bool is_stderr(int fd)
{
	struct stat a, b;

	return fstat(fd, &a) == 0 && fstat(STDERR_FILENO, &b) == 0 && S_ISCHR(b.st_mode) &&
		a.st_rdev == b.st_rdev;
}

void hauli_app_messages_keep(int fd)
{
	if (hauli_u32_published_get(&m.keeps) || !is_stderr(fd))
		return;
	m.file = memfd_create("messages", MFD_CLOEXEC);
	m.err = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (m.file < 0 || m.err < 0 || fcntl(m.file, F_SETFL, O_APPEND) != 0)
		return; /* messages then appear in the middle of the screen */
	m.sets[0].nb = 0;
	hauli_ptr_published_set(&m.holes, &m.sets[0]);
	m.end = m.newest = 0;
	m.amid = false;
	m.lines = m.messages = 0;
	hauli_u32_published_set(&m.keeps, true);
	dup2(m.file, STDERR_FILENO);
}

static off_t kept(off_t from, off_t to)
{
	const struct holes *holes = holes_now();
	off_t bytes = to - from;

	for (unsigned i = 0; i < holes->nb; i++)
		if (holes->hole[i].from >= from)
			bytes -= holes->hole[i].to - holes->hole[i].from;
	return bytes;
}

static uint64_t lines_in(off_t from, off_t to)
{
	char part[4096];
	uint64_t lines = 0;

	while (from < to) {
		size_t most = to - from < (off_t)sizeof(part) ? (size_t)(to - from) : sizeof(part);
		ssize_t n = pread(m.file, part, most, from);

		if (n <= 0)
			break;
		for (ssize_t i = 0; i < n; i++)
			lines += part[i] == '\n';
		from += n;
	}
	return lines;
}

/* The first begin of a line at or after `at`; `at` itself if the line is very long. */
static off_t next_line(off_t at)
{
	char part[4096];
	ssize_t n = pread(m.file, part, sizeof(part), at - 1);
	const char *end = n > 0 ? memchr(part, '\n', (size_t)n) : NULL;

	return end ? at + (end - part) : at;
}

/* Makes a hole, and merges it with the holes that it touches. The caller has checked that there is
 * room for one more. */
static void leave_out(off_t from, off_t to)
{
	const struct holes *old = holes_now();
	struct holes *new = old == &m.sets[0] ? &m.sets[1] : &m.sets[0];
	struct hole it = {.from = from, .to = to};
	unsigned i = 0;

	for (new->nb = 0; i < old->nb && old->hole[i].to < from; i++)
		new->hole[new->nb++] = old->hole[i];
	for (; i < old->nb && old->hole[i].from <= to; i++) {
		const struct hole *other = &old->hole[i];

		it.lines += lines_in(from, other->from) + other->lines;
		it.from = other->from < it.from ? other->from : it.from;
		it.to = other->to > it.to ? other->to : it.to;
		from = other->to;
	}
	it.lines += lines_in(from, to);
	snprintf(it.text, sizeof(it.text), "  ... %" PRIu64 " lines left out; 2>FILE keeps all\n",
		it.lines);
	new->hole[new->nb++] = it;
	for (; i < old->nb; i++)
		new->hole[new->nb++] = old->hole[i];
	hauli_ptr_published_set(&m.holes, new);
	fallocate(m.file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, it.from, it.to - it.from);
}

/* Leaves out the middle of the newest message, which ends at `end`, so far or for good. */
static void shorten_newest(off_t end)
{
	const struct holes *holes = holes_now();

	if (kept(m.newest, end) <= LONG)
		return;
	if (holes->nb == HOLES)
		leave_out(holes->hole[0].from, holes->hole[1].to);
	leave_out(next_line(m.newest + PART), next_line(end - PART));
}

/* The position after which `bytes` bytes are kept. */
static off_t last(off_t bytes)
{
	const struct holes *holes = holes_now();
	off_t at = m.end;

	for (unsigned i = holes->nb; i > 0 && at - holes->hole[i - 1].to < bytes; i--) {
		bytes -= at - holes->hole[i - 1].to;
		at = holes->hole[i - 1].from;
	}
	return at - bytes;
}

static void shorten(void)
{
	shorten_newest(m.end);
	if (kept(0, m.end) > MOST)
		leave_out(next_line(PART), next_line(last(MOST / 2)));
}

static void begin_line(char first, off_t at)
{
	bool continues = first == ' ' || first == '\t' || first == '\n';

	m.lines++;
	if (continues && m.messages > 0)
		return;
	shorten_newest(at);
	m.messages++;
	m.newest = at;
	m.lines = 1;
}

static void look_at(const char *part, size_t len)
{
	const char *at = part, *end = part + len;

	while (at < end) {
		if (!m.amid)
			begin_line(*at, m.end + (at - part));
		at = memchr(at, '\n', (size_t)(end - at));
		m.amid = !at;
		at = at ? at + 1 : end;
	}
	m.end += (off_t)len;
}

static void tell_newest(struct hauli_app_message *newest)
{
	const struct holes *holes = holes_now();
	off_t most = m.end - m.newest;
	ssize_t n;

	if (most > (off_t)sizeof(newest->text) - 1)
		most = sizeof(newest->text) - 1;
	n = pread(m.file, newest->text, (size_t)most, m.newest);
	newest->text[n > 0 ? n : 0] = '\0';
	newest->lines = m.lines;
	newest->earlier = m.messages > 0 ? m.messages - 1 : 0;
	for (unsigned i = 0; i < holes->nb; i++)
		if (holes->hole[i].from > m.newest)
			newest->lines -= holes->hole[i].lines;
}

void hauli_app_messages_look(struct hauli_app_message *newest)
{
	char part[4096];
	ssize_t n;

	if (newest)
		*newest = (struct hauli_app_message){0};
	if (!hauli_u32_published_get(&m.keeps))
		return;
	while ((n = pread(m.file, part, sizeof(part), m.end)) > 0)
		look_at(part, (size_t)n);
	shorten();
	if (newest)
		tell_newest(newest);
}

/* Returns false if stderr is closed. */
static bool print(off_t from, off_t to)
{
	char part[4096];

	while (from < to) {
		size_t most = to - from < (off_t)sizeof(part) ? (size_t)(to - from) : sizeof(part);
		ssize_t n = pread(m.file, part, most, from);

		if (n <= 0 || write(STDERR_FILENO, part, (size_t)n) != n)
			return n == 0;
		from += n;
	}
	return true;
}

static off_t size(void)
{
	struct stat st;

	return fstat(m.file, &st) == 0 ? st.st_size : 0;
}

void hauli_app_messages_release(void)
{
	const struct holes *holes = holes_now();
	bool prints = true;
	off_t at = 0;

	if (!hauli_u32_published_get(&m.keeps))
		return;
	hauli_u32_published_set(&m.keeps, false);
	dup2(m.err, STDERR_FILENO);
	for (unsigned i = 0; i < holes->nb && prints; i++) {
		const struct hole *hole = &holes->hole[i];
		size_t len = strlen(hole->text);

		prints = print(at, hole->from) &&
			write(STDERR_FILENO, hole->text, len) == (ssize_t)len;
		at = hole->to;
	}
	if (prints)
		print(at, size());
	close(m.file);
	close(m.err);
}
