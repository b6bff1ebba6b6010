/* SPDX-License-Identifier: BSD-3-Clause */
/* --help and --version. */
#ifndef HAULI_APP_HELP_H
#define HAULI_APP_HELP_H

#include "command.h"

void hauli_print_help(const struct hauli_command *command);
void hauli_print_version(const struct haul_app_program *program);

/* "90ms", for people to read. */
void hauli_time_text(char *buf, size_t len, uint64_t ns);

#endif
