/* SPDX-License-Identifier: BSD-3-Clause */
/* Handlers that the end of the pollers has cancelled. */
#ifndef HAULI_APP_REPORT_CANCELLED_H
#define HAULI_APP_REPORT_CANCELLED_H

#include "process/state.h"

/* After the pollers have stopped: prints how many handlers the stop has cancelled, and where they
 * waited; nothing if there were none. */
void hauli_app_cancelled_tell(struct hauli_app *a);

/* Adds "cancelled" to the object of --json: those of all stops. */
void hauli_app_cancelled_json(const struct hauli_app *a, struct haul_app_json *object);

/* The exit code of a program that would end with rc: another one with --strict, if handlers were
 * cancelled. */
int hauli_app_cancelled_exit(const struct hauli_app *a, int rc);

#endif
