/* SPDX-License-Identifier: BSD-3-Clause */
/* The operations of the soak on file descriptors: sockets, a pipe and a file that all share, and
 * sockets of the coroutine's own, which are closed while another waits. */
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <haul/fd.h>

#include "soak.h"

#define POSTS 2
#define FILE_BYTES 4096
#define PATTERN 0x5a

static struct {
	int posts[POSTS][2]; /* messages: sent to the first */
	int pipe[2];
	int file; /* each byte has the number of its place */
	atomic_ulong posted, got, posted_sum, got_sum; /* messages */
	atomic_ulong put, taken; /* bytes of the pipe */
} m;

/* Of a call that may also transfer something. */
static bool moved(ssize_t n)
{
	RIGHT(n > 0 || n == -EAGAIN || n == -ETIMEDOUT || n == -ECANCELED);
	return n > 0;
}

/* A plain thread does not wait. */
static uint64_t draw_wait(struct actor *a)
{
	return haul_self() ? draw_deadline(a) : 0;
}

static void posts(struct actor *a)
{
	unsigned value = below(a, 1000);
	int fd = m.posts[below(a, POSTS)][0];

	if (!moved(haul_fd_send(fd, &value, sizeof(value), 0, draw_wait(a))))
		return;
	m.posted++;
	m.posted_sum += value;
}

static void has_got(unsigned value)
{
	RIGHT(value < 1000);
	m.got++;
	m.got_sum += value;
}

static void gets(struct actor *a)
{
	int fd = m.posts[below(a, POSTS)][1];
	unsigned value = UINT32_MAX;
	uint64_t deadline = draw_wait(a);

	if (moved(below(a, 2) ? haul_fd_recv(fd, &value, sizeof(value), 0, deadline)
			      : haul_fd_read(fd, &value, sizeof(value), deadline)))
		has_got(value);
	else
		RIGHT(value == UINT32_MAX);
}

static void selects(struct actor *a)
{
	unsigned value;
	struct haul_case cases[] = {
		haul_case_event(&s.event),
		haul_case_fd_read(m.posts[0][1], &value, sizeof(value)),
		haul_case_fd(m.posts[1][1], POLLIN),
		haul_case_fd(m.pipe[1], POLLOUT),
	};
	unsigned n = 2 + below(a, 3);
	int i = haul_select(cases, n, draw_wait(a));

	if (i <= 0) {
		(void)done(i);
		return;
	}
	RIGHT(cases[i].err > 0);
	if (i == 1)
		has_got(value);
}

static void uses_pipe(struct actor *a)
{
	uint8_t lot[700];
	uint64_t deadline = draw_wait(a);
	size_t len = 1 + below(a, sizeof(lot));
	ssize_t n;

	memset(lot, PATTERN, sizeof(lot));
	if (below(a, 2)) {
		n = haul_fd_write(m.pipe[1], lot, len, deadline);
		m.put += moved(n) ? (unsigned long)n : 0;
		return;
	}
	memset(lot, 0, sizeof(lot));
	n = haul_fd_read(m.pipe[0], lot, len, deadline);
	if (moved(n))
		RIGHT(lot[0] == PATTERN && lot[n - 1] == PATTERN && (size_t)n <= len);
	else
		RIGHT(lot[0] == 0);
	m.taken += n > 0 ? (unsigned long)n : 0;
}

static void reads_file(struct actor *a)
{
	uint8_t lot[64];
	off_t at = below(a, FILE_BYTES - sizeof(lot));
	int fd;

	if (below(a, 4) == 0)
		(void)posix_fadvise(m.file, 0, 0, POSIX_FADV_DONTNEED);
	if (moved(haul_fd_pread(m.file, lot, sizeof(lot), at, draw_deadline(a))))
		RIGHT(lot[0] == (uint8_t)at);
	if (below(a, 8))
		return;
	fd = haul_fd_open("/tmp", O_TMPFILE | O_RDWR, 0600, draw_deadline(a));
	if (!moved(fd))
		return;
	RIGHT(!moved(haul_fd_write(fd, lot, 1, HAUL_FOREVER)) ||
		haul_fd_fsync(fd, draw_deadline(a)) <= 0);
	RIGHT(haul_fd_close(fd) == 0);
}

static void *waits_for_close(void *fd)
{
	uint8_t c = PATTERN;
	int err;

	s.alive++;
	err = (int)haul_fd_recv((int)(intptr_t)fd, &c, 1, 0, HAUL_FOREVER);
	/* A call that begins late may find another socket, which gets nothing, or a file. */
	RIGHT(err == -EBADF || err == -ECANCELED || err == -ENOTSOCK || err == 0);
	RIGHT(c == PATTERN);
	s.alive--;
	return fd;
}

static void closes(struct actor *a)
{
	struct haul_coro *co = NULL;
	bool cancels;
	int pair[2];
	char c;

	RIGHT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
	if (below(a, 2) &&
		spawned(haul_spawn(&co, waits_for_close, (void *)(intptr_t)pair[0], NULL)))
		haul_sleep(draw_ns(a));
	else
		RIGHT(!moved(haul_fd_recv(pair[0], &c, 1, 0, draw_deadline(a))));
	cancels = co && below(a, 2);
	if (cancels)
		haul_cancel(co);
	else
		RIGHT(haul_fd_close(pair[0]) == 0);
	while (co && haul_join(co, NULL, HAUL_FOREVER) == -ETIMEDOUT)
		haul_yield();
	RIGHT(!cancels || haul_fd_close(pair[0]) == 0);
	RIGHT(haul_fd_close(pair[1]) == 0);
}

void soak_uses_descriptors(struct actor *a)
{
	static void (*const calls[])(struct actor * a) = {
		posts, gets, selects, uses_pipe, reads_file, closes};

	calls[below(a, haul_self() ? 6 : 4)](a);
}

void soak_open_descriptors(void)
{
	uint8_t bytes[FILE_BYTES];

	memset(&m, 0, sizeof(m));
	for (unsigned i = 0; i < POSTS; i++)
		RIGHT(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, m.posts[i]) == 0);
	RIGHT(pipe2(m.pipe, O_CLOEXEC) == 0);
	m.file = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	for (unsigned i = 0; i < FILE_BYTES; i++)
		bytes[i] = (uint8_t)i;
	RIGHT(write(m.file, bytes, sizeof(bytes)) == sizeof(bytes));
}

/* What was not received is there. */
void soak_close_descriptors(void)
{
	uint8_t lot[4096];
	unsigned value;
	ssize_t n;

	for (unsigned i = 0; i < POSTS; i++) {
		while (recv(m.posts[i][1], &value, sizeof(value), MSG_DONTWAIT) > 0)
			has_got(value);
		close(m.posts[i][0]);
		close(m.posts[i][1]);
	}
	RIGHT(m.posted == m.got && m.posted_sum == m.got_sum);
	close(m.pipe[1]);
	while ((n = read(m.pipe[0], lot, sizeof(lot))) > 0)
		m.taken += (unsigned long)n;
	RIGHT(m.put == m.taken);
	close(m.pipe[0]);
	close(m.file);
}
