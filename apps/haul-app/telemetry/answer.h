/* SPDX-License-Identifier: BSD-3-Clause */
/* A command of telemetry, and its answer. */
#ifndef HAULI_APP_TELEMETRY_ANSWER_H
#define HAULI_APP_TELEMETRY_ANSWER_H

#include "process/state.h"

/* An answer that is being made. */
struct hauli_answer {
	const struct haul_app_program *program;
	const struct hauli_app *app; /* NULL: there are no ports, or not yet */
	struct haul_runtime *rt;
	const char *params; /* what is behind the command and a comma; "": nothing */
	struct haul_app_json *values;
	/* Elements that get numbers as keys: those from `first` on that fit. Set first from the
	 * parameters, if they are not something else. */
	struct haul_app_json *list;
	size_t first;
};

/* Adds the values of one command, by a reader (process/readers.h). */
typedef void hauli_answer_fn(struct hauli_answer *answer);

/* What a command needs to have an answer. */
enum hauli_telemetry_needs { HAULI_NEEDS_RUNTIME, HAULI_NEEDS_PORTS };

struct hauli_telemetry_command {
	const char *name, *help;
	enum hauli_telemetry_needs needs;
	hauli_answer_fn *fn; /* NULL ends a table */
};

/* The answer has this error and nothing else. */
__attribute__((format(printf, 2, 3))) void hauli_answer_fails(
	struct hauli_answer *answer, const char *format, ...);

/* The number in the parameters, which must be below n; what: such as "carrier". False: there is
 * another text, and the answer is an error. Without parameters *number is 0. */
bool hauli_answer_number(
	struct hauli_answer *answer, const char *what, unsigned n, unsigned *number);

#endif
