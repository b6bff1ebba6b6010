/* SPDX-License-Identifier: BSD-3-Clause */
/* The pollers. */
#ifndef HAULI_IO_POLL_H
#define HAULI_IO_POLL_H

#include "io/state.h"

/* The body of a poller's coroutine. arg: struct hauli_poller. */
void *hauli_poll(void *arg);

#endif
