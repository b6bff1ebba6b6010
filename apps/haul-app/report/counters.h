/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters of the program: one sum for each counter and carrier. */
#ifndef HAULI_APP_REPORT_COUNTERS_H
#define HAULI_APP_REPORT_COUNTERS_H

#include "process/state.h"

/* The number of the program's counters. */
unsigned hauli_app_counters(const struct hauli_app *a);

/* Called when the number of carriers is known. Returns an exit code. */
int hauli_app_counters_init(struct hauli_app *a);
void hauli_app_counters_fini(void);

#endif
