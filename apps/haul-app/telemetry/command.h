/* SPDX-License-Identifier: BSD-3-Clause */
/* The commands of telemetry, and their answers. */
#ifndef HAULI_APP_TELEMETRY_COMMAND_H
#define HAULI_APP_TELEMETRY_COMMAND_H

#include <jansson.h>

#include <haul-app/telemetry.h>

#include "telemetry/answer.h"

/* Main thread: rt is there, from now on, or NULL: no more. */
void hauli_telemetry_set_runtime(const struct haul_app_program *program, struct haul_runtime *rt);

/* What answers are about. By readers. */
void hauli_telemetry_about(struct hauli_answer *about);

/* The answer to a command. NULL: there is none of that name. The caller owns it. Any thread but the
 * main thread and carriers. */
json_t *hauli_telemetry_answer(const char *name, const char *params);

/* Command i, in the order of their names; NULL: there are no more. Any thread. */
const char *hauli_telemetry_name(unsigned i);
/* NULL: there is no such command. Any thread. */
const char *hauli_telemetry_help(const char *name);

/* Main thread. Calls fn for each command there is, and for each that is added later. */
void hauli_telemetry_publish(int (*fn)(const char *name, const char *help));

#endif
