/* SPDX-License-Identifier: BSD-3-Clause */
/* What calls on file descriptors wait by: io_uring, epoll, threads, nothing in virtual time; and
 * what is left of it. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <haul/offload.h>

#include "coro/fiber.h"
#include "fd/poll.h"
#include "sched/state/self.h"

#include "fd_bed.h"

static char path[64];
static enum haul_fds kind;

static uint64_t offloaded(void)
{
	struct haul_offload_stats st;

	haul_offload_get_stats(&st);
	return st.done;
}

static void *do_operations(void *arg)
{
	uint64_t before = offloaded();
	int fd = haul_fd_open(path, O_RDWR | O_CREAT, 0600, HAUL_FOREVER);

	EXPECT(fd >= 0);
	EXPECT(hauli_fds_of(hauli_here())->kind->which == kind);
	EXPECT(haul_fd_fsync(fd, HAUL_FOREVER) == 0);
	EXPECT(haul_fd_open("/nowhere/at/all", O_RDWR | O_CREAT, 0600, HAUL_FOREVER) == -ENOENT);
	EXPECT(haul_fd_fsync(pair[0], HAUL_FOREVER) == -EINVAL);
	EXPECT(haul_fd_close(fd) == 0);
	EXPECT(offloaded() - before == (kind == HAUL_FDS_EPOLL ? 4 : 0));
	return NULL;
}

START_TEST(the_kind_that_was_asked_for_is_used)
{
	kind = _i & 1 ? HAUL_FDS_EPOLL : HAUL_FDS_URING;
	snprintf(path, sizeof(path), "/tmp/haul-fd-kinds-%d", (int)getpid());
	start(_i);
	run_one(do_operations);
	stop();
	unlink(path);
}
END_TEST

static void *open_fifo(void *arg)
{
	int fd = haul_fd_open(path, O_RDONLY, 0, HAUL_FOREVER);

	EXPECT(fd >= 0 && haul_fd_close(fd) == 0);
	return NULL;
}

/* There is one thread, and it waits. */
static void *sync_meanwhile(void *arg)
{
	if (kind == HAUL_FDS_EPOLL)
		EXPECT(haul_fd_fsync(pair[0], haul_in(HAUL_MS)) == -ETIMEDOUT);
	else
		EXPECT(haul_fd_fsync(pair[0], HAUL_FOREVER) == -EINVAL);
	return NULL;
}

/* Dumps are not answered by threads whose signals TSan puts off. */
static void wait_for_dump(const char *line)
{
	char *text = NULL;
	size_t size;
	FILE *out;

	do {
		free(text);
		out = open_memstream(&text, &size);
		haul_dump(rt, out);
		fclose(out);
	} while (!HAULI_TSAN && !strstr(text, line));
	free(text);
}

START_TEST(an_operation_waits_as_the_others)
{
	const struct haul_offload_opts one = {.threads = 1}, defaults = {0};
	struct haul_coro *co;
	void *wrong;
	int fd;

	kind = _i & 1 ? HAUL_FDS_EPOLL : HAUL_FDS_URING;
	snprintf(path, sizeof(path), "/tmp/haul-fd-kinds-%d", (int)getpid());
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	start(_i);
	ck_assert_int_eq(haul_offload_set(&one), 0);
	ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, 0), &co, open_fifo, NULL, NULL), 0);
	wait_for_dump("the opening of file");
	run_one(sync_meanwhile);
	fd = open(path, O_WRONLY);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(haul_join(co, &wrong, HAUL_FOREVER), 0);
	ck_assert_ptr_null(wrong);
	close(fd);
	haul_offload_set(&defaults);
	stop();
	unlink(path);
}
END_TEST

static void *wait_in_virtual_time(void *arg)
{
	struct haul_case cs = haul_case_fd(pair[0], POLLIN);
	char c;

	EXPECT(haul_fd_recv(pair[0], &c, 1, 0, HAUL_FOREVER) == -ENOTSUP);
	EXPECT(haul_fd_fsync(pair[0], HAUL_FOREVER) == -ENOTSUP);
	EXPECT(haul_select(&cs, 1, HAUL_FOREVER) == 0 && cs.err == -ENOTSUP);
	EXPECT(haul_fd_recv(pair[0], &c, 1, 0, 0) == -EAGAIN);
	EXPECT(write(pair[1], "x", 1) == 1);
	EXPECT(haul_fd_recv(pair[0], &c, 1, 0, HAUL_FOREVER) == 1);
	return NULL;
}

START_TEST(nothing_waits_in_virtual_time)
{
	struct haul_runtime_opts opts = {
		.fds = _i ? HAUL_FDS_EPOLL : HAUL_FDS_URING, .virtual_time = true};

	ck_assert_int_eq(haul_start(&rt, &opts, NULL, 0), 0);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	run_one(wait_in_virtual_time);
	stop();
}
END_TEST

static void *wait_a_little(void *arg)
{
	char c;

	EXPECT(haul_fd_recv(pair[0], &c, 1, 0, haul_in(HAUL_MS)) == -ETIMEDOUT);
	return NULL;
}

START_TEST(a_stop_closes_all)
{
	unsigned before;

	for (int turn = 0; turn < 2; turn++) {
		before = open_descriptors(); /* the first time the process gets some for itself */
		start(_i);
		run_one(wait_a_little);
		stop();
	}
	ck_assert_uint_eq(open_descriptors(), before);
}
END_TEST

/* Its descriptor, or -1. */
static int dead_file(void)
{
	for (int fd = 0; fd < 1000; fd++) {
		int flags = fcntl(fd, F_GETFL);

		if (flags >= 0 && flags & O_PATH)
			return fd;
	}
	return -1;
}

/* A close has what it puts in the descriptor's place, also if there are no descriptors left. The
 * first of these tests: the process has closed nothing yet. */
START_TEST(who_waits_can_be_told_of_a_close)
{
	start(_i);
	if (_i == 0)
		ck_assert_int_lt(dead_file(), 0);
	run_one(wait_a_little);
	ck_assert_int_ge(dead_file(), 0);
	stop();
}
END_TEST

static bool has_lock(int fd)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	pid_t child = fork();
	int status;

	if (child == 0) /* another process, which the lock would keep waiting */
		_exit(fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type == F_UNLCK);
	ck_assert_int_gt(child, 0);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	return status == 0;
}

static void *close_one(void *arg)
{
	EXPECT(haul_fd_close(pair[1]) == 0);
	pair[1] = -1;
	return NULL;
}

/* closefrom() closes the dead file, too, and its number is another file's by then. That one is not
 * put in a descriptor's place: its locks would end with the close. */
START_TEST(a_close_leaves_other_files_alone)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	char name[] = "fd-kinds-XXXXXX";
	int file = mkstemp(name), dead;

	ck_assert_int_ge(file, 0);
	unlink(name);
	start(_i);
	run_one(wait_a_little);
	dead = dead_file();
	ck_assert_int_ge(dead, 0);
	ck_assert_int_eq(dup3(file, dead, O_CLOEXEC), dead);
	ck_assert_int_eq(fcntl(file, F_SETLK, &lock), 0);
	run_one(close_one);
	ck_assert(has_lock(file));
	ck_assert_int_ge(dead_file(), 0);
	close(dead);
	close(file);
	stop();
}
END_TEST

static atomic_bool has_got, has_room; /* by thieves, perhaps */

static void *get(void *arg)
{
	char c;

	EXPECT(haul_fd_recv(pair[0], &c, 1, 0, HAUL_FOREVER) == 1);
	has_got = true;
	return NULL;
}

static void *put(void *arg)
{
	static char buf[1 << 16];
	ssize_t n;

	while ((n = haul_fd_send(pair[0], buf, sizeof(buf), 0, 0)) > 0)
		;
	EXPECT(n == -EAGAIN);
	EXPECT(haul_fd_send(pair[0], buf, sizeof(buf), 0, HAUL_FOREVER) > 0);
	has_room = true;
	return NULL;
}

/* One waits for input of a socket, one for room, and each is woken by its own event. */
static void *use_both_directions(void *arg)
{
	static char buf[1 << 16];
	struct haul_coro *co[2];
	void *wrong;

	for (int input_first = 0; input_first < 2; input_first++) {
		has_got = has_room = false;
		EXPECT(haul_spawn(&co[0], get, NULL, NULL) == 0);
		EXPECT(haul_spawn(&co[1], put, NULL, NULL) == 0);
		haul_sleep(LATE);
		EXPECT(!has_got && !has_room);
		if (input_first) {
			EXPECT(write(pair[1], "x", 1) == 1);
			WAIT_UNTIL(has_got);
			haul_sleep(LATE);
			EXPECT(!has_room);
		}
		while (recv(pair[1], buf, sizeof(buf), MSG_DONTWAIT) > 0)
			;
		WAIT_UNTIL(has_room);
		if (!input_first) {
			haul_sleep(LATE);
			EXPECT(!has_got);
			EXPECT(write(pair[1], "x", 1) == 1);
		}
		for (int i = 0; i < 2; i++)
			EXPECT(haul_join(co[i], &wrong, HAUL_FOREVER) == 0 && !wrong);
		while (recv(pair[1], buf, sizeof(buf), MSG_DONTWAIT) > 0)
			;
	}
	return NULL;
}

START_TEST(both_directions_wait)
{
	start(_i);
	run_one(use_both_directions);
	stop();
}
END_TEST

/* The peer goes, whatever the call waits for. */
static void *lose_peer(void *arg)
{
	struct haul_coro *co;
	void *wrong;

	EXPECT(haul_spawn(&co, put, NULL, NULL) == 0);
	haul_sleep(LATE);
	EXPECT(close(pair[1]) == 0);
	pair[1] = -1;
	EXPECT(haul_join(co, &wrong, HAUL_FOREVER) == 0);
	EXPECT(wrong && !has_room); /* an error, not room */
	return NULL;
}

START_TEST(a_peer_that_goes_ends_a_wait_for_room)
{
	start(_i);
	has_room = false;
	run_one(lose_peer);
	stop();
}
END_TEST

static int ends[2];

static void *read_pipe(void *arg)
{
	char c;

	EXPECT(haul_fd_read(ends[0], &c, 1, HAUL_FOREVER) == 0);
	return NULL;
}

static void *fill_pipe(void *arg)
{
	static char buf[1 << 16];
	ssize_t n;

	while ((n = haul_fd_write(ends[1], buf, sizeof(buf), 0)) > 0)
		;
	EXPECT(n == -EAGAIN);
	EXPECT(haul_fd_write(ends[1], buf, sizeof(buf), HAUL_FOREVER) == -EPIPE);
	return NULL;
}

/* The kernel tells of a hang-up or of an error, and of nothing else. */
static void *close_other_end(void *other)
{
	struct haul_coro *co;
	void *wrong;

	EXPECT(haul_spawn(&co, other ? fill_pipe : read_pipe, NULL, NULL) == 0);
	haul_sleep(LATE);
	EXPECT(close(ends[other ? 0 : 1]) == 0);
	EXPECT(haul_join(co, &wrong, HAUL_FOREVER) == 0 && !wrong);
	EXPECT(close(ends[other ? 1 : 0]) == 0);
	return NULL;
}

START_TEST(a_pipe_whose_other_end_goes_ends_a_wait)
{
	signal(SIGPIPE, SIG_IGN);
	start(_i);
	for (uintptr_t other = 0; other < 2; other++) {
		ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
		ck_assert_ptr_null(run_on(rt, 0, close_other_end, (void *)other));
	}
	stop();
}
END_TEST

/* Woken by mail while a call waits, the carrier sleeps again. */
static void *look_at_rounds(void *arg)
{
	struct haul_carrier *c = hauli_here();
	uint64_t before = hauli_counter_read(&c->counts.rounds);

	haul_sleep(5 * LATE);
	EXPECT(hauli_counter_read(&c->counts.rounds) - before < 1000);
	return NULL;
}

static void *look_at_waits(void *arg)
{
	haul_sleep(LATE); /* the end of a poll is told */
	EXPECT(hauli_here()->fds.waits == (arg ? 1 : 0));
	return NULL;
}

START_TEST(a_carrier_sleeps_while_calls_wait)
{
	struct haul_coro *co;
	void *wrong;

	start(_i & 1); /* no thief runs the coroutines */
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, 0), &co, get, NULL, NULL), 0);
		ck_assert_ptr_null(run_on(rt, 0, look_at_rounds, NULL));
		ck_assert_ptr_null(run_on(rt, 0, look_at_waits, co));
		ck_assert_int_eq(write(pair[1], "x", 1), 1);
		ck_assert_int_eq(haul_join(co, &wrong, HAUL_FOREVER), 0);
		ck_assert_ptr_null(wrong);
		run_one(wait_a_little);
		ck_assert_ptr_null(run_on(rt, 0, look_at_waits, NULL));
		ck_assert_ptr_null(run_on(rt, 0, look_at_rounds, NULL));
	}
	stop();
}
END_TEST

SUITE_MAIN("fd_kinds", {who_waits_can_be_told_of_a_close, MODES},
	{a_close_leaves_other_files_alone, MODES}, {the_kind_that_was_asked_for_is_used, MODES},
	{an_operation_waits_as_the_others, MODES}, {nothing_waits_in_virtual_time, 2},
	{a_stop_closes_all, MODES}, {both_directions_wait, MODES},
	{a_peer_that_goes_ends_a_wait_for_room, MODES},
	{a_pipe_whose_other_end_goes_ends_a_wait, MODES}, {a_carrier_sleeps_while_calls_wait, 2})
