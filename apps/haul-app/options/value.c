/* SPDX-License-Identifier: BSD-3-Clause */
#include "options/value.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool hauli_number_parse(uint64_t *to, const char *text)
{
	char *end;

	errno = 0;
	*to = strtoull(text, &end, 10);
	return isdigit((unsigned char)text[0]) && *end == '\0' && errno == 0;
}

bool hauli_time_parse(uint64_t *to, const char *text)
{
	static const struct {
		const char *unit;
		uint64_t ns;
	} units[] = {{"", HAUL_S}, {"s", HAUL_S}, {"ms", HAUL_MS}, {"us", HAUL_US}, {"ns", 1},
		{"min", 60 * HAUL_S}, {"h", 3600 * HAUL_S}};
	char *end;
	double n;
	unsigned i;

	if (!isdigit((unsigned char)text[text[0] == '.']) || tolower((unsigned char)text[1]) == 'x')
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

void hauli_time_text(char *buf, size_t len, uint64_t ns)
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

bool hauli_choice_parse(unsigned *to, const char *choices, const char *text)
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

const char *haul_app_choice(char *buf, size_t len, const char *choices, unsigned i)
{
	for (; i > 0 && *choices; i--) {
		choices += strcspn(choices, "|");
		choices += *choices ? 1 : 0;
	}
	snprintf(buf, len, "%.*s", (int)strcspn(choices, "|"), choices);
	return buf;
}
