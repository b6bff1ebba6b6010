/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads of memory that may be gone: by a system call, which fails where there is nothing. */
#ifndef HAULI_SCHED_LOOK_PEEK_H
#define HAULI_SCHED_LOOK_PEEK_H

#include <stdbool.h>
#include <stddef.h>

#include <haul/look.h>

/* False: some of it is not mapped. Any thread, also in a signal handler. */
bool hauli_peek(void *to, const void *from, size_t bytes);

#define HAULI_PEEKS 64

/* Reads n things of `bytes`, at most HAULI_PEEKS, one after the other; to[] of all lie together.
 * Returns how many it has read: the next one is not mapped. One call for many is 15 times as
 * fast. */
unsigned hauli_peek_each(void *to, const void *const *from, size_t bytes, unsigned n);

/* A text up to its NUL, or the end of its page if the next one is not mapped; "?": there is none.
 * Bytes that are not printable ASCII are '?'. */
void hauli_peek_text(char to[HAUL_LOOK_TEXT], const char *from);

#endif
