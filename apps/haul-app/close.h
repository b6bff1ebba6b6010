/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a packet program. */
#ifndef HAULI_APP_CLOSE_H
#define HAULI_APP_CLOSE_H

#include "process/state.h"

/* Shuts everything down. Returns the exit code of the program: rc, unless the shutdown fails. */
int hauli_app_close(struct hauli_app *a, int rc);

#endif
