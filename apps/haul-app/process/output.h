/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports lost output: a program that cannot write to stdout prints an error and fails. */
#ifndef HAULI_APP_PROCESS_OUTPUT_H
#define HAULI_APP_PROCESS_OUTPUT_H

#include <haul-app/options.h>

/* To be called first. Fills closed standard descriptors with /dev/null, so that no file that is
 * opened later gets one of these numbers, and output of the program with it. */
void hauli_app_output_begin(void);

/* True if a write to stdout has failed; further output is useless then. */
bool hauli_app_output_is_lost(void);

/*
 * To be called last. Flushes stdout. Returns the exit code of the program: rc, or HAUL_APP_FAILED
 * after a line on stderr if output was lost. If the reader of a pipe has gone and rc is
 * HAUL_APP_DONE, it ends the process by SIGPIPE, as usual for a pipe, unless the process inherited
 * SIGPIPE as ignored.
 */
int hauli_app_output_end(const struct haul_app_program *program, int rc);

#endif
