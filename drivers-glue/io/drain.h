/* SPDX-License-Identifier: BSD-3-Clause */
/* The last poller of a carrier. */
#ifndef HAULI_IO_DRAIN_H
#define HAULI_IO_DRAIN_H

#include "io/state.h"

/* The body of the poller that follows one of poll.h's: it receives nothing, sends the handlers'
 * remaining packets, and ends after the last one, or when their time is over. arg: struct
 * hauli_poller. */
void *hauli_drain(void *arg);

#endif
