/* SPDX-License-Identifier: BSD-3-Clause */
/* The capture's thread. */
#ifndef HAULI_CAPTURE_WRITER_H
#define HAULI_CAPTURE_WRITER_H

#include "capture/state.h"

/* Begins a file: its head. For the first file before the thread starts. Returns 0 or -errno. */
int hauli_capture_begin_file(struct haul_capture *c);

/* The body of the thread. arg: struct haul_capture. */
void *hauli_capture_write(void *arg);

#endif
