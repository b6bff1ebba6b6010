/* SPDX-License-Identifier: BSD-3-Clause */
/* What only a poller's carrier may do, for the thread that starts, stops and changes io. */
#ifndef HAULI_IO_ON_CARRIER_H
#define HAULI_IO_ON_CARRIER_H

#include "io/state.h"

/* Calls fn(arg) in a coroutine of p's carrier, and returns once it has returned. Any thread that is
 * no carrier. Errors as haul_spawn_on(). */
int hauli_on_carrier(const struct hauli_poller *p, const char *name, haul_fn *fn, void *arg);

#endif
