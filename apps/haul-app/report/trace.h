/* SPDX-License-Identifier: BSD-3-Clause */
/* The files of the timeline: --trace and its options. */
#ifndef HAULI_APP_REPORT_TRACE_H
#define HAULI_APP_REPORT_TRACE_H

#include <haul-app/options.h>

#include "process/state.h"

const struct haul_app_option *hauli_app_trace_options(void);

/* haul_runtime_opts.trace_events; 0: no --trace. */
unsigned hauli_app_trace_events(void);

/* Before the carriers start, on the main thread. HAUL_APP_DONE, or a failure. */
int hauli_app_trace_begin(struct hauli_app *a);

/* Asks for the file, as haul_trace_trigger() does. Its path; NULL: no --trace. Any thread. */
const char *hauli_app_trace_ask(void);

/* Before the carriers stop: writes the file, if nothing else asks for one. Returns rc, or a
 * failure. */
int hauli_app_trace_end(struct hauli_app *a, int rc);

#endif
