/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors of calls on file descriptors, by a runtime of one carrier for each: the first call opens
 * what it waits by. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <haul/fd.h>

#include "errors_bed.h"

#define SOON haul_in(HAUL_MS)

static int (*made)(void);
static int pair[2], file;

static void *make_it(void *arg)
{
	return (void *)(intptr_t)made();
}

/* Each time by a descriptor of a number that was not used before, so that it needs memory. */
static int by_kind(enum haul_fds fds, int (*make)(void))
{
	static int number = 1024;
	const struct haul_runtime_opts opts = {.fds = fds};
	struct haul_runtime *own;
	struct haul_coro *co;
	void *result = NULL;
	int err, fd[2];

	number = number < 15000 ? number + 1024 : 1024;
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd), 0);
	pair[0] = fcntl(fd[0], F_DUPFD_CLOEXEC, number);
	pair[1] = fd[1];
	file = fcntl(fd[0], F_DUPFD_CLOEXEC, number);
	ck_assert_int_ge(pair[0], 0);
	close(fd[0]);
	close(file);
	file = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	ck_assert_int_ge(file, 0);
	ck_assert_int_eq(errors_start(&own, &opts), 0);
	made = make;
	/* check's macros take memory, which may fail until the call has ended */
	err = haul_spawn_on(haul_carrier(own, 0), &co, make_it, NULL, NULL);
	if (!err)
		err = haul_join(co, &result, HAUL_FOREVER);
	ck_assert_int_eq(err, 0);
	runtime_stop(own);
	close(pair[0]);
	close(pair[1]);
	close(file);
	return (int)(intptr_t)result;
}

static int wait_in_vain(void)
{
	return TRY(haul_fd_wait(pair[0], POLLIN, SOON));
}

static int wait_for_both(void)
{
	return TRY(haul_fd_wait(pair[0], POLLIN | POLLOUT, SOON)) == POLLOUT ? 0 : -1;
}

static int select_in_vain(void)
{
	struct haul_case cs = haul_case_fd(pair[0], POLLIN);
	int i = TRY(haul_select(&cs, 1, SOON));

	if (i == 0)
		ck_assert_int_eq(cs.err, -ENOMEM); /* an error of the case */
	return i;
}

static int accept_in_vain(void)
{
	int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), err;

	ck_assert_int_eq(listen(listening, 1), 0);
	ck_assert_int_eq(dup3(listening, pair[0], O_CLOEXEC), pair[0]);
	close(listening);
	err = TRY(haul_fd_accept(pair[0], NULL, NULL, 0, SOON));
	return err;
}

static int sync_file(void)
{
	return TRY(haul_fd_fsync(file, HAUL_FOREVER));
}

static int open_file(void)
{
	int fd = TRY(haul_fd_open("/tmp", O_TMPFILE | O_RDWR, 0600, HAUL_FOREVER));

	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

static int close_it(void)
{
	int err = TRY(haul_fd_close(pair[0]));

	pair[0] = -1;
	return err;
}

/* The call with each kind. */
#define BY(make)                                      \
	static int make##_by_uring(void)              \
	{                                             \
		return by_kind(HAUL_FDS_URING, make); \
	}                                             \
	static int make##_by_epoll(void)              \
	{                                             \
		return by_kind(HAUL_FDS_EPOLL, make); \
	}                                             \
	static int make##_by_best(void)               \
	{                                             \
		return by_kind(HAUL_FDS_BEST, make);  \
	}

BY(wait_in_vain)
BY(wait_for_both)
BY(select_in_vain)
BY(accept_in_vain)
BY(sync_file)
BY(open_file)
BY(close_it)

#define CALL(function, make, result, ...)                                  \
	{function, "io_uring", make##_by_uring, result, __VA_ARGS__},      \
		{function, "epoll", make##_by_epoll, result, __VA_ARGS__}, \
	{                                                                  \
		function, "the best", make##_by_best, result, __VA_ARGS__  \
	}

static const struct call calls[] = {
	CALL("haul_fd_wait", wait_in_vain, -ETIMEDOUT, ON_THREAD),
	CALL("haul_fd_wait", wait_for_both, 0, ON_THREAD),
	CALL("haul_select", select_in_vain, -ETIMEDOUT, ON_THREAD),
	CALL("haul_fd_accept", accept_in_vain, -ETIMEDOUT, ON_THREAD),
	CALL("haul_fd_fsync", sync_file, 0, ON_THREAD, .stays = true),
	CALL("haul_fd_open", open_file, 0, ON_THREAD, .stays = true),
	CALL("haul_fd_close", close_it, 0, ON_THREAD),
};

int main(void)
{
	const struct promises table = {
		.calls = calls, .nb_calls = sizeof(calls) / sizeof(calls[0])};
	struct rlimit most;

	if (getrlimit(RLIMIT_NOFILE, &most) == 0) {
		most.rlim_cur = most.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &most);
	}
	return errors_main(table, NULL);
}
