/* SPDX-License-Identifier: BSD-3-Clause */
/* The pollers: bodies of their coroutines, one for each kind of handler. arg: struct
 * hauli_poller. */
#ifndef HAULI_IO_POLL_H
#define HAULI_IO_POLL_H

#include "io/state.h"

/* True if fn is the body of a handler's coroutine. */
bool hauli_is_handler(haul_fn *fn);

void *hauli_poll_bursts(void *arg);
void *hauli_poll_packets(void *arg);
void *hauli_poll_source(void *arg);

#endif
