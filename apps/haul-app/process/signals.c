/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/delay.h"
#include "process/interrupts.h"

#define KICK SIGURG /* interrupts system calls of the main thread, in phases that allow it */
#define TICK (10 * HAUL_MS)
/* Limits, without the time for which the main thread waits for a CPU. */
#define PATIENCE (500 * HAUL_MS) /* before a system call is interrupted: most end earlier */
#define START_MOST (2 * HAUL_S)
#define LONG (5 * HAUL_S)
#define STACK_SIZE (64 * 1024)

static struct {
	const char *name;
	pthread_t main;
	uint32_t main_tid;
	sigset_t taken;
	int err; /* copy of stderr, which is redirected while output of drivers is captured */

	int came; /* an eventfd: readable once a signal has arrived; -1: not made yet */
	bool reloads;
	int reload; /* an eventfd: the same of SIGHUP; -1: that ends the program */
	pthread_mutex_t lock;
	/* Protected by the lock. */
	int sig; /* the first signal; 0: none yet */
	enum hauli_app_phase phase;
	char what[256];
	struct hauli_delay delay; /* of the main thread */
	/* They begin with the first signal, and the patience with each later phase, too. */
	struct hauli_limit start, patience, end;
} s = {.came = -1,
	.reload = -1,
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.phase = HAULI_APP_PHASE_WORKS,
	.what = "starting"};

static struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){.tv_sec = (time_t)(ns / HAUL_S), .tv_nsec = (long)(ns % HAUL_S)};
}

static void say(const char *how)
{
	char line[512];
	int n = snprintf(
		line, sizeof(line), "%s: SIG%s: %s %s\n", s.name, sigabbrev_np(s.sig), s.what, how);

	if (write(s.err, line, (size_t)n < sizeof(line) ? (size_t)n : sizeof(line) - 1) < 0)
		return; /* stderr is the last resort */
}

static void die(int sig)
{
	sigset_t set;

	hauli_app_interrupts_clean_up();
	sigemptyset(&set);
	sigaddset(&set, sig);
	signal(sig, SIG_DFL);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	raise(sig);
}

/* Called with the lock held, every TICK after the first signal. */
static void look_after_main(void)
{
	static bool said;
	uint64_t delay = hauli_delay_of_thread(s.main_tid, &s.delay);

	hauli_limit_spend(&s.start, TICK, delay);
	hauli_limit_spend(&s.patience, TICK, delay);
	hauli_limit_spend(&s.end, TICK, delay);
	if (s.phase == HAULI_APP_PHASE_STARTS && s.start.left == 0) {
		say("does not end; its traces may remain");
		die(s.sig);
	}
	if (s.phase != HAULI_APP_PHASE_WORKS && s.patience.left == 0)
		pthread_kill(s.main, KICK);
	if (!said && s.end.left == 0) {
		say("takes long; another signal ends the program at once");
		said = true;
	}
}

static void take(int sig)
{
	if (s.sig)
		die(sig);
	s.sig = sig;
	s.start = hauli_limit(START_MOST);
	s.patience = hauli_limit(PATIENCE);
	s.end = hauli_limit(LONG);
	(void)hauli_delay_of_thread(s.main_tid, &s.delay);
	eventfd_write(s.came, 1);
}

static void *run(void *arg)
{
	const struct timespec tick = timespec_of(TICK);
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	for (;;) {
		/* Without the lock: only this thread writes sig. */
		int sig = sigtimedwait(&s.taken, NULL, s.sig ? &tick : NULL);

		pthread_mutex_lock(&s.lock);
		if (sig == SIGHUP && s.reloads)
			eventfd_write(s.reload, 1);
		else if (sig > 0)
			take(sig);
		else if (s.sig)
			look_after_main();
		pthread_mutex_unlock(&s.lock);
	}
	return NULL;
}

static void kicked(int sig)
{
}

static void mask(int how, int sig)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, sig);
	pthread_sigmask(how, &set, NULL);
}

static void choose_signals(void)
{
	struct sigaction hup;

	sigemptyset(&s.taken);
	sigaddset(&s.taken, SIGINT);
	sigaddset(&s.taken, SIGTERM);
	if (s.reloads || (sigaction(SIGHUP, NULL, &hup) == 0 && hup.sa_handler != SIG_IGN))
		sigaddset(&s.taken, SIGHUP);
}

void hauli_app_signals_block(bool reloads)
{
	s.reloads = reloads;
	choose_signals();
	pthread_sigmask(SIG_BLOCK, &s.taken, NULL);
	mask(SIG_BLOCK, KICK);
	mask(SIG_BLOCK, SIGUSR1);
}

void hauli_app_signals_init(const char *name)
{
	const struct sigaction kick = {.sa_handler = kicked}; /* no SA_RESTART */
	const struct sigaction survive = {
		.sa_handler = kicked, .sa_flags = SA_RESTART | SA_ONSTACK};
	struct sigaction pipe;
	pthread_attr_t small;
	pthread_t thread;
	int err;

	s.name = name;
	s.main = pthread_self();
	s.main_tid = (uint32_t)gettid();
	s.err = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	sigaction(KICK, &kick, NULL);
	/* Handled, not ignored: SIG_IGN would survive the exec() by which the glue may restart the
	 * program. */
	if (sigaction(SIGPIPE, NULL, &pipe) == 0 && pipe.sa_handler == SIG_DFL)
		sigaction(SIGPIPE, &survive, NULL);
	signal(SIGXFSZ, SIG_IGN);
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, STACK_SIZE);
	pthread_attr_setdetachstate(&small, PTHREAD_CREATE_DETACHED);
	s.came = eventfd(0, EFD_CLOEXEC);
	if (s.reloads)
		s.reload = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	err = s.came < 0 || (s.reloads && s.reload < 0)
		? errno
		: pthread_create(&thread, &small, run, NULL);
	if (err != 0) {
		fprintf(stderr, "%s: cannot create a thread for signals: %s\n", name,
			strerror(err));
		exit(EXIT_FAILURE);
	}
	pthread_attr_destroy(&small);
	pthread_setname_np(thread, "signals");
}

void hauli_app_signals_phase(enum hauli_app_phase phase, const char *what, const char *which)
{
	pthread_mutex_lock(&s.lock);
	s.phase = phase;
	snprintf(s.what, sizeof(s.what), "%s%s", what, which);
	s.patience = hauli_limit(PATIENCE);
	pthread_mutex_unlock(&s.lock);
	mask(phase == HAULI_APP_PHASE_WORKS ? SIG_BLOCK : SIG_UNBLOCK, KICK);
}

void hauli_app_signals_extend(uint64_t ns)
{
	pthread_mutex_lock(&s.lock);
	s.end.left += ns;
	pthread_mutex_unlock(&s.lock);
}

bool hauli_app_signals_came(void)
{
	bool came;

	pthread_mutex_lock(&s.lock);
	came = s.sig != 0;
	pthread_mutex_unlock(&s.lock);
	return came;
}

int hauli_app_signals_fd(void)
{
	return s.came;
}

int hauli_app_signals_reload_fd(void)
{
	return s.reload;
}
