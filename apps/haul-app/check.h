/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of what a program gives to the library: mistakes of its author, found at each start. */
#ifndef HAULI_APP_CHECK_H
#define HAULI_APP_CHECK_H

#include "options/table.h"
#include "process/state.h"

/* Checks the tables of options. Returns an exit code, after a line for the first mistake. */
int hauli_check_options(const struct hauli_command *command);

/* Checks the handler, and the names of counters and drop reasons. Returns the same. */
int hauli_check_hooks(const struct hauli_app *a);

/* The exit code that a hook has returned; others than 0 to 255 become HAUL_APP_FAILED, after a
 * line. */
int hauli_check_rc(const struct hauli_app *a, const char *hook, int rc);

#endif
