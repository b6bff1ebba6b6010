/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls on file descriptors, with io_uring and with epoll, without and with stealing. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "coro/fiber.h"

#include "fd_bed.h"

static void *echo(void *arg)
{
	char buf[64];
	ssize_t n;

	while ((n = haul_fd_recv(pair[1], buf, sizeof(buf), 0, HAUL_FOREVER)) > 0)
		EXPECT(haul_fd_send(pair[1], buf, (size_t)n, 0, HAUL_FOREVER) == n);
	EXPECT(n == 0);
	return NULL;
}

static void *ask(void *arg)
{
	for (int i = 0; i < 1000; i++) {
		int got = 0;

		EXPECT(haul_fd_send(pair[0], &i, sizeof(i), 0, HAUL_FOREVER) == sizeof(i));
		EXPECT(haul_fd_recv(pair[0], &got, sizeof(got), 0, HAUL_FOREVER) == sizeof(got));
		EXPECT(got == i);
	}
	EXPECT(shutdown(pair[0], SHUT_WR) == 0);
	return NULL;
}

/* Runs two coroutines, on the same carrier or on two. */
static void run_both(haul_fn *a, haul_fn *b, unsigned apart)
{
	struct haul_coro *co[2];
	void *wrong;

	ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, 0), &co[0], a, NULL, NULL), 0);
	ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, apart), &co[1], b, NULL, NULL), 0);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(haul_join(co[i], &wrong, HAUL_FOREVER), 0);
		ck_assert_msg(!wrong, "%s", (const char *)wrong);
	}
}

START_TEST(requests_and_replies)
{
	for (unsigned apart = 0; apart < 2; apart++) {
		start(_i);
		run_both(echo, ask, apart);
		stop();
	}
}
END_TEST

#define MUCH (1 << 20)

static void *write_much(void *arg)
{
	char *buf = malloc(MUCH);
	size_t done = 0;

	memset(buf, 7, MUCH);
	while (done < MUCH) {
		ssize_t n = haul_fd_write(pair[0], buf + done, MUCH - done, HAUL_FOREVER);

		EXPECT(n > 0);
		done += (size_t)n;
	}
	free(buf);
	return NULL;
}

static void *read_much(void *arg)
{
	size_t done = 0;
	char buf[1000];

	while (done < MUCH) {
		ssize_t n = haul_fd_read(pair[1], buf, sizeof(buf), HAUL_FOREVER);

		EXPECT(n > 0 && buf[n - 1] == 7);
		done += (size_t)n;
	}
	return NULL;
}

START_TEST(a_writer_waits_for_room)
{
	start(_i);
	run_both(write_much, read_much, 1);
	/* the same over a pipe */
	close(pair[0]);
	close(pair[1]);
	ck_assert_int_eq(pipe(pair), 0);
	int swap = pair[0];
	pair[0] = pair[1];
	pair[1] = swap;
	run_both(write_much, read_much, 1);
	run_both(write_much, read_much, 0);
	stop();
}
END_TEST

static void *miss_deadlines(void *arg)
{
	uint64_t began = haul_now();
	char c;

	EXPECT(haul_fd_recv(pair[0], &c, 1, 0, 0) == -EAGAIN);
	EXPECT(haul_fd_read(pair[0], &c, 1, 0) == -EAGAIN);
	EXPECT(haul_fd_recv(pair[0], &c, 1, MSG_DONTWAIT, HAUL_FOREVER) == -EAGAIN);
	for (int i = 0; i < 3; i++)
		EXPECT(haul_fd_recv(pair[0], &c, 1, 0, haul_in(LATE)) == -ETIMEDOUT);
	EXPECT(haul_fd_wait(pair[0], POLLIN, haul_in(LATE)) == -ETIMEDOUT);
	EXPECT(haul_now() - began >= 4 * LATE);
	EXPECT(haul_fd_wait(pair[0], POLLIN | POLLOUT, HAUL_FOREVER) == POLLOUT);
	EXPECT(write(pair[1], "x", 1) == 1);
	EXPECT(haul_fd_recv(pair[0], &c, 1, 0, haul_now()) == 1);
	EXPECT(haul_fd_recv(pair[0], &c, 1, 0, haul_now()) == -ETIMEDOUT);
	EXPECT(haul_fd_recv(-1, &c, 1, 0, HAUL_FOREVER) == -EBADF);
	EXPECT(haul_fd_recv(HAUL_FDS_MAX, &c, 1, 0, HAUL_FOREVER) == -EMFILE);
	EXPECT(haul_fd_recv(1000, &c, 1, 0, HAUL_FOREVER) == -EBADF);
	return NULL;
}

START_TEST(deadlines_pass)
{
	start(_i);
	run_one(miss_deadlines);
	stop();
}
END_TEST

/* Of one of the coroutines that wait below. */
static int result;

static void *receive(void *arg)
{
	char c;

	result = (int)haul_fd_recv(pair[0], &c, 1, 0, HAUL_FOREVER);
	return NULL;
}

static void *cancel(void *co)
{
	haul_sleep(LATE);
	haul_cancel(co);
	return NULL;
}

START_TEST(a_cancel_ends_a_call)
{
	struct haul_coro *co;

	for (unsigned apart = 0; apart < 2; apart++) {
		start(_i);
		ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, 0), &co, receive, NULL, NULL), 0);
		run_on(rt, apart, cancel, co);
		ck_assert_int_eq(haul_join(co, NULL, HAUL_FOREVER), 0);
		ck_assert_int_eq(result, -ECANCELED);
		stop();
	}
}
END_TEST

static void *close_it(void *arg)
{
	haul_sleep(LATE);
	result = 1;
	if (haul_fd_close(pair[0]) != 0)
		return "it is open";
	return NULL;
}

#define APART 500 /* a number that no other thread's file gets */

static void move_apart(void)
{
	ck_assert_int_eq(dup2(pair[0], APART), APART);
	close(pair[0]);
	pair[0] = APART;
}

/* From a coroutine of the same carrier, of another one, and from a plain thread. The number is used
 * again at once. */
START_TEST(a_close_ends_a_call)
{
	for (unsigned where = 0; where < 3; where++) {
		struct haul_coro *co;

		start(_i);
		move_apart();
		ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, 0), &co, receive, NULL, NULL), 0);
		if (where < 2) {
			ck_assert_ptr_null(run_on(rt, where, close_it, NULL));
		} else {
			usleep(LATE / 1000); /* the call has most likely begun to wait */
			ck_assert_int_eq(haul_fd_close(pair[0]), 0);
		}
		ck_assert_int_eq(haul_join(co, NULL, HAUL_FOREVER), 0);
		ck_assert_int_eq(result, -EBADF);
		ck_assert_int_eq(haul_fd_close(APART), -EBADF);
		close(pair[1]);
		ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
		move_apart();
		run_both(echo, ask, 1);
		stop();
	}
}
END_TEST

static int listening;

static int loopback(struct sockaddr_in *addr)
{
	socklen_t len = sizeof(*addr);

	*addr = (struct sockaddr_in){.sin_family = AF_INET};
	addr->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listening < 0 || bind(listening, (struct sockaddr *)addr, len) < 0 ||
		listen(listening, 16) < 0)
		return -errno;
	return getsockname(listening, (struct sockaddr *)addr, &len) < 0 ? -errno : 0;
}

static void *serve(void *arg)
{
	for (int i = 0; i < 10; i++) {
		struct sockaddr_in peer;
		socklen_t len = sizeof(peer);
		int fd = haul_fd_accept(
			listening, (struct sockaddr *)&peer, &len, SOCK_CLOEXEC, HAUL_FOREVER);

		EXPECT(fd >= 0);
		EXPECT(len == sizeof(peer) && peer.sin_family == AF_INET);
		EXPECT(haul_fd_send(fd, &i, sizeof(i), 0, HAUL_FOREVER) == sizeof(i));
		EXPECT(haul_fd_close(fd) == 0);
	}
	return NULL;
}

static struct sockaddr_in address;

static void *visit(void *arg)
{
	for (int i = 0; i < 10; i++) {
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), got;

		EXPECT(haul_fd_connect(fd, (struct sockaddr *)&address, sizeof(address),
			       HAUL_FOREVER) == 0);
		EXPECT(!(fcntl(fd, F_GETFL) & O_NONBLOCK));
		EXPECT(haul_fd_recv(fd, &got, sizeof(got), MSG_WAITALL, HAUL_FOREVER) ==
			sizeof(got));
		EXPECT(got == i);
		EXPECT(haul_fd_recv(fd, &got, sizeof(got), 0, HAUL_FOREVER) == 0);
		EXPECT(haul_fd_close(fd) == 0);
	}
	return NULL;
}

static void *be_refused(void *arg)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	EXPECT(haul_fd_connect(fd, (struct sockaddr *)&address, sizeof(address), HAUL_FOREVER) ==
		-ECONNREFUSED);
	EXPECT(haul_fd_close(fd) == 0);
	return NULL;
}

START_TEST(connections)
{
	start(_i);
	ck_assert_int_eq(loopback(&address), 0);
	run_both(serve, visit, 0);
	run_both(serve, visit, 1);
	close(listening);
	run_one(be_refused);
	stop();
}
END_TEST

static void *use_file(void *arg)
{
	const char *path = arg;
	int fd = haul_fd_open(path, O_RDWR | O_CREAT | O_TRUNC, 0600, HAUL_FOREVER);
	struct iovec two[2] = {{"ab", 2}, {"cd", 2}};
	char buf[16] = "";

	EXPECT(fd >= 0);
	EXPECT(haul_fd_writev(fd, two, 2, HAUL_FOREVER) == 4);
	EXPECT(haul_fd_write(fd, "ef", 2, HAUL_FOREVER) == 2);
	EXPECT(haul_fd_pwrite(fd, "X", 1, 1, HAUL_FOREVER) == 1);
	EXPECT(haul_fd_fsync(fd, HAUL_FOREVER) == 0);
	EXPECT(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) == 0);
	EXPECT(haul_fd_pread(fd, buf, sizeof(buf), 0, HAUL_FOREVER) == 6);
	EXPECT(memcmp(buf, "aXcdef", 6) == 0);
	EXPECT(lseek(fd, 4, SEEK_SET) == 4);
	EXPECT(haul_fd_read(fd, buf, 1, HAUL_FOREVER) == 1 && buf[0] == 'e');
	EXPECT(haul_fd_read(fd, buf, 9, HAUL_FOREVER) == 1 && buf[0] == 'f');
	EXPECT(haul_fd_read(fd, buf, 9, HAUL_FOREVER) == 0);
	EXPECT(haul_fd_pread(fd, buf, 9, -1, HAUL_FOREVER) == -EINVAL);
	EXPECT(haul_fd_close(fd) == 0);
	fd = haul_fd_open(path, O_RDONLY, 0, 0);
	EXPECT(fd >= 0);
	EXPECT(haul_fd_write(fd, "x", 1, HAUL_FOREVER) == -EBADF);
	EXPECT(haul_fd_close(fd) == 0);
	EXPECT(haul_fd_open("/nowhere/at/all", O_RDONLY, 0, HAUL_FOREVER) == -ENOENT);
	return NULL;
}

START_TEST(files)
{
	char path[] = "/tmp/haul-fd-XXXXXX";
	int fd = mkstemp(path);
	void *wrong;

	ck_assert_int_ge(fd, 0);
	close(fd);
	start(_i);
	wrong = run_on(rt, 0, use_file, path);
	ck_assert_msg(!wrong, "%s", (const char *)wrong);
	stop();
	unlink(path);
}
END_TEST

/* A terminal, which refuses RWF_NOWAIT. */
static int terminal[2];

static void *type_later(void *arg)
{
	haul_sleep(LATE);
	EXPECT(haul_fd_write(terminal[0], "hello\n", 6, HAUL_FOREVER) == 6);
	return NULL;
}

static void *read_terminal(void *arg)
{
	char buf[16];
	struct haul_case cs = haul_case_fd_read(terminal[1], buf, sizeof(buf));

	EXPECT(haul_fd_read(terminal[1], buf, sizeof(buf), 0) == -EAGAIN);
	EXPECT(haul_fd_read(terminal[1], buf, sizeof(buf), haul_in(HAUL_MS)) == -ETIMEDOUT);
	EXPECT(haul_fd_read(terminal[1], buf, sizeof(buf), HAUL_FOREVER) == 6);
	EXPECT(haul_fd_write(terminal[0], "again\n", 6, HAUL_FOREVER) == 6);
	EXPECT(haul_select(&cs, 1, HAUL_FOREVER) == 0 && cs.err == 6);
	return NULL;
}

START_TEST(terminals)
{
	terminal[0] = posix_openpt(O_RDWR | O_NOCTTY);
	ck_assert(grantpt(terminal[0]) == 0 && unlockpt(terminal[0]) == 0);
	terminal[1] = open(ptsname(terminal[0]), O_RDWR | O_NOCTTY);
	ck_assert_int_ge(terminal[1], 0);
	start(_i);
	run_both(read_terminal, type_later, 0);
	stop();
	close(terminal[0]);
	close(terminal[1]);
}
END_TEST

static struct haul_event event;

static void *set_later(void *arg)
{
	haul_sleep(LATE);
	haul_event_set(&event);
	return NULL;
}

static void *select_some(void *arg)
{
	char buf[8];
	struct haul_case cases[] = {
		haul_case_event(&event),
		haul_case_fd_read(pair[0], buf, sizeof(buf)),
		haul_case_fd_accept(listening, SOCK_CLOEXEC),
	};
	struct haul_case ready[] = {haul_case_fd(pair[0], POLLIN), haul_case_fd(pair[0], POLLOUT)};
	struct haul_case bad = haul_case_fd_read(1000, buf, 1);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct haul_coro *setter;

	EXPECT(haul_select(cases, 3, 0) == -EAGAIN);
	EXPECT(haul_select(cases, 3, haul_in(LATE)) == -ETIMEDOUT);
	EXPECT(haul_select(&ready[1], 1, HAUL_FOREVER) == 0 && ready[1].err == POLLOUT);
	EXPECT(haul_select(&ready[0], 1, haul_in(LATE)) == -ETIMEDOUT);
	EXPECT(haul_spawn(&setter, set_later, NULL, NULL) == 0);
	EXPECT(haul_select(cases, 3, HAUL_FOREVER) == 0);
	EXPECT(haul_join(setter, NULL, HAUL_FOREVER) == 0);
	haul_event_reset(&event);
	EXPECT(write(pair[1], "hello", 5) == 5);
	EXPECT(haul_select(&ready[0], 1, HAUL_FOREVER) == 0 && ready[0].err == POLLIN);
	EXPECT(haul_select(cases, 3, HAUL_FOREVER) == 1 && cases[1].err == 5);
	EXPECT(haul_fd_connect(fd, (struct sockaddr *)&address, sizeof(address), HAUL_FOREVER) ==
		0);
	EXPECT(haul_select(cases, 3, HAUL_FOREVER) == 2 && cases[2].err >= 0);
	EXPECT(haul_fd_close(cases[2].err) == 0 && haul_fd_close(fd) == 0);
	EXPECT(haul_select(&bad, 1, HAUL_FOREVER) == 0 && bad.err == -EBADF);
	return NULL;
}

static void *select_until_closed(void *arg)
{
	char buf[8];
	struct haul_case cases[] = {
		haul_case_event(&event), haul_case_fd_read(pair[0], buf, sizeof(buf))};

	EXPECT(haul_select(cases, 2, HAUL_FOREVER) == 1 && cases[1].err == -EBADF);
	return NULL;
}

START_TEST(cases)
{
	start(_i);
	ck_assert_int_eq(loopback(&address), 0);
	run_one(select_some);
	run_both(select_until_closed, close_it, 1);
	close(listening);
	stop();
}
END_TEST

static void *receive_in_vain(void *arg)
{
	char c;

	(void)haul_fd_recv(pair[0], &c, 1, 0, HAUL_FOREVER);
	(void)haul_fd_read(pair[1], &c, 1, HAUL_FOREVER);
	return NULL;
}

START_TEST(a_stop_ends_calls)
{
	start(_i);
	for (unsigned i = 0; i < 100; i++)
		ck_assert_int_eq(
			haul_spawn_on(haul_carrier(rt, i % 2), NULL, receive_in_vain, NULL, NULL),
			0);
	usleep(LATE / 1000); /* most of them wait by then */
	stop();
}
END_TEST

/* Dumps are not answered by threads whose signals TSan puts off. */
START_TEST(a_dump_names_the_descriptor)
{
	char *text = NULL, line[64];
	struct haul_coro *co;
	size_t size;
	FILE *out;

	start(_i);
	ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, 0), &co, receive, NULL, NULL), 0);
	snprintf(line, sizeof(line), " for input of fd %d", pair[0]);
	do {
		free(text);
		out = open_memstream(&text, &size);
		haul_dump(rt, out);
		fclose(out);
	} while (!HAULI_TSAN && !strstr(text, line));
	free(text);
	haul_cancel(co);
	ck_assert_int_eq(haul_join(co, NULL, HAUL_FOREVER), 0);
	stop();
}
END_TEST

START_TEST(a_thread_does_not_wait)
{
	char c;

	start(_i);
	ck_assert_int_eq(haul_fd_recv(pair[0], &c, 1, 0, 0), -EAGAIN);
	ck_assert_int_eq(haul_fd_wait(pair[0], POLLIN, 0), -EAGAIN);
	ck_assert_int_eq(haul_fd_write(pair[1], "x", 1, 0), 1);
	ck_assert_int_eq(haul_fd_wait(pair[0], POLLIN, 0), POLLIN);
	ck_assert_int_eq(haul_fd_recv(pair[0], &c, 1, 0, 0), 1);
	stop();
}
END_TEST

SUITE_MAIN("fd", {requests_and_replies, MODES}, {a_writer_waits_for_room, MODES},
	{deadlines_pass, MODES}, {a_cancel_ends_a_call, MODES}, {a_close_ends_a_call, MODES},
	{connections, MODES}, {files, MODES}, {terminals, MODES}, {cases, MODES},
	{a_stop_ends_calls, MODES}, {a_dump_names_the_descriptor, MODES},
	{a_thread_does_not_wait, MODES})
