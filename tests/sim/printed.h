/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program prints to stdout, line by line: of one host at a time, as stdout is the
 * process's. */
#ifndef HAUL_TESTS_SIM_PRINTED_H
#define HAUL_TESTS_SIM_PRINTED_H

#include <stdio.h>
#include <string.h>
#include <sys/types.h>

#include <haul-sim/sim.h>

static FILE *printed_before;
static void (*printed_see)(const char *line);

/* Streams give pieces of lines. */
static inline ssize_t printed_write(void *unused, const char *data, size_t n)
{
	static char line[1024];
	static size_t len;

	for (size_t i = 0; i < n; i++) {
		if (data[i] != '\n') {
			if (len < sizeof(line) - 1)
				line[len++] = data[i];
			continue;
		}
		line[len] = '\0';
		len = 0;
		printed_see(line);
	}
	return (ssize_t)n;
}

/* Around the program's main(), in its host; haul-app closes stdout. see(line) must not wait. */
static inline void printed_begin(void (*see)(const char *line))
{
	const cookie_io_functions_t to = {.write = printed_write};

	printed_see = see;
	printed_before = stdout;
	stdout = fopencookie(NULL, "w", to);
	if (!stdout)
		haul_sim_fail("no stream");
	setvbuf(stdout, NULL, _IOLBF, 0);
}

static inline void printed_end(void)
{
	stdout = printed_before;
}

#endif
