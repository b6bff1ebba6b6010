/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HAULI_APP_TELEMETRY_CONTROL_H
#define HAULI_APP_TELEMETRY_CONTROL_H

#include "telemetry/answer.h"

/* Commands that change what a program does, if --telemetry-control allows it. Ended by one without
 * fn. */
extern const struct hauli_telemetry_command hauli_commands_of_control[];

#define HAULI_POLICY_TEXT 32

/* As --poller has it: "sleep:100". Returns text. */
const char *hauli_policy_text(char text[HAULI_POLICY_TEXT], const struct haul_poll_policy *policy);

#endif
