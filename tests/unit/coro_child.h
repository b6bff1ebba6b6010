/* SPDX-License-Identifier: BSD-3-Clause */
/* A child process that must die in a given way: its stderr and its exit status. */
#ifndef HAUL_TESTS_CORO_CHILD_H
#define HAUL_TESTS_CORO_CHILD_H

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Takes out a line of qemu's user emulation, which says when the program dies by a signal. */
static inline void child_without_qemu(char *said)
{
	char *line = strstr(said, "qemu: "), *end = line ? strchr(line, '\n') : NULL;

	if (end && (line == said || line[-1] == '\n'))
		memmove(line, end + 1, strlen(end));
}

struct child {
	int status; /* from waitpid() */
	unsigned lines; /* lines that begin with "haul: " */
	char said[6000]; /* the beginning: a message of check's has 8192 bytes */
};

/* Runs fn(arg) in a child process, which then calls _exit(0). */
static inline struct child child_run(void (*fn)(void *arg), void *arg)
{
	struct child c = {0};
	size_t len = 0;
	int fds[2];
	ssize_t n;
	pid_t pid;

	ck_assert_int_eq(pipe(fds), 0);
	fflush(NULL);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that hangs is killed */
		setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
		dup2(fds[1], STDERR_FILENO);
		close(fds[0]);
		close(fds[1]);
		fn(arg);
		_exit(0);
	}
	close(fds[1]);
	while (len < sizeof(c.said) - 1 &&
		(n = read(fds[0], c.said + len, sizeof(c.said) - 1 - len)) > 0)
		len += (size_t)n;
	while (read(fds[0], (char[512]){0}, 512) > 0)
		;
	close(fds[0]);
	child_without_qemu(c.said);
	ck_assert_int_eq(waitpid(pid, &c.status, 0), pid);
	for (const char *p = c.said; (p = strstr(p, "haul: ")); p++)
		c.lines += p == c.said || p[-1] == '\n';
	return c;
}

/* Runs fn() in a child process until it has said both texts on stderr, and ends it by SIGKILL. */
static inline struct child child_until(void (*fn)(void), const char *text, const char *other)
{
	struct child c = {0};
	size_t len = 0;
	int fds[2];
	ssize_t n;
	pid_t pid;

	ck_assert_int_eq(pipe(fds), 0);
	fflush(NULL);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(fds[1], STDERR_FILENO);
		close(fds[0]);
		fn();
	}
	close(fds[1]);
	while (!strstr(c.said, text) || !strstr(c.said, other)) {
		n = read(fds[0], c.said + len, sizeof(c.said) - 1 - len);
		ck_assert_int_gt(n, 0);
		len += (size_t)n;
	}
	close(fds[0]);
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, &c.status, 0), pid);
	return c;
}

/* Prints what the child has said, as comments of the test: a text may end amid a line. */
static inline void child_show(const struct child *c)
{
	const char *line = c->said;

	while (*line) {
		int len = (int)strcspn(line, "\n");

		printf("# %.*s\n", len, line);
		line += len + (line[len] == '\n');
	}
}

#define CHILD_DIED_BY(c, sig)                                                   \
	ck_assert_msg(WIFSIGNALED((c).status) && WTERMSIG((c).status) == (sig), \
		"status %x, not signal %d; it said: %s", (c).status, (sig), (c).said)

#define CHILD_EXITED(c, code)                                                     \
	ck_assert_msg(WIFEXITED((c).status) && WEXITSTATUS((c).status) == (code), \
		"status %x, not exit %d; it said: %s", (c).status, (code), (c).said)

#endif
