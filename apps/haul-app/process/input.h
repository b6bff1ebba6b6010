/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HAULI_APP_PROCESS_INPUT_H
#define HAULI_APP_PROCESS_INPUT_H

#include <stdbool.h>

/* True if bytes were read that cannot be read again: from a pipe or a terminal. */
bool hauli_app_input_is_consumed(void);

#endif
