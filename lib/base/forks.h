/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fork() copies the calling thread and no other: in the child there are no carriers and none of
 * EAL's threads, whatever memory says. Code that starts threads notes the count, and compares it
 * before it waits for them.
 */
#ifndef HAULI_BASE_FORKS_H
#define HAULI_BASE_FORKS_H

/* The number of fork()s between this process and the one that called the function below first.
 * Changes only in a child of fork(), before it has a second thread. */
extern unsigned hauli_forks;

/* Begins to count; may be called again. Any thread. 0 or -ENOMEM. */
int hauli_forks_watch(void);

#endif
