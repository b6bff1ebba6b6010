/* SPDX-License-Identifier: BSD-3-Clause */
/* The directory that EAL makes for a process's sockets (/var/run/dpdk/PREFIX) and leaves. */
#ifndef HAULI_GLUE_RUNDIR_H
#define HAULI_GLUE_RUNDIR_H

#define HAULI_RUNDIR_PREFIX "haul-" /* then the process's number */

/* Removes EAL's directory of this process. EAL has ended or has not started. */
void hauli_rundir_remove(const char *dir);

/* Removes those beside dir that programs of haul's left when they were killed. */
void hauli_rundir_sweep(const char *dir);

#endif
