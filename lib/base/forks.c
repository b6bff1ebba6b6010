/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/forks.h"

#include <pthread.h>

unsigned hauli_forks;

static int watch_error;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void prepare(void)
{
	pthread_mutex_lock(&lock);
}

static void parent(void)
{
	pthread_mutex_unlock(&lock);
}

static void child(void)
{
	hauli_forks++;
	pthread_mutex_unlock(&lock);
}

static void watch(void)
{
	watch_error = -pthread_atfork(prepare, parent, child);
}

int hauli_forks_watch(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, watch);
	return watch_error;
}

void hauli_process_lock(void)
{
	hauli_forks_watch();
	pthread_mutex_lock(&lock);
}

void hauli_process_unlock(void)
{
	pthread_mutex_unlock(&lock);
}
