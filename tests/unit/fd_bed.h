/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of calls on file descriptors share: a runtime with io_uring or with epoll, without
 * or with stealing, and a pair of sockets. */
#ifndef HAUL_TESTS_FD_BED_H
#define HAUL_TESTS_FD_BED_H

#include <dirent.h>
#include <sys/socket.h>
#include <unistd.h>

#include <haul/fd.h>

#include "sched/state/carrier.h"
#include "support/runtime.h"
#include "support/suite.h"

#define MODES 4 /* of start() */
#define LATE (20 * HAUL_MS)

static struct haul_runtime *rt;
static int pair[2];

static inline struct haul_runtime *start_with(enum haul_fds fds, bool steals)
{
	struct haul_runtime_opts opts = {.fds = fds, .watchdog_ns = HAUL_FOREVER};
	struct haul_plan_opts two = {.carriers = 2, .machine = "pack:1 l3:1 core:2 pu:1"};
	struct haul_plan *plan = NULL;
	struct haul_runtime *started = NULL;

	ck_assert_int_eq(haul_plan_create(&plan, &two, NULL, 0), 0);
	opts.plan = plan;
	if (HAUL_STEALING && steals) {
		opts.steal = HAUL_STEAL_GLOBAL;
		opts.steal_min_work_ns = 1;
	}
	ck_assert_int_eq(haul_start(&started, &opts, NULL, 0), 0);
	haul_plan_destroy(plan);
	return started;
}

static inline void start(int mode)
{
	rt = start_with(mode & 1 ? HAUL_FDS_EPOLL : HAUL_FDS_URING, mode & 2);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
}

static inline void stop(void)
{
	runtime_stop(rt);
	close(pair[0]);
	close(pair[1]);
}

static inline unsigned open_descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned n = 0;

	ck_assert_ptr_nonnull(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static inline void run_one(haul_fn *fn)
{
	void *wrong = run_on(rt, 0, fn, NULL);

	ck_assert_msg(!wrong, "%s", (const char *)wrong);
}

#endif
