/* SPDX-License-Identifier: BSD-3-Clause */
/* The parser of command lines. */
#ifndef HAULI_APP_OPTIONS_COMMAND_H
#define HAULI_APP_OPTIONS_COMMAND_H

#include "options/table.h"

/* Stores the options in their variables. Returns -1 if the program is to go on; else the exit code,
 * after printing (--help, --version, or an error as one line on stderr). */
int hauli_options_parse(const struct hauli_command *command, int argc, char **argv);

/* Sets an option later, as the command line does. Returns an exit code, after a line if it is not
 * HAUL_APP_DONE. */
int hauli_option_set(const struct hauli_command *command, const char *name, const char *value);

/* Frees the texts that the parser has collected. */
void hauli_options_free(const struct hauli_command *command);

#endif
