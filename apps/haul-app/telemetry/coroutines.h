/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HAULI_APP_TELEMETRY_COROUTINES_H
#define HAULI_APP_TELEMETRY_COROUTINES_H

#include "telemetry/answer.h"

/* Commands about coroutines. Ended by one without fn. */
extern const struct hauli_telemetry_command hauli_commands_of_coroutines[];

#endif
