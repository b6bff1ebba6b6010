/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HAULI_TRACE_WRITE_H
#define HAULI_TRACE_WRITE_H

#include <haul/trace_file.h>

/* As haul_trace_write(), and says why. Also in a signal handler. */
int hauli_trace_write(int fd, enum haul_trace_why why);

#endif
