/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads of memory that may be gone: by a system call, which fails where there is nothing. */
#ifndef HAULI_SCHED_LOOK_PEEK_H
#define HAULI_SCHED_LOOK_PEEK_H

#include <stdbool.h>
#include <stddef.h>

#include <haul/look.h>

/* False: some of it is not mapped. Any thread, also in a signal handler. */
bool hauli_peek(void *to, const void *from, size_t bytes);

/* A text up to its NUL, or the end of its page if the next one is not mapped; "?": there is none.
 * Bytes that are not printable ASCII are '?'. */
void hauli_peek_text(char to[HAUL_LOOK_TEXT], const char *from);

#endif
