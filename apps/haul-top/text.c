/* SPDX-License-Identifier: BSD-3-Clause */
#include "text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include <haul/base.h>

void top_text_clean(char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			*text = '?';
}

/* Three digits, with the unit behind them. */
static void three(char *buf, size_t len, double n, const char *unit)
{
	snprintf(buf, len, "%.*f%s", n < 9.995 ? 2 : n < 99.95 ? 1 : 0, n, unit);
}

void top_text_number(char *buf, size_t len, double n)
{
	static const char *const units[] = {"", "k", "M", "G", "T", "P", "E"};
	unsigned i = 0;

	if (isnan(n) || n < 0) {
		snprintf(buf, len, "-");
		return;
	}
	for (; n >= 999.5 && i + 1 < sizeof(units) / sizeof(units[0]); i++)
		n /= 1000;
	if (i == 0 && (n == floor(n) || n >= 9.995))
		snprintf(buf, len, "%.0f", n);
	else
		three(buf, len, n, units[i]);
}

void top_text_time(char *buf, size_t len, uint64_t ns)
{
	static const struct {
		const char *unit;
		uint64_t ns, until;
	} units[] = {
		{"ns", 1, 1000},
		{"us", HAUL_US, 999500},
		{"ms", HAUL_MS, 999500 * HAUL_US},
		{"s", HAUL_S, 100 * HAUL_S},
		{"min", 60 * HAUL_S, 100 * 60 * HAUL_S},
		{"h", 3600 * HAUL_S, 48 * 3600 * HAUL_S},
		{"d", 86400 * HAUL_S, UINT64_MAX},
	};
	unsigned i = 0;

	while (ns >= units[i].until && units[i].until != UINT64_MAX)
		i++;
	if (ns == 0)
		snprintf(buf, len, "0");
	else if (i == 0)
		snprintf(buf, len, "%" PRIu64 "ns", ns);
	else if (i < 4)
		three(buf, len, (double)ns / (double)units[i].ns, units[i].unit);
	else
		snprintf(buf, len, "%.0f%s", (double)ns / (double)units[i].ns, units[i].unit);
}

void top_text_clock(char *buf, size_t len, uint64_t seconds)
{
	unsigned h = (unsigned)(seconds / 3600 % 24), min = (unsigned)(seconds / 60 % 60),
		 s = (unsigned)(seconds % 60);

	if (seconds >= 86400)
		snprintf(buf, len, "%" PRIu64 "d %02u:%02u:%02u", seconds / 86400, h, min, s);
	else
		snprintf(buf, len, "%02u:%02u:%02u", h, min, s);
}
