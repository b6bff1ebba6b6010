/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls on file descriptors: what the kernel refuses, terminals, and calls that come late. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "fd/poll.h"
#include "sched/state/self.h"

#include "fd_bed.h"

/* The kernel refuses it when it is told. */
static void *open_a_long_name(void *arg)
{
	char name[PATH_MAX + 1];

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	EXPECT(haul_fd_open(name, O_RDWR | O_CREAT, 0600, HAUL_FOREVER) == -ENAMETOOLONG);
	return NULL;
}

static atomic_bool has_received; /* by a thief, perhaps */

static void *receive_one(void *arg)
{
	char c;

	EXPECT(haul_fd_recv(pair[1], &c, 1, 0, HAUL_FOREVER) == 1);
	has_received = true;
	return NULL;
}

/* All tell the kernel at the end of the same batch, by a carrier that does not sleep. */
static void *begin_all(void *arg)
{
	struct haul_coro *co[3];
	void *wrong;

	has_received = false;
	EXPECT(haul_spawn(&co[0], open_a_long_name, NULL, NULL) == 0);
	EXPECT(haul_spawn(&co[1], receive_one, NULL, NULL) == 0);
	EXPECT(haul_spawn(&co[2], open_a_long_name, NULL, NULL) == 0);
	for (uint64_t until = haul_in(LATE); haul_now() < until;)
		haul_yield();
	EXPECT(write(pair[0], "x", 1) == 1);
	for (uint64_t until = haul_in(10 * HAUL_S); !has_received && haul_now() < until;)
		haul_yield();
	EXPECT(has_received);
	for (int i = 0; i < 3; i++)
		EXPECT(haul_join(co[i], &wrong, HAUL_FOREVER) == 0 && !wrong);
	return NULL;
}

START_TEST(what_the_kernel_refuses_holds_up_nobody)
{
	start(_i);
	run_one(begin_all);
	stop();
}
END_TEST

static int terminal[2];

/* There is no room when nobody reads; another reader takes what there was. */
static void *use_terminal(void *arg)
{
	static char buf[1 << 16];
	ssize_t n;

	do
		n = haul_fd_write(terminal[1], buf, sizeof(buf), haul_in(LATE));
	while (n > 0);
	EXPECT(n == -ETIMEDOUT);
	EXPECT(haul_fd_read(terminal[1], buf, 1, haul_in(LATE)) == -ETIMEDOUT);
	EXPECT(!(fcntl(terminal[1], F_GETFL) & O_NONBLOCK));
	return NULL;
}

START_TEST(a_terminal_blocks_nobody)
{
	terminal[0] = posix_openpt(O_RDWR | O_NOCTTY);
	ck_assert(grantpt(terminal[0]) == 0 && unlockpt(terminal[0]) == 0);
	terminal[1] = open(ptsname(terminal[0]), O_RDWR | O_NOCTTY);
	start(_i);
	run_one(use_terminal);
	stop();
	close(terminal[0]);
	close(terminal[1]);
}
END_TEST

static void *receive_until_closed(void *arg)
{
	char c;

	EXPECT(haul_fd_recv(pair[0], &c, 1, 0, HAUL_FOREVER) == -EBADF);
	return NULL;
}

#define NUMBER 100 /* that no other thread gets by opening something */

static bool have_number(void)
{
	if (dup3(pair[0], NUMBER, O_CLOEXEC) < 0 || close(pair[0]) < 0)
		return false;
	pair[0] = NUMBER;
	return true;
}

/* A call has read the value before the close; when it comes home, another one waits for what has
 * the number since. The poll is ended by that one. */
static void *come_late(void *arg)
{
	struct hauli_waitq *q = &hauli_fd_slot(NUMBER)->q[HAULI_FD_IN];
	uint64_t before = hauli_fd_closes(q);
	struct haul_coro *receiver;

	haul_pin();
	EXPECT(have_number());
	EXPECT(haul_fd_close(NUMBER) == 0 && close(pair[1]) == 0);
	EXPECT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
	EXPECT(have_number());
	EXPECT(haul_spawn(&receiver, receive_until_closed, NULL, NULL) == 0);
	WAIT_UNTIL(hauli_fd_waits(q, hauli_here()));
	(void)hauli_fd_poll(hauli_here(), NUMBER, HAULI_FD_IN, before);
	haul_sleep(LATE); /* the kernel is told */
	EXPECT(haul_fd_close(NUMBER) == 0);
	EXPECT(haul_join(receiver, NULL, HAUL_FOREVER) == 0);
	haul_sleep(LATE);
	EXPECT(haul_fd_wait(pair[1], POLLIN, 0) == (POLLIN | POLLHUP));
	return NULL;
}

START_TEST(no_poll_outlives_its_descriptor)
{
	start(_i);
	run_one(come_late);
	stop();
}
END_TEST

static void *receive_byte(void *arg)
{
	char c;

	EXPECT(haul_fd_recv(pair[0], &c, 1, 0, HAUL_FOREVER) == 1);
	return NULL;
}

/* The kernel tells once, and each takes a part of what there is. */
static void *receive_in_turn(void *arg)
{
	struct haul_coro *receivers[3];

	haul_pin();
	for (int i = 0; i < 3; i++)
		EXPECT(haul_spawn(&receivers[i], receive_byte, NULL, NULL) == 0);
	haul_sleep(LATE); /* until all of them wait */
	EXPECT(write(pair[1], "abc", 3) == 3);
	for (int i = 0; i < 3; i++)
		EXPECT(haul_join(receivers[i], NULL, haul_in(10 * HAUL_S)) == 0);
	return NULL;
}

START_TEST(each_that_waits_for_a_descriptor_has_its_turn)
{
	start(_i);
	run_one(receive_in_turn);
	stop();
}
END_TEST

static void *wait_for_waiter(void *arg)
{
	haul_pin();
	WAIT_UNTIL(hauli_fd_waits(&hauli_fd_slot(pair[0])->q[HAULI_FD_IN], hauli_here()));
	return NULL;
}

/* The child has copies of the parent's waiters, and of a lock that was held. */
START_TEST(a_child_of_fork_closes_its_own)
{
	struct haul_coro *co;
	struct hauli_waitq *q;
	uint64_t value;
	void *wrong;
	int status;
	pid_t child;

	start(_i);
	q = &hauli_fd_slot(pair[0])->q[HAULI_FD_IN];
	ck_assert_int_eq(haul_spawn_on(haul_carrier(rt, 0), &co, receive_byte, NULL, NULL), 0);
	run_one(wait_for_waiter);
	value = hauli_waitq_lock(q);
	child = fork();
	if (child == 0) {
		alarm(10);
		_exit(haul_fd_close(pair[0]) == 0 && haul_fd_close(pair[0]) == -EBADF ? 0 : 1);
	}
	hauli_waitq_unlock(q, value);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(write(pair[1], "x", 1), 1);
	ck_assert_int_eq(haul_join(co, &wrong, HAUL_FOREVER), 0);
	ck_assert_ptr_null(wrong);
	stop();
}
END_TEST

static char fifo[64];

static void *open_to_write(void *arg)
{
	int fd;

	haul_sleep(LATE);
	fd = haul_fd_open(fifo, O_WRONLY, 0, HAUL_FOREVER);
	EXPECT(fd >= 0);
	EXPECT(haul_fd_write(fd, "x", 1, HAUL_FOREVER) == 1);
	EXPECT(haul_fd_close(fd) == 0);
	return NULL;
}

/* Each end's open waits for the other's. */
static void *open_to_read(void *arg)
{
	struct haul_coro *writer;
	void *wrong;
	char c;
	int fd;

	EXPECT(haul_fd_open(fifo, O_RDONLY, 0, 0) == -EAGAIN);
	EXPECT(haul_fd_open(fifo, O_WRONLY, 0, 0) == -EAGAIN);
	EXPECT(haul_fd_open(fifo, O_WRONLY | O_NONBLOCK, 0, 0) == -ENXIO);
	EXPECT(haul_spawn(&writer, open_to_write, NULL, NULL) == 0);
	fd = haul_fd_open(fifo, O_RDONLY, 0, HAUL_FOREVER);
	EXPECT(fd >= 0);
	EXPECT(!(fcntl(fd, F_GETFL) & O_NONBLOCK));
	EXPECT(haul_fd_read(fd, &c, 1, HAUL_FOREVER) == 1);
	EXPECT(haul_fd_read(fd, &c, 1, HAUL_FOREVER) == 0);
	EXPECT(haul_fd_close(fd) == 0);
	EXPECT(haul_join(writer, &wrong, HAUL_FOREVER) == 0 && !wrong);
	return NULL;
}

static void *open_in_vain(void *result)
{
	*(int *)result = haul_fd_open(fifo, O_RDONLY, 0, HAUL_FOREVER);
	return NULL;
}

/* The kernel ends an operation that waits. */
static void *open_for_a_while(void *arg)
{
	struct haul_coro *co;
	int result = 0;

	for (int i = 0; i < 3; i++)
		EXPECT(haul_fd_open(fifo, O_WRONLY, 0, haul_in(HAUL_MS)) == -ETIMEDOUT);
	EXPECT(haul_spawn(&co, open_in_vain, &result, NULL) == 0);
	haul_sleep(LATE);
	haul_cancel(co);
	EXPECT(haul_join(co, NULL, HAUL_FOREVER) == 0);
	EXPECT(result == -ECANCELED);
	return NULL;
}

START_TEST(an_open_that_waits_blocks_nobody)
{
	snprintf(fifo, sizeof(fifo), "/tmp/haul-fd-fifo-%d", (int)getpid());
	ck_assert_int_eq(mkfifo(fifo, 0600), 0);
	start(_i);
	run_one(open_to_read);
	if (!(_i & 1)) /* with epoll an operation that has begun ends by itself */
		run_one(open_for_a_while);
	stop();
	unlink(fifo);
}
END_TEST

/* A symbolic link, a directory and a descriptor's path are opened as open(2) does it. */
static void *open_others(void *arg)
{
	static const struct {
		const char *path; /* NULL: a link to a directory */
		int flags;
		mode_t mode; /* 0: any */
	} opens[] = {
		{NULL, O_RDONLY | O_DIRECTORY, 0},
		{NULL, O_PATH | O_NOFOLLOW, 0777},
		{"/tmp", O_RDONLY | O_NONBLOCK, 0},
		{"/tmp", O_TMPFILE | O_RDWR, 0600},
		{"/dev/null", O_WRONLY, 0},
		{"/proc/self/exe", O_RDONLY, 0},
		{"/proc/self/exe", O_RDONLY | O_NONBLOCK, 0},
	};
	char link[80];
	struct stat st;
	int fd;

	snprintf(link, sizeof(link), "%s-link", fifo);
	EXPECT(symlink("/", link) == 0);
	EXPECT(haul_fd_open(link, O_RDONLY | O_NOFOLLOW, 0, HAUL_FOREVER) == -ELOOP);
	EXPECT(haul_fd_open(link, O_WRONLY, 0, HAUL_FOREVER) == -EISDIR);
	EXPECT(haul_fd_open("/dev/null", O_RDONLY | O_DIRECTORY, 0, HAUL_FOREVER) == -ENOTDIR);
	EXPECT(haul_fd_open("/proc/self/none", O_RDONLY, 0, HAUL_FOREVER) == -ENOENT);
	for (unsigned i = 0; i < sizeof(opens) / sizeof(opens[0]); i++) {
		fd = haul_fd_open(
			opens[i].path ? opens[i].path : link, opens[i].flags, 0600, HAUL_FOREVER);
		EXPECT(fd >= 0 && fcntl(fd, F_GETFD) == FD_CLOEXEC);
		EXPECT((fcntl(fd, F_GETFL) & O_NONBLOCK) == (opens[i].flags & O_NONBLOCK));
		EXPECT(fstat(fd, &st) == 0);
		if (opens[i].mode)
			EXPECT((st.st_mode & 0777) == opens[i].mode);
		EXPECT(haul_fd_close(fd) == 0);
	}
	EXPECT(unlink(link) == 0);
	return NULL;
}

START_TEST(paths_of_all_kinds_are_opened)
{
	snprintf(fifo, sizeof(fifo), "/tmp/haul-fd-%d", (int)getpid());
	start(_i);
	run_one(open_others);
	stop();
}
END_TEST

SUITE_MAIN("fd_rare", {what_the_kernel_refuses_holds_up_nobody, MODES},
	{a_terminal_blocks_nobody, MODES}, {no_poll_outlives_its_descriptor, MODES},
	{each_that_waits_for_a_descriptor_has_its_turn, MODES},
	{a_child_of_fork_closes_its_own, MODES}, {an_open_that_waits_blocks_nobody, MODES},
	{paths_of_all_kinds_are_opened, MODES})
