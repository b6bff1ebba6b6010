/* SPDX-License-Identifier: BSD-3-Clause */
/* What only a poller's carrier may do, for the thread that starts, stops and changes io. */
#ifndef HAULI_IO_ON_CARRIER_H
#define HAULI_IO_ON_CARRIER_H

#include "io/state.h"

/*
 * Calls fn(arg) in a coroutine of p's carrier, and returns once it has returned. In a coroutine, or
 * in a thread that is no carrier; a cancel does not end the wait. Errors as haul_spawn_on(), or
 * -ETIMEDOUT: the carrier has not begun it for timeout_ns, without the time for which its thread
 * waits for a CPU, and never calls fn.
 */
int hauli_on_carrier(const struct hauli_poller *p, const char *name, haul_fn *fn, void *arg,
	uint64_t timeout_ns);

/* The same for what must be, such as the way back after an error: waits as long as it takes for the
 * carrier, and for memory. fn is not called only if the runtime is being stopped. */
void hauli_on_carrier_at_last(
	const struct hauli_poller *p, const char *name, haul_fn *fn, void *arg);

/* One line about such an error: which carrier, and why. */
void hauli_on_carrier_tell(const struct hauli_poller *p, int err, char *buf, size_t len);

/* A fn that does nothing: finds out that the carrier begins coroutines. */
void *hauli_answers(void *arg);

/* In a coroutine of p's carrier: until the poller has counted so many cycles, or does not run, and
 * handlers that these cycles left in the run queue have begun. */
void hauli_wait_for_cycles(const struct hauli_poller *p, uint64_t end);

#endif
