/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/interrupts.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <haul-app/app.h>

#include "conc/word.h"

static int fd = -1;

/* A signal that ends a program, and the handler before ours: that of haul's stacks, or none. */
static struct deadly {
	int sig;
	bool is_fault; /* ours goes over an earlier handler; otherwise only if there is none */
	bool ours;
	struct sigaction before;
} deadly[] = {
	{.sig = SIGABRT, .is_fault = true},
	{.sig = SIGSEGV, .is_fault = true},
	{.sig = SIGBUS, .is_fault = true},
	{.sig = SIGFPE, .is_fault = true},
	{.sig = SIGILL, .is_fault = true},
	{.sig = SIGSYS, .is_fault = true},
	{.sig = SIGQUIT},
	{.sig = SIGALRM},
	{.sig = SIGUSR2},
};
#define DEADLY (sizeof(deadly) / sizeof(deadly[0]))

static struct hauli_fn_published before_death; /* a hauli_any_fn; read by handlers of signals */

static sigset_t of_terminal(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGWINCH);
	sigaddset(&set, SIGTSTP);
	sigaddset(&set, SIGCONT);
	return set;
}

int hauli_app_interrupts_open(void)
{
	const sigset_t set = of_terminal();

	fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	return fd;
}

void hauli_app_interrupts_close(void)
{
	const sigset_t set = of_terminal();

	if (fd < 0)
		return;
	close(fd);
	fd = -1;
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

struct hauli_app_interrupts hauli_app_interrupts_read(void)
{
	struct hauli_app_interrupts came = {0};
	struct signalfd_siginfo info;

	while (read(fd, &info, sizeof(info)) == sizeof(info)) {
		came.resized |= info.ssi_signo == SIGWINCH;
		came.stop |= info.ssi_signo == SIGTSTP;
		came.continued |= info.ssi_signo == SIGCONT;
	}
	return came;
}

void hauli_app_interrupts_stop(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTSTP);
	raise(SIGTSTP);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL); /* stops here */
	pthread_sigmask(SIG_BLOCK, &set, NULL);
}

void hauli_app_interrupts_clean_up(void)
{
	hauli_any_fn *clean_up = hauli_fn_published_get(&before_death);

	if (clean_up)
		clean_up();
}

static void die(int sig, siginfo_t *info, void *context)
{
	hauli_app_interrupts_clean_up();
	for (unsigned i = 0; i < DEADLY; i++) {
		if (deadly[i].sig != sig)
			continue;
		sigaction(sig, &deadly[i].before, NULL);
		/* After this handler a fault happens again, in the place where it did. A signal
		 * that was sent does not. */
		if (!deadly[i].is_fault || info->si_code <= 0)
			raise(sig);
	}
}

static void take(struct deadly *d)
{
	struct sigaction sa = {.sa_sigaction = die, .sa_flags = SA_SIGINFO | SA_ONSTACK};

	sigemptyset(&sa.sa_mask);
	sigaction(d->sig, NULL, &d->before);
	d->ours = d->is_fault ||
		(!(d->before.sa_flags & SA_SIGINFO) && d->before.sa_handler == SIG_DFL);
	if (d->ours)
		sigaction(d->sig, &sa, NULL);
}

void hauli_app_interrupts_before_death(void (*clean_up)(void))
{
	bool was = hauli_fn_published_get(&before_death);
	bool begins = clean_up && !was, ends = !clean_up && was;

	hauli_fn_published_set(&before_death, clean_up);
	for (unsigned i = 0; i < DEADLY; i++) {
		if (begins)
			take(&deadly[i]);
		else if (ends && deadly[i].ours)
			sigaction(deadly[i].sig, &deadly[i].before, NULL);
	}
}

void haul_app_before_death(void (*clean_up)(void))
{
	hauli_app_interrupts_before_death(clean_up);
}
