/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Command lines: a program describes its options in tables, and gets parsing, one-line errors and
 * --help from them.
 *
 *	static uint64_t delay;
 *	static const struct app_option options[] = {
 *		{"--delay", "TIME", APP_TIME, &delay, .max = 60 * HAUL_S, .zero = "none",
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
 * An option's default is what its variable holds before; --help shows it.
 */
#ifndef APP_ARGS_H
#define APP_ARGS_H

#include <stdio.h>

#include <haul/base.h>

enum app_exit {
	APP_DONE = 0,
	APP_FAILED = 1, /* while running */
	APP_USAGE = 2, /* wrong arguments */
};

enum app_kind {
	APP_FLAG, /* bool: true when given */
	APP_NUMBER, /* uint64_t, min..max */
	APP_TIME, /* uint64_t in ns, min..max: "5ms", "1.5s", "2": seconds */
	APP_TEXT, /* const char * */
	APP_TEXTS, /* struct app_texts: may be given again */
	APP_CHOICE, /* unsigned: the how-manieth of value's "first|second|..." */
	APP_REST, /* struct app_texts: all arguments after it */
};

struct app_texts {
	char **items;
	unsigned n;
};

struct app_option {
	const char *name; /* "--port"; NULL ends a table */
	const char *value; /* what --help calls its value; APP_CHOICE: all of them */
	enum app_kind kind;
	void *to;
	uint64_t min, max;
	const char *zero; /* what --help says of a default that is 0, NULL or empty */
	const char *help;
};

struct app_program {
	const char *name;
	const char *purpose; /* a line or a few, for --help */
	const char *examples; /* lines for --help */
	void (*ports)(FILE *out); /* prints the kinds of port specs, for --help; NULL: takes none */
	const struct app_option *const *tables; /* NULL ends them */
};

/* Fills the variables. -1: go on; otherwise the exit code, and all has been said (--help,
 * --version, or one line on stderr). */
int app_args_parse(const struct app_program *program, int argc, char **argv);

/* The i-th of "first|second|...", in buf. */
const char *app_choice_name(char *buf, size_t len, const char *choices, unsigned i);

/* Prints "NAME: ..." as one line on stderr: what a terminal would obey becomes \x1b and the like,
 * and of a very long one the middle is left out. */
__attribute__((format(printf, 2, 3))) void app_say(
	const struct app_program *program, const char *format, ...);

/* Prints "NAME: ..." and a hint at --help as one line on stderr; returns APP_USAGE. For what a
 * program itself finds wrong with its arguments. */
__attribute__((format(printf, 2, 3))) int app_args_wrong(
	const struct app_program *program, const char *format, ...);

#endif
