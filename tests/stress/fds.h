/* SPDX-License-Identifier: BSD-3-Clause */
/* What the stress tests of calls on descriptors share. */
#ifndef HAUL_TESTS_FDS_H
#define HAUL_TESTS_FDS_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

#include <haul/fd.h>

#include "base/random.h"
#include "coro/fiber.h"
#include "sched/state/coroutine.h"
#include "support/runtime.h"
#include "support/stress.h"

#define FDS_CARRIERS 4
/* Of a test's _i: io_uring or epoll, and with stealing or without. In a simulation all is epoll. */
#define FDS_MODES (HAUL_STEALING ? 4 : 2)

static inline void *fds_first_call(void *fds)
{
	ck_assert_int_eq(haul_fd_wait(*(int *)fds, POLLIN, haul_in(HAUL_US)), -ETIMEDOUT);
	return fds;
}

/* Each carrier has made a call that waited: the descriptors of its own are open, so that no test
 * can take one of them for one that it closed. */
static inline struct haul_runtime *fds_start(int mode)
{
	struct haul_runtime_opts opts = {.fds = mode & 1 ? HAUL_FDS_EPOLL : HAUL_FDS_URING,
		.steal = mode & 2 ? HAUL_STEAL_GLOBAL : HAUL_STEAL_OFF,
		.steal_min_work_ns = mode & 2 ? 1 : 0,
		.watchdog_ns = HAUL_FOREVER};
	struct haul_plan_opts plan_opts = {
		.carriers = FDS_CARRIERS, .machine = "pack:1 l3:1 core:4 pu:1"};
	struct haul_plan *plan = NULL;
	struct haul_runtime *rt = NULL;
	int fds[2];

	ck_assert_int_eq(haul_plan_create(&plan, &plan_opts, NULL, 0), 0);
	opts.plan = plan;
	ck_assert_int_eq(haul_start(&rt, &opts, NULL, 0), 0);
	haul_plan_destroy(plan);
	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	for (unsigned i = 0; i < FDS_CARRIERS; i++)
		run_on(rt, i, fds_first_call, fds);
	close(fds[0]);
	close(fds[1]);
	return rt;
}

/* The number of open descriptors of the process; with the one that the first haul_fd_close() leaves
 * open. */
static inline unsigned fds_open(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned n = 0;

	ck_assert_ptr_nonnull(dir);
	ck_assert_int_eq(haul_fd_close(dup(dirfd(dir))), 0);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static inline void fds_check(unsigned before)
{
	unsigned n = fds_open();

	for (int fd = 0; n != before && fd < 256; fd++) {
		char name[64], to[128] = "";

		snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
		if (readlink(name, to, sizeof(to) - 1) > 0)
			fprintf(stderr, "%s -> %s\n", name, to);
	}
	/* TSan asks a process, by two pipes, whether a race is among those that it keeps quiet. */
	ck_assert_msg(n == before || (HAULI_TSAN && n == before + 2), "%u descriptors, %u before",
		n, before);
}

/* The number of calls that deadlines and cancels ended. HAUL_STRESS_CALLS: a test goes on until it
 * has had so many. */
static atomic_ullong fds_cut;

static inline bool fds_go_on(uint64_t deadline)
{
	return haul_now() < deadline || fds_cut < stress_number("HAUL_STRESS_CALLS", 0);
}

static inline ssize_t fds_count(ssize_t result)
{
	fds_cut += result == -ETIMEDOUT || result == -ECANCELED;
	return result;
}

/* A deadline of 0 to 2 ms; rarely 0, or one that has passed. */
static inline uint64_t fds_deadline(struct hauli_random *random)
{
	switch (hauli_random_below(random, 8)) {
	case 0:
		return 0;
	case 1:
		return haul_now();
	case 2:
		return haul_in(2 * HAUL_MS);
	default:
		return haul_in(hauli_random_below(random, 200 * HAUL_US));
	}
}

/* Sends five bytes, of which a stream may take some at a time. Five, or what the last call said. */
static inline ssize_t fds_greet(int fd)
{
	ssize_t n, sent = 0;

	do {
		n = haul_fd_send(fd, &"hello"[sent], (size_t)(5 - sent), 0, HAUL_FOREVER);
		sent += n > 0 ? n : 0;
	} while (n > 0 && sent < 5);
	return sent == 5 ? sent : n;
}

/* Receives them. */
static inline ssize_t fds_be_greeted(int fd, uint64_t deadline)
{
	ssize_t n, got = 0;
	char buf[6];

	do {
		n = haul_fd_recv(fd, buf, sizeof(buf) - (size_t)got, MSG_WAITALL, deadline);
		got += n > 0 ? n : 0;
	} while (n > 0 && got < 5);
	return got == 5 ? got : n;
}

#endif
