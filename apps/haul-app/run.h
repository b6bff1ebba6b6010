/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HAULI_APP_RUN_H
#define HAULI_APP_RUN_H

#include "process/state.h"

/* Starts the pollers, reports once a period until the end of the program, stops the pollers, and
 * reports the totals; calls the hooks of these times. Returns an exit code. */
int hauli_app_run(struct hauli_app *a);

#endif
