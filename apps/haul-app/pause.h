/* SPDX-License-Identifier: BSD-3-Clause */
/* The stop of the pollers. */
#ifndef HAULI_APP_PAUSE_H
#define HAULI_APP_PAUSE_H

#include "process/state.h"

/* Ends them, and sets stop_err: 0, or an error of haul_io_stop() with its line in errbuf. */
int hauli_app_stop_pollers(struct hauli_app *a, char *errbuf, size_t errlen);

#endif
