/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fork() copies the calling thread and no other: in the child there are no carriers and none of
 * EAL's threads, whatever memory says. Whoever starts threads notes the count, and compares before
 * waiting for them.
 */
#ifndef HAULI_BASE_FORKS_H
#define HAULI_BASE_FORKS_H

/* How many fork()s lie between this process and the first call below. Changes in a child of
 * fork() only, before it has a second thread. */
extern unsigned hauli_forks;

/* Begins to count; any number of times, any thread. 0 or -ENOMEM. */
int hauli_forks_watch(void);

#endif
