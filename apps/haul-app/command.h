/* SPDX-License-Identifier: BSD-3-Clause */
/* The parser of command lines. */
#ifndef HAULI_APP_COMMAND_H
#define HAULI_APP_COMMAND_H

#include <haul-app/options.h>

/* A command line: that of a program with the options that the library adds. */
struct hauli_command {
	const struct haul_app_program *program;
	const struct haul_app_option *tables[16]; /* ended by NULL */
	bool ports; /* --help lists the kinds of port specs */
};

/* The command line of a program: its tables after "before" and before "after", which are those of
 * packet programs, or NULL. */
struct hauli_command hauli_command(const struct haul_app_program *program,
	const struct haul_app_option *before, const struct haul_app_option *after);

/* "--port" of "-p, --port". */
const char *hauli_option_name(const struct haul_app_option *o);

/* What an option needs in the program; needs is NULL if it always has an effect. */
struct haul_app_need hauli_option_need(
	const struct hauli_command *command, const struct haul_app_option *o);

/* Stores the options in their variables. Returns -1 if the program is to go on; else the exit code,
 * after printing (--help, --version, or an error as one line on stderr). */
int hauli_options_parse(const struct hauli_command *command, int argc, char **argv);

/* Sets an option later, as the command line does. Returns an exit code, after a line if it is not
 * HAUL_APP_DONE. */
int hauli_option_set(const struct hauli_command *command, const char *name, const char *value);

/* Parses a time, as HAUL_APP_TIME does. */
bool hauli_time_parse(uint64_t *ns, const char *text);

/* Frees the texts that the parser has collected. */
void hauli_options_free(const struct hauli_command *command);

#endif
