/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The directory that EAL creates for a process's sockets (/var/run/dpdk/PREFIX) and does not
 * remove. EAL uses an existing directory, so haul first refuses a directory that other users could
 * have created.
 */
#ifndef HAULI_EAL_RUNDIR_H
#define HAULI_EAL_RUNDIR_H

#include <stddef.h>

#define HAULI_RUNDIR_PREFIX "haul-" /* followed by the process's number */

/*
 * Call before EAL's start. If other users can write to EAL's directory, an environment variable
 * gives EAL a fresh one until hauli_rundir_started(), and notice gets a line. 0 or -errno: no
 * directory.
 */
int hauli_rundir_prepare(char *notice, size_t len);
void hauli_rundir_started(void);

/* Removes EAL's directory of this process ("": EAL has made none) and the fresh one. Call after
 * EAL's end, or if it has not started. */
void hauli_rundir_remove(const char *dir);

/* Removes the directories beside dir left by killed programs of haul's. */
void hauli_rundir_sweep(const char *dir);

#endif
