/* SPDX-License-Identifier: BSD-3-Clause */
/* Latency: stages of a packet's time by port, and from the wake of a poller to a handler. */
#ifndef HAULI_APP_REPORT_LATENCY_H
#define HAULI_APP_REPORT_LATENCY_H

#include "process/state.h"

/* Checks --hist, and sets a->io_opts.times. Returns an exit code. */
int hauli_latency_check(struct hauli_app *a);

/* Prints percentiles of what has been recorded since the start. */
void hauli_latency_print(const struct hauli_app *a, FILE *out);

/* Adds "latency" to the object of a port: an object for each stage. Nothing without --times. */
void hauli_latency_json(const struct hauli_app *a, unsigned port, struct haul_app_json *to);

/* Writes the files of --hist. Returns an exit code. */
int hauli_latency_write(const struct hauli_app *a);

#endif
