/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/assert.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Set right before abort(); read by the handler of its SIGABRT, on the same thread. */
static bool said_why, named_call;

bool hauli_has_said_why(void)
{
	return said_why;
}

bool hauli_has_named_call(void)
{
	return named_call;
}

void hauli_bug(const char *what, const char *file, int line)
{
	fprintf(stderr, "haul: bug: %s (%s:%d)\n", what, file, line);
	said_why = true;
	abort();
}

void hauli_misuse(const char *call, const char *mistake, ...)
{
	char text[320];
	va_list args;
	int len;

	/* No stream, as the caller's stack may be small. */
	len = snprintf(text, sizeof(text), "haul: %s(): ", call);
	va_start(args, mistake);
	len += vsnprintf(text + len, sizeof(text) - (size_t)len, mistake, args);
	va_end(args);
	if (len > (int)sizeof(text) - 1)
		len = (int)sizeof(text) - 1;
	text[len++] = '\n'; /* replaces the terminating zero */
	named_call = true;
	said_why = true;
	if (write(STDERR_FILENO, text, (size_t)len) < len)
		abort(); /* the line is cut */
	abort();
}
