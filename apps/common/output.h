/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes sure that output on stdout arrives: if not, the program says so and fails. */
#ifndef APP_OUTPUT_H
#define APP_OUTPUT_H

#include "args.h"

/* Before anything else: no descriptor that is opened later takes the place of a standard one that
 * was closed, so nothing that is printed goes to a port. */
void app_output_begin(void);

/* True if part of the output is lost: then the rest will not be read either. */
bool app_output_is_lost(void);

/*
 * At the end: writes what stdout still holds. The exit code of the program, which is rc unless
 * output was lost: then APP_FAILED after a line. Where the reader of a pipe has gone and rc is
 * APP_DONE, it ends the program by SIGPIPE instead, as other programs end then, unless whoever
 * started it has that signal ignored.
 */
int app_output_end(const struct app_program *program, int rc);

#endif
