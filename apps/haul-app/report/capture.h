/* SPDX-License-Identifier: BSD-3-Clause */
/* --capture: the frames of the program's ports in a pcapng file. */
#ifndef HAULI_APP_REPORT_CAPTURE_H
#define HAULI_APP_REPORT_CAPTURE_H

#include "process/state.h"

const struct haul_app_option *hauli_capture_options(void);

/* Checks the options and compiles the filter. Returns HAUL_APP_DONE, or an exit code after a
 * line. */
int hauli_app_capture_check(struct hauli_app *a);

/* Before the pollers start: opens the file if --capture is given. The same results. */
int hauli_app_capture_begin(struct hauli_app *a);

/* While the program runs: prints a line when the file cannot be written any more. False: the
 * program is to end, because that was standard output. */
bool hauli_app_capture_look(struct hauli_app *a);

/* After the pollers: closes the file. Returns rc, or HAUL_APP_FAILED if the file is incomplete. */
int hauli_app_capture_end(struct hauli_app *a, int rc);

/* Frees the filter. */
void hauli_app_capture_free(void);

/* The sums: nothing if nothing was captured. */
void hauli_app_capture_report(const struct hauli_app *a, FILE *out);
void hauli_app_capture_json(const struct hauli_app *a, struct haul_app_json *object);

#endif
