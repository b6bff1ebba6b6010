/* SPDX-License-Identifier: BSD-3-Clause */
/* Hooks that run on carriers. */
#ifndef HAULI_APP_CARRIERS_H
#define HAULI_APP_CARRIERS_H

#include "process/state.h"

/* Calls carrier_begins() on each carrier. Returns an exit code. */
int hauli_app_carriers_begin(struct hauli_app *a);

/* Calls carrier_ends() on those on which carrier_begins() has succeeded. */
void hauli_app_carriers_end(struct hauli_app *a);

#endif
