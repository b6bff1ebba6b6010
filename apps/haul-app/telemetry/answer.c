/* SPDX-License-Identifier: BSD-3-Clause */
#include "telemetry/answer.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void hauli_answer_fails(struct hauli_answer *answer, const char *format, ...)
{
	char text[128];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	haul_app_json_text(answer->values, "error", text);
}

bool hauli_answer_number(
	struct hauli_answer *answer, const char *what, unsigned n, unsigned *number)
{
	unsigned long value;
	char *end = NULL;

	*number = 0;
	if (answer->params[0] == '\0')
		return true;
	value = isdigit((unsigned char)answer->params[0]) ? strtoul(answer->params, &end, 10) : n;
	if (end && value < n && *end == '\0') {
		*number = (unsigned)value;
		return true;
	}
	hauli_answer_fails(answer, "there is no such %s: give a number from 0 to %u", what, n - 1);
	return false;
}
