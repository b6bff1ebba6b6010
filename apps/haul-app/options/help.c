/* SPDX-License-Identifier: BSD-3-Clause */
/* --help and --version. */
#include "options/help.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <haul-dpdk/port.h>
#include <haul/version.h>

#include "options/value.h"

#define HELP_COLUMN 26
#define COLUMNS 80

/* Prints text in lines of at most COLUMNS, which begin at "indent"; the first one continues at
 * "column". */
static void print_wrapped(const char *text, unsigned column, unsigned indent)
{
	while (*text) {
		unsigned word = (unsigned)strcspn(text, " \n");

		if (column > indent && column + 1 + word > COLUMNS) {
			printf("\n%*s", indent, "");
			column = indent;
		} else if (column > indent) {
			putchar(' ');
			column++;
		}
		printf("%.*s", word, text);
		column += word;
		text += word;
		if (*text == '\n') {
			printf("\n%*s", indent, "");
			column = indent;
		}
		text += *text ? 1 : 0;
	}
	putchar('\n');
}

/* The default of an option as text, or NULL. */
static const char *default_of(const struct haul_app_option *o, char *buf, size_t len)
{
	switch (o->kind) {
	case HAUL_APP_NUMBER:
		snprintf(buf, len, "%" PRIu64, *(uint64_t *)o->to);
		return *(uint64_t *)o->to ? buf : o->zero;
	case HAUL_APP_TIME:
		hauli_time_text(buf, len, *(uint64_t *)o->to);
		return *(uint64_t *)o->to ? buf : o->zero;
	case HAUL_APP_TEXT:
		return *(const char **)o->to ? *(const char **)o->to : o->zero;
	case HAUL_APP_CHOICE:
		return haul_app_choice(buf, len, o->value, *(unsigned *)o->to);
	default:
		return o->zero;
	}
}

static void print_option(const struct hauli_command *command, const struct haul_app_option *o)
{
	const char *needs = hauli_option_need(command, o).needs;
	int n = printf("  %s%s%s", o->name, o->value ? " " : "", o->value ? o->value : "");
	/* Choices that have a line each are followed by another line. */
	bool lists = o->kind == HAUL_APP_CHOICE && strchr(o->help, '\n');
	const char *before = lists ? ";\nneeds " : "; needs ";
	char buf[64], *text;
	const char *def = default_of(o, buf, sizeof(buf));

	if (n > HELP_COLUMN - 2) {
		putchar('\n');
		n = 0;
	}
	printf("%*s", HELP_COLUMN - n, "");
	if (asprintf(&text, "%s%s%s%s%s%s", o->help, needs ? before : "", needs ? needs : "",
		    def ? " (default: " : "", def ? def : "", def ? ")" : "") < 0)
		abort();
	print_wrapped(text, HELP_COLUMN, HELP_COLUMN);
	free(text);
}

void hauli_print_help(const struct hauli_command *command)
{
	const struct haul_app_program *program = command->program;
	const struct haul_app_option *o;
	unsigned t;

	printf("Usage: %s [OPTION...]\n%s\n\nOptions:\n", program->name,
		program->purpose ? program->purpose : "");
	for (t = 0; command->tables[t]; t++)
		for (o = command->tables[t]; o->name; o++)
			print_option(command, o);
	printf("  %-*s%s\n", HELP_COLUMN - 2, "-h, --help", "print this help and exit");
	printf("  %-*s%s\n", HELP_COLUMN - 2, "--version", "print the version and exit");
	if (command->ports) {
		printf("\nPort specs (values of --port):\n");
		haul_port_print_specs(stdout);
	}
	printf("\nExit codes: 0: success; 1: failure at run time; 2: wrong arguments%s.\n",
		command->ports ? ";\n3: with --strict, if handlers had to be cancelled" : "");
	if (program->examples)
		printf("\nExamples:\n%s", program->examples);
}

void hauli_print_version(const struct haul_app_program *program)
{
	if (program->version)
		printf("%s %s (haul %s)\n", program->name, program->version, haul_version());
	else
		printf("%s %s\n", program->name, haul_version());
}
