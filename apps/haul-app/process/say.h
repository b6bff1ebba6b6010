/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines on stderr, beside haul_app_say() and haul_app_wrong(). */
#ifndef HAULI_APP_PROCESS_SAY_H
#define HAULI_APP_PROCESS_SAY_H

#include "process/state.h"

/* Prints "NAME: line". Returns the exit code for err: wrong arguments, or a failure. */
int hauli_app_fail(const struct hauli_app *a, int err, const char *line);
void hauli_app_note(const struct hauli_app *a, const char *line); /* nothing if line is "" */

#endif
