/* SPDX-License-Identifier: BSD-3-Clause */
/* stderr is a file in memory meanwhile. */
#include "messages.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST (1 << 20) /* bytes; then the oldest are dropped */
#define LEFT_OUT "...\n"

static struct {
	int file;
	int err; /* the former stderr */
	/* Written by the main thread, and by the thread that ends the program. */
	_Atomic bool keeps;
	bool dropped; /* the file has been emptied once */
} m;

static bool is_stderr(int fd)
{
	struct stat a, b;

	return fstat(fd, &a) == 0 && fstat(STDERR_FILENO, &b) == 0 && S_ISCHR(b.st_mode) &&
		a.st_rdev == b.st_rdev;
}

void hauli_app_messages_keep(int fd)
{
	if (m.keeps || !is_stderr(fd))
		return;
	m.file = memfd_create("messages", MFD_CLOEXEC);
	m.err = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (m.file < 0 || m.err < 0 || fcntl(m.file, F_SETFL, O_APPEND) != 0)
		return; /* messages then appear in the middle of the screen */
	m.dropped = false;
	m.keeps = true;
	dup2(m.file, STDERR_FILENO);
}

static off_t size_of(int file)
{
	struct stat st;

	return fstat(file, &st) == 0 ? st.st_size : 0;
}

void hauli_app_messages_last(char *buf, size_t len)
{
	char tail[1024];
	off_t size = m.keeps ? size_of(m.file) : 0;
	off_t from = size > (off_t)sizeof(tail) - 1 ? size - ((off_t)sizeof(tail) - 1) : 0;
	ssize_t n = size > 0 ? pread(m.file, tail, sizeof(tail) - 1, from) : 0;
	char *line;

	buf[0] = '\0';
	while (n > 0 && tail[n - 1] == '\n')
		n--;
	if (n <= 0)
		return;
	tail[n] = '\0';
	line = memrchr(tail, '\n', (size_t)n);
	strncat(buf, line ? line + 1 : tail, len - 1);
	if (size > MOST && ftruncate(m.file, 0) == 0) {
		m.dropped = true;
		if (write(m.file, tail, (size_t)n) < n || write(m.file, "\n", 1) < 1)
			return; /* no memory: a line less */
	}
}

void hauli_app_messages_release(void)
{
	char part[4096];
	off_t at = 0;
	ssize_t n;

	if (!m.keeps)
		return;
	m.keeps = false;
	dup2(m.err, STDERR_FILENO);
	if (m.dropped && write(STDERR_FILENO, LEFT_OUT, sizeof(LEFT_OUT) - 1) < 0)
		at = size_of(m.file); /* stderr is closed */
	while ((n = pread(m.file, part, sizeof(part), at)) > 0 &&
		write(STDERR_FILENO, part, (size_t)n) == n)
		at += n;
	close(m.file);
	close(m.err);
}
