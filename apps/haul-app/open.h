/* SPDX-License-Identifier: BSD-3-Clause */
/* The start of a packet program. */
#ifndef HAULI_APP_OPEN_H
#define HAULI_APP_OPEN_H

#include "process/state.h"

/* Starts everything but the pollers. Returns an exit code; what was started before an error stays
 * for hauli_app_close(). */
int hauli_app_open(struct hauli_app *a);

#endif
