/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Signals that list all coroutines. Each signal has a thread, the only one of haul's threads that
 * does not block it: the signal's handler posts a semaphore, for which this thread waits. The
 * caller blocks the signal, and so do the threads that it creates later, so that the kernel
 * delivers the signal to haul's thread and interrupts no system call of another. Only in threads of
 * the program that do not block the signal may the handler run, too.
 */
#include "sched/look/dump_signal.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>

#include "base/forks.h"
#include "sched/look/snapshot.h"
#include "sched/state/runtime.h"

/* Under the lock of the process. */
static sigset_t taken; /* signals that have a thread */
static unsigned nb_threads;
static unsigned forks_at_first; /* hauli_forks when the first one was started */
static sem_t came;

static void dump(struct haul_runtime *rt)
{
	fputs("haul: coroutines that have not ended:\n", stderr);
	haul_dump(rt, stderr);
}

static void *dump_each_time(void *arg)
{
	sigset_t mine;

	pthread_setname_np(pthread_self(), "dump");
	sigemptyset(&mine);
	sigaddset(&mine, (int)(intptr_t)arg);
	pthread_sigmask(SIG_UNBLOCK, &mine, NULL);
	for (;;) {
		if (sem_wait(&came) == 0)
			hauli_runtimes_for_each(dump);
	}
	return NULL;
}

static void handle(int sig)
{
	int err = errno;

	sem_post(&came);
	errno = err;
}

/* The handler of a fault would return to it. */
bool hauli_dump_refuses(int sig)
{
	static const int faults[] = {
		SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGKILL, SIGSTOP};

	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		if (sig == faults[i])
			return true;
	return sig <= 0 || sig > SIGRTMAX || sig == HAULI_SNAPSHOT_SIGNAL ||
		sig == HAULI_STRAY_SIGNAL;
}

/* Under the lock of the process. After a fork(), forgets the threads: they are the parent's. */
static void begin(void)
{
	if (nb_threads > 0 && forks_at_first == hauli_forks)
		return;
	nb_threads = 0;
	sigemptyset(&taken);
	sem_init(&came, 0, 0);
	forks_at_first = hauli_forks;
}

/* Under the lock of the process. The thread blocks all other signals, which are the program's. */
static int start_thread(int sig)
{
	const struct sigaction sa = {.sa_handler = handle, .sa_flags = SA_RESTART | SA_ONSTACK};
	struct sigaction before;
	sigset_t all, mask;
	pthread_t thread;
	int err;

	begin();
	if (sigaction(sig, &sa, &before) != 0)
		return -EINVAL; /* reserved by the C library */
	if (sigismember(&taken, sig))
		return 0;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	err = pthread_create(&thread, NULL, dump_each_time, (void *)(intptr_t)sig);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	if (err) {
		sigaction(sig, &before, NULL);
		return -EAGAIN;
	}
	pthread_detach(thread);
	sigaddset(&taken, sig);
	nb_threads++;
	return 0;
}

unsigned hauli_dump_threads(void)
{
	unsigned n;

	hauli_process_lock();
	n = forks_at_first == hauli_forks ? nb_threads : 0;
	hauli_process_unlock();
	return n;
}

int haul_dump_on_signal(int sig)
{
	sigset_t it;
	int err;

	if (hauli_dump_refuses(sig))
		return -EINVAL;
	hauli_process_lock();
	err = start_thread(sig);
	hauli_process_unlock();
	if (err)
		return err;
	sigemptyset(&it);
	sigaddset(&it, sig);
	pthread_sigmask(SIG_BLOCK, &it, NULL);
	return 0;
}
