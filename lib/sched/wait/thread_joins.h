/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that are no carriers and wait in haul_join() without a deadline. */
#ifndef HAULI_SCHED_WAIT_THREAD_JOINS_H
#define HAULI_SCHED_WAIT_THREAD_JOINS_H

/* The thread, before it waits; the carrier that ends the wait, before that. */
void hauli_thread_joins_begin(void);
void hauli_thread_joins_end(void);

/* Their number, of all runtimes. Any thread. */
unsigned hauli_thread_joins(void);

#endif
