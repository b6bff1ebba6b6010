/* SPDX-License-Identifier: BSD-3-Clause */
/* A signal that lists all coroutines: its handler posts a semaphore, for which a thread waits. */
#include "sched/dump_signal.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>

#include "base/forks.h"
#include "sched/runtime.h"

static bool has_thread; /* under the lock of the process */
static sem_t came;

static void dump(struct haul_runtime *rt)
{
	fputs("haul: coroutines that have not ended:\n", stderr);
	haul_dump(rt, stderr);
}

static void *dump_each_time(void *arg)
{
	pthread_setname_np(pthread_self(), "dump");
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

/* Under the lock of the process. The thread takes no signals, which are the program's. */
static int start_thread(void)
{
	sigset_t all, before;
	pthread_t thread;
	int err;

	if (has_thread)
		return 0;
	sem_init(&came, 0, 0);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&thread, NULL, dump_each_time, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err)
		return -err;
	pthread_detach(thread);
	has_thread = true;
	return 0;
}

unsigned hauli_dump_threads(void)
{
	unsigned n;

	hauli_process_lock();
	n = has_thread;
	hauli_process_unlock();
	return n;
}

int haul_dump_on_signal(int sig)
{
	const struct sigaction sa = {.sa_handler = handle, .sa_flags = SA_RESTART | SA_ONSTACK};
	int err;

	hauli_process_lock();
	err = start_thread();
	hauli_process_unlock();
	if (!err && sigaction(sig, &sa, NULL) != 0)
		err = -errno;
	return err;
}
