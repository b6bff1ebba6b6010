/* SPDX-License-Identifier: BSD-3-Clause */
/* The default launcher: POSIX threads, pinned and named as their places say. */
#ifndef HAULI_SCHED_STATE_THREADS_H
#define HAULI_SCHED_STATE_THREADS_H

#include <haul/runtime.h>

struct hauli_threads;

/* 0 or -ENOMEM. */
int hauli_threads_create(
	struct hauli_threads **threads, unsigned n, struct haul_launcher *launcher);
void hauli_threads_destroy(struct hauli_threads *threads);

#endif
