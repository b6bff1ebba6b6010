/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HAULI_TRACE_WRITE_H
#define HAULI_TRACE_WRITE_H

#include <haul/trace_file.h>

struct hauli_timeline;

/* The parts of a file. 0, or the error of write(2). Also in a signal handler. */
int hauli_trace_put_head(int fd, const struct haul_trace_file *head);
int hauli_trace_put_ring(int fd, const struct hauli_timeline *t);

/* As haul_trace_write(), and says why. Also in a signal handler. */
int hauli_trace_write(int fd, enum haul_trace_why why);

#endif
