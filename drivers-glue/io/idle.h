/* SPDX-License-Identifier: BSD-3-Clause */
/* A poller's step after an empty cycle: spin, pause, sleep or block. */
#ifndef HAULI_IO_IDLE_H
#define HAULI_IO_IDLE_H

#include "io/state.h"

/* One cycle over all queues: true if there were packets. woken: the cycle after a wait, which calls
 * hauli_idle_handles() at the first packet. */
typedef bool hauli_cycle_fn(struct hauli_poller *p, bool woken);

/* Opens the epoll set and the eventfd. 0 or -errno. For the thread that starts and stops, like
 * close. */
int hauli_idle_open(struct hauli_poller *p);
void hauli_idle_close(struct hauli_poller *p);

/* Merges the policies of the queues again. Call on the carrier's thread, or before the poller
 * runs. */
void hauli_idle_recompute(struct hauli_poller *p);

/* Call after an empty cycle of a poller that does not only spin. True if packets came meanwhile;
 * they have been handled. */
bool hauli_idle(struct hauli_poller *p, hauli_cycle_fn *cycle);

/* Lets the carrier sleep until then, its next timer, or work for it; packets do not end the sleep.
 * Of a poller that receives no more. */
void hauli_idle_sleep_until(struct hauli_poller *p, uint64_t until);

/* Call after a cycle with packets, of such a poller. */
void hauli_idle_ends(struct hauli_poller *p);

/* Call before the handler of the first packet after a wait. */
void hauli_idle_handles(struct hauli_poller *p);

/* The poller's wakeup; arg: struct hauli_poller. */
void hauli_idle_wakeup(void *arg);

#endif
