/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/say.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Parts of a long line that are kept: enough for a port spec with its error and remedy. */
#define LINE_HEAD 1000
#define LINE_TAIL 200

static FILE *other; /* for lines of the main thread; NULL: stderr */

void haul_app_say_to(FILE *out)
{
	other = out;
}

static FILE *output(void)
{
	/* Other threads do not read `other`. */
	if (hauli_app_state.pub.program && pthread_equal(pthread_self(), hauli_app_state.main) &&
		other)
		return other;
	return stderr;
}

/* Writes the line by one call, because other threads print too. */
static void say(
	const struct haul_app_program *program, const char *format, va_list ap, const char *end)
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
	fputs(line, output());
	free(line);
	free(text);
}

void haul_app_say(const struct haul_app_program *program, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	say(program, format, ap, "");
	va_end(ap);
}

int haul_app_wrong(const struct haul_app_program *program, const char *format, ...)
{
	char hint[64];
	va_list ap;

	snprintf(hint, sizeof(hint), " (see %s --help)", program->name);
	va_start(ap, format);
	say(program, format, ap, hint);
	va_end(ap);
	return HAUL_APP_USAGE;
}

int hauli_app_fail(const struct hauli_app *a, int err, const char *line)
{
	haul_app_say(a->pub.program, "%s", line);
	switch (err) {
	case -EINVAL:
	case -ENODEV:
	case -ENOENT:
	case -ENXIO:
	case -ERANGE:
	case -ENAMETOOLONG:
		return HAUL_APP_USAGE;
	default:
		return HAUL_APP_FAILED;
	}
}

void hauli_app_note(const struct hauli_app *a, const char *line)
{
	if (line[0])
		haul_app_say(a->pub.program, "note: %s", line);
}
