/* SPDX-License-Identifier: BSD-3-Clause */
/* --help and --version. */
#ifndef HAULI_APP_OPTIONS_HELP_H
#define HAULI_APP_OPTIONS_HELP_H

#include "options/table.h"

void hauli_print_help(const struct hauli_command *command);
void hauli_print_version(const struct haul_app_program *program);

#endif
