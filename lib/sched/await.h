/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting in a wait list until one is served. Coroutines at home on the carrier of the list. */
#ifndef HAULI_SCHED_AWAIT_H
#define HAULI_SCHED_AWAIT_H

#include "sched/wait_list.h"

/* The running coroutine, whose waiter w is in the list. 0: w was served. -ECANCELED: the coroutine
 * was cancelled first, and w has left the list. */
int hauli_await(struct hauli_wait_list *list, struct hauli_waiter *w);

/* Takes the first waiter, which there is, out of the list, and ends its wait. */
void hauli_await_serve(struct hauli_wait_list *list);

#endif
