/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program writes its health into a pipe, a byte each time, which is a sign of life, too. The
 * guard reads, and runs the command after each change. The end of the file tells that the program
 * is gone, in whatever way.
 *
 * The guard is a fork of a process with threads, so it calls only what a signal handler may call.
 * It holds no file but the pipe and stderr: a TAP, a socket or a VFIO group would else outlive the
 * program. The signals that end programs are blocked, as in the program: a terminal sends them to
 * both.
 */
#include "health/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "process/say.h"

#define COMMAND_MOST_MS 10000 /* then the command is killed */
#define TICK_MS 10

static struct {
	pid_t pid; /* 0: none */
	int fd;
	bool gone; /* told */
} g;

const char *hauli_health_name(enum hauli_health health)
{
	static const char *const names[] = {"starting", "serving", "draining", "no-link", "hung",
		"stopped", "handed over", "killed"};

	return names[health];
}

/* In the guard, as all up to hauli_guard_begin(). */
static void say(const struct hauli_app *a, const char *state, const char *what, int number)
{
	char line[512];
	int n = snprintf(line, sizeof(line), "%s: --on-health %s %s: %s %d\n", a->pub.program->name,
		a->on_health, state, what, number);

	if (write(STDERR_FILENO, line, (size_t)n < sizeof(line) ? (size_t)n : sizeof(line) - 1) < 0)
		return; /* stderr is the last resort */
}

static void execute(const struct hauli_app *a, const char *state)
{
	char *const argv[] = {(char *)a->on_health, (char *)state, NULL};
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	execv(argv[0], argv);
	say(a, state, "cannot be run: error", errno);
	_exit(127);
}

/* Waits for the end of the command; its status. */
static int wait_for(pid_t pid)
{
	const struct timespec tick = {.tv_nsec = TICK_MS * 1000000};
	int status = 0;

	for (unsigned ms = 0; waitpid(pid, &status, WNOHANG) == 0; ms += TICK_MS) {
		if (ms == COMMAND_MOST_MS)
			kill(pid, SIGKILL);
		nanosleep(&tick, NULL);
	}
	return status;
}

static void run(const struct hauli_app *a, enum hauli_health health)
{
	const char *state = hauli_health_name(health);
	pid_t pid = fork();
	int status;

	if (pid == 0)
		execute(a, state);
	if (pid < 0) {
		say(a, state, "cannot be run: error", errno);
		return;
	}
	status = wait_for(pid);
	if (WIFSIGNALED(status))
		say(a, state, "ended by signal", WTERMSIG(status));
	else if (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != 127)
		say(a, state, "exit status", WEXITSTATUS(status));
}

/* What the program has told, or that it tells nothing. */
static enum hauli_health next(int fd, enum hauli_health told, uint64_t hang_after)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	char signs[64];
	ssize_t n;

	/* Only one that serves must show that it lives: what drains or starts may take long. */
	if (told == HAULI_HEALTH_SERVING && poll(&p, 1, (int)(hang_after / HAUL_MS)) == 0)
		return HAULI_HEALTH_HUNG;
	do
		n = read(fd, signs, sizeof(signs));
	while (n < 0 && errno == EINTR);
	return n > 0 ? (enum hauli_health)signs[n - 1] : HAULI_HEALTH_KILLED;
}

static void keep_files(int fd)
{
	int null = open("/dev/null", O_RDONLY);

	dup2(null, STDIN_FILENO);
	dup2(STDERR_FILENO, STDOUT_FILENO); /* whoever reads that waits for the program only */
	if (fd > 3)
		close_range(3, (unsigned)fd - 1, 0);
	close_range((unsigned)fd + 1, ~0u, 0);
}

static _Noreturn void guard(const struct hauli_app *a, int fd)
{
	enum hauli_health told = HAULI_HEALTH_STARTING, health = told;

	prctl(PR_SET_NAME, "health");
	keep_files(fd);
	while (health != HAULI_HEALTH_KILLED) {
		health = next(fd, told, a->hang_after);
		/* A program that was not announced is not withdrawn. */
		if (health == told ||
			(health >= HAULI_HEALTH_HUNG && told == HAULI_HEALTH_STARTING) ||
			told == HAULI_HEALTH_STOPPED)
			continue;
		if (health == HAULI_HEALTH_HANDED_OVER)
			break;
		told = health;
		run(a, health);
	}
	_exit(0);
}

int hauli_guard_begin(const struct hauli_app *a)
{
	int fds[2], err = 0;
	struct stat st;
	pid_t pid;

	if (!a->on_health)
		return HAUL_APP_DONE;
	if (access(a->on_health, X_OK) != 0 || stat(a->on_health, &st) != 0)
		err = errno;
	else if (!S_ISREG(st.st_mode))
		err = EISDIR;
	if (err)
		return haul_app_wrong(a->pub.program,
			"--on-health %s: %s; give the path of a program", a->on_health,
			strerror(err));
	if (pipe2(fds, O_CLOEXEC) == 0) {
		pid = fork();
		err = errno;
		if (pid == 0) {
			close(fds[1]);
			guard(a, fds[0]);
		}
		close(fds[0]);
		g.pid = pid > 0 ? pid : 0;
		g.fd = fds[1];
		fcntl(g.fd, F_SETFL, O_NONBLOCK); /* of this end */
	} else {
		err = errno;
	}
	if (g.pid)
		return HAUL_APP_DONE;
	haul_app_say(a->pub.program, "--on-health %s: no process: %s", a->on_health, strerror(err));
	return HAUL_APP_FAILED;
}

void hauli_guard_tell(const struct hauli_app *a, enum hauli_health health)
{
	const char sign = (char)health;

	if (g.pid == 0 || g.gone || write(g.fd, &sign, 1) == 1 || errno == EAGAIN)
		return;
	g.gone = true;
	haul_app_say(a->pub.program, "--on-health %s: its process is gone: it is not run any more",
		a->on_health);
}

void hauli_guard_end(void)
{
	if (g.pid == 0)
		return;
	close(g.fd);
	while (waitpid(g.pid, NULL, 0) < 0 && errno == EINTR)
		;
	g.pid = 0;
}
