/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The guard: a process that runs a command when the health of the program changes, also when the
 * program is killed or hangs, and could run nothing itself.
 */
#ifndef HAULI_APP_HEALTH_GUARD_H
#define HAULI_APP_HEALTH_GUARD_H

#include "process/state.h"

enum hauli_health {
	HAULI_HEALTH_STARTING,
	HAULI_HEALTH_SERVING,
	HAULI_HEALTH_DRAINING, /* about to stop, or paused */
	HAULI_HEALTH_NO_LINK, /* no port has one, or is left (--lost-port return) */
	HAULI_HEALTH_HUNG, /* a carrier or the main thread */
	HAULI_HEALTH_STOPPED,
	HAULI_HEALTH_HANDED_OVER, /* another program serves: nobody is told */
	HAULI_HEALTH_KILLED, /* known to the guard only */
};

/* "serving" */
const char *hauli_health_name(enum hauli_health health);

/* Starts the guard. Before EAL, whose devices it must not hold. Returns an exit code. */
int hauli_guard_begin(const struct hauli_app *a);

/* Main thread, all of these; nothing without a guard. A sign of life, about once a second; the
 * guard takes the program for hung if it serves, and there was none for --hang-after. */
void hauli_guard_tell(const struct hauli_app *a, enum hauli_health health);

/* Waits until the guard has run the last command. */
void hauli_guard_end(void);

#endif
