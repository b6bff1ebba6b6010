/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of simulations that get NULL say so, and abort. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <haul-sim/main.h>

#include "support/suite.h"

static int returns(void *arg)
{
	return 0;
}

static const struct haul_sim_opts opts;
static struct haul_sim_result result;

/* One function after the other is called. */
#define CALLS                                         \
	X(haul_sim_main, 0, NULL, NULL)               \
	X(haul_sim_run, NULL, returns, NULL, &result) \
	X(haul_sim_run, &opts, NULL, NULL, &result)   \
	X(haul_sim_run, &opts, returns, NULL, NULL)   \
	X(haul_sim_always, NULL, NULL)

static void call(int n)
{
#define X(fn, ...)    \
	if (n-- == 0) \
		(void)fn(__VA_ARGS__);
	CALLS
#undef X
}

static const char *const names[] = {
#define X(fn, ...) #fn,
	CALLS
#undef X
};

START_TEST(aborts)
{
	int fds[2], status;
	char said[256] = "", expected[64];
	pid_t child;

	ck_assert_int_eq(pipe(fds), 0);
	child = fork();
	if (child == 0) {
		dup2(fds[1], STDERR_FILENO);
		call(_i);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_gt(read(fds[0], said, sizeof(said) - 1), 0);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	snprintf(expected, sizeof(expected), "haul: %s(): ", names[_i]);
	ck_assert_msg(strncmp(said, expected, strlen(expected)) == 0, "%s", said);
	close(fds[0]);
	close(fds[1]);
}
END_TEST

SUITE_MAIN("sim_nulls", {aborts, sizeof(names) / sizeof(names[0])})
