/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fork() copies only the calling thread: the child has no carriers and none of EAL's threads,
 * although its memory says so. Code that starts threads notes the count of forks, and compares it
 * before it waits for them.
 */
#ifndef HAULI_BASE_FORKS_H
#define HAULI_BASE_FORKS_H

/* The number of fork()s between the process that first called hauli_forks_watch() and this one.
 * Changes only in a child of fork(), before it has a second thread. */
extern unsigned hauli_forks;

/* Starts the count; repeated calls are harmless. Any thread. 0 or -ENOMEM. */
int hauli_forks_watch(void);

/*
 * The lock of what all runtimes of the process share. fork() waits for it, so that the child finds
 * it free and the data whole; with a lock of another kind, which a thread of the parent held at
 * that moment, the child would wait for ever. A holder takes no second one. Any thread.
 */
void hauli_process_lock(void);
void hauli_process_unlock(void);

#endif
