/* SPDX-License-Identifier: BSD-3-Clause */
/* The timelines of all runtimes of the process. */
#ifndef HAULI_TRACE_TIMELINES_H
#define HAULI_TRACE_TIMELINES_H

#include "trace/timeline.h"

/* Those of a runtime's carriers. */
struct hauli_timelines;

/* events: at least as many in each ring; at most HAULI_TIMELINE_MOST. 0: for the file of a
 * simulation only (hauli_is_traced()). 0 or -ENOMEM. */
int hauli_timelines_create(struct hauli_timelines **ts, unsigned nb_carriers, unsigned events);
/* From now on readers find them. */
void hauli_timelines_publish(struct hauli_timelines *ts);
/* No carrier writes any more. Readers may go on: it does not wait for them. ts may be NULL. */
void hauli_timelines_destroy(struct hauli_timelines *ts);
struct hauli_timeline *hauli_timelines_of(struct hauli_timelines *ts, unsigned carrier);

/* Calls fn for each timeline of the process, until it returns an error, which is returned; else 0.
 * Any thread; also in a signal handler. */
int hauli_timelines_for_each(int (*fn)(const struct hauli_timeline *t, void *arg), void *arg);

#endif
