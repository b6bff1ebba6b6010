/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting in a wait list. The callers run on the list's carrier. */
#ifndef HAULI_SCHED_AWAIT_H
#define HAULI_SCHED_AWAIT_H

#include "sched/wait_list.h"

/* Suspends the running coroutine, whose waiter w is in the list, until w is served. The coroutine
 * is at home, and pinned where carriers steal. Returns 0; or an error of haul_park(),
 * and w has left the list. */
int hauli_await(struct hauli_wait_list *list, struct hauli_waiter *w);

/* Removes the first waiter of the list, which must not be empty, and wakes its coroutine. */
void hauli_await_serve(struct hauli_wait_list *list);

#endif
