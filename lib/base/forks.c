/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/forks.h"

#include <pthread.h>
#include <stdbool.h>

unsigned hauli_forks;

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

int hauli_forks_watch(void)
{
	static bool watched; /* under the lock */
	int err = 0;

	pthread_mutex_lock(&lock);
	if (!watched)
		err = pthread_atfork(prepare, parent, child);
	watched = !err;
	pthread_mutex_unlock(&lock);
	return -err;
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
