/* SPDX-License-Identifier: BSD-3-Clause */
/* The last poller of a carrier. */
#ifndef HAULI_IO_DRAIN_H
#define HAULI_IO_DRAIN_H

#include "io/state.h"

/* The body of the poller that comes after one of poll.h's: it receives nothing, sends what handlers
 * still have to send, and ends when they have, or had their time. arg: struct hauli_poller. */
void *hauli_drain(void *arg);

#endif
