/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The directory that EAL makes for a process's sockets (/var/run/dpdk/PREFIX) and does not remove.
 * EAL uses a directory that is there already, so haul first refuses a directory that other users
 * could have made.
 */
#ifndef HAULI_EAL_RUNDIR_H
#define HAULI_EAL_RUNDIR_H

#include <stddef.h>

#define HAULI_RUNDIR_PREFIX "haul-" /* then the process's number */

/*
 * Before EAL starts. Where its place is not this user's alone, EAL is given a fresh directory by
 * the environment until hauli_rundir_started(), and notice gets a line. 0 or -errno: no directory
 * can be had.
 */
int hauli_rundir_prepare(char *notice, size_t len);
void hauli_rundir_started(void);

/* Removes EAL's directory of this process ("": it has made none) and the fresh one. EAL has ended
 * or has not started. */
void hauli_rundir_remove(const char *dir);

/* Removes those beside dir that programs of haul's left when they were killed. */
void hauli_rundir_sweep(const char *dir);

#endif
