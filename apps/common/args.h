/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Command lines. A program describes its options in tables; parsing, one-line errors and --help
 * follow from these.
 *
 *	static uint64_t delay;
 *	static const struct app_option options[] = {
 *		{"--delay", "TIME", APP_ARG_TIME, &delay, .max = 60 * HAUL_S, .zero = "none",
 *			.help = "sleep before each reply"},
 *		{0},
 *	};
 *	static const struct app_option *const tables[] = {options, engine_options, NULL};
 *	static const struct app_program program = {.name = "haul-echo", .purpose = "...",
 *		.tables = tables};
 *
 *	int rc = app_args_parse(&program, argc, argv);
 *	if (rc >= 0)
 *		return rc;
 *
 * The default of an option is the value of its variable before parsing; --help shows it.
 */
#ifndef APP_ARGS_H
#define APP_ARGS_H

#include <stdio.h>

#include <haul/base.h>

enum app_exit {
	APP_EXIT_DONE = 0,
	APP_EXIT_FAILED = 1, /* while running */
	APP_EXIT_USAGE = 2, /* wrong arguments */
};

enum app_kind {
	APP_ARG_FLAG, /* bool: true if given */
	APP_ARG_NUMBER, /* uint64_t, min to max */
	APP_ARG_TIME, /* uint64_t in ns, min to max: "5ms", "1.5s"; "2" is seconds */
	APP_ARG_TEXT, /* const char * */
	APP_ARG_TEXTS, /* struct app_texts: may be repeated */
	APP_ARG_CHOICE, /* unsigned: index, from 0, into value "first|second|..." */
	APP_ARG_REST, /* struct app_texts: all arguments after the option */
};

struct app_texts {
	char **items;
	unsigned n;
};

struct app_option {
	const char *name; /* "--port"; NULL ends a table */
	const char *value; /* name of its value in --help; APP_ARG_CHOICE: the choices */
	enum app_kind kind;
	void *to;
	uint64_t min, max;
	const char *zero; /* how --help shows a default of 0, NULL or "" */
	const char *help;
};

struct app_program {
	const char *name;
	const char *purpose; /* one or a few lines, for --help */
	const char *examples; /* lines, for --help */
	void (*ports)(FILE *out); /* prints the port specs, for --help; NULL: no ports */
	const struct app_option *const *tables; /* terminated by NULL */
};

/* Stores the options in their variables. Returns -1 if the program is to go on; else the exit code,
 * after printing (--help, --version, or an error as one line on stderr). */
int app_args_parse(const struct app_program *program, int argc, char **argv);

/* Choice i, from 0, of "first|second|...", copied to buf. Returns buf. */
const char *app_choice_name(char *buf, size_t len, const char *choices, unsigned i);

/* Prints "NAME: ..." as one line on stderr. Control characters are printed as \x1b; the middle of a
 * very long line is left out. */
__attribute__((format(printf, 2, 3))) void app_say(
	const struct app_program *program, const char *format, ...);

/* Like app_say(), with a hint to --help; returns APP_EXIT_USAGE. For errors in arguments that the
 * program finds itself. */
__attribute__((format(printf, 2, 3))) int app_args_wrong(
	const struct app_program *program, const char *format, ...);

#endif
