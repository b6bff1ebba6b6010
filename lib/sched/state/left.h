/* SPDX-License-Identifier: BSD-3-Clause */
/* Slices that were left behind (run/rescue.c), for the watchdog, which tells of them. */
#ifndef HAULI_SCHED_STATE_LEFT_H
#define HAULI_SCHED_STATE_LEFT_H

#include <pthread.h>

#define HAULI_LEFT_DEPTH 32
#define HAULI_LEFT_NAME 64

struct hauli_left {
	pthread_mutex_t lock; /* all that follows is under it */
	unsigned n; /* slices since the watchdog has told of one. The first of them: */
	const void *co;
	unsigned carrier, nb_pcs;
	char name[HAULI_LEFT_NAME];
	void *pcs[HAULI_LEFT_DEPTH];
};

#endif
