/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of figures for a terminal of 80 columns. */
#ifndef HAULI_APP_REPORT_LINE_H
#define HAULI_APP_REPORT_LINE_H

#include <inttypes.h>
#include <stdio.h>

#include <haul-dpdk/io.h>

#define HAULI_APP_COLUMNS 80

/* "21.4 M": a figure of at most 6 characters, with three digits and a prefix. Returns buf. */
const char *hauli_app_scaled(char buf[16], double n);

/* Text that is cut to at most "columns" characters, with "..." at its end then. Returns buf. */
const char *hauli_app_cut(char *buf, size_t len, const char *text, unsigned columns);

/* A line to which items are added. An item that would pass the last column begins a new line, at
 * the column "indent". */
struct hauli_app_line {
	FILE *out;
	unsigned indent;
	unsigned column;
};

/* Begins a line with text, and continues at "column": below the text if the text is longer. */
struct hauli_app_line hauli_app_line(FILE *out, const char *text, unsigned column);
void hauli_app_line_add(struct hauli_app_line *line, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void hauli_app_line_end(struct hauli_app_line *line);

/* The number of figures that hauli_app_losses() may return. */
#define HAULI_APP_LOSSES (HAUL_DROP_REASONS + 4)

struct hauli_app_loss {
	const char *name;
	uint64_t n;
};

/* Fills losses with the counters of lost packets that are not 0, and returns their number. Used
 * packets, and those for other hosts, are not lost. */
unsigned hauli_app_losses(struct hauli_app_loss losses[HAULI_APP_LOSSES], const struct haul_io *io,
	const struct haul_io_stats *st);

#endif
