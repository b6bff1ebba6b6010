/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of a command line: those of a program, with those that the library adds. */
#ifndef HAULI_APP_OPTIONS_TABLE_H
#define HAULI_APP_OPTIONS_TABLE_H

#include <haul-app/options.h>

struct hauli_command {
	const struct haul_app_program *program;
	const struct haul_app_option *tables[16]; /* ended by NULL */
	bool ports; /* --help lists the kinds of port specs */
};

/* For a packet program: its tables come after the table "before", and before those of the list
 * "after", which ends by NULL. For other programs both are NULL. */
struct hauli_command hauli_command(const struct haul_app_program *program,
	const struct haul_app_option *before, const struct haul_app_option *const *after);

/* "--port" of "-p, --port". */
const char *hauli_option_name(const struct haul_app_option *o);

/* The option whose name are the first len bytes of name; NULL: there is none. */
const struct haul_app_option *hauli_option_find(
	const struct hauli_command *command, const char *name, size_t len);

/* What an option needs in the program; needs is NULL if it always has an effect. */
struct haul_app_need hauli_option_need(
	const struct hauli_command *command, const struct haul_app_option *o);

#endif
