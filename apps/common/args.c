/* SPDX-License-Identifier: BSD-3-Clause */
/* Command lines from tables. */
#include "args.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HELP_COLUMN 26
/* Parts of a long line that are kept: enough for a port spec with its error and remedy. */
#define LINE_HEAD 1000
#define LINE_TAIL 200

/* Writes the line by one call, because other threads print too. */
static void say(const struct app_program *program, const char *format, va_list ap, const char *end)
{
	char *text, *line;
	size_t size;
	int len = vasprintf(&text, format, ap);
	FILE *out = open_memstream(&line, &size);
	int i;

	if (len < 0 || !out)
		abort();
	fprintf(out, "%s: ", program->name);
	for (i = 0; i < len; i++) {
		if (i == LINE_HEAD && len > LINE_HEAD + LINE_TAIL) {
			fputs(" ... ", out);
			i = len - LINE_TAIL;
		}
		if (iscntrl((unsigned char)text[i]))
			fprintf(out, "\\x%02x", (unsigned char)text[i]);
		else
			fputc(text[i], out);
	}
	fprintf(out, "%s\n", end);
	fclose(out);
	fputs(line, stderr);
	free(line);
	free(text);
}

void app_say(const struct app_program *program, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	say(program, format, ap, "");
	va_end(ap);
}

int app_args_wrong(const struct app_program *program, const char *format, ...)
{
	char hint[64];
	va_list ap;

	snprintf(hint, sizeof(hint), " (see %s --help)", program->name);
	va_start(ap, format);
	say(program, format, ap, hint);
	va_end(ap);
	return APP_EXIT_USAGE;
}

/* "90ms", for people to read. */
static void format_time(char *buf, size_t len, uint64_t ns)
{
	if (ns % HAUL_S == 0)
		snprintf(buf, len, "%" PRIu64 "s", ns / HAUL_S);
	else if (ns % HAUL_MS == 0)
		snprintf(buf, len, "%" PRIu64 "ms", ns / HAUL_MS);
	else if (ns % HAUL_US == 0)
		snprintf(buf, len, "%" PRIu64 "us", ns / HAUL_US);
	else
		snprintf(buf, len, "%" PRIu64 "ns", ns);
}

static bool parse_number(uint64_t *to, const char *text)
{
	char *end;

	errno = 0;
	*to = strtoull(text, &end, 10);
	return isdigit((unsigned char)text[0]) && *end == '\0' && errno == 0;
}

static bool parse_time(uint64_t *to, const char *text)
{
	static const struct {
		const char *unit;
		uint64_t ns;
	} units[] = {{"", HAUL_S}, {"s", HAUL_S}, {"ms", HAUL_MS}, {"us", HAUL_US}, {"ns", 1}};
	char *end;
	double n;
	unsigned i;

	if (!isdigit((unsigned char)text[0]) || tolower((unsigned char)text[1]) == 'x')
		return false;
	n = strtod(text, &end);
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(end, units[i].unit) != 0)
			continue;
		n *= (double)units[i].ns;
		if (n > 1e18)
			return false;
		*to = (uint64_t)llround(n);
		return true;
	}
	return false;
}

static bool parse_choice(unsigned *to, const char *choices, const char *text)
{
	size_t len = strlen(text);
	unsigned i;

	for (i = 0;; i++) {
		size_t n = strcspn(choices, "|");

		if (n == len && strncmp(choices, text, n) == 0) {
			*to = i;
			return true;
		}
		if (choices[n] == '\0')
			return false;
		choices += n + 1;
	}
}

const char *app_choice_name(char *buf, size_t len, const char *choices, unsigned i)
{
	for (; i > 0; i--)
		choices += strcspn(choices, "|") + 1;
	snprintf(buf, len, "%.*s", (int)strcspn(choices, "|"), choices);
	return buf;
}

static void append(struct app_texts *texts, char *text)
{
	texts->items = realloc(texts->items, (texts->n + 1) * sizeof(texts->items[0]));
	if (!texts->items)
		abort();
	texts->items[texts->n++] = text;
}

/* Stores text in the variable of o. Returns -1, or an exit code after printing an error. */
static int take(const struct app_program *program, const struct app_option *o, char *text)
{
	char min[32], max[32];
	uint64_t n;

	switch (o->kind) {
	case APP_ARG_NUMBER:
		if (parse_number(&n, text) && n >= o->min && n <= o->max) {
			*(uint64_t *)o->to = n;
			return -1;
		}
		return app_args_wrong(program, "%s %s: give a number from %" PRIu64 " to %" PRIu64,
			o->name, text, o->min, o->max);
	case APP_ARG_TIME:
		if (parse_time(&n, text) && n >= o->min && n <= o->max) {
			*(uint64_t *)o->to = n;
			return -1;
		}
		format_time(min, sizeof(min), o->min);
		format_time(max, sizeof(max), o->max);
		return app_args_wrong(program,
			"%s %s: give a time from %s to %s, such as 5ms or 2s", o->name, text, min,
			max);
	case APP_ARG_CHOICE:
		if (parse_choice(o->to, o->value, text))
			return -1;
		return app_args_wrong(program, "%s %s: give one of %s", o->name, text, o->value);
	case APP_ARG_TEXT:
		*(const char **)o->to = text;
		return -1;
	case APP_ARG_TEXTS:
		append(o->to, text);
		return -1;
	case APP_ARG_FLAG:
	case APP_ARG_REST:
		break;
	}
	abort();
}

static const struct app_option *find(
	const struct app_program *program, const char *name, size_t len)
{
	const struct app_option *o;
	unsigned t;

	for (t = 0; program->tables[t]; t++)
		for (o = program->tables[t]; o->name; o++)
			if (strlen(o->name) == len && strncmp(o->name, name, len) == 0)
				return o;
	return NULL;
}

static void print_default(const struct app_option *o)
{
	const char *text = o->zero;
	char buf[64];

	switch (o->kind) {
	case APP_ARG_NUMBER:
		snprintf(buf, sizeof(buf), "%" PRIu64, *(uint64_t *)o->to);
		text = *(uint64_t *)o->to ? buf : o->zero;
		break;
	case APP_ARG_TIME:
		format_time(buf, sizeof(buf), *(uint64_t *)o->to);
		text = *(uint64_t *)o->to ? buf : o->zero;
		break;
	case APP_ARG_TEXT:
		text = *(const char **)o->to ? *(const char **)o->to : o->zero;
		break;
	case APP_ARG_CHOICE:
		text = app_choice_name(buf, sizeof(buf), o->value, *(unsigned *)o->to);
		break;
	default:
		break;
	}
	if (text)
		printf(" (default: %s)", text);
	putchar('\n');
}

static void print_option(const struct app_option *o)
{
	int n = printf("  %s%s%s", o->name, o->value ? " " : "", o->value ? o->value : "");
	const char *help;

	if (n >= HELP_COLUMN) {
		putchar('\n');
		n = 0;
	}
	printf("%*s", HELP_COLUMN - n, "");
	for (help = o->help; *help; help++) {
		putchar(*help);
		if (*help == '\n')
			printf("%*s", HELP_COLUMN, "");
	}
	print_default(o);
}

static void print_help(const struct app_program *program)
{
	const struct app_option *o;
	unsigned t;

	printf("Usage: %s [OPTION...]\n%s\n\nOptions:\n", program->name, program->purpose);
	for (t = 0; program->tables[t]; t++)
		for (o = program->tables[t]; o->name; o++)
			print_option(o);
	printf("  %-*s%s\n", HELP_COLUMN - 2, "--help", "print this help and exit");
	printf("  %-*s%s\n", HELP_COLUMN - 2, "--version", "print the version and exit");
	if (program->ports) {
		printf("\nPort specs (values of --port):\n");
		program->ports(stdout);
	}
	printf("\nExit codes: 0: success; 1: failure at run time; 2: wrong arguments.\n");
	if (program->examples)
		printf("\nExamples:\n%s", program->examples);
}

static bool wants_help(const struct app_program *program, int argc, char **argv)
{
	const struct app_option *o;
	int i;

	for (i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--help") == 0)
			return true;
		o = find(program, argv[i], strlen(argv[i]));
		if (o && o->kind == APP_ARG_REST)
			return false;
	}
	return false;
}

int app_args_parse(const struct app_program *program, int argc, char **argv)
{
	const struct app_option *o;
	char *arg, *value;
	int i, err;

	/* First of all, because parsing overwrites the defaults that --help shows. */
	if (wants_help(program, argc, argv)) {
		print_help(program);
		return APP_EXIT_DONE;
	}
	for (i = 1; i < argc; i++) {
		arg = argv[i];
		if (strcmp(arg, "--version") == 0) {
			printf("%s %s\n", program->name, APP_VERSION);
			return APP_EXIT_DONE;
		}
		if (strncmp(arg, "--", 2) != 0)
			return app_args_wrong(
				program, "%s: not an option; options begin with --", arg);
		value = strchr(arg, '=');
		o = find(program, arg, value ? (size_t)(value - arg) : strlen(arg));
		if (!o)
			return app_args_wrong(program, "%s: there is no such option", arg);
		if (o->kind == APP_ARG_REST) {
			while (++i < argc)
				append(o->to, argv[i]);
			break;
		}
		if (o->kind == APP_ARG_FLAG) {
			if (value)
				return app_args_wrong(program, "%s: takes no value", o->name);
			*(bool *)o->to = true;
			continue;
		}
		if (value)
			value++;
		else if (i + 1 < argc)
			value = argv[++i];
		else
			return app_args_wrong(
				program, "%s: give a value: %s %s", o->name, o->name, o->value);
		err = take(program, o, value);
		if (err >= 0)
			return err;
	}
	return -1;
}
