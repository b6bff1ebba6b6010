/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/forks.h"

#include <pthread.h>

unsigned hauli_forks;

static int watch_error;

static void count(void)
{
	hauli_forks++;
}

static void watch(void)
{
	watch_error = -pthread_atfork(NULL, NULL, count);
}

int hauli_forks_watch(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, watch);
	return watch_error;
}
