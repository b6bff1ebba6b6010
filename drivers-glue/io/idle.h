/* SPDX-License-Identifier: BSD-3-Clause */
/* What a carrier's poller does when it finds nothing: goes on, pauses, sleeps, or blocks. */
#ifndef HAULI_IO_IDLE_H
#define HAULI_IO_IDLE_H

#include "io/state.h"

/* One round over all queues: true when there were packets. woken: the first after a wait, which
 * calls hauli_idle_handles() when it comes to the first packet. */
typedef bool hauli_cycle_fn(struct hauli_poller *p, bool woken);

/* Opens what is waited on. 0 or -errno. The thread that starts and stops, as the next. */
int hauli_idle_open(struct hauli_poller *p);
void hauli_idle_close(struct hauli_poller *p);

/* Takes over the policies of the queues. The carrier's thread, or before the poller. */
void hauli_idle_recompute(struct hauli_poller *p);

/* After an empty cycle of a poller that does not spin; true when there are packets after all, and
 * they were handled. */
bool hauli_idle(struct hauli_poller *p, hauli_cycle_fn *cycle);

/* A handler is called for the first packet after a wait. */
void hauli_idle_handles(struct hauli_poller *p);

/* The poller's wakeup; arg: struct hauli_poller. */
void hauli_idle_wakeup(void *arg);

#endif
