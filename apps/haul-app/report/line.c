/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/line.h"

#include <stdarg.h>
#include <string.h>

#define GAP 2 /* between items */

const char *hauli_app_scaled(char buf[16], double n)
{
	static const char prefix[] = {' ', 'k', 'M', 'G', 'T'};
	unsigned i = 0;

	while (n >= 999.5 && i < sizeof(prefix) - 1) {
		n /= 1000;
		i++;
	}
	snprintf(buf, 16, "%.*f %c", n < 9.995 ? 2 : n < 99.95 ? 1 : 0, n, prefix[i]);
	return buf;
}

const char *hauli_app_cut(char *buf, size_t len, const char *text, unsigned columns)
{
	if (strlen(text) <= columns)
		snprintf(buf, len, "%s", text);
	else
		snprintf(buf, len, "%.*s...", (int)columns - 3, text);
	return buf;
}

struct hauli_app_line hauli_app_line(FILE *out, const char *text, unsigned column)
{
	struct hauli_app_line line = {.out = out, .indent = column, .column = column};

	if (strlen(text) < column)
		fprintf(out, "%-*s", (int)column, text);
	else
		fprintf(out, "%s\n%*s", text, (int)column, "");
	return line;
}

void hauli_app_line_add(struct hauli_app_line *line, const char *format, ...)
{
	char item[256];
	unsigned len;
	va_list ap;

	va_start(ap, format);
	vsnprintf(item, sizeof(item), format, ap);
	va_end(ap);
	len = (unsigned)strlen(item);
	if (line->column > line->indent && line->column + GAP + len > HAULI_APP_COLUMNS) {
		fprintf(line->out, "\n%*s", (int)line->indent, "");
		line->column = line->indent;
	} else if (line->column > line->indent) {
		fprintf(line->out, "%*s", GAP, "");
		line->column += GAP;
	}
	fputs(item, line->out);
	line->column += len;
}

void hauli_app_line_end(struct hauli_app_line *line)
{
	fputc('\n', line->out);
}

static bool is_loss(unsigned reason)
{
	return reason != HAUL_DROP_NOT_FOR_US && reason != HAUL_DROP_CONSUMED;
}

unsigned hauli_app_losses(struct hauli_app_loss losses[HAULI_APP_LOSSES], const struct haul_io *io,
	const struct haul_io_stats *st)
{
	const struct hauli_app_loss others[] = {
		{"rx_missed", st->rx_missed},
		{"rx_nombuf", st->rx_nombuf},
		{"rx_errors", st->rx_errors},
		{"tx_errors", st->tx_errors},
	};
	unsigned i, n = 0;

	for (i = 0; i < HAUL_DROP_REASONS; i++) {
		const char *name = haul_io_drop_name(io, (enum haul_drop)i);

		if (is_loss(i) && st->dropped[i] > 0)
			losses[n++] = (struct hauli_app_loss){
				name ? name : haul_drop_name((enum haul_drop)i), st->dropped[i]};
	}
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (others[i].n > 0)
			losses[n++] = others[i];
	return n;
}
